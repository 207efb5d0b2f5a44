"""Compiled search for configurations of small total cost, from cells of small cost.

The log-weight of a configuration is Σ_i a_i − Σ_{cells} r(C) and no r is negative, so the best
configurations are the exact covers of least cost. The first template that is not yet covered
chooses its cell among those that begin with it, cheapest first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import FloatArray, IntArray

Masks = NDArray[np.uint64]
Labels = NDArray[np.int32]

DONE, PAUSED, FULL = 0, 1, 2


@kernel()
def first_free(covered: Masks, start: int, n: int) -> int:
    """Return the first template from start on that is not covered."""
    i = start
    while i < n and (covered[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
        i += 1
    return i


@kernel()
def disjoint(cell: Masks, covered: Masks) -> bool:
    shared = np.uint64(0)
    for word in range(len(cell)):
        shared |= cell[word] & covered[word]
    return bool(shared == np.uint64(0))


@kernel()
def write_labels(cells: Masks, chosen: IntArray, depth: int, row: Labels) -> None:
    for d in range(depth + 1):
        cell = cells[chosen[d]]
        for i in range(len(row)):
            if (cell[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
                row[i] = d


@kernel(native=True)
def covers(
    begin: IntArray,
    cells: Masks,
    costs: FloatArray,
    below: float,
    covered: Masks,
    total: FloatArray,
    element: IntArray,
    following: IntArray,
    chosen: IntArray,
    place: IntArray,
    labels: Labels,
    found: FloatArray,
    nodes: int,
) -> int:
    """List all covers with total cost < below; can be paused and goes on from its arrays.

    cells[begin[i]:begin[i + 1]] begin with template i and are sorted by cost. `place` holds the
    depth, the number of covers found and the nodes of this call.
    """
    n = len(begin) - 1
    depth, count = place[0], place[1]
    status = DONE
    while depth >= 0:
        k = following[depth]
        if k >= begin[element[depth] + 1] or total[depth] + costs[k] >= below:
            depth -= 1
            continue
        if place[2] >= nodes:
            status = PAUSED
            break
        if count >= len(found):
            status = FULL
            break
        place[2] += 1
        following[depth] = k + 1
        if not disjoint(cells[k], covered[depth]):
            continue
        chosen[depth] = k
        for word in range(cells.shape[1]):
            covered[depth + 1, word] = covered[depth, word] | cells[k, word]
        free = first_free(covered[depth + 1], element[depth], n)
        if free == n:
            write_labels(cells, chosen, depth, labels[count])
            found[count] = total[depth] + costs[k]
            count += 1
            continue
        total[depth + 1] = total[depth] + costs[k]
        depth += 1
        element[depth], following[depth] = free, begin[free]
    place[0], place[1] = depth, count
    return status
