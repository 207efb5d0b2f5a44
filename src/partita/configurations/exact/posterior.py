"""The exact posterior of a dense set."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np

from partita.configurations.count import count
from partita.configurations.exact.draws import draw_rows
from partita.configurations.exact.subsets import LOG_MAX, SMALL, members, parts, recursion
from partita.configurations.exact.tables import AnyTables, ScaledTables, doubles, tables
from partita.core import Best, Budget, Figure, FloatArray, IntArray, Marginals, Method

Cells = tuple[int, ...]


def best_from_tables(log_w: FloatArray, completion: FloatArray, k: int) -> Best:
    """Return the k best configurations, proved, from log w of every cell.

    `completion` holds the best log-weight of every subset.
    """
    n, covers = len(log_w).bit_length() - 1, _best_first(log_w, completion, k)
    labels = np.array([_labels(cells, n) for cells in covers], dtype=np.int64)
    weights = np.array([sum(log_w[list(cells)]) for cells in covers])
    order = np.argsort(-weights, kind="stable")
    return Best(labels[order], weights[order])


def _best_first(log_w: FloatArray, completion: FloatArray, k: int) -> list[Cells]:
    """Return the cells of the k best configurations.

    Each node of the queue stands for its r-th best next cell and all worse ones.
    """

    @cache
    def ranking(rest: int) -> tuple[list[int], list[float]]:
        cells = parts(rest)
        worth = log_w[cells] + completion[rest ^ cells] - completion[rest]
        order = np.argsort(-worth, kind="stable")
        order = order[worth[order] > -np.inf]
        return cells[order].tolist(), worth[order].tolist()

    everything = len(log_w) - 1
    queue: list[tuple[float, int, float, Cells, int, int]] = [(0.0, 0, 0.0, (), everything, 0)]
    covers: list[Cells] = []
    ticket = 0
    while queue and len(covers) < k:
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
            covers.append(chosen)
    return covers


def _labels(cells: Cells, n: int) -> IntArray:
    """Return the restricted growth labels of disjoint masks."""
    labels = np.empty(n, dtype=np.int64)
    for label, cell in enumerate(sorted(cells, key=lambda mask: mask & -mask)):
        labels[list(members(cell))] = label
    return labels


def exact(theta: FloatArray, budget: Budget | None = None) -> DensePosterior:
    """Return the exact posterior of one set; the budget is for listing the best of a large one."""
    subset_tables = tables(theta)
    return DensePosterior(
        theta, subset_tables, Figure.exact(subset_tables.log_total), budget or Budget()
    )


@dataclass(eq=False)
class DensePosterior:
    """P(configuration) = Π_{cells} w(C) / Z."""

    theta: FloatArray
    tables: AnyTables
    log_normaliser: Figure
    budget: Budget
    method: Method = field(default="exact", init=False)

    @property
    def size(self) -> int:
        return len(self.theta)

    @property
    def reason(self) -> str:
        return f"exact by {self.tables.way} over {self.size} templates"

    def log_weight(self, labels: IntArray) -> float:
        return log_weight(self.theta, labels)

    def count(self) -> int | None:
        return count(np.isfinite(self.theta))

    def log2_count(self) -> Figure:
        """Return log₂ of the exact count, else that of the normaliser with equal weights."""
        if (number := self.count()) is not None:
            return Figure.exact(log2_of(number))
        flat = tables(np.where(np.isfinite(self.theta), 0.0, -np.inf))
        return Figure.exact(flat.log_total / math.log(2.0))

    def entropy(self) -> Figure:
        """H = log Z − Σ_{i<j} P(i and j in one cell)·θ_ij."""
        together = np.triu(self.pairs().value, 1)
        expected = float(np.einsum("ij,ij", together, np.where(together > 0.0, self.theta, 0.0)))
        return Figure.exact(max(0.0, self.log_normaliser.value - expected) / math.log(2.0))

    def pairs(self) -> Marginals:
        known = self.tables.pairs if isinstance(self.tables, ScaledTables) else None
        sums = doubles(self.cell_table) if known is None else known
        np.fill_diagonal(p := np.clip(sums, 0.0, 1.0), 1.0)
        return Marginals.exact(p)

    def least_cells(self) -> int:
        return int(np.isfinite(self.tables.log_w).sum())

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for mask in map(int, np.flatnonzero(np.isfinite(self.tables.log_w))):
            yield members(mask), float(self.cell_table[mask])

    def best(self, k: int) -> Best:
        if self.size <= SMALL:
            log_w = self.tables.log_w
            return best_from_tables(log_w, recursion(log_w, LOG_MAX), k)
        from partita.configurations.search.best import best

        return best(self.theta, k, self.budget)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        return draw_rows(self.tables, count, rng)

    @cached_property
    def cell_table(self) -> FloatArray:
        """The probability of every subset as a cell."""
        return self.tables.cell_probabilities()


def log_weight(theta: FloatArray, labels: IntArray) -> float:
    """Return the sum of θ over the pairs that share a cell."""
    together = np.triu(labels[:, None] == labels[None, :], 1)
    return float(theta[together].sum())


def log2_of(number: int) -> float:
    """Return log₂ of an integer of any size; minus infinity for 0."""
    if number == 0:
        return -math.inf
    shift = max(0, number.bit_length() - 64)
    return float(np.log2(float(number >> shift))) + shift
