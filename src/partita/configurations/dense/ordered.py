"""The K best configurations of a small set, in order, guided by exact completions.

With M[S] the best that a subset S can reach, a partial configuration that leaves S open is worth
exactly (what it has) + M[S]; a queue ordered by that worth pops complete ones best first.
"""

from __future__ import annotations

import heapq
from functools import cache

import numpy as np

from partita.configurations.dense.subsets import LOG_MAX, members, parts, recursion
from partita.records import Best, FloatArray, IntArray

Cells = tuple[int, ...]


def best_from_tables(theta: FloatArray, log_w: FloatArray, k: int) -> Best:
    """The k best, proved, from log w of every cell."""
    found = _best_first(log_w, recursion(log_w, LOG_MAX), k)
    labels = np.array([_labels(cells, len(theta)) for cells in found], dtype=np.int64)
    weights = np.array([sum(log_w[list(cells)]) for cells in found])
    order = np.argsort(-weights, kind="stable")
    return Best(labels[order], weights[order])


def _best_first(log_w: FloatArray, completion: FloatArray, k: int) -> list[Cells]:
    """Cells of the k best; each node stands for its r-th best next cell and all worse ones."""

    @cache
    def ranking(rest: int) -> tuple[list[int], list[float]]:
        cells = parts(rest)
        worth = log_w[cells] + completion[rest ^ cells] - completion[rest]
        order = np.argsort(-worth, kind="stable")
        order = order[worth[order] > -np.inf]
        return cells[order].tolist(), worth[order].tolist()

    everything = len(log_w) - 1
    queue: list[tuple[float, int, float, Cells, int, int]] = [(0.0, 0, 0.0, (), everything, 0)]
    found: list[Cells] = []
    ticket = 0
    while queue and len(found) < k:
        _, _, before, chosen, rest, rank = heapq.heappop(queue)
        cells, worth = ranking(rest)
        if rank + 1 < len(cells):
            ticket += 1
            next_best = (before - worth[rank + 1], ticket, before, chosen, rest, rank + 1)
            heapq.heappush(queue, next_best)
        so_far, chosen, rest = before - worth[rank], (*chosen, cells[rank]), rest ^ cells[rank]
        if rest:
            ticket += 1
            heapq.heappush(queue, (so_far, ticket, so_far, chosen, rest, 0))
        else:
            found.append(chosen)
    return found


def _labels(cells: Cells, n: int) -> IntArray:
    """Restricted growth labels of disjoint masks."""
    labels = np.empty(n, dtype=np.int64)
    for label, cell in enumerate(sorted(cells, key=lambda mask: mask & -mask)):
        labels[list(members(cell))] = label
    return labels
