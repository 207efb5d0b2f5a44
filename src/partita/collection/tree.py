"""A distribution over who is who: a tree of records that stops at random on the way down.

Average linkage joins the records. Node v has a height h(v), the probability that its two halves are
the same, which does not rise towards the root. From a root down, a node that is reached is one
entity with probability q = 1 - (1 - h) / (1 - h of its parent), and is divided otherwise. Then two
records are the same with the probability h of their lowest common node: pair probabilities are
coherent, and whole worlds are drawn exactly.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partita.core import BoolArray, FloatArray, IntArray

LEAST = 0.02  # a mean score below which clusters are not joined
KEPT = 0.005  # a score below which a pair counts as one that was not compared: most are
UNLISTED = 0.1  # weight of a pair that was not compared, in a mean score
SURE = 1e-6  # no probability of a merge is nearer to 0 or 1
COEFFICIENTS = ("bias", "score", "pairs", "score_by_pairs")


def clipped_log_odds(p: FloatArray) -> FloatArray:
    """Return the log-odds of probabilities, none of them certain."""
    clipped = np.clip(p, SURE, 1.0 - SURE)
    found: FloatArray = np.log(clipped) - np.log1p(-clipped)
    return found


def logistic(x: FloatArray) -> FloatArray:
    """Return the probabilities of log-odds."""
    found: FloatArray = 1.0 / (1.0 + np.exp(-np.clip(x, -500.0, 500.0)))
    return found


@dataclass(frozen=True, slots=True)
class Joined:
    """The joins of average linkage: node `count + n` has two halves, earlier nodes.

    `mean` is the mean score between the halves, `pairs` the number of pairs between them, and
    `listed` how many of these were compared.
    """

    count: int
    first: IntArray
    second: IntArray
    mean: FloatArray
    pairs: FloatArray
    listed: FloatArray


def average_linkage(
    count: int,
    left: IntArray,
    right: IntArray,
    scores: FloatArray,
    same: Sequence[tuple[int, int]] = (),
    different: Sequence[tuple[int, int]] = (),
) -> Joined:
    """Join the two closest clusters in turn, by the mean score of their pairs.

    Pairs that are known to be the same are joined first, with a mean of 1; clusters with a pair
    that is known to be different are never joined.
    """
    near = _within_components(count, left, right, scores)
    ends = left[near].tolist(), right[near].tolist(), scores[near].tolist()
    links = _Links(count, different)
    for a, b, p in zip(*ends, strict=True):
        links.sums[a][b] = links.sums[b][a] = [p, 1.0]
    for a, b in same:
        links.join_known(a, b)
    heap = [(-p, a, b) for a, b, p in zip(*ends, strict=True) if p >= LEAST]
    heap += [one for node in range(count, len(links.sizes)) for one in links.closeness(node)]
    heapq.heapify(heap)
    while heap:
        closeness, a, b = heapq.heappop(heap)
        if links.alive[a] and links.alive[b] and not links.apart(a, b):
            for one in links.closeness(links.join(a, b, -closeness)):
                heapq.heappush(heap, one)
    table = np.array(links.joins, dtype=np.float64).reshape(-1, 5)
    halves = table[:, :2].astype(np.int64)
    return Joined(count, halves[:, 0], halves[:, 1], table[:, 2], table[:, 3], table[:, 4])


class _Links:
    """Clusters while they are joined: sums and counts of the scores between each two."""

    def __init__(self, count: int, different: Sequence[tuple[int, int]]) -> None:
        self.sums: list[dict[int, list[float]]] = [{} for _ in range(count)]
        self.sizes = [1] * count
        self.alive = [True] * count
        self.home = list(range(count))  # the cluster of each node
        self.joins: list[tuple[int, int, float, float, float]] = []
        self.barred: dict[int, set[int]] = {}  # records that a cluster must not have
        self.labelled: dict[int, set[int]] = {}  # records of a cluster that are barred somewhere
        for a, b in different:
            for one, other in ((a, b), (b, a)):
                self.barred.setdefault(one, set()).add(other)
                self.labelled[one] = {one}

    def apart(self, a: int, b: int) -> bool:
        """Return whether two clusters have records that are known to be different."""
        barred = self.barred.get(a)
        return barred is not None and not barred.isdisjoint(self.labelled.get(b, ()))

    def join_known(self, a: int, b: int) -> None:
        """Join the clusters of two records that are known to be the same."""
        one, two = self._cluster(a), self._cluster(b)
        if one != two and not self.apart(one, two):
            self.join(one, two, 1.0)

    def _cluster(self, node: int) -> int:
        while self.home[node] != node:
            node = self.home[node]
        return node

    def join(self, a: int, b: int, mean: float) -> int:
        """Join two clusters and return the new one."""
        _, listed = self.sums[a].get(b, (0.0, 0.0))
        self.joins.append((a, b, mean, float(self.sizes[a] * self.sizes[b]), listed))
        self.alive[a] = self.alive[b] = False
        new = len(self.sizes)
        self.home[a] = self.home[b] = new
        self.home.append(new)
        self.sizes.append(self.sizes[a] + self.sizes[b])
        self.alive.append(True)
        for kept in (self.barred, self.labelled):
            if both := kept.pop(a, set()) | kept.pop(b, set()):
                kept[new] = both
        self.sums.append(_merged(self.sums, a, b))
        for other, found in self.sums[new].items():
            self.sums[other][new] = found
        return new

    def closeness(self, node: int) -> Iterator[tuple[float, int, int]]:
        """Yield how close a cluster is to the others that it may be joined with."""
        for other, (total, listed) in self.sums[node].items():
            pairs = self.sizes[node] * self.sizes[other]
            mean = total / (listed + UNLISTED * (pairs - listed))
            if mean >= LEAST:
                yield -mean, min(other, node), max(other, node)


def _merged(sums: list[dict[int, list[float]]], a: int, b: int) -> dict[int, list[float]]:
    """Return the sums and counts of scores between two clusters together and all others."""
    merged: dict[int, list[float]] = {}
    for one, partner in ((a, b), (b, a)):
        for other, (p, n) in sums[one].items():
            if other == partner:
                continue
            del sums[other][one]
            if other in merged:
                merged[other][0] += p
                merged[other][1] += n
            else:
                merged[other] = [p, n]
        sums[one] = {}
    return merged


def _within_components(count: int, left: IntArray, right: IntArray, scores: FloatArray) -> IntArray:
    """Return the pairs whose records are connected by scores that can join."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    likely = scores >= LEAST
    graph = coo_array((np.ones(int(likely.sum())), (left[likely], right[likely])), (count, count))
    _, home = connected_components(graph, directed=False)
    return np.flatnonzero((home[left] == home[right]) & (scores >= KEPT))


