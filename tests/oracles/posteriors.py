"""A posterior by brute force: every partition, listed with its log-weight."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from oracles import partitions
from partita.configurations.certified.posterior import CertifiedPosterior, narrowing
from partita.core import Best, Budget, Figure, FloatArray, Marginals, Method


class ListedPosterior:
    """What records.Posterior asks, from the list of all possible partitions of theta."""

    def __init__(self, theta: NDArray[np.float64]) -> None:
        self.size = len(theta)
        self.method: Method = "exact"
        self.reason = "every partition was listed"
        self.weights = partitions.log_weights(theta)
        top = max(self.weights.values())
        total = math.fsum(math.exp(weight - top) for weight in self.weights.values())
        self.log_normaliser = Figure.exact(top + math.log(total))

    def probabilities(self) -> dict[partitions.Labels, float]:
        log_z = self.log_normaliser.value
        return {labels: math.exp(weight - log_z) for labels, weight in self.weights.items()}

    def log_weight(self, labels: NDArray[np.int64]) -> float:
        return self.weights.get(tuple(labels.tolist()), -math.inf)

    def count(self) -> int | None:
        return len(self.weights)

    def log2_count(self) -> Figure:
        return Figure.exact(math.log2(len(self.weights)))

    def entropy(self) -> Figure:
        return Figure.exact(partitions.entropy_bits(self.probabilities()))

    def pairs(self) -> Marginals:
        return Marginals.exact(partitions.pair_marginals(self.probabilities(), self.size))

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        return iter(partitions.cell_marginals(self.probabilities()).items())

    def best(self, k: int) -> Best:
        order = sorted(self.weights, key=lambda labels: (-self.weights[labels], labels))[:k]
        rows = np.array(order, dtype=np.int64).reshape(len(order), self.size)
        return Best(rows, np.array([self.weights[labels] for labels in order]))

    def draws(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        probabilities = self.probabilities()
        rows = np.array(list(probabilities), dtype=np.int64)
        chances = np.array(list(probabilities.values()))
        return rows[rng.choice(len(rows), count, p=chances / chances.sum())]


def certified(theta: FloatArray, budget: Budget) -> CertifiedPosterior:
    """The narrowest bounds that the budget allows."""
    *_, last = narrowing(theta, budget)
    return last
