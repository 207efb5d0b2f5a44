"""The forest model by brute force: every spanning tree of every cell, from its Prüfer code."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from oracles.partitions import Labels, partitions
from partita.configurations.odds import PairKnowledge

Floats = NDArray[np.float64]


def random_knowledge(
    rng: np.random.Generator, n: int, spread: float = 2.0, apart: int = 0, must: int = 0
) -> PairKnowledge:
    """Random scores, about a third of the pairs not compared, with some certain pairs.

    Templates with an even number are never linked to odd ones, so that nothing contradicts.
    """
    p = 1.0 / (1.0 + np.exp(-rng.normal(0.0, spread, (n, n))))
    p = np.triu(p, 1) + np.triu(p, 1).T
    compared = rng.random((n, n)) < 0.7
    compared = np.triu(compared, 1) | np.triu(compared, 1).T
    compatible, linked = np.ones((n, n), dtype=np.bool_), np.eye(n, dtype=np.bool_)
    pairs = list(itertools.combinations(range(n), 2))
    odd = [both for both in pairs if (both[0] + both[1]) % 2]
    even = [both for both in pairs if not (both[0] + both[1]) % 2]
    for i, j in (odd[k] for k in rng.permutation(len(odd))[:apart]):
        compatible[i, j] = compatible[j, i] = False
    for i, j in (even[k] for k in rng.permutation(len(even))[:must]):
        linked[i, j] = linked[j, i] = True
    np.fill_diagonal(p, 0.5)
    return PairKnowledge(p, compatible, linked, compared)


def evidence(known: PairKnowledge, a: float, c: float, floor: float = 0.0) -> Floats:
    """aθ + c of every pair, averaged with those of probably the same templates; NaN if not
    compared."""
    n = len(known.p)
    compared = np.ones((n, n), dtype=np.bool_) if known.compared is None else known.compared
    theta = np.full((n, n), math.nan)
    for i, j in itertools.permutations(range(n), 2):
        p = min(max(known.p[i, j], 1e-9), 1.0 - 1e-9)
        if known.must[i, j]:
            theta[i, j] = 45.0
        elif known.compatible[i, j] and compared[i, j]:
            p = floor + (1.0 - floor) * sigmoid(a * math.log(p / (1.0 - p)) + c)
            theta[i, j] = math.log(p / (1.0 - p))
    result = theta.copy()
    for i, j in itertools.permutations(range(n), 2):
        if not math.isnan(theta[i, j]) and not known.must[i, j]:
            total, weight = theta[i, j], 1.0
            agreeing = max(agreement(theta, i, j), agreement(theta, j, i))
            for s, t in ((i, j), (j, i)):
                for k in set(range(n)) - {i, j}:
                    if not math.isnan(theta[s, k]) and not math.isnan(theta[k, t]):
                        near = 0.5 * sigmoid(theta[s, k]) ** 2
                        value = max(-5.0, min(theta[k, t], 5.0))
                        if value < theta[i, j]:
                            near *= (1.0 - agreeing) ** 2
                        total += near * value
                        weight += near
            result[i, j] = total / weight
    return result


def agreement(theta: Floats, i: int, j: int) -> float:
    """The share of the compared pairs of i that are probably the same, without the pair with j.

    Four pairs that are different are added.
    """
    others = [k for k in range(len(theta)) if not math.isnan(theta[i, k])]
    return sum(sigmoid(theta[i, k]) for k in others if k != j) / (len(others) + 4)


def sigmoid(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


def weights(known: PairKnowledge, floor: float = 0.0, unlisted: float = -6.5) -> Floats:
    """W of every pair, from its definition; infinite where a pair must corefer."""
    n, eta = len(known.p), evidence(known, 1.0, 0.0, floor)
    x = np.full((n, n), -math.inf)
    own = np.zeros((n, n))
    missing = False
    for i, j in itertools.permutations(range(n), 2):
        if known.must[i, j]:
            x[i, j], own[i, j] = math.inf, 1.0
        elif not math.isnan(eta[i, j]):
            x[i, j] = eta[i, j]
            own[i, j] = sigmoid(x[i, j])
        elif known.compatible[i, j]:
            missing = True
    degree = 1.0 + own.sum(axis=1)
    floor = math.exp(unlisted) * min(1.0, 10.0 / n) if missing else 0.0
    result = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        if known.must[i, j]:
            result[i, j] = math.inf
        elif known.compatible[i, j]:
            both = max(1.0, degree[i] - own[i, j]) + max(1.0, degree[j] - own[i, j])
            half = own[i, j] * (2.0 + both) / 4.0 + (1.0 - own[i, j]) * both / 2.0
            least = floor / 2.0 * math.sqrt(damping(degree[i]) * damping(degree[j]))
            result[i, j] = max(math.exp(x[i, j]) / 2.0 * damping(half), least)
    return result


def damping(d: float) -> float:
    """The factor of a pair between clusters that have together about 2d templates."""
    return (1.0 + 3.0 * (1.0 - 1.0 / d) ** 4) / d


@lru_cache
def trees(k: int) -> NDArray[np.int64]:
    """Every spanning tree of k nodes as rows of k − 1 edges."""
    if k == 2:
        return np.array([[[0, 1]]])
    found = []
    for code in itertools.product(range(k), repeat=k - 2):
        degree = [1 + code.count(v) for v in range(k)]
        edges = []
        for v in code:
            leaf = degree.index(1)
            edges.append((leaf, v))
            degree[leaf] -= 1
            degree[v] -= 1
        edges.append(tuple(v for v in range(k) if degree[v] == 1))
        found.append(edges)
    return np.array(found)


def cell_weight(w: Floats, cell: tuple[int, ...]) -> float:
    """|C| times the sum over its spanning trees."""
    k = len(cell)
    if k == 1:
        return 1.0
    inside, every = w[np.ix_(cell, cell)], trees(k)
    return k * float(np.prod(inside[every[..., 0], every[..., 1]], axis=1).sum())


def distribution(known: PairKnowledge, floor: float = 0.0) -> dict[Labels, float]:
    """The weight of every partition that keeps all constraints.

    Must-links are edges whose weight is 10^9: their spanning trees cost a factor that all share.
    """
    w = weights(known, floor)
    w = np.where(np.isinf(w), 1e9, w)
    n = len(w)
    cells = {
        cell: cell_weight(w, cell)
        for k in range(1, n + 1)
        for cell in itertools.combinations(range(n), k)
        if all(known.compatible[i, j] for i, j in itertools.combinations(cell, 2))
    }
    result: dict[Labels, float] = {}
    for labels in partitions(n):
        groups = [tuple(i for i in range(n) if labels[i] == c) for c in range(max(labels) + 1)]
        kept = all(labels[i] == labels[j] for i, j in np.argwhere(known.must).tolist())
        if kept and all(group in cells for group in groups):
            result[labels] = math.prod(cells[group] for group in groups)
    return result
