"""Compiled: growing configurations that share their cells, and a mention compared with a cell.

Configurations grow side by side, mention by mention. Equal cells of different configurations are
one row of a table, so that what a mention and a cell have together is computed once for all.

Throughout: `mentions` are those of a document in the order of decisions, only read; `attributes`
and `kin` are its fields, `mention` and `member` rows of `attributes`. `cells` is the table and
`grown` are the configurations, changed in place; `cell` and `shares` (thousandths by type) are rows
of `columns` and `types`. `row` (mentions) has the relation bits of the mention at hand to each
earlier one; `seen` is the field of `cells`, or the row of one cell; `homes` is that of one
configuration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, uncounted
from partita.configurations.joint import codes as code
from partita.configurations.joint.features_kernels import Mentions
from partita.core import IntArray

Small = NDArray[np.int32]

FIRST, LAST, WITHOUT, CHILD, SIZE, TYPED, CELL_KINDS, NUMBERS, GENDERS = range(9)
PRONOUN, NOUN, SHARES = 9, 10, 11
CELL_COLUMNS = SHARES + len(code.TYPES)  # from SHARES on: the members' probabilities, summed
EMPTY = 0  # the number of the cell without members
(
    LEVEL, NEAREST, NOUNS, MATCHED, LAST_ME, LAST_YOU, MODIFIERS_THERE,
    MOST_ALIKE, HEADS, COSINE, RELATION, RARE, PHRASES, CLUSTER, VOICE_OF_ME, VOICE_OF_YOU,
) = range(16)  # fmt: skip
SEEN_COLUMNS = 16
NO_LIKENESS = 6  # of modifiers
NO_WORDS = 9  # the level of a cell of pronouns
TRUE_MATCH = 4  # from this level on the heads agree and no numeral differs
NO_NOUNS, NO_PHRASE = code.COSINES, 0
AGREEMENTS = (0.01, 0.05, 0.15, 0.3, 0.5, 0.75, 0.95)  # edges of the bins
TYPE_AGREES = 5  # the bin from which the types count as the same


class CellTable(NamedTuple):
    """The cells of all configurations.

    A cell is a row of `columns`: WITHOUT is the cell that its last member joined, CHILD the cell
    that it became last. `met` lists the cells that exist at a step, `slots` their places there;
    `bits` are all relations of the mention of that step to the members, `seen` is what else it sees
    of cells that were `marked` with the step; `classes` says which are far. A cell stands after all
    of its parts, so that a loop from 1 on meets parts before wholes.
    """

    columns: Small
    slots: Small
    met: Small
    bits: IntArray
    seen: Small
    marked: Small
    classes: NDArray[np.int8]


class Grown(NamedTuple):
    """Growing configurations, one a row: `cells` from the most recent on, and `counts` of them.

    `homes` holds the first member of each mention's cell.
    """

    cells: Small
    counts: IntArray
    homes: Small


@kernel()
def no_cells(room: int) -> CellTable:
    """Return a table with the empty cell only."""
    columns = np.zeros((room, CELL_COLUMNS), np.int32)
    columns[EMPTY, FIRST] = columns[EMPTY, LAST] = -1
    columns[EMPTY, PRONOUN] = columns[EMPTY, NOUN] = -1
    slots, met = np.zeros(room, np.int32), np.zeros(room, np.int32)
    seen = np.zeros((room, SEEN_COLUMNS), np.int32)
    marked, classes = np.full(room, -1, np.int32), np.zeros(room, np.int8)
    return CellTable(columns, slots, met, np.zeros(room, np.int64), seen, marked, classes)


@kernel()
def with_room(cells: CellTable, used: int, more: int) -> CellTable:
    """Return the same cells with room for more."""
    if used + more <= len(cells.slots):
        return cells
    larger = no_cells(2 * (used + more))
    larger.columns[:used] = cells.columns[:used]
    larger.slots[:used] = cells.slots[:used]
    larger.met[:used] = cells.met[:used]
    larger.bits[:used] = cells.bits[:used]
    larger.marked[:used] = cells.marked[:used]
    larger.classes[:used] = cells.classes[:used]
    return larger


@kernel()
def growing(width: int, n: int) -> Grown:
    """Return configurations without mentions, with room for n."""
    return Grown(
        np.zeros((width, n), np.int32), np.zeros(width, np.int64), np.zeros((width, n), np.int32)
    )


@uncounted
def place(
    mentions: Mentions,
    grown: Grown,
    cells: CellTable,
    used: int,
    b: int,
    j: int,
    at: int,
) -> int:
    """Put mention j of configuration b into the cell at a place; return the cells in use.

    The place after the last one stands for a new cell.
    """
    row, count = grown.cells[b], grown.counts[b]
    cell, used = _with_member(mentions, cells, used, row[at] if at < count else EMPTY, j)
    for q in range(at, 0, -1):
        row[q] = row[q - 1]
    row[0] = cell
    grown.counts[b] = max(count, at + 1)
    grown.homes[b, j] = cells.columns[cell, FIRST]
    return used


@uncounted
def place_of(grown: Grown, cells: CellTable, b: int, first: int) -> int:
    """Return the place of the cell with this first member, the place of a new cell if -1."""
    at, count = 0, grown.counts[b]
    if first < 0:
        return int(count)
    while cells.columns[grown.cells[b, at], FIRST] != first:
        at += 1
    return at


@uncounted
def _with_member(
    mentions: Mentions, cells: CellTable, used: int, cell: int, j: int
) -> tuple[int, int]:
    """Return the cell that mention j makes of another, and the number of cells in use."""
    columns = cells.columns
    child = columns[cell, CHILD]
    if child > 0 and columns[child, LAST] == j:
        return child, used
    for k in range(CELL_COLUMNS):
        columns[used, k] = columns[cell, k]
    if cell == EMPTY:
        columns[used, FIRST] = j
    columns[used, LAST], columns[used, WITHOUT], columns[used, CHILD] = j, cell, 0
    columns[used, SIZE] += 1
    columns[cell, CHILD] = used
    _remember(mentions.attributes[j], mentions.types[j], columns[used], j)
    return used, used + 1


@uncounted
def copy_configuration(grown: Grown, source: int, target: int, j: int) -> None:
    """Make one configuration of j mentions equal to another."""
    cells, homes, count = grown.cells, grown.homes, grown.counts[source]
    grown.counts[target] = count
    for at in range(count):
        cells[target, at] = cells[source, at]
    for i in range(j):
        homes[target, i] = homes[source, i]


@uncounted
def list_cells(grown: Grown, first: int, last: int, cells: CellTable, count: int) -> int:
    """Add the cells of some configurations to those met at this step; return their number."""
    slots, met = cells.slots, cells.met
    for b in range(first, last):
        for at in range(grown.counts[b]):
            cell = grown.cells[b, at]
            slot = slots[cell]
            if slot >= count or met[slot] != cell:
                slots[cell], met[count] = count, cell
                count += 1
    return count


@uncounted
def _remember(mention: Small, shares: Small, cell: Small, j: int) -> None:
    """Add mention j with its shares of types to what a cell knows of its members."""
    kind, known = mention[code.KIND], 0
    for s in range(len(code.TYPES)):
        cell[SHARES + s] += shares[s]
        known += shares[s]
    cell[TYPED] += known > 0
    cell[CELL_KINDS] |= 1 << kind
    cell[NUMBERS] |= mention[code.NUMBER]
    cell[GENDERS] |= mention[code.GENDER]
    if kind <= code.LAST_PRONOUN:
        cell[PRONOUN] = j
    else:
        cell[NOUN] = j


@uncounted
def type_agreement(shares: Small, cell: Small) -> int:
    """Return 0 if a type is unknown, else 1 to 8 by the probability that the types are the same."""
    product, known = 0, 0
    for s in range(len(code.TYPES)):
        product += shares[s] * cell[SHARES + s]
        known += shares[s]
    if known == 0 or cell[TYPED] == 0:
        return 0
    return _agreement(product / (code.UNIT * code.UNIT * cell[TYPED]))


@uncounted
def _agreement(probability: float) -> int:
    """Return 1 to 8 by the probability, cut at AGREEMENTS."""
    found = 1
    for edge in AGREEMENTS:
        if probability > edge:
            found += 1
    return found


@uncounted
def likeliest_type(cell: Small) -> int:
    """Return the most probable type of a cell, 0 if nothing is known."""
    found = 0
    for s in range(len(code.TYPES)):
        if cell[SHARES + s] > cell[SHARES + found]:
            found = s
    return found


@uncounted
def same_type(a: Small, b: Small) -> bool:
    """Return whether two mentions, by their shares a and b, may well have the same type."""
    product, known, other = 0, 0, 0
    for s in range(len(code.TYPES)):
        product += a[s] * b[s]
        known += a[s]
        other += b[s]
    unknown = known == 0 or other == 0
    return unknown or _agreement(product / (code.UNIT * code.UNIT)) >= TYPE_AGREES


@uncounted
def level(bits: int) -> int:
    """Return the likeness by words.

    0 none … 3 other numeral, 4 same head … 7 part of a name, 8 same text.
    """
    if bits & code.SAME_TEXT:
        return 8
    if bits & code.SAME_HEAD:
        return _head_level(bits)
    if bits & (code.ACRONYM | code.PART_OF_NAME):
        return 7
    if bits & code.HEAD_INSIDE:
        return 2
    return 1 if bits & (code.SHARED_WORD | code.SAME_STEM) else 0


@uncounted
def _head_level(bits: int) -> int:
    """Return the likeness of mentions with the same head: 3 to 6 as in `level`."""
    if bits & code.OTHER_NUMERAL:
        return 3
    if bits & code.ALL_OF_LATER:
        return 6
    return 5 if bits & (code.ALL_OF_EARLIER | code.PART_OF_NAME) else 4


@uncounted
def fill_bits(cells: CellTable, used: int, row: IntArray) -> None:
    """Fill all relations of a mention to the members of each cell; parts come before wholes."""
    columns, bits = cells.columns, cells.bits
    for cell in range(1, used):
        bits[cell] = bits[columns[cell, WITHOUT]] | row[columns[cell, LAST]]


@uncounted
def compare_members(mentions: Mentions, cells: CellTable, used: int, row: IntArray, j: int) -> None:
    """Compare mention j with the members of all marked cells; parts come before wholes."""
    attributes, columns, seen, marked = (
        mentions.attributes,
        cells.columns,
        cells.seen,
        cells.marked,
    )
    kin, kind = mentions.kin[attributes[j, code.WORD]], attributes[j, code.KIND]
    seen[EMPTY, MODIFIERS_THERE] = NO_LIKENESS
    for cell in range(1, used):
        if marked[cell] == j:
            before, i = columns[cell, WITHOUT], columns[cell, LAST]
            for k in range(SEEN_COLUMNS):
                seen[cell, k] = seen[before, k]
            if kind in (code.ME, code.YOU):
                _turns(attributes[j], attributes[i], seen[cell])
            if attributes[i, code.KIND] > code.LAST_PRONOUN:
                seen[cell, NOUNS] += 1
                if kind > code.LAST_PRONOUN:
                    _compare_words(i, row[i], seen, cell)
                    _compare_heads(kin[attributes[i, code.WORD]], row[i], seen, cell)


@uncounted
def _compare_heads(kin: int, bits: int, seen: Small, cell: int) -> None:
    """Note in `seen` of a cell how near the head of its member is, by `kin` and rare words."""
    cosine, relation = kin % code.COSINES, (kin // code.COSINES) % code.RELATIONS
    seen[cell, CLUSTER] = max(seen[cell, CLUSTER], 1 + (kin >= code.SAME_CLUSTER))
    if cosine > seen[cell, COSINE] or seen[cell, NOUNS] == 1:
        seen[cell, COSINE], seen[cell, RELATION] = cosine, relation
    elif cosine == seen[cell, COSINE]:
        seen[cell, RELATION] = max(seen[cell, RELATION], relation)
    seen[cell, RARE] = max(seen[cell, RARE], (bits >> code.SHARED_RARITY) & 7)
    seen[cell, PHRASES] = max(seen[cell, PHRASES], (bits >> code.PHRASE) & 7)


@uncounted
def _compare_words(i: int, bits: int, seen: Small, cell: int) -> None:
    """Note in `seen` of a cell how alike its member i is by words, the best and the last."""
    likeness = level(bits)
    if likeness >= TRUE_MATCH:
        seen[cell, MATCHED] += 1
    if bits & code.SAME_HEAD:
        seen[cell, HEADS] += 1
    seen[cell, NEAREST] = likeness
    if likeness > 0 and likeness >= seen[cell, LEVEL]:
        seen[cell, LEVEL] = likeness
        seen[cell, MODIFIERS_THERE] = (bits >> code.MODIFIED) & 7
        seen[cell, MOST_ALIKE] = i + 1


@uncounted
def fit(attributes: Small, kin: NDArray[np.uint8], j: int, cell: Small) -> tuple[int, int]:
    """Return how the verb of j suits that of the last member, and the cell's most recent noun."""
    verb = attributes[j, code.GOVERNOR]
    other = attributes[cell[LAST], code.GOVERNOR]
    governors = kin[verb, other] % code.COSINES if verb > 0 and other > 0 else 0
    if cell[NOUN] < 0:
        return int(governors), NO_NOUNS
    noun = attributes[cell[NOUN], code.WORD]
    return int(governors), int(kin[verb, noun] % code.COSINES if verb > 0 else 0)


