"""Codes of a mention against every cell that is not far, and of a mention that starts a cell.

Cells are looked at from the most recent one on; what is relative to all of them comes last.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.joint import codes as code
from partita.configurations.joint import codes as column
from partita.configurations.joint.cells_kernels import (
    BITS,
    CELL_KINDS,
    CLASH,
    COMPLEMENT_THERE,
    COSINE,
    FIRST,
    FORMS,
    GENDERS,
    HEADS,
    LAST,
    LAST_ME,
    LAST_YOU,
    LEVEL,
    MATCHED,
    MODIFIERS_THERE,
    NEAR_COSINE,
    NEAREST,
    NO_NOUNS,
    NO_WORDS,
    NOUN,
    NOUNS,
    NUMBERS,
    OWNED,
    PHRASES,
    PRONOUN,
    RARE,
    RELATION,
    SEEN_COLUMNS,
    SIZE,
    SORT_AGREES,
    Small,
    State,
    fit,
    habit,
    likeliest_sort,
    look_through,
    sort_agreement,
)
from partita.configurations.joint.features_kernels import Mentions
from partita.records import IntArray

Codes = NDArray[np.uint8]
LEVEL_COUNT, COSINES = code.LEVELS, code.COSINES
KIND_GROUPS = np.array(column.GROUPS)
THIRD_AS_NUMBER = 3
(
    BEST, BIGGEST, AGREE, HERE, BEFORE, OVERLAPS, APPOSED_TO, LIKE, ALL_HEADS, HEAD_CELLS, RANK,
    BEST_COSINE, BEST_PHRASE, BEST_SHARED,
) = range(14)  # fmt: skip
TOTALS = 14
# A cell that shares one of these with a mention is never far from it.
STRONG = (
    column.SAME_TEXT | column.SAME_HEAD | column.SHARED_WORD | column.SHARED_NAME | column.SAME_STEM
    | column.ACRONYM | column.APPOSED | column.PREDICATED
)  # fmt: skip
FAR_AGREEMENT = 2  # up to this bin of agreement the sorts differ
LONG_AGO = 250  # mentions


@kernel()
def binned(x: int, values: int) -> int:
    """Return 1, 2, 3, 4–5, 6–9, 10–19, 20–49, 50 and more as 0 to 7, cut to so many values."""
    edges = (1, 2, 3, 5, 9, 19, 49)
    found = 0
    for edge in edges:
        if x > edge:
            found += 1
    return min(found, values - 1)


@kernel()
def describe(
    mentions: Mentions,
    state: State,
    row: IntArray,
    j: int,
    count: int,
    codes: Codes,
    new: Codes,
    among: IntArray,
    other: IntArray,
) -> int:
    """Fill the codes of the cells near mention j and of "new"; return the number of those cells.

    `row` holds j's relations to earlier mentions; `among` will hold the cells, `other` the class
    of each far cell, -1 for these.
    """
    home, before, cells, recent = state
    attributes, kin, sorts = mentions.attributes, mentions.kin, mentions.sorts
    bits = np.zeros(count, np.int64)
    for i in range(j):
        bits[home[i]] |= row[i]
    found, agreements = 0, np.zeros(count, np.int64)
    for place in range(count):
        c = recent[place]
        agreement = sort_agreement(sorts[j], cells[c])
        other[c] = _far(attributes, cells[c], j, bits[c], agreement)
        if other[c] < 0:
            among[found], agreements[found] = c, agreement
            found += 1
    seen = np.zeros((found, SEEN_COLUMNS), np.int64)
    totals, levels = np.zeros(TOTALS, np.int64), np.zeros(LEVEL_COUNT, np.int64)
    totals[BIGGEST] = 1
    for r in range(found):
        if _sorts_agree(agreements[r]):
            totals[BIGGEST] = max(totals[BIGGEST], cells[among[r], SIZE])
    own_kin = kin[attributes[j, column.WORD]]
    for r in range(found):
        cell = cells[among[r]]
        look_through(attributes, own_kin, home, before, row, j, cell[LAST], seen[r])
        codes[r, code.C_AGREEMENT] = agreements[r]
        _row(attributes, kin, cell, row[cell[LAST]], j, seen[r], totals, levels, codes[r])
    _relative(seen, totals, levels, codes[:found])
    _new(attributes, j, totals, levels, new)
    new[code.N_HABIT], latest = habit(attributes, sorts, home, j)
    for r in range(found):
        codes[r, code.C_HABIT] = new[code.N_HABIT]
        codes[r, code.C_AS_BEFORE] = 0 if latest < 0 else 1 if among[r] == latest else 2
    return found


@kernel()
def _sorts_agree(agreement: int) -> bool:
    return agreement == 0 or agreement >= SORT_AGREES


@kernel()
def _far(attributes: Small, cell: IntArray, j: int, bits: int, agreement: int) -> int:
    """Return the class of a far cell, -1 for one to look at closely."""
    if bits & STRONG:
        return -1
    differ = 0 < agreement <= FAR_AGREEMENT
    kind = attributes[j, column.KIND]
    recalled = kind <= column.LAST_PRONOUN and (cell[CELL_KINDS] >> kind) & 1
    if j - cell[LAST] > LONG_AGO and not recalled:
        return 3 if differ else 2
    if not differ:
        return -1
    sentences = attributes[j, column.SENTENCE] - attributes[cell[LAST], column.SENTENCE]
    return 1 if sentences <= 1 else 0


@kernel()
def _row(
    attributes: Small,
    kin: NDArray[np.uint8],
    cell: IntArray,
    last_bits: int,
    j: int,
    seen: IntArray,
    totals: IntArray,
    levels: IntArray,
    out: Codes,
) -> None:
    mention, last = attributes[j], attributes[cell[LAST]]
    totals[RANK] += _sorts_agree(out[code.C_AGREEMENT])
    out[code.C_RANK] = binned(max(1, totals[RANK]), 8)
    out[code.C_CELL_SORT] = likeliest_sort(cell)
    _own(mention, out)
    _words(seen, out)
    _meanings(attributes, kin, cell, seen, j, out)
    _distances(mention, last, j - cell[LAST], out)
    _members(mention, attributes[cell[FIRST]], last, cell, totals[BIGGEST], out)
    _agreement(mention, cell, seen, out)
    _pronouns(attributes, mention, cell, out)
    _syntax(seen[BITS], last_bits, out)
    if _agrees(mention, cell, out):
        totals[AGREE] += 1
        out[code.C_AGREEING] = min(7, binned(totals[AGREE], 7) + 1)
        totals[HERE] += out[code.C_SENTENCES] == 0
        totals[BEFORE] += out[code.C_SENTENCES] == 1
    else:
        out[code.C_AGREEING] = 0
    _count(seen, totals, levels, out)


@kernel()
def _meanings(
    attributes: Small,
    kin: NDArray[np.uint8],
    cell: IntArray,
    seen: IntArray,
    j: int,
    out: Codes,
) -> None:
    """Code what the table of words says about mention and cell."""
    out[code.C_COSINE], out[code.C_NEAREST_COSINE] = seen[COSINE], seen[NEAR_COSINE]
    out[code.C_RELATION] = seen[RELATION]
    out[code.C_SHARED], out[code.C_PHRASE] = seen[RARE], seen[PHRASES]
    out[code.C_GOVERNORS], out[code.C_FIT] = fit(attributes, kin, j, cell)
    out[code.C_LAST_PRESENCE] = attributes[cell[LAST], column.PRESENCE]
    noun, parts = cell[NOUN], 4 * attributes[j, column.PARTS]
    out[code.C_CELL_CLASS] = attributes[noun, column.NOUN_CLASS] if noun >= 0 else 0
    out[code.C_PARTS] = parts + (attributes[noun, column.PARTS] if noun >= 0 else 0)


@kernel()
def _own(mention: Small, out: Codes) -> None:
    out[code.C_KIND] = mention[column.KIND]
    out[code.C_GROUP] = KIND_GROUPS[mention[column.KIND]]
    out[code.C_SORT] = mention[column.SORT]
    out[code.C_FLAGS] = mention[column.FLAGS]
    out[code.C_POINTER] = mention[column.POINTER]
    out[code.C_COMPLEMENT] = mention[column.COMPLEMENT]
    out[code.C_HEAD_COUNT] = _head_count(mention)
    out[code.C_CERTAINTY], out[code.C_PRESENCE] = (
        mention[column.CERTAINTY],
        mention[column.PRESENCE],
    )
    out[code.C_RARITY], out[code.C_CLASS] = mention[column.RARITY], mention[column.NOUN_CLASS]


@kernel()
def _head_count(mention: Small) -> int:
    if mention[column.KIND] <= column.LAST_PRONOUN:
        return 0
    return binned(mention[column.HEAD_COUNT], 8)


@kernel()
def _words(seen: IntArray, out: Codes) -> None:
    bits = seen[BITS]
    out[code.C_LIKENESS], out[code.C_NEAREST] = seen[LEVEL], seen[NEAREST]
    if seen[NOUNS] == 0:
        out[code.C_ALIKE] = 3
    else:
        out[code.C_ALIKE] = 2 if seen[MATCHED] == seen[NOUNS] else min(1, seen[MATCHED])
    names = 2 if bits & column.SHARED_NAME else 0
    out[code.C_NAMES] = 4 if bits & column.ACRONYM else names + (bits & column.SAME_STEM > 0)
    cover = 2 if bits & column.ALL_OF_EARLIER else 0
    out[code.C_COVER] = cover + (bits & column.ALL_OF_LATER > 0)
    out[code.C_MODIFIERS] = seen[MODIFIERS_THERE]
    out[code.C_OTHER_COMPLEMENT] = seen[COMPLEMENT_THERE]
    out[code.C_NUMERALS] = seen[CLASH]


@kernel()
def _distances(mention: Small, last: Small, between: int, out: Codes) -> None:
    sentences = mention[column.SENTENCE] - last[column.SENTENCE]
    out[code.C_SENTENCES] = 0 if sentences <= 0 else binned(sentences, 8) + 1
    out[code.C_MENTIONS] = min(8, binned(between, 8) + 1)
    paragraphs = mention[column.PARAGRAPH] - last[column.PARAGRAPH]
    out[code.C_PARAGRAPHS] = max(0, min(2, paragraphs)) + (paragraphs > 4)
    nearby = 2 * last[column.ROLE] + (sentences == 0)
    out[code.C_NEARBY] = nearby if sentences <= 1 else 0
    gap, found = mention[column.START] - last[column.END], 0
    for edge in (-1, 1, 3, 5, 12, 40):
        if gap > edge:
            found += 1
    out[code.C_GAP] = found


@kernel()
def _members(
    mention: Small, first: Small, last: Small, cell: IntArray, biggest: int, out: Codes
) -> None:
    out[code.C_SIZE] = binned(cell[SIZE], 7)
    out[code.C_LAST_KIND] = last[column.KIND]
    out[code.C_LAST_GROUP] = KIND_GROUPS[last[column.KIND]]
    out[code.C_FIRST] = KIND_GROUPS[first[column.KIND]]
    out[code.C_FORMS] = cell[FORMS]
    out[code.C_ROLES] = mention[column.ROLE] * len(column.ROLES) + last[column.ROLE]
    there = 2 if last[column.REGION] == 1 else 1 if first[column.REGION] == 1 else 0
    out[code.C_HEADINGS] = 3 * (mention[column.REGION] == 1) + there
    share, found = cell[SIZE] / biggest, 1
    for edge in (0.1, 0.25, 0.5):
        if share > edge:
            found += 1
    out[code.C_SHARE] = 5 if cell[SIZE] == biggest and biggest > 1 else found


@kernel()
def _agreement(mention: Small, cell: IntArray, seen: IntArray, out: Codes) -> None:
    out[code.C_NUMBER] = 4 * mention[column.NUMBER] + cell[NUMBERS]
    out[code.C_GENDER] = 5 * _gender(mention[column.GENDER]) + _gender(cell[GENDERS])
    out[code.C_OWNER], out[code.C_TURNS] = seen[OWNED], 5 * seen[LAST_ME] + seen[LAST_YOU]


@kernel()
def _gender(bits: int) -> int:
    """Return 0 unknown, 1 masculine, 2 feminine, 3 neuter, 4 several."""
    if bits == column.NEUTER:
        return 3
    return bits if bits <= column.FEMININE else 4


@kernel()
def _pronouns(attributes: Small, mention: Small, cell: IntArray, out: Codes) -> None:
    """Code the cell's last pronoun: none, this kind last, this kind earlier, other, as before."""
    kind = mention[column.KIND]
    out[code.C_SPEAKING] = cell[CELL_KINDS] & 7
    out[code.C_SPOKEN_OF] = (cell[CELL_KINDS] >> column.HE) & 15
    if cell[PRONOUN] < 0:
        out[code.C_PRONOUN] = out[code.C_LAST_PRONOUN] = 0
        return
    theirs = attributes[cell[PRONOUN], column.KIND]
    out[code.C_LAST_PRONOUN] = theirs + 1
    if theirs == kind:
        out[code.C_PRONOUN] = 1 if cell[PRONOUN] == cell[LAST] else 4
    else:
        out[code.C_PRONOUN] = 2 if (cell[CELL_KINDS] >> kind) & 1 else 3


