"""The naive way, which every figure is a ratio to: plain Python, every partition, every pair.

The product of p or 1 − p over all pairs of each partition, added to the normaliser and to the sum
of every pair that it joins.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import lru_cache

Matrix = list[list[float]]


def partitions(n: int) -> Iterator[list[int]]:
    """All restricted growth strings of length n, one list reused."""
    labels = [0] * n

    def grow(i: int, used: int) -> Iterator[list[int]]:
        if i == n:
            yield labels
            return
        for label in range(used + 1):
            labels[i] = label
            yield from grow(i + 1, used + (label == used))

    return grow(0, 0)


def naive(p: Matrix) -> tuple[float, Matrix]:
    """The normaliser and, for every pair, the mass of the partitions that join it."""
    n = len(p)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    total, sums = 0.0, [[0.0] * n for _ in range(n)]
    for labels in partitions(n):
        weight = 1.0
        for i, j in pairs:
            weight *= p[i][j] if labels[i] == labels[j] else 1.0 - p[i][j]
        total += weight
        for i, j in pairs:
            if labels[i] == labels[j]:
                sums[i][j] += weight
    return total, sums


@lru_cache
def naive_seconds(n: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """How long the naive way takes for n templates on this machine, now."""
    p = [[0.3 + 0.4 * ((i * 7 + j * 13) % 10) / 10 for j in range(n)] for i in range(n)]
    start = clock()
    naive(p)
    return clock() - start