def node_inputs(joined: Joined) -> FloatArray:
    """Return the inputs of the calibration of each node, in the order of COEFFICIENTS."""
    score, size = clipped_log_odds(joined.mean), np.log(joined.pairs)
    return np.column_stack([np.ones_like(score), score, size, score * size])


@dataclass(frozen=True, eq=False)
class EntityTree:
    """The tree with calibrated heights, as log-odds; parents come after their halves.

    `parent` is -1 at a root. Leaves have no height.
    """

    joined: Joined
    height: FloatArray

    @classmethod
    def of(cls, joined: Joined, calibration: Mapping[str, float]) -> EntityTree:
        """Calibrate the heights; none is above that of its halves. A mean of 1 is certain."""
        weights = np.array([calibration[name] for name in COEFFICIENTS])
        most = clipped_log_odds(np.ones(1))[0]
        height = np.minimum(node_inputs(joined) @ weights, most)
        height[joined.mean >= 1.0] = most
        for n, (a, b) in enumerate(zip(joined.first.tolist(), joined.second.tolist(), strict=True)):
            for half in (a, b):
                if half >= joined.count:
                    height[n] = min(height[n], height[half - joined.count])
        return cls(joined, height)

    @property
    def count(self) -> int:
        """The number of records."""
        return self.joined.count

    @cached_property
    def parent(self) -> IntArray:
        """The parent of each node, -1 for a root."""
        found = np.full(self.count + len(self.height), -1)
        places = np.arange(self.count, self.count + len(self.height))
        found[self.joined.first], found[self.joined.second] = places, places
        return found

    @cached_property
    def probability(self) -> FloatArray:
        """The probability that the halves of each node are the same."""
        return logistic(self.height)

    def lowest_common(self, left: IntArray, right: IntArray) -> IntArray:
        """Return the number of the join at which each pair meets, -1 if it never does."""
        depth = self._depth
        a, b = left.copy(), right.copy()
        moving = np.arange(len(a))
        while len(moving):
            x, y = a[moving], b[moving]
            lower = depth[x] >= depth[y]
            a[moving] = np.where(lower & (x != y), self.parent[x], x)
            b[moving] = np.where(~lower & (x != y), self.parent[y], y)
            x, y = a[moving], b[moving]
            moving = moving[(x != y) & (x >= 0) & (y >= 0)]
        met = (a == b) & (a >= self.count)
        found: IntArray = np.where(met, a - self.count, -1)
        return found

    @cached_property
    def _depth(self) -> IntArray:
        depth = np.zeros(len(self.parent) + 1, dtype=np.int64)
        for node in range(len(self.parent) - 1, -1, -1):
            if self.parent[node] >= 0:
                depth[node] = depth[self.parent[node]] + 1
        depth[-1] = -1  # the parent of a root
        return depth

    def pair_probabilities(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the probability of each pair that its records are the same."""
        node = self.lowest_common(left, right)
        found: FloatArray = np.where(node >= 0, self.probability[node] if len(self.height) else 0.0,
                                     0.0)  # fmt: skip
        return found

    def cut(self, least: float) -> IntArray:
        """Return the entity of each record: nodes of at least this probability are one entity."""
        return self._labels(self.probability >= least)

    def _labels(self, one: BoolArray) -> IntArray:
        """Return a label for each record: the highest node above it that is one entity."""
        top = np.arange(self.count + len(self.height))
        for nodes in self._levels[1:]:
            above = self.parent[nodes]
            joined = (top[above] != above) | one[above - self.count]
            top[nodes] = np.where(joined, top[above], nodes)
        return top[: self.count]

    @cached_property
    def _levels(self) -> list[IntArray]:
        """The nodes of each depth, from the roots down."""
        depth = self._depth[:-1]
        order = np.argsort(depth, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)

    def worlds(self, draws: int, seed: int = 0) -> IntArray:
        """Draw whole worlds: a row for each, with the entity of each record."""
        rng, stops = np.random.default_rng(seed), self._stops()
        found = np.empty((draws, self.count), dtype=np.int64)
        for n in range(draws):
            found[n] = self._labels(rng.random(len(stops)) < stops)
        return found

    def _stops(self) -> FloatArray:
        """Return the probability that a node that is reached is one entity."""
        above = self.parent[self.count :]
        padded = np.append(self.probability, 0.0)  # nothing above a root
        parents = padded[np.where(above >= 0, above - self.count, -1)]
        found: FloatArray = 1.0 - (1.0 - self.probability) / (1.0 - parents)
        return np.clip(found, 0.0, 1.0)

    def expected_entities(self) -> float:
        """Return the expected number of entities: records less the expected number of merges.

        A node is a merge where it, or one above it, is one entity.
        """
        return self.count - float(self.probability.sum())