@kernel()
def _syntax(bits: int, last_bits: int, out: Codes) -> None:
    nested = 1 if last_bits & column.NESTED else 2 if bits & column.NESTED else 0
    out[code.C_NESTING] = 3 if bits & column.SIBLINGS else nested
    predicated = 1 if bits & column.PREDICATED else 0
    out[code.C_APPOSITION] = 2 if bits & column.APPOSED else predicated


@kernel()
def _agrees(mention: Small, cell: IntArray, out: Codes) -> bool:
    """Return whether sort, number, gender, person and nesting allow it."""
    if not _sorts_agree(out[code.C_AGREEMENT]):
        return False
    number = mention[column.NUMBER]
    both = number > 0 and cell[NUMBERS] > 0
    if both and cell[NUMBERS] != THIRD_AS_NUMBER and cell[NUMBERS] != number:
        return False
    kind = mention[column.KIND]
    pronoun = kind <= column.LAST_PRONOUN
    mine, theirs = _gender(mention[column.GENDER]), _gender(cell[GENDERS])
    if pronoun and mine > 0 and 0 < theirs < 4 and mine != theirs:
        return False
    if out[code.C_NESTING] == 1 or out[code.C_NESTING] == 2:
        return False
    if kind <= column.YOU:
        return bool((cell[CELL_KINDS] >> kind) & 1)
    speaks = cell[CELL_KINDS] & 7  # I, we, you
    return bool(not pronoun or kind == column.DEMONSTRATIVE or speaks == 0)


