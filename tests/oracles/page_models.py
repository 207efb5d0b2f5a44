"""The models of docs/how-it-works.md, made from the text of the page alone, by brute force.

A set is a number of templates and, for every pair (i, j) with i < j, a probability: 0 is a
cannot-link, 1 a must-link. The forest also has pairs that were not compared. Every function returns
the probabilities of all partitions of positive weight.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from functools import lru_cache

Pair = tuple[int, int]
Cell = tuple[int, ...]
Partition = tuple[Cell, ...]
Probabilities = Mapping[Pair, float]
Answer = dict[Partition, float]


def all_partitions(n: int) -> Iterator[Partition]:
    """Cells by their first member, members in order."""
    if n == 0:
        yield ()
        return
    for smaller in all_partitions(n - 1):
        for k, cell in enumerate(smaller):
            yield (*smaller[:k], (*cell, n - 1), *smaller[k + 1 :])
        yield (*smaller, (n - 1,))


def pair(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def together(partition: Partition) -> set[Pair]:
    return {both for cell in partition for both in itertools.combinations(cell, 2)}


def possible(partition: Partition, must: set[Pair], cannot: set[Pair]) -> bool:
    joined = together(partition)
    return not joined & cannot and must <= joined


def certain(p: Probabilities) -> tuple[set[Pair], set[Pair]]:
    """The must-links and the cannot-links."""
    return {both for both in p if p[both] == 1.0}, {both for both in p if p[both] == 0.0}


def normalised(weights: Answer) -> Answer:
    total = math.fsum(weights.values())
    return {partition: weight / total for partition, weight in weights.items() if weight > 0.0}


# From pairs to configurations


def evidential(n: int, p: Probabilities) -> tuple[Answer, float]:
    """The probabilities, and the conflict κ."""
    weights = {}
    for partition in all_partitions(n):
        joined = together(partition)
        weights[partition] = math.prod(p[x] if x in joined else 1.0 - p[x] for x in p)
    return normalised(weights), 1.0 - math.fsum(weights.values())


def scaled(n: int, p: Probabilities, a: float, b: float) -> Answer:
    must, cannot = certain(p)
    theta = {x: a * math.log(p[x] / (1.0 - p[x])) + b for x in set(p) - must - cannot}
    weights = {}
    for partition in all_partitions(n):
        if possible(partition, must, cannot):
            weights[partition] = math.fsum(theta[x] for x in together(partition) if x in theta)
    most = max(weights.values())
    return normalised({partition: math.exp(w - most) for partition, w in weights.items()})


def merging(n: int, p: Probabilities) -> Answer:
    weights = {}
    for partition in all_partitions(n):
        if not possible(partition, *certain(p)):
            continue
        home = {member: cell for cell in partition for member in cell}
        weight, existing = 1.0, list[list[int]]()  # the most recently updated first
        for template in range(n):
            place = 0
            while place < len(existing) and home[existing[place][0]] is not home[template]:
                weight *= 1.0 - p[pair(existing[place][-1], template)]
                place += 1
            cell = existing.pop(place) if place < len(existing) else []
            if cell:
                weight *= p[pair(cell[-1], template)]
            existing.insert(0, [*cell, template])
        weights[partition] = weight
    return normalised(weights)


def uniform(n: int, p: Probabilities) -> Answer:
    return normalised({x: 1.0 for x in all_partitions(n) if possible(x, *certain(p))})


def greedy(n: int, p: Probabilities, shares: tuple[float, float, float]) -> Answer:
    """`shares` are those of sets of two templates, of three, and of more."""
    must, cannot = certain(p)
    existing: list[Cell] = []  # the most recently updated first
    for node in connected(n, must):
        for place, cell in enumerate(existing):
            if not any(pair(i, j) in cannot for i in cell for j in node):
                existing.insert(0, existing.pop(place) + node)
                break
        else:
            existing.insert(0, node)
    merged = tuple(sorted(tuple(sorted(cell)) for cell in existing))
    others = [x for x in all_partitions(n) if possible(x, must, cannot) and x != merged]
    if not others:
        return {merged: 1.0}
    share = shares[min(n, 4) - 2]
    return {merged: share} | {x: (1.0 - share) / len(others) for x in others}


def connected(n: int, links: set[Pair]) -> list[Cell]:
    """The templates that links connect, in the order of their first members."""
    nodes = [{i} for i in range(n)]
    for i, j in links:
        left, right = (next(node for node in nodes if k in node) for k in (i, j))
        if left is not right:
            nodes.remove(right)
            left |= right
    return sorted(tuple(sorted(node)) for node in nodes)


# The forest model


def sigma(t: float) -> float:
    return 1.0 / (1.0 + math.exp(-t))


def h(m: float) -> float:
    return (1.0 + 3.0 * (1.0 - 1.0 / m) ** 4) / m


def forest(
    n: int,
    scores: Probabilities,
    must: set[Pair],
    cannot: set[Pair],
    a: float = 1.0,
    c: float = 0.0,
    floor: float = 0.0,
) -> Answer:
    """`scores` are those of the compared pairs; pairs that are named nowhere were not compared."""
    weight = forest_weights(n, scores, must, cannot, a, c, floor)
    nodes = connected(n, must)
    weights = {}
    for partition in all_partitions(len(nodes)):
        cells = [[nodes[k] for k in cell] for cell in partition]
        templates = tuple(sorted(tuple(sorted(sum(cell, ()))) for cell in cells))
        if not together(templates) & cannot:
            weights[templates] = math.prod(cell_weight(cell, weight) for cell in cells)
    return normalised(weights)


def forest_weights(
    n: int,
    scores: Probabilities,
    must: set[Pair],
    cannot: set[Pair],
    a: float,
    c: float,
    floor: float,
) -> dict[Pair, float]:
    """The weights of all pairs that are neither a must-link nor a cannot-link."""
    y = {both: alone(p, a, c, floor) for both, p in scores.items()} | dict.fromkeys(must, 45.0)
    partners = [[k for k in range(n) if pair(i, k) in y and k != i] for i in range(n)]
    x = {both: averaged(both, y, partners) for both in scores} | dict.fromkeys(must, 45.0)
    size = [1.0 + math.fsum(sigma(x[pair(i, k)]) for k in partners[i]) for i in range(n)]
    result = {}
    for i, j in scores:
        q = sigma(x[i, j])
        t = (size[i] - q) + (size[j] - q)
        m = 0.5 * (q * (1.0 + t / 2.0) + (1.0 - q) * t)
        result[i, j] = 0.5 * math.exp(x[i, j]) * h(m)
    pairs = set(itertools.combinations(range(n), 2)) - must - cannot
    if pairs != set(scores):
        for i, j in pairs:
            v = 0.5 * math.exp(-6.5) * min(1.0, 10.0 / n) * math.sqrt(h(size[i]) * h(size[j]))
            result[i, j] = max(v, result.get((i, j), 0.0))
    return result


def alone(score: float, a: float, c: float, floor: float) -> float:
    """Step 1: y of a compared pair."""
    p = min(max(score, 1e-9), 1.0 - 1e-9)
    y = min(max(a * math.log(p / (1.0 - p)) + c, -45.0), 45.0)
    if floor == 0.0:
        return y
    p = floor + (1.0 - floor) * sigma(y)
    return math.log(p / (1.0 - p))


def averaged(both: Pair, y: Mapping[Pair, float], partners: list[list[int]]) -> float:
    """Step 2: x of a compared pair."""

    def share(i: int, j: int) -> float:
        same = (sigma(y[pair(i, k)]) for k in partners[i] if k != j)
        return math.fsum(same) / (len(partners[i]) + 4.0)

    i, j = both
    r, own = max(share(i, j), share(j, i)), y[both]
    sums, weights = [own], [1.0]
    for k in set(partners[i]) & set(partners[j]):
        for near, far in ((y[pair(i, k)], y[pair(k, j)]), (y[pair(j, k)], y[pair(k, i)])):
            u, value = 0.5 * sigma(near) ** 2, min(max(far, -5.0), 5.0)
            if value < own:
                u *= (1.0 - r) ** 2
            sums.append(u * value)
            weights.append(u)
    return math.fsum(sums) / math.fsum(weights)


def cell_weight(nodes: list[Cell], weight: Mapping[Pair, float]) -> float:
    """|C| times the sum over spanning trees of its nodes."""

    def between(left: Cell, right: Cell) -> float:
        return math.fsum(weight.get(pair(i, j), 0.0) for i in left for j in right)

    edges = {
        (s, t): between(nodes[s], nodes[t]) for s, t in itertools.combinations(range(len(nodes)), 2)
    }
    trees = (math.prod(edges[edge] for edge in tree) for tree in spanning_trees(len(nodes)))
    return sum(map(len, nodes)) * math.fsum(trees)


@lru_cache
def spanning_trees(k: int) -> list[tuple[Pair, ...]]:
    """Every choice of k − 1 pairs of k nodes that connects them all."""
    pairs = list(itertools.combinations(range(k), 2))
    return [
        tree for tree in itertools.combinations(pairs, k - 1) if len(connected(k, set(tree))) == 1
    ]
