"""Strings as small whole numbers, and sets of strings as bits, so that pairs compare quickly.

|A ∩ B| = popcount(bits A & bits B). A string that stands in one set only is in no intersection
with another, so it gets no bit: a document needs a few machine words for each set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

NIL = -1

Column = NDArray[np.int32]
Codes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


def interned(values: Iterable[Hashable | None]) -> Column:
    """For each value the number of its first appearance; NIL for None and for nothing."""
    seen: dict[Hashable, int] = {}
    numbers = [
        NIL if value is None or value == "" else seen.setdefault(value, len(seen))
        for value in values
    ]
    return np.array(numbers, dtype=np.int32)


def classed(values: Iterable[object], classes: Sequence[str], other: int) -> Column:
    """For each value its place among the classes, or the one for all others."""
    place = {name: n for n, name in enumerate(classes)}
    return np.array([place.get(str(value), other) for value in values], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """A set of strings for each template: how many, and bits for those that others hold too."""

    size: Column
    bits: NDArray[np.uint64]
    place: dict[str, int]

    def common(self, s: Places, t: Places) -> Column:
        """How many strings two sets share."""
        found = np.zeros(len(s), dtype=np.int32)
        for block in self.bits:
            found += np.bitwise_count(block[s] & block[t])
        return found

    def holds(self, sets: Places, bit: Column) -> Bools:
        """Whether a set holds the string of that bit; NIL is in none."""
        if not len(self.bits):
            return np.zeros(len(sets), dtype=np.bool_)
        block = self.bits[np.maximum(bit, 0) >> 6, sets]
        inside = (block >> (np.maximum(bit, 0) & 63).astype(np.uint64)) & np.uint64(1)
        found: Bools = (bit != NIL) & (inside == 1)
        return found

    def bit_of(self, strings: Iterable[str]) -> Column:
        """The bits of single strings, NIL for one that no two sets share."""
        return np.array([self.place.get(string, NIL) for string in strings], dtype=np.int32)


def sets(members: Sequence[Collection[str]]) -> Sets:
    """Each collection as a set."""
    distinct = [set(each) for each in members]
    met = Counter(string for each in distinct for string in each)
    shared = sorted(string for string, times in met.items() if times > 1)
    place = {string: n for n, string in enumerate(shared)}
    bits = np.zeros((-(-len(shared) // 64), len(members)), dtype=np.uint64)
    for owner, each in enumerate(distinct):
        for bit in (place[string] for string in each if string in place):
            bits[bit >> 6, owner] |= np.uint64(1 << (bit & 63))
    return Sets(np.array([len(each) for each in distinct], dtype=np.int32), bits, place)
