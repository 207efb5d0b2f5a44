"""Arrays by what they hold, and the connected components of a graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def linked_components(count: int, left: IntArray, right: IntArray) -> IntArray:
    """Return for each of `count` nodes the smallest node of its component.

    Roots are hooked on smaller ones along the links and the trees are flattened, until no link
    leads from one tree to another.
    """
    home = np.arange(count)
    while len(left):
        a, b = home[left], home[right]
        np.minimum.at(home, np.maximum(a, b), np.minimum(a, b))
        while (home != home[home]).any():
            home = home[home]
        apart = home[left] != home[right]
        left, right = left[apart], right[apart]
    return home


def components(adjacent: BoolArray) -> IntArray:
    """Return for each node of a matrix the number of its component, by first appearance.

    For matrices flooding is quicker than following every link.
    """
    home = np.full(len(adjacent), -1, dtype=np.int64)
    number = 0
    for node in range(len(adjacent)):
        if home[node] < 0:
            border = np.array([node])
            while len(border):
                home[border] = number
                border = np.flatnonzero(adjacent[border].any(axis=0) & (home < 0))
            number += 1
    return home
