"""Codes of a mention against a cell, and of a mention that starts one.

What a mention and a cell have together is computed once, for all configurations that have the cell.
What is relative to the other cells of a configuration is a key: four bits for each of RELATIVE, or
of RELATIVE_NEW. Cells are counted from the most recent one on.

Throughout: `mentions`, `cells` and `grown` are those of `cells_kernels`; `attributes` and `kin` are
fields of `mentions`; `mention`, `first` and `last` are rows of `attributes` (`last`: the last
member's), `cell` is a row of the table's `columns` and `seen` its row of `seen`. `out` (CODES or
NEW_CODES) gets the codes of one cell, `facts` (FACTS) what is compared between cells; `counts`,
`totals` and `levels` are room to count the cells of a configuration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, uncounted
from partita.configurations.joint import codes as code
from partita.configurations.joint.cells_kernels import (
    CELL_KINDS,
    CLUSTER,
    COSINE,
    EMPTY,
    FIRST,
    GENDERS,
    HEADS,
    LAST,
    LAST_ME,
    LAST_YOU,
    LEVEL,
    MATCHED,
    MODIFIERS_THERE,
    MOST_ALIKE,
    NEAREST,
    NO_NOUNS,
    NO_WORDS,
    NOUN,
    NOUNS,
    NUMBERS,
    PHRASES,
    PRONOUN,
    RARE,
    RELATION,
    SIZE,
    TYPE_AGREES,
    VOICE_OF_ME,
    VOICE_OF_YOU,
    WITHOUT,
    CellTable,
    Grown,
    Small,
    fit,
    habit,
    likeliest_type,
    owned,
    type_agreement,
    voices,
)
from partita.configurations.joint.features_kernels import Mentions
from partita.core import IntArray

Codes = NDArray[np.uint8]
LEVEL_COUNT, COSINES = code.LEVELS, code.COSINES
KIND_GROUPS = np.array(code.GROUPS)
THIRD_AS_NUMBER = 3
BEST, AGREE, HERE, BEFORE, OVERLAPS, ALL_HEADS, HEAD_CELLS, RANK, BEST_PHRASE, SPEAKERS = range(10)
TOTALS = 10
# What the relative codes need of a mention and a cell.
F_TYPES_AGREE, F_AGREES, F_LEVEL, F_HEADS, F_PHRASES, F_OVERLAPS, F_SENTENCES, F_SPEAKS = range(8)
FACTS = 8
RELATIVE = np.array([
    code.C_RANK, code.C_AGREEING, code.C_RIVALS, code.C_STRONGEST, code.C_AS_BEFORE, code.C_OWNER,
    code.C_HABIT, code.C_SPEAKER_RANK,
])  # fmt: skip
RELATIVE_NEW = np.array([
    code.N_BEST, code.N_CELLS, code.N_AGREEING, code.N_NEAR, code.N_OVERLAPS, code.N_LIKEST,
    code.N_SPLIT, code.N_HABIT, code.N_PHRASE,
])  # fmt: skip
KEY_BITS, KEY_MASK = 4, 15
# A cell that shares one of these with a mention is never far from it.
STRONG = (
    code.SAME_TEXT | code.SAME_HEAD | code.SHARED_WORD | code.SHARED_NAME | code.SAME_STEM
    | code.ACRONYM | code.APPOSED | code.PREDICATED | code.DENIED | code.INCOMPATIBLE
)  # fmt: skip
PERSON = code.TYPES.index("person")
FAR_AGREEMENT = 2  # up to this bin of agreement the types differ
LONG_AGO = 60  # mentions since the last of a cell, after which it is out of sight
SALIENT = 5  # members from which a cell is never out of sight
MOST_SPEAKERS = 5
LONG_AGO_CLASS, NEAR = len(code.OTHER) - 1, -1
BIN_EDGES = (1, 2, 3, 5, 9, 19, 49)
BINS = np.array([sum(x > edge for edge in BIN_EDGES) for x in range(51)])


@uncounted
def binned(x: int, values: int) -> int:
    """Return 1, 2, 3, 4–5, 6–9, 10–19, 20–49, 50 and more as 0 to 7, cut to so many values."""
    return int(min(BINS[min(max(x, 0), 50)], values - 1))


@uncounted
def clear(counts: IntArray) -> None:
    """Set all to 0."""
    for k in range(len(counts)):
        counts[k] = 0


@uncounted
def classify(mentions: Mentions, cells: CellTable, count: int, j: int) -> None:
    """Fill the classes of the cells that were met; mark those near mention j, to be seen.

    The parts of a marked cell are marked too.
    """
    attributes, shares, columns = mentions.attributes, mentions.types[j], cells.columns
    met, bits, classes, marked = cells.met, cells.bits, cells.classes, cells.marked
    kind, sentence = attributes[j, code.KIND], attributes[j, code.SENTENCE]
    pronoun = 1 << kind if kind <= code.LAST_PRONOUN else 0
    for slot in range(count):
        cell = met[slot]
        last = columns[cell, LAST]
        classes[cell] = NEAR
        if not bits[cell] & STRONG:
            recalled = columns[cell, SIZE] >= SALIENT or columns[cell, CELL_KINDS] & pronoun
            if j - last > LONG_AGO and not recalled:
                classes[cell] = LONG_AGO_CLASS
            elif 0 < type_agreement(shares, columns[cell]) <= FAR_AGREEMENT:
                classes[cell] = sentence - attributes[last, code.SENTENCE] <= 1
        while classes[met[slot]] == NEAR and cell != EMPTY and marked[cell] != j:
            marked[cell] = j
            cell = columns[cell, WITHOUT]


@uncounted
def describe_cell(
    mentions: Mentions,
    cells: CellTable,
    row: IntArray,
    j: int,
    number: int,
    facts: Small,
    out: Codes,
) -> None:
    """Fill the facts and codes of mention j and a cell that it sees.

    `row` holds j's relations to earlier mentions.
    """
    attributes, kin, cell = mentions.attributes, mentions.kin, cells.columns[number]
    mention, last, seen = attributes[j], attributes[cell[LAST]], cells.seen[number]
    agreement, bits = type_agreement(mentions.types[j], cell), cells.bits[number]
    if seen[NOUNS] == 0:
        seen[LEVEL] = seen[NEAREST] = NO_WORDS
        seen[COSINE] = seen[RELATION] = NO_NOUNS
    out[code.C_AGREEMENT], out[code.C_CELL_TYPE] = agreement, likeliest_type(cell)
    _own(mention, _around(attributes, mention), out)
    _words(seen, bits, out)
    _names(mention, bits, out)
    _meanings(attributes, kin, cell, seen, j, out)
    _distances(mention, last, j - cell[LAST], out)
    _members(mention, attributes[cell[FIRST]], last, cell, out)
    _agreement(mention, cell, seen, out)
    _pronouns(attributes, mention, cell, out)
    _syntax(mention, bits, row[cell[LAST]], out)
    _places(attributes, cell, seen[MOST_ALIKE] - 1, j, out)
    _facts(mention, cell, seen, bits, out, facts)


@uncounted
def _facts(mention: Small, cell: Small, seen: Small, bits: int, out: Codes, facts: Small) -> None:
    """Fill what the other cells of a configuration are compared by."""
    facts[F_TYPES_AGREE] = _types_agree(out[code.C_AGREEMENT])
    facts[F_AGREES] = _agrees(mention, cell, out)
    facts[F_LEVEL], facts[F_HEADS] = seen[LEVEL], seen[HEADS]
    facts[F_PHRASES], facts[F_OVERLAPS] = seen[PHRASES], (bits & code.SHARED_WORD) > 0
    facts[F_SENTENCES] = out[code.C_SENTENCES]
    speaks = cell[CELL_KINDS] & (1 << code.ME | 1 << code.YOU) > 0
    facts[F_SPEAKS] = mention[code.KIND] <= code.YOU and speaks


class Counts(NamedTuple):
    """Room to count the cells of a configuration: in all (`totals`) and by likeness (`levels`)."""

    totals: IntArray
    levels: IntArray


@kernel()
def no_counts() -> Counts:
    """Return counts of nothing."""
    return Counts(np.zeros(TOTALS, np.int64), np.zeros(LEVEL_COUNT, np.int64))


@uncounted
def fill_near_cells(
    mentions: Mentions,
    grown: Grown,
    cells: CellTable,
    facts: Small,
    row: IntArray,
    similar: IntArray,
    b: int,
    j: int,
    near: IntArray,
    keys: IntArray,
    counts: Counts,
) -> tuple[int, int]:
    """Fill the places of the cells near mention j in configuration b, and their keys.

    Then follow the place and the key of "new", and the places of the far cells that are not long
    ago. Returns the number of near cells and of those far cells. `facts` (cells met, FACTS) are
    those of `describe_cell`, `row` (mentions) the relations of j to earlier ones, `similar` those
    of `similar_mentions`. `near` and `keys` (mentions + 2) are written, `counts` is room for
    work. The first loop goes from the most recent cell on: `totals` counts what came before, which
    is a cell's rank; near[count - others + 1:count + 1] keeps the far cells at the other end until
    the number of near ones is known. The second loop adds to the keys what needs all cells: how
    many are as alike, and which of them is the most recent.
    """
    columns, slots, classes = cells.columns, cells.slots, cells.classes
    homes, row_of_cells = grown.homes[b], grown.cells[b]
    totals, levels, count = counts.totals, counts.levels, grown.counts[b]
    clear(totals)
    clear(levels)
    found, others = 0, 0
    for at in range(count):
        which = classes[row_of_cells[at]]
        if which == NEAR:
            keys[found] = _count(facts, slots[row_of_cells[at]], totals, levels)
            near[found] = at
            found += 1
        elif which != LONG_AGO_CLASS:
            near[count - others] = at
            others += 1
    for k in range(others):
        near[found + 1 + k] = near[count - others + 1 + k]
    usual, latest = habit(similar, homes)
    best, met = totals[BEST], False
    rivals, owner = min(4, levels[best]), mentions.attributes[j, code.OWNER] >= 0
    for r in range(found):
        cell = row_of_cells[near[r]]
        slot = slots[cell]
        likest = best > 0 and facts[slot, F_LEVEL] == best
        strongest = (2 if met else 1) if likest else (3 if best > 0 else 0)
        met = met or likest
        as_before = 0 if latest < 0 else 1 if columns[cell, FIRST] == latest else 2
        keys[r] |= (
            (rivals if likest else 0) << 8
            | strongest << 12
            | as_before << 16
            | (owned(mentions.attributes, columns, homes, row, j, cell) if owner else 0) << 20
            | usual << 24
        )
    near[found], keys[found] = count, _new_key(mentions.attributes[j], totals, levels, usual)
    return found, others


@uncounted
def _count(facts: Small, slot: int, totals: IntArray, levels: IntArray) -> int:
    """Add a cell to the totals; return the part of its key that tells its ranks."""
    agreeing = 0
    if facts[slot, F_TYPES_AGREE]:
        totals[RANK] += 1
    if facts[slot, F_AGREES]:
        totals[AGREE] += 1
        agreeing = min(7, binned(totals[AGREE], 7) + 1)
        totals[HERE] += facts[slot, F_SENTENCES] == 0
        totals[BEFORE] += facts[slot, F_SENTENCES] == 1
    likeness = facts[slot, F_LEVEL]
    if likeness < NO_WORDS:
        levels[likeness] += 1
        totals[BEST] = max(totals[BEST], likeness)
    totals[BEST_PHRASE] = max(totals[BEST_PHRASE], facts[slot, F_PHRASES])
    totals[OVERLAPS] += facts[slot, F_OVERLAPS]
    totals[ALL_HEADS] += facts[slot, F_HEADS]
    totals[HEAD_CELLS] += facts[slot, F_HEADS] > 0
    totals[SPEAKERS] += facts[slot, F_SPEAKS]
    speaker = min(MOST_SPEAKERS, totals[SPEAKERS]) if facts[slot, F_SPEAKS] else 0
    return int(binned(max(1, totals[RANK]), 8) | agreeing << 4 | speaker << 28)


@uncounted
def _new_key(mention: Small, totals: IntArray, levels: IntArray, usual: int) -> int:
    """Return the key of "new" in a configuration."""
    best = totals[BEST]
    agreeing = min(7, binned(totals[AGREE], 7) + 1) if totals[AGREE] else 0
    return int(
        best
        | binned(totals[RANK], 8) << 4
        | agreeing << 8
        | (min(3, totals[HERE]) + 4 * min(1, totals[BEFORE])) << 12
        | min(2, totals[OVERLAPS]) << 16
        | (min(5, levels[best]) if best > 0 else 0) << 20
        | _split(mention, totals[ALL_HEADS], totals[HEAD_CELLS]) << 24
        | usual << 28
        | totals[BEST_PHRASE] << 32
    )


@uncounted
def _types_agree(agreement: int) -> bool:
    """Return whether the types may well be the same, or one is unknown."""
    return agreement == 0 or agreement >= TYPE_AGREES


@uncounted
def _meanings(
    attributes: Small,
    kin: NDArray[np.uint8],
    cell: Small,
    seen: Small,
    j: int,
    out: Codes,
) -> None:
    """Code what the table of words says about mention and cell."""
    out[code.C_COSINE] = seen[COSINE]
    out[code.C_RELATION], out[code.C_CLUSTER] = seen[RELATION], seen[CLUSTER]
    out[code.C_SHARED], out[code.C_PHRASE] = seen[RARE], seen[PHRASES]
    out[code.C_GOVERNORS], out[code.C_FIT] = fit(attributes, kin, j, cell)
    out[code.C_LAST_PRESENCE] = attributes[cell[LAST], code.PRESENCE]
    noun, parts = cell[NOUN], 4 * attributes[j, code.PARTS]
    out[code.C_CELL_CLASS] = attributes[noun, code.NOUN_CLASS] if noun >= 0 else 0
    out[code.C_PARTS] = parts + (attributes[noun, code.PARTS] if noun >= 0 else 0)


@uncounted
def _own(mention: Small, around: int, out: Codes) -> None:
    """Code what is of the mention alone; `around` is what refers around it."""
    out[code.C_KIND] = mention[code.KIND]
    out[code.C_GROUP] = KIND_GROUPS[mention[code.KIND]]
    out[code.C_TYPE] = mention[code.TYPE]
    out[code.C_FLAGS] = mention[code.FLAGS]
    out[code.C_POINTER] = mention[code.POINTER]
    out[code.C_CERTAINTY], out[code.C_PRESENCE] = (
        mention[code.CERTAINTY],
        mention[code.PRESENCE],
    )
    out[code.C_RARITY], out[code.C_PARENT] = mention[code.RARITY], around
    out[code.C_DETERMINER], out[code.C_LENGTH] = mention[code.DETERMINER], mention[code.LENGTH]
    out[code.C_QUESTION], out[code.C_TURN] = mention[code.QUESTION], mention[code.TURN]


@uncounted
def _head_count(mention: Small) -> int:
    """Return how often the head occurs, binned; 0 for a pronoun."""
    if mention[code.KIND] <= code.LAST_PRONOUN:
        return 0
    return binned(mention[code.HEAD_COUNT], 8)


@uncounted
def _words(seen: Small, bits: int, out: Codes) -> None:
    """Code the likeness by words."""
    out[code.C_LIKENESS], out[code.C_NEAREST] = seen[LEVEL], seen[NEAREST]
    if seen[NOUNS] == 0:
        out[code.C_ALIKE] = 3
    else:
        out[code.C_ALIKE] = 2 if seen[MATCHED] == seen[NOUNS] else min(1, seen[MATCHED])
    cover = 2 if bits & code.ALL_OF_EARLIER else 0
    out[code.C_COVER] = cover + (bits & code.ALL_OF_LATER > 0)
    out[code.C_MODIFIERS] = seen[MODIFIERS_THERE]


@uncounted
def _names(mention: Small, bits: int, out: Codes) -> None:
    """Code whether names of the cell have words in common with the mention's, or are others.

    0 no names on both sides, 1 in common; others, 2 both with a given name, 3 one, 4 none of them;
    and 5 more of persons.
    """
    other, shared = _lowest(bits >> code.OTHER_NAMES, 3), bits & code.SHARED_NAME > 0
    persons = mention[code.TYPE] == PERSON and out[code.C_CELL_TYPE] == PERSON
    known = 1 if shared else 1 + other if other > 0 else 0
    out[code.C_OTHER_NAME] = 5 * persons + known


@uncounted
def _distances(mention: Small, last: Small, between: int, out: Codes) -> None:
    """Code how far the last member is, in sentences, mentions, paragraphs and words."""
    sentences = mention[code.SENTENCE] - last[code.SENTENCE]
    out[code.C_SENTENCES] = 0 if sentences <= 0 else binned(sentences, 8) + 1
    out[code.C_MENTIONS] = min(8, binned(between, 8) + 1)
    paragraphs = mention[code.PARAGRAPH] - last[code.PARAGRAPH]
    out[code.C_PARAGRAPHS] = max(0, min(2, paragraphs)) + (paragraphs > 4)
    nearby = 2 * last[code.ROLE] + (sentences == 0)
    out[code.C_NEARBY] = nearby if sentences <= 1 else 0
    gap, found = mention[code.START] - last[code.END], 0
    for edge in (-1, 1, 3, 5, 12, 40):
        if gap > edge:
            found += 1
    out[code.C_GAP] = found


@uncounted
def _around(attributes: Small, mention: Small) -> int:
    """Return how the expression around a mention refers."""
    return _group(attributes, mention[code.PARENT])


@uncounted
def _group(attributes: Small, i: int) -> int:
    """Return how mention i refers, as a group of kinds."""
    return int(KIND_GROUPS[attributes[i, code.KIND]]) if i >= 0 else code.GROUP_COUNT


@uncounted
def _since(attributes: Small, j: int, i: int) -> int:
    """Return the sentences since mention i, 9 if there is none."""
    if i < 0:
        return 9
    sentences = attributes[j, code.SENTENCE] - attributes[i, code.SENTENCE]
    return 0 if sentences <= 0 else binned(sentences, 8) + 1


@uncounted
def _numbers(attributes: Small, j: int, i: int) -> int:
    """Return the grammatical numbers of both, 9 if there is no mention i."""
    if i < 0:
        return 9
    return int(3 * attributes[j, code.NUMBER] + attributes[i, code.NUMBER])


@uncounted
def _places(attributes: Small, cell: Small, alike: int, j: int, out: Codes) -> None:
    """Code where single members stand, and how they refer."""
    noun = cell[NOUN]
    out[code.C_OTHER_COMPLEMENT] = attributes[alike, code.COMPLEMENT] if alike >= 0 else 0
    out[code.C_ALIKE_SENTENCES] = _since(attributes, j, alike)
    out[code.C_ALIKE_NUMBER] = _numbers(attributes, j, alike)
    out[code.C_NOUN_SENTENCES] = _since(attributes, j, noun)
    out[code.C_NOUN_GROUP] = _group(attributes, noun)
    out[code.C_NOUN_NUMBER] = _numbers(attributes, j, noun)
    out[code.C_PRONOUN_SENTENCES] = _since(attributes, j, cell[PRONOUN])
    out[code.C_AGE] = min(8, binned(j - cell[FIRST], 8) + 1)


@uncounted
def _members(mention: Small, first: Small, last: Small, cell: Small, out: Codes) -> None:
    """Code the size of the cell and how its first and last members refer."""
    out[code.C_SIZE] = binned(cell[SIZE], 7)
    out[code.C_LAST_GROUP] = KIND_GROUPS[last[code.KIND]]
    out[code.C_FIRST] = KIND_GROUPS[first[code.KIND]]
    out[code.C_ROLES] = mention[code.ROLE] * len(code.ROLES) + last[code.ROLE]
    out[code.C_QUOTE] = 3 * (mention[code.QUOTE] > 0) + voices(mention, last) - 1


@uncounted
def _agreement(mention: Small, cell: Small, seen: Small, out: Codes) -> None:
    """Code number, gender and who speaks, of mention and cell."""
    out[code.C_NUMBER] = 4 * mention[code.NUMBER] + cell[NUMBERS]
    gender, genders = _gender(mention[code.GENDER]), cell[GENDERS]
    out[code.C_GENDER] = 8 * gender + genders % code.MALE_NAME
    out[code.C_NAME_GENDER] = 16 * gender + genders // code.MALE_NAME
    out[code.C_PRONOUNS] = 16 * _referring(mention) + _referred_to(cell)
    out[code.C_TURNS] = 5 * seen[LAST_ME] + seen[LAST_YOU]
    quoted = mention[code.QUOTE] > 0
    out[code.C_VOICES] = 16 * quoted + 4 * seen[VOICE_OF_ME] + seen[VOICE_OF_YOU]


@uncounted
def _gender(bits: int) -> int:
    """Return the number of the lowest bit from 1 on, 0 if there is none."""
    found = 0
    while bits:
        found += 1
        if bits & 1:
            return found
        bits >>= 1
    return found


@uncounted
def _referring(mention: Small) -> int:
    """Return 1 he, 2 she, 3 it, 4 they, 5 to 7 a noun or name by number (0, 1, 2), else 0."""
    kind = mention[code.KIND]
    if kind > code.LAST_PRONOUN:
        return int(5 + mention[code.NUMBER])
    return int(kind - code.HE + 1) if code.HE <= kind <= code.THEY else 0


@uncounted
def _referred_to(cell: Small) -> int:
    """Return bits: he or one man, she or one woman, it, they in a cell."""
    bits = cell[CELL_KINDS] >> code.HE & 15
    return int(bits | _sexes(cell[GENDERS]) if cell[NUMBERS] == code.SINGULAR else bits)


@uncounted
def _sexes(genders: int) -> int:
    """Return a bit for men and one for women; names that may be surnames are left out."""
    men = genders & (code.MASCULINE | code.MALE_NAME) > 0
    return int(men + 2 * (genders & (code.FEMININE | code.FEMALE_NAME) > 0))


@uncounted
def _clashes(mention: Small, cell: Small) -> bool:
    """Return whether gender is another than all in the cell, or pronouns differ: he, she, they."""
    gender, genders = mention[code.GENDER], cell[GENDERS]
    own, theirs = _sexes(gender), _sexes(genders)
    if own and theirs and not own & theirs:
        return True
    if gender and genders and (gender == code.NEUTER) != (genders & code.NEUTER > 0):
        return True
    kind, referred_to = mention[code.KIND], _referred_to(cell)
    if kind == code.THEY:
        return bool(referred_to & 3)
    return bool((kind == code.HE or kind == code.SHE) and referred_to & 8)


@uncounted
def _pronouns(attributes: Small, mention: Small, cell: Small, out: Codes) -> None:
    """Code the cell's last pronoun: none, this kind last, this kind earlier, other, as before."""
    kind = mention[code.KIND]
    out[code.C_SPEAKING] = cell[CELL_KINDS] & 7
    if cell[PRONOUN] < 0:
        out[code.C_PRONOUN] = 0
        return
    theirs = attributes[cell[PRONOUN], code.KIND]
    if theirs == kind:
        out[code.C_PRONOUN] = 1 if cell[PRONOUN] == cell[LAST] else 4
    else:
        out[code.C_PRONOUN] = 2 if (cell[CELL_KINDS] >> kind) & 1 else 3


