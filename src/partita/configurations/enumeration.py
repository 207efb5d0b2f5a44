"""Enumerate the partitions of small sets."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from partita.core import Best, BoolArray, Figure, FloatArray, IntArray, Marginals, Method

LARGEST = 9  # templates: 21,147 partitions


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
def pair_table(n: int) -> FloatArray:
    """Return 1 or 0 for every partition and pair (ordered as np.triu_indices): is it together?"""
    left, right = np.triu_indices(n, 1)
    labels = partitions(n)
    together: FloatArray = (labels[:, left] == labels[:, right]).astype(np.float64)
    return together


@lru_cache(maxsize=LARGEST + 1)
def cell_table(n: int) -> IntArray:
    """Return the cells of every partition as sets of bits, 0 where a partition has fewer."""
    labels = partitions(n)
    cells, rows = np.zeros_like(labels), np.arange(len(labels))
    for place in range(n):
        cells[rows, labels[:, place]] |= 1 << place
    return cells


@lru_cache(maxsize=LARGEST + 1)
def _sorted_cells(n: int) -> list[tuple[int, tuple[int, ...]]]:
    """Return all cells in order, each as a set of bits and as places."""
    places = (tuple(place for place in range(n) if bits >> place & 1) for bits in range(1, 1 << n))
    return sorted(enumerate(places, 1), key=lambda cell: cell[1])


REASON = "exact by enumeration"


def log_weights(theta: FloatArray, must: BoolArray, n: int) -> FloatArray:
    """Return Σ θ over the pairs together, for rows of sets and columns of partitions.

    θ is −∞ where a pair is incompatible; a partition that parts a must-link has weight 0 as well.
    """
    table = pair_table(n)
    apart = np.isneginf(theta)
    weights: FloatArray = np.where(apart | must, 0.0, theta) @ table.T
    if apart.any() or must.any():
        broken = (apart.astype(float) - must) @ table.T + must.sum(axis=1)[:, None]
        weights[broken > 0.5] = -np.inf
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class Enumerated:
    """P = exp(log-weight − log-normaliser) for every row of the table of partitions.

    `theta` and `must` are rows over pairs, in the order of np.triu_indices.
    """

    size: int
    theta: FloatArray
    must: BoolArray
    log_normaliser: Figure
    reason: str = REASON
    method: Method = "exact"

    @property
    def log_weights(self) -> FloatArray:
        weights: FloatArray = log_weights(self.theta[None], self.must[None], self.size)[0]
        return weights

    @property
    def probabilities(self) -> FloatArray:
        probabilities: FloatArray = np.exp(self.log_weights - self.log_normaliser.value)
        return probabilities

    def log_weight(self, labels: IntArray) -> float:
        row = np.flatnonzero((partitions(self.size) == labels).all(axis=1))
        return float(self.log_weights[row[0]])

    def count(self) -> int:
        return int(np.count_nonzero(self.log_weights > -np.inf))

    def log2_count(self) -> Figure:
        return Figure.exact(math.log2(self.count()))

    def entropy(self) -> Figure:
        weights = self.log_weights
        logs = weights[weights > -np.inf] - self.log_normaliser.value
        return Figure.exact(max(0.0, -float(np.exp(logs) @ logs)) / math.log(2.0))

    def pairs(self) -> Marginals:
        return enumerated_marginals(self.probabilities, self.size)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        possible = self.log_weights > -np.inf
        cells = cell_table(self.size)[possible]
        shares = np.broadcast_to(self.probabilities[possible, None], cells.shape)
        sums = np.bincount(cells.ravel(), shares.ravel(), 1 << self.size).tolist()
        occurs = np.bincount(cells.ravel(), minlength=1 << self.size).tolist()
        return iter([(cell, sums[n]) for n, cell in _sorted_cells(self.size) if occurs[n]])

    def best(self, k: int) -> Best:
        weights = self.log_weights
        order = np.argsort(-weights, kind="stable")[: min(k, self.count())]
        return Best(partitions(self.size)[order], weights[order])

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        bounds = np.cumsum(self.probabilities)
        chosen = np.searchsorted(bounds, rng.random(count) * bounds[-1], side="right")
        rows: IntArray = partitions(self.size)[np.minimum(chosen, len(bounds) - 1)]
        return rows


def enumerated_marginals(probabilities: FloatArray, size: int) -> Marginals:
    """Return the pair marginals, from the probability of every partition."""
    matrix = np.eye(size)
    left, right = np.triu_indices(size, 1)
    shares = np.clip(probabilities @ pair_table(size), 0.0, 1.0)
    matrix[left, right] = matrix[right, left] = shares
    return Marginals.exact(matrix)
