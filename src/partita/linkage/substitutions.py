"""Pairs that differ in nothing but a word or a number that other records have as well.

Products in several sizes, parts of a series and versions of a program are so. Errors are seldom:
what is mistyped is like what was meant, and few other records have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from partita.core import BoolArray
from partita.linkage.pair_features import PairEnds
from partita.linkage.value_levels import edit_similarities_of

ESTABLISHED = 4  # records that have a word from which on it is no error
FEW, MORE = 2, 3  # unlike words of one text and of the other, at most
ALIKE = 0.75  # similarity by edits from which on one word may be an error for the other


def substituted(texts: Sequence[str], ends: PairEnds) -> BoolArray:
    """Return which pairs of texts have a few words in place of others, all else being alike.

    On either side one of the words that are like none of the other side is established.
    """
    words = {n: Counter(texts[n].split()) for n in np.unique(np.concatenate(ends)).tolist()}
    frequency = Counter(word for text in texts for word in {*text.split()})
    found = np.zeros(len(ends.left), dtype=np.bool_)
    for n, (a, b) in enumerate(zip(ends.left.tolist(), ends.right.tolist(), strict=True)):
        one, other = words[a] - words[b], words[b] - words[a]
        if one and other:
            unlike = _unlike(one, other), _unlike(other, one)
            few, more = sorted(map(len, unlike))
            known = (any(frequency[word] >= ESTABLISHED for word in side) for side in unlike)
            found[n] = few <= FEW and more <= MORE and all(known)
    return found


def _unlike(one: Counter[str], other: Counter[str]) -> list[str]:
    """Return the words of one side that are like none of the other."""
    return [a for a in one if not any(_alike(a, b) for b in other)]


def _alike(one: str, other: str) -> bool:
    """Return whether one word may be written for the other by an error or to be short."""
    if one.isdigit() and other.isdigit():
        return False
    if one.startswith(other) or other.startswith(one):
        return True
    first, second = np.array([0]), np.array([1])
    return bool(edit_similarities_of([one, other], first, second)[0] >= ALIKE)