@uncounted
def _syntax(mention: Small, bits: int, last_bits: int, out: Codes) -> None:
    """Code binding, path, nesting and apposition, from relation bits; `last_bits` to the last."""
    pronoun = mention[code.KIND] <= code.LAST_PRONOUN
    owner, reflexive = mention[code.FLAGS] & 1, mention[code.FLAGS] & 2
    clash = _lowest(bits >> code.PATH + code.PATHS, code.CLASHES)
    out[code.C_BINDING] = (code.CLASHES + 1) * (2 if reflexive else pronoun) + clash
    place = _lowest(bits >> code.PATH, code.PATHS)
    if place == 0 and clash > 0:
        place = code.PATHS + 1
    out[code.C_PATH] = (code.PATHS + 2) * (1 + owner if pronoun else 0) + place
    before = _lowest(bits >> code.PATH + code.PATHS + code.CLASHES, code.LASTS)
    out[code.C_LAST] = 2 * before + (place > 0)
    nested = 1 if last_bits & code.NESTED else 2 if bits & code.NESTED else 0
    out[code.C_NESTING] = 3 if bits & code.SIBLINGS else nested
    predicated = 1 if bits & code.PREDICATED else 0
    out[code.C_APPOSITION] = 2 if bits & code.APPOSED else predicated