@kernel()
def _count(seen: IntArray, totals: IntArray, levels: IntArray, out: Codes) -> None:
    """Add this cell to the totals over all cells of the sort."""
    likeness = seen[LEVEL]
    out[code.C_LIKE_RANK] = 0
    if likeness < NO_WORDS:
        levels[likeness] += 1
        totals[BEST] = max(totals[BEST], likeness)
        if likeness >= 3:
            totals[LIKE] += 1
            out[code.C_LIKE_RANK] = min(7, totals[LIKE])
    if seen[COSINE] < NO_NOUNS and seen[HEADS] == 0:
        totals[BEST_COSINE] = max(totals[BEST_COSINE], seen[COSINE])
    totals[BEST_PHRASE] = max(totals[BEST_PHRASE], seen[PHRASES])
    totals[BEST_SHARED] = max(totals[BEST_SHARED], seen[RARE])
    totals[OVERLAPS] += (seen[BITS] & column.SHARED_WORD) > 0
    totals[ALL_HEADS] += seen[HEADS]
    totals[HEAD_CELLS] += seen[HEADS] > 0
    totals[APPOSED_TO] = max(totals[APPOSED_TO], out[code.C_APPOSITION])


@kernel()
def _relative(seen: IntArray, totals: IntArray, levels: IntArray, codes: Codes) -> None:
    """Fill the codes that need all cells: likest or not, rivals, share of the head."""
    best, met = totals[BEST], False
    for r in range(len(codes)):
        out = codes[r]
        likest = best > 0 and seen[r, LEVEL] == best
        out[code.C_RIVALS] = min(4, levels[best]) if likest else 0
        out[code.C_STRONGEST] = (2 if met else 1) if likest else (3 if best > 0 else 0)
        met = met or likest
        out[code.C_HEAD_SHARE] = _head_share(seen[r, HEADS], totals[ALL_HEADS])
    _similar_ranks(seen, codes)


