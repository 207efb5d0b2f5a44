"""The joint model's distribution over few mentions: all configurations and their log P."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from partita.configurations.partitions import joined, partitions
from partita.records import Best, Figure, FloatArray, Marginals


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """log P of every row of the table of partitions of `size`."""

    size: int
    logs: FloatArray

    @property
    def probabilities(self) -> FloatArray:
        found: FloatArray = np.exp(self.logs)
        found /= found.sum()
        return found

    def entropy(self) -> Figure:
        return Figure.exact(max(0.0, -float(self.probabilities @ self.logs)) / math.log(2.0))

    def pairs(self) -> Marginals:
        matrix = np.eye(self.size)
        left, right = np.triu_indices(self.size, 1)
        shares = np.clip(self.probabilities @ joined(self.size), 0.0, 1.0)
        matrix[left, right] = matrix[right, left] = shares
        return Marginals.exact(matrix)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        sums: dict[tuple[int, ...], float] = {}
        for row, share in zip(partitions(self.size), self.probabilities.tolist(), strict=True):
            for label in range(int(row.max()) + 1):
                cell = tuple(np.flatnonzero(row == label).tolist())
                sums[cell] = sums.get(cell, 0.0) + share
        return iter(sorted(sums.items()))

    def best(self, k: int) -> Best:
        order = np.argsort(-self.logs, kind="stable")[:k]
        return Best(partitions(self.size)[order], self.logs[order])
