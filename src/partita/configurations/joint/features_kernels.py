"""Compiled relations between all pairs of a document."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.joint.codes import (
    ACRONYM,
    ALL_OF_EARLIER,
    ALL_OF_LATER,
    APPOSED,
    COMMON_MODIFIERS,
    EARLIER_MODIFIED,
    HEAD,
    HEAD_INSIDE,
    LATER_MODIFIED,
    MODIFIED,
    NESTED,
    NO_MODIFIERS,
    OTHER_MODIFIERS,
    OTHER_NUMERAL,
    PARENT,
    PART_OF_NAME,
    PREDICATED,
    SAME_HEAD,
    SAME_MODIFIERS,
    SAME_STEM,
    SAME_TEXT,
    SHARED_NAME,
    SHARED_WORD,
    SIBLINGS,
)
from partita.records import IntArray

Attributes = NDArray[np.int32]
Relations = NDArray[np.int32]
Sets = tuple[IntArray, IntArray]


@kernel()
def relations(
    attributes: Attributes,
    strings: IntArray,
    words: Sets,
    names: Sets,
    numerals: Sets,
    modifiers: Sets,
    tied: IntArray,
) -> Relations:
    """Fill relations[later, earlier]; strings: text, stem, initials and compact text of each."""
    n = len(attributes)
    found = np.zeros((n, n), np.int32)
    for j in range(n):
        for i in range(j):
            bits = _structure(attributes, tied, i, j)
            if strings[i, 0] > 0 and strings[j, 0] > 0:
                bits |= _texts(attributes, strings, i, j) | _words(attributes, words, i, j)
                bits |= _names(names, i, j) | _numerals(numerals, i, j)
                bits |= _modifiers(modifiers, i, j) << MODIFIED
            found[j, i] = bits
    return found


@kernel()
def _texts(attributes: Attributes, strings: IntArray, i: int, j: int) -> int:
    text, stem, initials, compact = 0, 1, 2, 3
    bits = SAME_TEXT if strings[i, text] == strings[j, text] else 0
    if attributes[i, HEAD] == attributes[j, HEAD]:
        bits |= SAME_HEAD
    elif strings[i, stem] > 0 and strings[i, stem] == strings[j, stem]:
        bits |= SAME_STEM
    if strings[i, initials] > 0 and strings[i, initials] == strings[j, compact]:
        bits |= ACRONYM
    if strings[j, initials] > 0 and strings[j, initials] == strings[i, compact]:
        bits |= ACRONYM
    return bits


@kernel()
def _words(attributes: Attributes, words: Sets, i: int, j: int) -> int:
    begin, held = words
    shared = _common(begin, held, i, j)
    bits = SHARED_WORD if shared > 0 else 0
    if shared == begin[j + 1] - begin[j]:
        bits |= ALL_OF_LATER
    if shared == begin[i + 1] - begin[i]:
        bits |= ALL_OF_EARLIER
    if _holds(begin, held, i, attributes[j, HEAD]) or _holds(begin, held, j, attributes[i, HEAD]):
        bits |= HEAD_INSIDE
    return bits


@kernel()
def _names(names: Sets, i: int, j: int) -> int:
    begin, held = names
    shared = _common(begin, held, i, j)
    if shared == 0:
        return 0
    whole = shared == begin[j + 1] - begin[j] or shared == begin[i + 1] - begin[i]
    return SHARED_NAME | PART_OF_NAME if whole else SHARED_NAME


@kernel()
def _numerals(numerals: Sets, i: int, j: int) -> int:
    """Return whether both hold numerals, and none in common."""
    begin, held = numerals
    both = begin[i + 1] > begin[i] and begin[j + 1] > begin[j]
    return OTHER_NUMERAL if both and _common(begin, held, i, j) == 0 else 0


@kernel()
def _modifiers(modifiers: Sets, i: int, j: int) -> int:
    begin, held = modifiers
    earlier, later = begin[i + 1] - begin[i], begin[j + 1] - begin[j]
    if later == 0:
        return NO_MODIFIERS if earlier == 0 else EARLIER_MODIFIED
    if earlier == 0:
        return LATER_MODIFIED
    shared = _common(begin, held, i, j)
    if shared == earlier and shared == later:
        return SAME_MODIFIERS
    return COMMON_MODIFIERS if shared > 0 else OTHER_MODIFIERS


@kernel()
def _structure(attributes: Attributes, tied: IntArray, i: int, j: int) -> int:
    apposition, copula = 0, 1
    bits = 0
    if _inside(attributes, j, i) or _inside(attributes, i, j):
        bits |= NESTED
    if attributes[i, PARENT] >= 0 and attributes[i, PARENT] == attributes[j, PARENT]:
        bits |= SIBLINGS
    if tied[j, apposition] == i or tied[i, apposition] == j:
        bits |= APPOSED
    if tied[j, copula] == i or tied[i, copula] == j:
        bits |= PREDICATED
    return bits


@kernel()
def _inside(attributes: Attributes, inner: int, outer: int) -> bool:
    around = attributes[inner, PARENT]
    while around >= 0 and around != outer:
        around = attributes[around, PARENT]
    return bool(around == outer)


@kernel()
def _common(begin: IntArray, held: IntArray, i: int, j: int) -> int:
    a, b, shared = begin[i], begin[j], 0
    while a < begin[i + 1] and b < begin[j + 1]:
        if held[a] == held[b]:
            a, b, shared = a + 1, b + 1, shared + 1
        elif held[a] < held[b]:
            a += 1
        else:
            b += 1
    return shared


@kernel()
def _holds(begin: IntArray, held: IntArray, i: int, word: int) -> bool:
    place = begin[i]
    while place < begin[i + 1] and held[place] < word:
        place += 1
    return bool(place < begin[i + 1] and held[place] == word)
