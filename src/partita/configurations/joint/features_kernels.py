"""Compiled relations between a mention and all earlier ones of its document.

`mentions` are those of a document; the other arrays are its fields: `attributes`
(mentions × attributes), `strings`, and sets of words as (`begin`, `held`): mention i holds
held[begin[i]:begin[i + 1]], ascending. `earlier`, `later`, `one`, `other` and `mention` are rows of
`attributes`. All are only read; i is earlier than j.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, kernel_record, uncounted
from partita.configurations.joint import codes as code
from partita.core import IntArray

NEAR_SUBJECT = 3  # words from a subject to its verb: Mary wanted to see her
NAMESAKES = code.SAME_HEAD | code.ACRONYM | code.APPOSED | code.PREDICATED | code.HEAD_INSIDE
Attributes = NDArray[np.int32]
Sets = tuple[IntArray, IntArray]


@kernel_record(
    "i4[:,:], i4[:,:], i8[:,:], (i8[:], i8[:]), (i8[:], i8[:]), (i8[:], i8[:]), (i8[:], i8[:]), "
    "i8[:,:], i8[:], u1[:,:], f4[:,:], b1[:,:]"
)
class Mentions(NamedTuple):
    """The mentions of a document in the order of decisions; what pairs have is computed by row.

    `attributes` are small numbers (the columns of `codes`); `types` are probabilities in
    thousandths; `strings` the numbers of text, stem, initials and compact text; the four sets
    `words`, `names`, `numerals` and `modifiers` ascending word numbers of each mention; `links`
    what a mention is in apposition to, is the predicate of, is denied to be, and pronouns of other
    people beside it; `kin` relates words, `rarity` is that of a word number; `phrases` are unit
    vectors of the mentions' words; `incompatible`, which pairs are known to differ, is empty if
    there are none.
    """

    attributes: Attributes
    types: NDArray[np.int32]
    strings: IntArray
    words: Sets
    names: Sets
    numerals: Sets
    modifiers: Sets
    links: IntArray
    rarity: IntArray
    kin: NDArray[np.uint8]
    phrases: NDArray[np.float32]
    incompatible: NDArray[np.bool_]


@uncounted
def fill_relations(mentions: Mentions, j: int, row: IntArray) -> None:
    """Fill row[i] with the relation bits of mention j to every earlier mention i."""
    attributes, strings, links = mentions.attributes, mentions.strings, mentions.links
    words, rarity, names, numerals = (
        mentions.words,
        mentions.rarity,
        mentions.names,
        mentions.numerals,
    )
    modifiers, phrases = mentions.modifiers, mentions.phrases
    for i in range(j):
        bits = _structure(attributes, links, i, j) | _path(attributes, i, j)
        if strings[i, 0] > 0 and strings[j, 0] > 0:
            bits |= _texts(attributes, strings, i, j)
            bits |= _words(attributes, words, rarity, i, j)
            bits |= _names(attributes, names, i, j, bits) | _numerals(numerals, i, j)
            bits |= _modifiers(modifiers, i, j) << code.MODIFIED
            bits |= _phrase(phrases[i], phrases[j]) << code.PHRASE
        if len(mentions.incompatible) and mentions.incompatible[j, i]:
            bits |= code.INCOMPATIBLE
        row[i] = bits


@kernel(fastmath={"reassoc"}, _nrt=False)
def _phrase(earlier: NDArray[np.float32], later: NDArray[np.float32]) -> int:
    """Return 0 if the words of one are unknown, which have no direction, else 1 to 7 by cosine."""
    product = np.float32(0.0)
    for k in range(len(earlier)):
        product += earlier[k] * later[k]
    if product == 0.0:
        return 0
    found = 1
    for edge in (0.0, 0.2, 0.4, 0.6, 0.75, 0.9):
        if product > edge:
            found += 1
    return found


@uncounted
def _texts(attributes: Attributes, strings: IntArray, i: int, j: int) -> int:
    """Return the bits of equal texts, heads, stems and initials."""
    text, stem, initials, compact = 0, 1, 2, 3
    bits = code.SAME_TEXT if strings[i, text] == strings[j, text] else 0
    if attributes[i, code.HEAD] == attributes[j, code.HEAD]:
        bits |= code.SAME_HEAD
    elif strings[i, stem] > 0 and strings[i, stem] == strings[j, stem]:
        bits |= code.SAME_STEM
    if strings[i, initials] > 0 and strings[i, initials] == strings[j, compact]:
        bits |= code.ACRONYM
    if strings[j, initials] > 0 and strings[j, initials] == strings[i, compact]:
        bits |= code.ACRONYM
    return bits


@uncounted
def _words(attributes: Attributes, words: Sets, rarity: IntArray, i: int, j: int) -> int:
    """Return the bits of common `words` (a set for each mention), and of how rare (`rarity`)."""
    begin, held = words
    shared = _common(begin, held, i, j)
    bits = code.SHARED_WORD if shared > 0 else 0
    if shared == begin[j + 1] - begin[j]:
        bits |= code.ALL_OF_LATER
    if shared == begin[i + 1] - begin[i]:
        bits |= code.ALL_OF_EARLIER
    if _holds(begin, held, i, attributes[j, code.HEAD]) or _holds(
        begin, held, j, attributes[i, code.HEAD]
    ):
        bits |= code.HEAD_INSIDE
    if shared > 0:
        bits |= _rarest(begin, held, rarity, i, j) << code.SHARED_RARITY
    return bits


@uncounted
def _rarest(begin: IntArray, held: IntArray, rarity: IntArray, i: int, j: int) -> int:
    """Return how rare (`rarity` of a word number) the rarest common word is."""
    a, b, found = begin[i], begin[j], 0
    while a < begin[i + 1] and b < begin[j + 1]:
        if held[a] == held[b]:
            found = max(found, rarity[held[a]])
            a, b = a + 1, b + 1
        elif held[a] < held[b]:
            a += 1
        else:
            b += 1
    return found


@uncounted
def _names(attributes: Attributes, names: Sets, i: int, j: int, bits: int) -> int:
    """Return the bits of common parts of `names`, a set for each mention, or of none in common.

    What the other `bits` tie may have two names ("Charles, King of ...").
    """
    begin, held = names
    earlier, later = begin[i + 1] - begin[i], begin[j + 1] - begin[j]
    if earlier == 0 or later == 0:
        return 0
    shared = _common(begin, held, i, j)
    if shared == 0:
        full = int(attributes[i, code.FULL_NAME]) + int(attributes[j, code.FULL_NAME])
        return 0 if bits & NAMESAKES else code.OTHER_NAME >> full
    whole = shared in (later, earlier)
    return code.SHARED_NAME | code.PART_OF_NAME if whole else code.SHARED_NAME


@uncounted
def _numerals(numerals: Sets, i: int, j: int) -> int:
    """Return whether both hold numerals, and none in common."""
    begin, held = numerals
    both = begin[i + 1] > begin[i] and begin[j + 1] > begin[j]
    return code.OTHER_NUMERAL if both and _common(begin, held, i, j) == 0 else 0


@uncounted
def _modifiers(modifiers: Sets, i: int, j: int) -> int:
    """Return how the `modifiers` of both, a set for each mention, compare."""
    begin, held = modifiers
    earlier, later = begin[i + 1] - begin[i], begin[j + 1] - begin[j]
    if later == 0:
        return code.NO_MODIFIERS if earlier == 0 else code.EARLIER_MODIFIED
    if earlier == 0:
        return code.LATER_MODIFIED
    shared = _common(begin, held, i, j)
    if shared == earlier and shared == later:
        return code.SAME_MODIFIERS
    return code.COMMON_MODIFIERS if shared > 0 else code.OTHER_MODIFIERS


@uncounted
def _structure(attributes: Attributes, tied: IntArray, i: int, j: int) -> int:
    """Return the bits of nesting and of what is `tied` by apposition or a copula (`links`)."""
    apposition, copula, denied = 0, 1, 2
    bits = 0
    if _inside(attributes, j, i) or _inside(attributes, i, j):
        bits |= code.NESTED
    if attributes[i, code.PARENT] >= 0 and attributes[i, code.PARENT] == attributes[j, code.PARENT]:
        bits |= code.SIBLINGS
    if tied[j, apposition] == i or tied[i, apposition] == j:
        bits |= code.APPOSED
    if tied[j, copula] == i or tied[i, copula] == j:
        bits |= code.PREDICATED
    if tied[j, denied] == i or tied[i, denied] == j:
        bits |= code.DENIED
    for beside in range(denied + 1, tied.shape[1]):
        if tied[j, beside] == i or tied[i, beside] == j:
            bits |= code.BESIDE
    return bits


@uncounted
def _path(attributes: Attributes, i: int, j: int) -> int:
    """Return the bit for where mention i stands, seen from j in the same or the next sentence."""
    earlier, later = attributes[i], attributes[j]
    sentences, role = later[code.SENTENCE] - earlier[code.SENTENCE], earlier[code.ROLE]
    if sentences < 0 or sentences > 1:
        return 0
    if sentences == 1:
        if role == code.SUBJECT:
            return code.LAST_SUBJECT if earlier[code.CLAUSE_ABOVE] >= 0 else code.LAST_MAIN_SUBJECT
        return code.LAST_OBJECT if role == code.OBJECT else code.LAST_OTHER
    if earlier[code.HEAD_AT] < 0 or later[code.HEAD_AT] < 0:
        return code.ELSEWHERE
    place = _path_here(earlier, later)
    if place == code.BESIDE_SUBJECT and _is_other_object(attributes, i, j):
        return code.OTHER_THAN_SUBJECT
    return place


@uncounted
def _is_other_object(attributes: Attributes, subject: int, j: int) -> bool:
    """Return whether j is "him" right after its verb, whose subject is near before it.

    Where the subject is far off, parses err: 8 % of pairs are the same then, 1 % here. So do they
    on "her" with a noun after it, and on ditransitive verbs, where another mention follows.
    """
    mention, last = attributes[j], j + 1 == len(attributes)
    verb, third = mention[code.GOVERNOR_AT], code.HE <= mention[code.KIND] <= code.THEY
    if not third or mention[code.FLAGS] & 2 or mention[code.ROLE] != code.OBJECT:
        return False
    near = 0 < verb - attributes[subject, code.HEAD_AT] <= NEAR_SUBJECT
    followed = not last and attributes[j + 1, code.START] <= mention[code.END] + 1
    return bool(near and mention[code.HEAD_AT] == verb + 1 and not followed)


@uncounted
def _path_here(earlier: Attributes, later: Attributes) -> int:
    """Return the bit for two mentions of one sentence with a tree."""
    if _owns(earlier, later) or _owns(later, earlier):
        return code.OWNED
    if later[code.SUBJECT_AT] == earlier[code.HEAD_AT]:
        if _is_argument(later):
            oblique = later[code.ROLE] == code.OBLIQUE
            return code.OBLIQUE_BESIDE if oblique else code.BESIDE_SUBJECT
        owner = later[code.ROLE] == code.POSSESSIVE
        return code.OWNED_BY_SUBJECT if owner else code.BELOW_SUBJECT
    if earlier[code.SUBJECT_AT] == later[code.HEAD_AT]:
        return code.BEFORE_SUBJECT
    if earlier[code.CLAUSE] == later[code.CLAUSE]:
        both = _is_argument(earlier) and _is_argument(later)
        return code.ARGUMENTS if both else code.SAME_CLAUSE
    if _is_above(earlier, later):
        return code.SUBJECT_ABOVE if earlier[code.ROLE] == code.SUBJECT else code.ABOVE
    if _is_above(later, earlier):
        return code.CLAUSE_BEFORE if earlier[code.FRONTED] == 1 else code.BELOW
    return code.ELSEWHERE


@uncounted
def _owns(owner: Attributes, owned: Attributes) -> bool:
    """Return whether `owner` is a possessor or complement of `owned`: his, of "his mother"."""
    role = owner[code.ROLE]
    dependent = role == code.POSSESSIVE or role == code.OTHER_ROLE
    return bool(dependent and owner[code.GOVERNOR_AT] == owned[code.HEAD_AT])


@uncounted
def _is_argument(mention: Attributes) -> bool:
    """Return whether a mention is subject, object or oblique of its clause's verb."""
    role = mention[code.ROLE]
    direct = role == code.SUBJECT or role == code.OBJECT or role == code.OBLIQUE
    return bool(direct and mention[code.GOVERNOR_AT] == mention[code.CLAUSE])


