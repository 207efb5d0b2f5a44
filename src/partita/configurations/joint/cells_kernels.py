"""Compiled: the cells of a growing configuration, and a mention compared with their members."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.joint.codes import (
    ACRONYM,
    ALL_OF_EARLIER,
    ALL_OF_LATER,
    COMPLEMENT,
    COSINES,
    GENDER,
    GOVERNOR,
    HEAD,
    HEAD_INSIDE,
    KIND,
    LAST_PRONOUN,
    ME,
    MODIFIED,
    NAME,
    NUMBER,
    OTHER_NUMERAL,
    OWNER,
    PARAGRAPH,
    PART_OF_NAME,
    PHRASE,
    PLURAL_NAME,
    RELATIONS,
    SAME_HEAD,
    SAME_STEM,
    SAME_TEXT,
    SHARED_RARITY,
    SHARED_WORD,
    SORTS,
    UNIT,
    WORD,
    YOU,
)
from partita.configurations.joint.features_kernels import Mentions
from partita.records import IntArray

Small = NDArray[np.int32]
State = tuple[IntArray, IntArray, IntArray, IntArray]  # home, before, cells, recent

FIRST, LAST, SIZE, SORTED, FORMS, CELL_KINDS, NUMBERS, GENDERS, PRONOUN, NOUN, SHARES = range(11)
CELL_COLUMNS = SHARES + len(SORTS)  # from SHARES on: sums of the members' probabilities of sorts
HAS_PRONOUN, HAS_NAME, HAS_NOUN = 1, 2, 4
(
    BITS, LEVEL, NEAREST, NOUNS, MATCHED, CLASH, OWNED, LAST_ME, LAST_YOU, MODIFIERS_THERE,
    COMPLEMENT_THERE, HEADS, COSINE, NEAR_COSINE, RELATION, RARE, PHRASES,
) = range(17)  # fmt: skip
SEEN_COLUMNS = 17
NO_WORDS = 9  # the level of a cell of pronouns
TRUE_MATCH = 4  # from this level on the heads agree and no numeral differs
NO_NOUNS, NO_PHRASE = COSINES, 0
AGREEMENTS = (0.01, 0.05, 0.15, 0.3, 0.5, 0.75, 0.95)  # edges of the bins
SORT_AGREES = 5  # the bin from which the sorts count as the same


@kernel()
def empty_state(n: int) -> State:
    """Return a state without mentions, with room for n."""
    return (
        np.zeros(n, np.int64),
        np.full(n, -1, np.int64),
        np.zeros((n, CELL_COLUMNS), np.int64),
        np.zeros(n, np.int64),
    )


@kernel()
def place(mentions: Mentions, state: State, j: int, c: int, count: int) -> int:
    """Put mention j into cell c, which is new if c = count; return the number of cells."""
    home, before, cells, recent = state
    place_of = count
    if c == count:
        cells[c] = 0
        cells[c, FIRST], cells[c, LAST], cells[c, PRONOUN], cells[c, NOUN] = j, -1, -1, -1
    else:
        place_of = _found(recent, c)
    for q in range(place_of, 0, -1):
        recent[q] = recent[q - 1]
    recent[0] = c
    home[j], before[j] = c, cells[c, LAST]
    cells[c, LAST] = j
    cells[c, SIZE] += 1
    _remember(mentions.attributes[j], mentions.sorts[j], cells[c], j)
    return max(count, c + 1)


@kernel()
def _found(recent: IntArray, c: int) -> int:
    q = 0
    while recent[q] != c:
        q += 1
    return q


@kernel()
def _remember(mention: Small, shares: Small, cell: IntArray, j: int) -> None:
    kind, known = mention[KIND], 0
    for s in range(len(SORTS)):
        cell[SHARES + s] += shares[s]
        known += shares[s]
    cell[SORTED] += known > 0
    cell[CELL_KINDS] |= 1 << kind
    cell[NUMBERS] |= mention[NUMBER]
    cell[GENDERS] |= mention[GENDER]
    if kind <= LAST_PRONOUN:
        cell[FORMS] |= HAS_PRONOUN
        cell[PRONOUN] = j
    elif kind in (NAME, PLURAL_NAME):
        cell[FORMS] |= HAS_NAME
    else:
        cell[FORMS] |= HAS_NOUN
    if kind > LAST_PRONOUN:
        cell[NOUN] = j


@kernel()
def sort_agreement(shares: Small, cell: IntArray) -> int:
    """Return 0 if a sort is unknown, else 1 to 8 by the probability that the sorts are the same."""
    product, known = 0, 0
    for s in range(len(SORTS)):
        product += shares[s] * cell[SHARES + s]
        known += shares[s]
    if known == 0 or cell[SORTED] == 0:
        return 0
    return _agreement(product / (UNIT * UNIT * cell[SORTED]))


@kernel()
def _agreement(probability: float) -> int:
    found = 1
    for edge in AGREEMENTS:
        if probability > edge:
            found += 1
    return found


@kernel()
def likeliest_sort(cell: IntArray) -> int:
    """Return the most probable sort of a cell, 0 if nothing is known."""
    found = 0
    for s in range(len(SORTS)):
        if cell[SHARES + s] > cell[SHARES + found]:
            found = s
    return found


@kernel()
def same_sort(a: Small, b: Small) -> bool:
    """Return whether two mentions may well have the same sort."""
    product, known, other = 0, 0, 0
    for s in range(len(SORTS)):
        product += a[s] * b[s]
        known += a[s]
        other += b[s]
    unknown = known == 0 or other == 0
    return unknown or _agreement(product / (UNIT * UNIT)) >= SORT_AGREES


@kernel()
def level(bits: int) -> int:
    """Return the likeness by words.

    0 none … 3 other numeral, 4 same head … 7 part of a name, 8 same text.
    """
    if bits & SAME_TEXT:
        return 8
    if bits & SAME_HEAD:
        return _head_level(bits)
    if bits & (ACRONYM | PART_OF_NAME):
        return 7
    if bits & HEAD_INSIDE:
        return 2
    return 1 if bits & (SHARED_WORD | SAME_STEM) else 0


@kernel()
def _head_level(bits: int) -> int:
    if bits & OTHER_NUMERAL:
        return 3
    if bits & ALL_OF_LATER:
        return 6
    return 5 if bits & (ALL_OF_EARLIER | PART_OF_NAME) else 4


@kernel()
def look_through(
    attributes: Small,
    kin: NDArray[np.uint8],
    home: IntArray,
    before: IntArray,
    row: IntArray,
    j: int,
    last: int,
    seen: IntArray,
) -> None:
    """Compare mention j with the members of a cell, from the last one back.

    `kin` is the row of j's word, `row` holds j's relations, `before` the member before each.
    """
    mention = attributes[j]
    seen[:] = 0
    seen[NEAREST], seen[NEAR_COSINE], seen[MODIFIERS_THERE] = -1, -1, 6
    i = last
    while i >= 0:
        bits = row[i]
        seen[BITS] |= bits & ((1 << MODIFIED) - 1)
        if attributes[i, KIND] > LAST_PRONOUN:
            _compare_words(attributes[i], bits, seen)
            _compare_heads(kin[attributes[i, WORD]], bits, seen)
        seen[OWNED] = max(seen[OWNED], _owned(mention, attributes[i], home, bits))
        if mention[KIND] == ME or mention[KIND] == YOU:
            _turns(mention, attributes[i], seen)
        i = before[i]
    if mention[KIND] <= LAST_PRONOUN:
        seen[LEVEL] = seen[NEAREST] = seen[COSINE] = seen[NEAR_COSINE] = seen[RELATION] = 0
        seen[MODIFIERS_THERE] = 6
    if seen[NOUNS] == 0:
        seen[LEVEL] = seen[NEAREST] = NO_WORDS
        seen[COSINE] = seen[NEAR_COSINE] = seen[RELATION] = NO_NOUNS


@kernel()
def _compare_heads(kin: int, bits: int, seen: IntArray) -> None:
    cosine = kin % COSINES
    if seen[NEAR_COSINE] < 0:
        seen[NEAR_COSINE] = cosine
    if cosine >= seen[COSINE]:
        seen[COSINE] = cosine
        seen[RELATION] = max(seen[RELATION], (kin // COSINES) % RELATIONS)
    seen[RARE] = max(seen[RARE], (bits >> SHARED_RARITY) & 7)
    seen[PHRASES] = max(seen[PHRASES], (bits >> PHRASE) & 7)


@kernel()
def fit(attributes: Small, kin: NDArray[np.uint8], j: int, cell: IntArray) -> tuple[int, int]:
    """Return how the verb of j suits that of the last member, and the cell's most recent noun."""
    verb = attributes[j, GOVERNOR]
    other = attributes[cell[LAST], GOVERNOR]
    governors = kin[verb, other] % COSINES if verb > 0 and other > 0 else 0
    if cell[NOUN] < 0:
        return int(governors), NO_NOUNS
    noun = attributes[cell[NOUN], WORD]
    return int(governors), int(kin[verb, noun] % COSINES if verb > 0 else 0)


