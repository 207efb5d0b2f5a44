"""Every configuration of a small set in a list, for weights that no recursion over cells has.

The joint model and the merging decisions weigh a configuration as a sequence of decisions: the
weight of a cell depends on the cells around it. So all configurations of few templates are listed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from partita.core import Best, Figure, FloatArray, IntArray, Marginals
from partita.errors import Unavailable

LARGEST = 9  # templates: 21,147 partitions
LISTED = 8  # templates up to which a list gives the best and draws sooner than tables over subsets


@lru_cache(maxsize=LARGEST + 1)
def partitions(n: int) -> IntArray:
    """Return all partitions as restricted growth strings, in order."""
    labels = np.zeros((1, 0), dtype=np.int64)
    for _ in range(n):
        choices = labels.max(axis=1, initial=-1) + 2
        rows = np.repeat(labels, choices, axis=0)
        fresh = np.arange(len(rows)) - np.repeat(np.cumsum(choices) - choices, choices)
        labels = np.column_stack([rows, fresh])
    return labels


@lru_cache(maxsize=LARGEST + 1)
def cell_table(n: int) -> IntArray:
    """Return the cells of every partition as sets of bits, 0 where a partition has fewer."""
    return cell_masks(partitions(n))


@lru_cache(maxsize=LARGEST + 1)
def cell_order(n: int) -> IntArray:
    """Return the rank of every partition by its cells, those with the first templates first.

    A search over cells meets partitions in this order, and so lists equal ones.
    """
    bits = 1 << np.arange(n)[::-1]
    reached = (partitions(n)[:, :, None] == np.arange(n)) * bits[:, None]
    keys = -reached.sum(axis=1)
    rank = np.empty(len(keys), dtype=np.int64)
    rank[np.lexsort(keys.T[::-1])] = np.arange(len(keys))
    return rank


def cell_masks(labels: IntArray) -> IntArray:
    """Return the cells of rows of labels as sets of bits, 0 where a row has fewer."""
    cells, rows = np.zeros_like(labels), np.arange(len(labels))
    for place in range(labels.shape[1]):
        cells[rows, labels[:, place]] |= 1 << place
    return cells


def listed_cells(labels: IntArray, shares: FloatArray) -> Iterator[tuple[tuple[int, ...], float]]:
    """Return every cell of these configurations with its probability, first members first."""
    n = labels.shape[1]
    cells, home = np.unique(cell_masks(labels), return_inverse=True)
    sums = np.bincount(home.ravel(), np.repeat(shares, n), len(cells)).tolist()
    named = (tuple(i for i in range(n) if int(mask) >> i & 1) for mask in cells)
    return iter(sorted((cell, share) for cell, share in zip(named, sums, strict=True) if cell))


def listed_pairs(labels: IntArray, shares: FloatArray) -> FloatArray:
    """Return the probability that two templates share a cell, from those of configurations."""
    n = labels.shape[1]
    pairs = np.empty((n, n))
    for i in range(n):
        pairs[i] = shares @ (labels == labels[:, i : i + 1])
    pairs = np.clip((pairs + pairs.T) / 2, 0.0, 1.0)  # symmetric whatever the rounding
    np.fill_diagonal(pairs, 1.0)
    return pairs


def draw_listed(
    labels: IntArray, shares: FloatArray, count: int, rng: np.random.Generator
) -> IntArray:
    """Draw configurations from a list with their shares."""
    bounds = np.cumsum(shares)
    chosen = np.searchsorted(bounds, rng.random(count) * bounds[-1], side="right")
    rows: IntArray = labels[np.minimum(chosen, len(labels) - 1)]
    return rows


@dataclass(frozen=True, slots=True, eq=False)
class ListedRows:
    """Configurations as rows with log-weights: all of them, or those of draws.

    `log_total` is the log-normaliser, and `numbers` say how often each row was drawn;
    without, all configurations are listed.
    """

    rows: IntArray
    logs: FloatArray
    log_total: float
    numbers: IntArray | None

    @property
    def met(self) -> int:
        """The number of draws."""
        return 0 if self.numbers is None else int(self.numbers.sum())

    def shares(self) -> FloatArray:
        """Return the probability of each row."""
        shares: FloatArray = np.exp(self.logs - self.log_total)
        return shares if self.numbers is None else self.numbers / self.met

    def entropy(self) -> Figure:
        """Return E[−log P], in bits, with the standard error of draws."""
        shares, bits = self.shares(), (self.log_total - self.logs) / math.log(2)
        mean = max(0.0, float(shares @ bits))
        if self.numbers is None:
            return Figure.exact(mean)
        return Figure.estimate(mean, math.sqrt(float(shares @ (bits - mean) ** 2) / self.met))

    def pairs(self) -> Marginals:
        value = listed_pairs(self.rows, self.shares())
        if self.numbers is None:
            return Marginals.exact(value)
        error = np.sqrt(value * (1.0 - value) / self.met)
        low, high = np.clip(value - error, 0.0, 1.0), np.clip(value + error, 0.0, 1.0)
        return Marginals(value, low, high, "estimate")

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if self.numbers is not None:
            raise Unavailable("cell probabilities need an exact answer; draws give some cells")
        return listed_cells(self.rows, self.shares())

    def best(self, k: int) -> Best:
        """List the best of all configurations, or of those that were drawn."""
        order = np.argsort(-self.logs, kind="stable")[:k]
        gap = 0.0 if self.numbers is None else math.inf
        return Best(self.rows[order], self.logs[order], gap)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        return draw_listed(self.rows, self.shares(), count, rng)
