"""Shortest chains in small graphs given as boolean matrices."""

from __future__ import annotations

import numpy as np

from partita.records import BoolArray


def chain(adjacent: BoolArray, start: int, goal: int) -> list[int]:
    """Return a shortest path from start to goal; both are in one component."""
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