@uncounted
def _turns(mention: Small, member: Small, seen: Small) -> None:
    """Note how many paragraphs ago the cell was I, and was you: 1 in this one, 2, 3, 4 for more.

    Who speaks changes with the paragraph, so the I of the one before is often the you of this one.
    """
    ago, voice = (
        1 + min(3, max(0, mention[code.PARAGRAPH] - member[code.PARAGRAPH])),
        voices(mention, member),
    )
    if member[code.KIND] == code.ME:
        seen[LAST_ME], seen[VOICE_OF_ME] = ago, voice
    if member[code.KIND] == code.YOU:
        seen[LAST_YOU], seen[VOICE_OF_YOU] = ago, voice


@uncounted
def voices(mention: Small, member: Small) -> int:
    """Return 1 if both stand in one quotation or in none, 2 in two quotations, else 3."""
    if mention[code.QUOTE] == member[code.QUOTE]:
        return 1
    return 2 if mention[code.QUOTE] > 0 and member[code.QUOTE] > 0 else 3


@uncounted
def owned(attributes: Small, columns: Small, homes: Small, row: IntArray, j: int, cell: int) -> int:
    """Return 0 not both possessed, 1 by others, 2 by the same, 3 by the same with one head."""
    owner, found = attributes[j, code.OWNER], 0
    while cell != EMPTY:
        i = columns[cell, LAST]
        other = attributes[i, code.OWNER]
        if other >= 0:
            same = 3 if row[i] & code.SAME_HEAD else 2
            found = max(found, same if homes[owner] == homes[other] else 1)
        cell = columns[cell, WITHOUT]
    return found


