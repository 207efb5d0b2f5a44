"""The claims about one slot in a canonical order, each said once, with values as the slot reads
them: whatever order the claims came in, the same numbers come out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Statements:
    """Who says what of which object; sorted by object, value and source.

    `times` tells how often each was said, which counts once; `first` which claim was the first.
    """

    objects: Sequence[str]
    sources: Sequence[str]
    values: Sequence[str]
    object: IntArray
    source: IntArray
    value: IntArray
    confidence: FloatArray
    times: IntArray
    first: IntArray

    def __len__(self) -> int:
        return len(self.object)

    @property
    def repeated(self) -> int:
        return int((self.times - 1).sum())


def statements(
    objects: Sequence[str],
    sources: Sequence[str],
    values: Sequence[str],
    said: tuple[IntArray, IntArray, IntArray],
    confidence: FloatArray,
) -> Statements:
    """Objects and sources sorted, only those that occur; of a repeated claim the most confident."""
    things, thing = _sorted(objects, said[0])
    people, source = _sorted(sources, said[1])
    value = said[2]
    key = (thing * len(values) + value) * len(people) + source
    order = np.lexsort((-confidence, key))
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    times = np.diff(first, append=len(key))
    kept = order[first]
    return Statements(
        things,
        people,
        values,
        thing[kept],
        source[kept],
        value[kept],
        confidence[kept],
        times,
        np.minimum.reduceat(order, first) if len(first) else first,
    )


def _sorted(names: Sequence[str], numbers: IntArray) -> tuple[list[str], IntArray]:
    """The names in use, in their order, and numbers that point into them."""
    used = np.unique(numbers).tolist()
    order = sorted(used, key=lambda n: names[n])
    place = np.zeros(len(names), dtype=np.int64)
    place[order] = np.arange(len(order))
    return [names[n] for n in order], place[numbers]