@uncounted
def _lowest(bits: int, count: int) -> int:
    """Return the number of the lowest of so many bits from 1 on, 0 if none is set."""
    for k in range(count):
        if bits >> k & 1:
            return k + 1
    return 0


@uncounted
def _agrees(mention: Small, cell: Small, out: Codes) -> bool:
    """Return whether type, number, gender, person, nesting and binding allow it."""
    if not _types_agree(out[code.C_AGREEMENT]):
        return False
    number = mention[code.NUMBER]
    both = number > 0 and cell[NUMBERS] > 0
    if both and cell[NUMBERS] != THIRD_AS_NUMBER and cell[NUMBERS] != number:
        return False
    kind = mention[code.KIND]
    pronoun = kind <= code.LAST_PRONOUN
    if pronoun and (_clashes(mention, cell) or 0 < out[code.C_BINDING] % (code.CLASHES + 1) < 4):
        return bool(mention[code.FLAGS] & 2)
    if out[code.C_NESTING] == 1 or out[code.C_NESTING] == 2:
        return False
    if kind <= code.YOU:
        return bool((cell[CELL_KINDS] >> kind) & 1)
    speaks = cell[CELL_KINDS] & 7  # I, we, you
    return bool(not pronoun or kind == code.DEMONSTRATIVE or speaks == 0)