@uncounted
def similar_mentions(mentions: Mentions, j: int, similar: IntArray) -> int:
    """List in `similar` the earlier mentions that are such as j; return their number."""
    found = 0
    for i in range(j):
        if _is_similar(mentions.attributes, i, j) and same_type(
            mentions.types[i], mentions.types[j]
        ):
            similar[found] = i
            found += 1
    return found


@uncounted
def habit(similar: IntArray, homes: Small) -> tuple[int, int]:
    """Return where the mentions `similar` went so far, the home of the last of them, -1 for none.

    0 nothing to tell from, 1 stayed once or twice, 2 always stayed, 3 mostly, 4 mixed, 5 mostly
    changed: a document that keeps to one "you" goes on to do so.
    """
    stayed, changed, before = 0, 0, -1
    for i in similar:
        stayed += homes[i] == before
        changed += before >= 0 and homes[i] != before
        before = homes[i]
    if changed == 0:
        return (0 if stayed == 0 else 1 if stayed <= 2 else 2), before
    share = stayed / (stayed + changed)
    return (3 if share >= 0.75 else 4 if share >= 0.4 else 5), before


@uncounted
def _is_similar(attributes: Small, i: int, j: int) -> bool:
    """Return whether both are pronouns of one kind, or nouns or names of one head."""
    kind = attributes[j, code.KIND]
    if kind <= code.LAST_PRONOUN:
        return bool(attributes[i, code.KIND] == kind)
    return bool(
        attributes[i, code.HEAD] == attributes[j, code.HEAD]
        and attributes[i, code.KIND] > code.LAST_PRONOUN
    )