@kernel()
def _compare_words(member: Small, bits: int, seen: IntArray) -> None:
    likeness = level(bits)
    seen[NOUNS] += 1
    if likeness >= TRUE_MATCH:
        seen[MATCHED] += 1
    if bits & OTHER_NUMERAL:
        seen[CLASH] = 1
    if bits & SAME_HEAD:
        seen[HEADS] += 1
    if seen[NEAREST] < 0:
        seen[NEAREST] = likeness
    if likeness > seen[LEVEL]:
        seen[LEVEL] = likeness
        seen[MODIFIERS_THERE] = (bits >> MODIFIED) & 7
        seen[COMPLEMENT_THERE] = member[COMPLEMENT]


@kernel()
def _turns(mention: Small, member: Small, seen: IntArray) -> None:
    """Note how many paragraphs ago the cell was I, and was you: 1 in this one, 2, 3, 4 for more.

    Who speaks changes with the paragraph, so the I of the one before is often the you of this one.
    """
    ago = 1 + min(3, max(0, mention[PARAGRAPH] - member[PARAGRAPH]))
    if member[KIND] == ME and seen[LAST_ME] == 0:
        seen[LAST_ME] = ago
    if member[KIND] == YOU and seen[LAST_YOU] == 0:
        seen[LAST_YOU] = ago


