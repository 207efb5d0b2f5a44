"""The k best in order: best-first over decisions, by what is spent plus the best still to come."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from itertools import count

import numpy as np

from partita.records import Best, FloatArray, IntArray

Choice = tuple[int, float, int]  # the tail joined (−1: a new cell), log-weight, the state after it
Path = tuple["Path", int] | None


def best_first(
    size: int,
    choices: Callable[[int, int], list[Choice]],
    bound: Callable[[int, int], float],
    k: int,
) -> Best:
    """The k best paths from state 0; `bound` never underestimates what is still to come."""
    order = count(1)
    heap: list[tuple[float, int, int, int, float, Path]] = [(0.0, 0, 0, 0, 0.0, None)]
    found: list[tuple[float, IntArray]] = []
    while heap and len(found) < k:
        _, _, x, state, spent, path = heapq.heappop(heap)
        if x == size:
            found.append((spent, labels_of(path, size)))
            continue
        for tail, cost, after in choices(x, state):
            hope = spent + cost + bound(x + 1, after)
            if hope > -math.inf:
                entry = (-hope, next(order), x + 1, after, spent + cost, (path, tail))
                heapq.heappush(heap, entry)
    return ordered(size, found)


def ordered(size: int, found: list[tuple[float, IntArray]], gap: float = 0.0) -> Best:
    """The list by falling weight: rounding in the bounds may have swapped near equals."""
    weights: FloatArray = np.array([weight for weight, _ in found], dtype=np.float64)
    labels = np.array([row for _, row in found], dtype=np.int64).reshape(len(found), size)
    by = np.argsort(-weights, kind="stable")
    return Best(labels[by], weights[by], gap)


def labels_of(path: Path, size: int) -> IntArray:
    """A path of decisions, last first, as labels in restricted growth form."""
    tails = []
    while path is not None:
        path, tail = path
        tails.append(tail)
    labels = np.empty(size, dtype=np.int64)
    cells = 0
    for x, tail in enumerate(reversed(tails)):
        labels[x] = cells if tail < 0 else labels[tail]
        cells += tail < 0
    return labels