@kernel()
def _similar_ranks(seen: IntArray, codes: Codes) -> None:
    """Fill the rank by similarity among agreeing cells without the head, 0 for other cells."""
    better = np.zeros(COSINES * COSINES + 1, np.int64)
    for r in range(len(codes)):
        better[_similarity(seen[r], codes[r])] += 1
    for k in range(len(better) - 2, -1, -1):
        better[k] += better[k + 1]
    for r in range(len(codes)):
        mine = _similarity(seen[r], codes[r])
        codes[r, code.C_SIMILAR_RANK] = 1 + min(4, better[mine + 1]) if mine > 0 else 0


@kernel()
def _similarity(seen: IntArray, codes: Codes) -> int:
    """Return a number that grows with the similarity of heads, then of all words; 0 for none."""
    known = 0 < seen[COSINE] < NO_NOUNS
    if not known or seen[HEADS] > 0 or codes[code.C_AGREEING] == 0:
        return 0
    return int(COSINES * seen[COSINE] + seen[PHRASES])


@kernel()
def _head_share(mine: int, everyone: int) -> int:
    """Return 0 none, 1 under a quarter, 2 under a half, 3 under all, 4 all."""
    if mine == 0:
        return 0
    if mine == everyone:
        return 4
    return 3 if 2 * mine >= everyone else 2 if 4 * mine >= everyone else 1