@uncounted
def describe_new(attributes: Small, j: int, out: Codes) -> None:
    """Fill the codes of a mention that starts a cell, relative ones apart."""
    mention = attributes[j]
    out[code.N_KIND], out[code.N_TYPE] = mention[code.KIND], mention[code.TYPE]
    out[code.N_LENGTH], out[code.N_MODIFIERS] = mention[code.LENGTH], mention[code.MODIFIERS]
    out[code.N_DETERMINER] = mention[code.DETERMINER]
    out[code.N_ROLE], out[code.N_NESTED] = mention[code.ROLE], mention[code.PARENT] >= 0
    out[code.N_FLAGS], out[code.N_HEAD_COUNT] = mention[code.FLAGS], _head_count(mention)
    out[code.N_CERTAINTY] = mention[code.CERTAINTY]
    out[code.N_PRESENCE] = mention[code.PRESENCE]
    out[code.N_RARITY], out[code.N_CLASS] = mention[code.RARITY], mention[code.NOUN_CLASS]
    out[code.N_QUOTED] = mention[code.QUOTE] > 0
    out[code.N_FRONTED] = mention[code.FRONTED]


@uncounted
def fill_relative(key: int, relative: IntArray, out: Codes) -> None:
    """Fill the codes `relative` (their numbers) from a key."""
    for k in range(len(relative)):
        out[relative[k]] = (key >> (KEY_BITS * k)) & KEY_MASK


@uncounted
def _split(mention: Small, heads: int, cells: int) -> int:
    """Return how many earlier mentions share the head, and whether in one, few or many cells."""
    if heads == 0 or mention[code.KIND] <= code.LAST_PRONOUN:
        return 0
    spread = 0 if cells == 1 else 1 if 2 * cells <= heads + 1 else 2
    return min(11, min(4, heads) + 4 * spread)
