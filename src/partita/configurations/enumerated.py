"""The posterior of a small set as a list of all its configurations and their weights."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from partita.configurations.partitions import joined, partitions
from partita.records import Best, Figure, FloatArray, IntArray, Marginals, Method


@dataclass(frozen=True, slots=True, eq=False)
class Enumerated:
    """P = exp(log-weight − log-normaliser) for every row of the table of partitions."""

    size: int
    log_weights: FloatArray
    log_normaliser: Figure
    reason: str = "exact by enumeration"
    method: Method = "exact"

    @property
    def probabilities(self) -> FloatArray:
        found: FloatArray = np.exp(self.log_weights - self.log_normaliser.value)
        return found

    def log_weight(self, labels: IntArray) -> float:
        row = np.flatnonzero((partitions(self.size) == labels).all(axis=1))
        return float(self.log_weights[row[0]])

    def count(self) -> int:
        return int(np.count_nonzero(self.log_weights > -np.inf))

    def log2_count(self) -> Figure:
        return Figure.exact(math.log2(self.count()))

    def entropy(self) -> Figure:
        possible = self.probabilities > 0.0
        logs = self.log_weights[possible] - self.log_normaliser.value
        return Figure.exact(max(0.0, -float(self.probabilities[possible] @ logs)) / math.log(2.0))

    def pairs(self) -> Marginals:
        matrix = np.eye(self.size)
        left, right = np.triu_indices(self.size, 1)
        shares = np.clip(self.probabilities @ joined(self.size), 0.0, 1.0)
        matrix[left, right] = matrix[right, left] = shares
        return Marginals.exact(matrix)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        sums: dict[tuple[int, ...], float] = {}
        labels, shares = partitions(self.size), self.probabilities
        for row in np.flatnonzero(self.log_weights > -np.inf).tolist():
            for label in range(labels[row].max() + 1):
                cell = tuple(np.flatnonzero(labels[row] == label).tolist())
                sums[cell] = sums.get(cell, 0.0) + float(shares[row])
        return iter(sorted(sums.items()))

    def best(self, k: int) -> Best:
        order = np.argsort(-self.log_weights, kind="stable")[: min(k, self.count())]
        return Best(partitions(self.size)[order], self.log_weights[order])

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        bounds = np.cumsum(self.probabilities)
        chosen = np.searchsorted(bounds, rng.random(count) * bounds[-1], side="right")
        rows: IntArray = partitions(self.size)[np.minimum(chosen, len(bounds) - 1)]
        return rows
