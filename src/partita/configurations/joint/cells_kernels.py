"""Compiled: the cells of a growing configuration, and beam search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.joint.codes import (
    ACRONYM,
    ALL_OF_EARLIER,
    ALL_OF_LATER,
    COMPLEMENT,
    GENDER,
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
    PLURAL_NAME,
    SAME_HEAD,
    SAME_STEM,
    SAME_TEXT,
    SHARED_WORD,
    SORT,
    YOU,
)
from partita.records import IntArray

Small = NDArray[np.int32]
Mentions = tuple[Small, Small]  # attributes, relations
State = tuple[IntArray, IntArray, IntArray, IntArray]  # home, before, cells, recent

FIRST, LAST, SIZE, CELL_SORT, FORMS, CELL_KINDS, NUMBERS, GENDERS, PRONOUN = range(9)
CELL_COLUMNS = 9
HAS_PRONOUN, HAS_NAME, HAS_NOUN = 1, 2, 4
(
    BITS, LEVEL, NEAREST, NOUNS, MATCHED, CLASH, OWNED, LAST_ME, LAST_YOU, MODIFIERS_THERE,
    COMPLEMENT_THERE, HEADS,
) = range(12)  # fmt: skip
SEEN_COLUMNS = 12
NO_WORDS = 9  # the level of a cell of pronouns
TRUE_MATCH = 4  # from this level on the heads agree and no numeral differs


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
    attributes = mentions[0]
    home, before, cells, recent = state
    place_of = count
    if c == count:
        cells[c] = 0
        cells[c, FIRST], cells[c, LAST], cells[c, PRONOUN] = j, -1, -1
        cells[c, CELL_SORT] = attributes[j, SORT]
    else:
        place_of = _found(recent, c)
    for q in range(place_of, 0, -1):
        recent[q] = recent[q - 1]
    recent[0] = c
    home[j], before[j] = c, cells[c, LAST]
    cells[c, LAST] = j
    cells[c, SIZE] += 1
    _remember(attributes[j], cells[c], j)
    return max(count, c + 1)


@kernel()
def _found(recent: IntArray, c: int) -> int:
    q = 0
    while recent[q] != c:
        q += 1
    return q


@kernel()
def _remember(mention: Small, cell: IntArray, j: int) -> None:
    kind = mention[KIND]
    if cell[CELL_SORT] == 0:
        cell[CELL_SORT] = mention[SORT]
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


@kernel()
def same_sort(a: int, b: int) -> bool:
    """Return whether the known sorts do not differ."""
    return a == b or a == 0 or b == 0


@kernel()
def all_bits(mentions: Mentions, state: State, j: int, c: int) -> int:
    """Return the relation bits to any member of a cell."""
    bits, i = 0, state[2][c, LAST]
    while i >= 0:
        bits |= mentions[1][j, i]
        i = state[1][i]
    return bits


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
def look_through(mentions: Mentions, state: State, j: int, c: int, seen: IntArray) -> None:
    """Compare mention j with the members of cell c, from the last one back."""
    attributes, relations = mentions
    seen[:] = 0
    seen[NEAREST], seen[MODIFIERS_THERE] = -1, 6
    i = state[2][c, LAST]
    while i >= 0:
        bits = relations[j, i]
        seen[BITS] |= bits
        if attributes[i, KIND] > LAST_PRONOUN:
            _compare_words(attributes[i], bits, seen)
        seen[OWNED] = max(seen[OWNED], _owned(attributes[j], attributes[i], state[0], bits))
        if attributes[j, KIND] == ME or attributes[j, KIND] == YOU:
            _turns(attributes[j], attributes[i], seen)
        i = state[1][i]
    if attributes[j, KIND] <= LAST_PRONOUN:
        seen[LEVEL] = seen[NEAREST] = 0
        seen[MODIFIERS_THERE] = 6
    if seen[NOUNS] == 0:
        seen[LEVEL] = seen[NEAREST] = NO_WORDS


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
def habit(attributes: Small, home: IntArray, j: int) -> tuple[int, int]:
    """Return where mentions such as j went so far, and the cell of the last of them, -1 for none.

    0 nothing to tell from, 1 stayed once or twice, 2 always stayed, 3 mostly, 4 mixed, 5 mostly
    changed: a document that keeps to one "you" goes on to do so.
    """
    stayed, changed, before = 0, 0, -1
    for i in range(j):
        if _such(attributes[i], attributes[j]):
            stayed += home[i] == before
            changed += before >= 0 and home[i] != before
            before = home[i]
    if changed == 0:
        return (0 if stayed == 0 else 1 if stayed <= 2 else 2), before
    share = stayed / (stayed + changed)
    return (3 if share >= 0.75 else 4 if share >= 0.4 else 5), before


@kernel()
def _such(member: Small, mention: Small) -> bool:
    """Return whether both are pronouns of one kind, or nouns or names of one head."""
    if not same_sort(member[SORT], mention[SORT]):
        return False
    if mention[KIND] > LAST_PRONOUN:
        return bool(member[KIND] > LAST_PRONOUN and member[HEAD] == mention[HEAD])
    return bool(member[KIND] == mention[KIND])
