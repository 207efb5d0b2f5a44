"""Connected components and shortest chains of small graphs given as boolean matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.records import IntArray

BoolArray = NDArray[np.bool_]


def components(adjacent: BoolArray) -> IntArray:
    """For each node the number of its component, numbered by first appearance."""
    home = np.full(len(adjacent), -1, dtype=np.int64)
    number = 0
    for node in range(len(adjacent)):
        if home[node] < 0:
            _flood(adjacent, home, node, number)
            number += 1
    return home


def _flood(adjacent: BoolArray, home: IntArray, start: int, number: int) -> None:
    home[start] = number
    border = np.array([start])
    while len(border):
        border = np.flatnonzero(adjacent[border].any(axis=0) & (home < 0))
        home[border] = number


def chain(adjacent: BoolArray, start: int, goal: int) -> list[int]:
    """A shortest path from start to goal; both are in one component."""
    came = {start: start}
    queue = [start]
    for node in queue:
        for neighbour in np.flatnonzero(adjacent[node]).tolist():
            if neighbour not in came:
                came[neighbour] = node
                queue.append(neighbour)
    path = [goal]
    while path[-1] != start:
        path.append(came[path[-1]])
    return path[::-1]
