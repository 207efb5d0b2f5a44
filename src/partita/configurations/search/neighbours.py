"""Good configurations around a good one: single moves, kept while among the best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import FloatArray, IntArray

Labels = NDArray[np.int32]
Keys = NDArray[np.uint64]


@kernel()
def mixed(key: np.uint64) -> np.uint64:
    """Scramble the bits, so that sums over cells tell configurations apart (0 stays 0)."""
    key = (key ^ (key >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> np.uint64(32))


@kernel()
def remember_key(seen: Keys, key: np.uint64) -> bool:
    """Put a key into a table of open addresses; return False if it was there."""
    last = np.uint64(len(seen) - 1)
    slot = key & last
    while seen[slot] != np.uint64(0):
        if seen[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & last
    seen[slot] = key
    return True


@kernel()
def key_of(labels: Labels, names: Keys) -> np.uint64:
    """Return a key of the configuration, whatever its cells are called."""
    cells = np.zeros(len(labels) + 1, dtype=np.uint64)
    for i in range(len(labels)):
        cells[labels[i]] += names[i]
    key = np.uint64(0)
    for cell in cells:
        key += mixed(cell)
    return key


@kernel()
def expand_partition(
    theta: FloatArray,
    names: Keys,
    labels: Labels,
    weight: float,
    above: float,
    seen: Keys,
    room: Labels,
    weights: FloatArray,
    count: int,
) -> int:
    """Write to `room` the single moves from one configuration, if new and heavier than `above`.

    Returns the number of rows in use; where that is all there are, moves may have been passed over.
    """
    n = len(labels)
    used = labels.max() + 1
    gains = np.zeros((used + 1, n))
    cells = np.zeros(used + 1, dtype=np.uint64)
    for i in range(n):
        gains[labels[i]] += theta[i]
        cells[labels[i]] += names[i]
    key = key_of(labels, names)
    for i in range(n):
        here = labels[i]
        left = key - mixed(cells[here]) + mixed(cells[here] - names[i])
        for there in range(used + 1):
            moved = weight + gains[there, i] - gains[here, i]
            if there == here or not moved > above or count == len(weights):
                continue
            new = left - mixed(cells[there]) + mixed(cells[there] + names[i])
            if remember_key(seen, new):
                room[count] = labels
                room[count, i] = there
                weights[count] = moved
                count += 1
    return count


@kernel(native=True)
def expand_all(
    theta: FloatArray,
    names: Keys,
    labels: Labels,
    weights: FloatArray,
    expanded: NDArray[np.bool_],
    above: float,
    seen: Keys,
    room: Labels,
    found: FloatArray,
) -> int:
    """Expand each row that is not yet, in order, while there is room for all its moves."""
    count = 0
    for row in range(len(labels)):
        remember_key(seen, key_of(labels[row], names))
    for row in range(len(labels)):
        if expanded[row]:
            continue
        count = expand_partition(
            theta, names, labels[row], weights[row], above, seen, room, found, count
        )
        if count == len(found):
            break
        expanded[row] = True
    return count


@kernel(native=True)
def renumber(theta: FloatArray, rows: IntArray, weights: FloatArray) -> None:
    """Renumber each row's labels by first appearance, in place; fill in their log-weights."""
    n = rows.shape[1]
    weights[:] = 0.0
    for k in range(len(rows)):
        names = np.full(n, -1)
        used = 0
        for i in range(n):
            label = rows[k, i]
            if names[label] < 0:
                names[label] = used
                used += 1
            rows[k, i] = names[label]
            for j in range(i):
                if rows[k, j] == rows[k, i]:
                    weights[k] += theta[j, i]