@uncounted
def _is_above(one: Attributes, other: Attributes) -> bool:
    """Return whether the clause of one is above that of the other."""
    clause = one[code.CLAUSE]
    near = clause == other[code.CLAUSE_ABOVE] or clause == other[code.CLAUSE_ABOVE_THAT]
    return bool(clause >= 0 and near)


@uncounted
def _inside(attributes: Attributes, inner: int, outer: int) -> bool:
    """Return whether one mention is within another."""
    around = attributes[inner, code.PARENT]
    while around >= 0 and around != outer:
        around = attributes[around, code.PARENT]
    return bool(around == outer)


@uncounted
def _common(begin: IntArray, held: IntArray, i: int, j: int) -> int:
    """Return the number of common words."""
    a, b, shared = begin[i], begin[j], 0
    while a < begin[i + 1] and b < begin[j + 1]:
        if held[a] == held[b]:
            a, b, shared = a + 1, b + 1, shared + 1
        elif held[a] < held[b]:
            a += 1
        else:
            b += 1
    return shared


@uncounted
def _holds(begin: IntArray, held: IntArray, i: int, word: int) -> bool:
    """Return whether mention i holds a word."""
    place = begin[i]
    while place < begin[i + 1] and held[place] < word:
        place += 1
    return bool(place < begin[i + 1] and held[place] == word)
