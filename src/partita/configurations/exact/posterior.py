"""The exact posterior of a set, from the weights of all cells."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from functools import cache, cached_property

import numpy as np

from partita.configurations.count import count_configurations, log2_of
from partita.configurations.exact.listed import (
    LISTED,
    cell_order,
    cell_table,
    draw_listed,
    partitions,
)
from partita.configurations.exact.subsets import MAX, SMALL, members, parts, recursion
from partita.configurations.exact.tables import PLAIN, CellWeights, PairWeights, SubsetTables, way
from partita.core import (
    Best,
    Budget,
    Figure,
    FloatArray,
    IntArray,
    Marginals,
    Method,
    restricted_growth_rows,
)

Cells = tuple[int, ...]


def exact(theta: FloatArray, budget: Budget | None = None) -> SubsetPosterior:
    """Return the exact posterior of one set; the budget is for listing the best of a large one."""
    return SubsetPosterior(PairWeights(theta), budget)


class SubsetPosterior:
    """P(configuration) = Π_{cells} w(C) / Z, for any weight of cells.

    The tables are made when the first answer needs them.
    """

    method: Method = "exact"

    def __init__(self, weights: CellWeights, budget: Budget | None = None) -> None:
        self.weights, self.budget = weights, budget or Budget()
        self.size = len(weights.compatible)

    @cached_property
    def tables(self) -> SubsetTables:
        """Tables over all subsets."""
        return SubsetTables(self.weights)

    @property
    def reason(self) -> str:
        return f"exact by {self.tables.name} over {self.size} templates"

    @property
    def log_normaliser(self) -> Figure:
        return Figure.exact(self.tables.log_total)

    def log_weight(self, labels: IntArray) -> float:
        """Return the sum of log w over the cells."""
        masks = np.bincount(labels, weights=2.0 ** np.arange(self.size)).astype(np.int64)
        return float(self.tables.log_w[masks[masks > 0]].sum())

    def count(self) -> int | None:
        return count_configurations(self.weights.compatible)

    def log2_count(self) -> Figure:
        """Return log₂ of the exact count, else that of the normaliser with equal weights."""
        if (number := self.count()) is not None:
            return Figure.exact(log2_of(number))
        flat = SubsetTables(PairWeights(np.where(self.weights.compatible, 0.0, -np.inf)))
        return Figure.exact(flat.log_total / math.log(2.0))

    def entropy(self) -> Figure:
        """H = log Z − E[log w]."""
        bits = (self.log_normaliser.value - self._expected_log_weight()) / math.log(2.0)
        return Figure.exact(max(0.0, bits))

    def _expected_log_weight(self) -> float:
        """Return Σ_C P(C)·log w(C); of products over pairs Σ_{i<j} P(i, j in one cell)·θ_ij."""
        theta, log_w = self.weights.theta, self.tables.log_w
        if theta is not None:
            together = np.triu(self.pairs().value, 1)
            return float(np.einsum("ij,ij", together, np.where(together > 0.0, theta, 0.0)))
        possible = np.isfinite(log_w)
        return float(np.einsum("i,i", self.tables.cells[possible], log_w[possible]))

    def pairs(self) -> Marginals:
        np.fill_diagonal(p := np.clip(self.tables.pairs, 0.0, 1.0), 1.0)
        return Marginals.exact(p)

    def least_cells(self) -> int:
        return int(np.isfinite(self.tables.log_w).sum())

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for mask in map(int, np.flatnonzero(np.isfinite(self.tables.log_w))):
            yield members(mask), float(self.tables.cells[mask])

    def best(self, k: int) -> Best:
        """List by a table of the best log-weight of every subset, or by a search with a proof."""
        theta, log_w = self.weights.theta, self.tables.log_w
        if self.size <= LISTED:
            weights = self._listed()
            order = np.lexsort((cell_order(self.size), -weights))[:k]
            order = order[weights[order] > -np.inf]
            return Best(partitions(self.size)[order], weights[order])
        if way(self.size) == PLAIN or theta is None:
            return best_from_tables(log_w, k)
        from partita.configurations.search.best import best

        found = best(theta, k, self.budget)
        return best_from_tables(log_w, k) if found.gap > 0.0 and self.size <= SMALL else found

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        if self.size <= LISTED:
            shares = np.exp(self._listed() - self.tables.log_total)
            return draw_listed(partitions(self.size), shares, count, rng)
        return draw_rows(self.tables, count, rng)

    def _listed(self) -> FloatArray:
        """Return the log-weight of every configuration, in the order of `partitions`."""
        log_w = self.tables.log_w.copy()
        log_w[0] = 0.0  # a configuration has fewer cells than the table of cells has columns
        sums: FloatArray = log_w[cell_table(self.size)].sum(axis=1)
        return sums


def best_from_tables(log_w: FloatArray, k: int) -> Best:
    """Return the k best configurations, proved, from log w of every cell."""
    n = len(log_w).bit_length() - 1
    covers = _best_first(log_w, recursion(log_w, MAX), k)
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


def draw_rows(tables: SubsetTables, count: int, rng: np.random.Generator) -> IntArray:
    """Draw `count` configurations as rows of labels in restricted growth form."""
    n = len(tables.log_w).bit_length() - 1
    rest = np.full(count, len(tables.log_w) - 1, dtype=np.int64)
    labels = np.zeros((count, n), dtype=np.int64)
    step = 0
    while rest.any():
        cells = _next_cells(tables, rest, rng)
        labels += step * (cells[:, None] >> np.arange(n) & 1)
        rest ^= cells
        step += 1
    return restricted_growth_rows(labels)


def _next_cells(tables: SubsetTables, rest: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw one cell for every row; none where all templates are placed."""
    cells = np.zeros_like(rest)
    order = np.argsort(rest, kind="stable")
    order = order[rest[order] > 0]
    uniforms = rng.random(len(order))
    starts = np.flatnonzero(np.diff(rest[order], prepend=0))
    for rows in np.split(np.arange(len(order)), starts[1:]):
        cells[order[rows]] = _choices(tables, int(rest[order[rows[0]]]), uniforms[rows])
    return cells


def _choices(tables: SubsetTables, rest: int, uniforms: FloatArray) -> IntArray:
    """Return, for each uniform number, the cell into whose share it falls."""
    cells = parts(rest)
    log_shares = tables.log_w[cells] + tables.log_z[rest ^ cells] - tables.log_z[rest]
    shares = np.cumsum(np.exp(log_shares))
    place = np.searchsorted(shares, uniforms * shares[-1], side="right")
    nearest: IntArray = cells[np.minimum(place, len(cells) - 1)]
    return nearest
