"""Brute force: every partition, one after another, in plain Python and exact rationals."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Labels = tuple[int, ...]


def partitions(n: int) -> Iterator[Labels]:
    """All partitions of n things as restricted growth strings."""

    def grow(labels: Labels, used: int) -> Iterator[Labels]:
        if len(labels) == n:
            yield labels
            return
        for label in range(used + 1):
            yield from grow((*labels, label), max(used, label + 1))

    return grow((), 0)


def joined(labels: Labels) -> list[tuple[int, int]]:
    """The pairs that share a cell."""
    n = len(labels)
    return [(i, j) for i in range(n) for j in range(i + 1, n) if labels[i] == labels[j]]


def rational_weights(p: list[list[Fraction]]) -> dict[Labels, Fraction]:
    """The product of p or 1 - p over all pairs, for every partition, exactly."""
    n = len(p)
    weights = {}
    for labels in partitions(n):
        weight = Fraction(1)
        for i in range(n):
            for j in range(i + 1, n):
                weight *= p[i][j] if labels[i] == labels[j] else 1 - p[i][j]
        weights[labels] = weight
    return weights


def log_weights(theta: NDArray[np.float64]) -> dict[Labels, float]:
    """The sum of log-odds over joined pairs, for every partition that is possible."""
    scores = {w: math.fsum(theta[i, j] for i, j in joined(w)) for w in partitions(len(theta))}
    return {labels: score for labels, score in scores.items() if score > -math.inf}


def distribution(theta: NDArray[np.float64]) -> dict[Labels, float]:
    """Probabilities of all possible partitions in the evidential form."""
    scores = log_weights(theta)
    top = max(scores.values())
    total = math.fsum(math.exp(score - top) for score in scores.values())
    return {labels: math.exp(score - top) / total for labels, score in scores.items()}


def pair_marginals(probabilities: dict[Labels, float], n: int) -> NDArray[np.float64]:
    """For every two things the probability that they share a cell."""
    pairs = np.eye(n)
    for labels, probability in probabilities.items():
        for i, j in joined(labels):
            pairs[i, j] += probability
            pairs[j, i] += probability
    return pairs


def cell_marginals(probabilities: dict[Labels, float]) -> dict[tuple[int, ...], float]:
    """For every cell the probability that it is one of the partition's."""
    cells: dict[tuple[int, ...], float] = {}
    for labels, probability in probabilities.items():
        for label in set(labels):
            cell = tuple(i for i, other in enumerate(labels) if other == label)
            cells[cell] = cells.get(cell, 0.0) + probability
    return cells


def entropy_bits(probabilities: dict[Labels, float]) -> float:
    return -math.fsum(p * math.log2(p) for p in probabilities.values() if p > 0)