@kernel()
def _new(attributes: Small, j: int, totals: IntArray, levels: IntArray, out: Codes) -> None:
    mention, best = attributes[j], totals[BEST]
    out[code.N_KIND], out[code.N_SORT] = mention[column.KIND], mention[column.SORT]
    out[code.N_BEST], out[code.N_CELLS] = best, binned(totals[RANK], 8)
    out[code.N_LENGTH], out[code.N_MODIFIERS] = mention[column.LENGTH], mention[column.MODIFIERS]
    out[code.N_DETERMINER] = mention[column.DETERMINER]
    out[code.N_POSITION], out[code.N_REGION] = mention[column.POSITION], mention[column.REGION]
    out[code.N_ROLE], out[code.N_NESTED] = mention[column.ROLE], mention[column.PARENT] >= 0
    out[code.N_AGREEING] = min(7, binned(totals[AGREE], 7) + 1) if totals[AGREE] else 0
    out[code.N_NEAR] = min(3, totals[HERE]) + 4 * min(1, totals[BEFORE])
    out[code.N_FLAGS], out[code.N_POINTER] = mention[column.FLAGS], mention[column.POINTER]
    parent = mention[column.PARENT]
    around = KIND_GROUPS[attributes[parent, column.KIND]] if parent >= 0 else column.GROUP_COUNT
    out[code.N_PARENT], out[code.N_OVERLAPS] = around, min(2, totals[OVERLAPS])
    out[code.N_LIKEST] = min(5, levels[best]) if best > 0 else 0
    out[code.N_APPOSITION] = totals[APPOSED_TO]
    out[code.N_COMPLEMENT], out[code.N_HEAD_COUNT] = (
        mention[column.COMPLEMENT],
        _head_count(mention),
    )
    out[code.N_CERTAINTY], out[code.N_PRESENCE] = (
        mention[column.CERTAINTY],
        mention[column.PRESENCE],
    )
    out[code.N_RARITY], out[code.N_CLASS] = mention[column.RARITY], mention[column.NOUN_CLASS]
    out[code.N_COSINE], out[code.N_PHRASE] = totals[BEST_COSINE], totals[BEST_PHRASE]
    out[code.N_SHARED], out[code.N_PARTS] = totals[BEST_SHARED], mention[column.PARTS]
    out[code.N_SPLIT] = _split(mention, totals[ALL_HEADS], totals[HEAD_CELLS])


@kernel()
def _split(mention: Small, heads: int, cells: int) -> int:
    """Return how many earlier mentions share the head, and whether in one, few or many cells."""
    if heads == 0 or mention[column.KIND] <= column.LAST_PRONOUN:
        return 0
    spread = 0 if cells == 1 else 1 if 2 * cells <= heads + 1 else 2
    return min(11, min(4, heads) + 4 * spread)