@kernel()
def _owned(mention: Small, member: Small, home: IntArray, bits: int) -> int:
    """Return 0 not both possessed, 1 by others, 2 by the same, 3 by the same with one head."""
    if mention[OWNER] < 0 or member[OWNER] < 0:
        return 0
    if home[mention[OWNER]] != home[member[OWNER]]:
        return 1
    return 3 if bits & SAME_HEAD else 2


@kernel()
def habit(attributes: Small, sorts: Small, home: IntArray, j: int) -> tuple[int, int]:
    """Return where mentions such as j went so far, and the cell of the last of them, -1 for none.

    0 nothing to tell from, 1 stayed once or twice, 2 always stayed, 3 mostly, 4 mixed, 5 mostly
    changed: a document that keeps to one "you" goes on to do so.
    """
    stayed, changed, before = 0, 0, -1
    for i in range(j):
        if _such(attributes, i, j) and same_sort(sorts[i], sorts[j]):
            stayed += home[i] == before
            changed += before >= 0 and home[i] != before
            before = home[i]
    if changed == 0:
        return (0 if stayed == 0 else 1 if stayed <= 2 else 2), before
    share = stayed / (stayed + changed)
    return (3 if share >= 0.75 else 4 if share >= 0.4 else 5), before


@kernel()
def _such(attributes: Small, i: int, j: int) -> bool:
    """Return whether both are pronouns of one kind, or nouns or names of one head."""
    kind = attributes[j, KIND]
    if kind <= LAST_PRONOUN:
        return bool(attributes[i, KIND] == kind)
    return bool(attributes[i, HEAD] == attributes[j, HEAD] and attributes[i, KIND] > LAST_PRONOUN)
