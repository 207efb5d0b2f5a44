"""A distribution over who is who: a tree of records that stops at random on the way down.

Average linkage joins the records. Node v has a height h(v), the probability that its two halves are
the same, which does not rise towards the root. From a root down, a node that is reached is one
entity with probability q = 1 - (1 - h) / (1 - h of its parent), and is divided otherwise. Then two
records are the same with the probability h of their lowest common node: pair probabilities are
coherent, and whole worlds are drawn exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from partita.compilation import kernel
from partita.configurations.forest.model import log_odds, logistic
from partita.core import BoolArray, FloatArray, IntArray

LEAST = 0.002  # a mean score below which clusters are not joined: that is stated as impossible
KEPT = 0.005  # a score below which a pair counts as one that was not compared: most are
CONFLICT = 20.0  # weight of a pair that holds against all others, in a mean score
UNLISTED = 0.1  # weight of a pair that was not compared, in a mean score
SURE = 1e-6  # no probability of a merge is nearer to 0 or 1
COEFFICIENTS = ("bias", "score", "pairs", "score_by_pairs", "compared")
MEAN_SCORES = dict.fromkeys(COEFFICIENTS, 0.0) | {"score": 1.0}  # heights that are not calibrated


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

    def ordered(self) -> Joined:
        """Return the joins tree by tree, in the order of their first records.

        That is their order whether trees are made together or each on its own.
        """
        nodes = np.arange(self.count + len(self.first))
        root = nodes.copy()
        root[self.first] = root[self.second] = nodes[self.count :]
        while (root[root] != root).any():
            root = root[root]
        least = np.empty_like(nodes)
        least[root[: self.count][::-1]] = nodes[: self.count][::-1]  # the first record comes last
        order = np.argsort(least[root[self.count :]], kind="stable")
        renamed = nodes.copy()
        renamed[self.count + order] = nodes[self.count :]
        rest = (one[order] for one in (self.mean, self.pairs, self.listed))
        return Joined(self.count, renamed[self.first[order]], renamed[self.second[order]], *rest)


def average_linkage(
    count: int,
    left: IntArray,
    right: IntArray,
    scores: FloatArray,
    same: Sequence[tuple[int, int]] = (),
    different: Sequence[tuple[int, int]] = (),
    conflicts: BoolArray | None = None,
) -> Joined:
    """Join the two closest clusters in turn, by the mean score of their pairs.

    Pairs that are known to be the same are joined first, with a mean of 1; clusters with a pair
    that is known to be different are never joined. `conflicts` are pairs that hold against all
    other pairs of two clusters: they weigh as many.
    """
    weights = np.ones(len(left)) if conflicts is None else np.where(conflicts, CONFLICT, 1.0)
    near = _within_components(count, left, right, scores, weights)
    ends = np.column_stack([left[near], right[near]]).ravel()
    known, apart = (np.array(one, dtype=np.int64).reshape(-1, 2) for one in (same, different))
    table = linkage_kernel(count, ends, (scores * weights)[near], weights[near], known, apart)
    halves = table[:, :2].astype(np.int64)
    found = Joined(count, halves[:, 0], halves[:, 1], table[:, 2], table[:, 3], table[:, 4])
    return found.ordered()


class _Links(NamedTuple):
    """Links between clusters: link n is between `ends[2 n]` and `ends[2 n + 1]`.

    Places of `ends` with the same cluster are a list: its first is in `first`, the others follow in
    `following`; -1 are ends of links that were added to others. `sums` and `listed` are the sum and
    the number of scores. Links that can join are in a heap by `means`; `place` is where, or -1. A
    mean falls when its clusters grow; `means` is brought up to date when the link is first.
    """

    ends: IntArray
    sums: FloatArray
    listed: FloatArray
    means: FloatArray
    first: IntArray
    following: IntArray
    heap: IntArray
    place: IntArray


@kernel(entry="i8, i8[:], f8[:], f8[:], i8[:, :], i8[:, :]")
def linkage_kernel(
    count: int, ends: IntArray, sums: FloatArray, weights: FloatArray,
    same: IntArray, different: IntArray,
) -> FloatArray:  # fmt: skip
    """Return the joins of average linkage, as rows of the columns of `Joined`.

    `ends` are those of the links, two by two, and overwritten; `sums` (scores by weights) and
    `weights` (links) are only read.
    `same` and `different` (pairs × 2) are records that are known to be so. Cluster count + n is
    join n: `home` (2 · count) is the cluster that one became part of, itself if none, and `sizes`
    its records. `seen` (2 · count) is -1 between joins.
    """
    size = len(sums)
    links = _Links(ends, sums.copy(), weights.copy(), sums / weights, np.full(2 * count, -1),
                   np.full(len(ends), -1), np.zeros(size, np.int64), np.full(size, -1))  # fmt: skip
    for n in range(len(ends) - 1, -1, -1):
        _listed(links, n, ends[n])
    used = 0
    for link in range(size):
        if links.means[link] >= LEAST:
            used = _pushed(links, link, used)
    sizes, home = np.ones(2 * count), np.arange(2 * count)
    seen = np.full(2 * count, -1)
    joins, done, known = np.zeros((count, 5)), 0, 0
    while known < len(same) or used > 0:
        if known < len(same):
            a, b, mean = _root(home, same[known, 0]), _root(home, same[known, 1]), 1.0
            known += 1
        else:
            best = links.heap[0]
            a, b, mean = ends[2 * best], ends[2 * best + 1], _mean(links, best, sizes)
            a, b = min(a, b), max(a, b)
            used = _dropped(links, best, used)
            if mean < links.means[best]:
                links.means[best] = mean
                used = _raised(links, best, used)
                continue
        if a == b or _is_barred(home, different, a, b):
            continue
        new = count + done
        home[a] = home[b] = new
        sizes[new] = sizes[a] + sizes[b]
        joins[done, 0], joins[done, 1] = a, b
        joins[done, 2], joins[done, 3] = mean, sizes[a] * sizes[b]
        for half in (a, b):
            used, between = _taken_over(links, half, a + b - half, new, seen, used)
            joins[done, 4] += between
        used = _renewed(links, new, sizes, seen, used)
        done += 1
    return joins[:done]


@kernel()
def _taken_over(
    links: _Links, half: int, partner: int, new: int, seen: IntArray, used: int
) -> tuple[int, float]:
    """Give the links of a half to the new cluster, added to those with the same other end.

    `seen` has the link of the new cluster with each other one. Return the size of the heap, and how
    many scores there are between the two halves.
    """
    at, between = links.first[half], 0.0
    while at >= 0:
        later, link, other = links.following[at], at // 2, links.ends[at ^ 1]
        if other >= 0 and other != partner and seen[other] < 0:
            seen[other] = link
            _listed(links, at, new)
        elif other >= 0:
            if other == partner:
                between = links.listed[link]
            else:
                links.sums[seen[other]] += links.sums[link]
                links.listed[seen[other]] += links.listed[link]
            used = _dropped(links, link, used)
            links.ends[at] = links.ends[at ^ 1] = -1
        at = later
    return used, between


@kernel()
def _renewed(links: _Links, new: int, sizes: FloatArray, seen: IntArray, used: int) -> int:
    """Give a new cluster its links, and raise those that are closer; return the size of the heap.

    `sizes` are the records of clusters; `seen` is cleared.
    """
    at = links.first[new]
    while at >= 0:
        link, other = at // 2, links.ends[at ^ 1]
        seen[other] = -1
        links.ends[at] = new
        mean = _mean(links, link, sizes)
        if mean > links.means[link]:
            links.means[link] = mean
            used = _raised(links, link, used)
        at = links.following[at]
    return used


@kernel()
def _mean(links: _Links, link: int, sizes: FloatArray) -> float:
    """Return the mean score between two clusters (with `sizes`), of pairs compared or not."""
    listed = links.listed[link]
    pairs = sizes[links.ends[2 * link]] * sizes[links.ends[2 * link + 1]]
    return float(links.sums[link] / (listed + UNLISTED * max(pairs - listed, 0.0)))


@kernel()
def _raised(links: _Links, link: int, used: int) -> int:
    """Move a link up in the heap, or put it there if it can join; return the size of the heap."""
    if links.place[link] >= 0:
        _pushed(links, link, links.place[link])
    elif links.means[link] >= LEAST:
        used = _pushed(links, link, used)
    return used


@kernel()
def _listed(links: _Links, at: int, cluster: int) -> None:
    """Put a place of `ends` into the list of a cluster."""
    links.following[at] = links.first[cluster]
    links.first[cluster] = at


@kernel()
def _root(home: IntArray, node: int) -> int:
    """Return the cluster of a node, and shorten the way to it in `home`."""
    while home[node] != node:
        home[node] = home[home[node]]
        node = home[node]
    return node


@kernel()
def _is_barred(home: IntArray, different: IntArray, a: int, b: int) -> bool:
    """Return whether two clusters (by `home`) have records that are known to be different."""
    for n in range(len(different)):
        one, two = _root(home, different[n, 0]), _root(home, different[n, 1])
        if (one == a and two == b) or (one == b and two == a):
            return True
    return False


@kernel()
def _is_closer(links: _Links, one: int, two: int) -> bool:
    """Return whether a link comes before another: the earlier of equal ones."""
    if links.means[one] != links.means[two]:
        return bool(links.means[one] > links.means[two])
    return one < two


@kernel()
def _pushed(links: _Links, link: int, used: int) -> int:
    """Put a link into the heap; return the size of the heap."""
    at, heap = used, links.heap
    while at > 0 and _is_closer(links, link, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        links.place[heap[at]] = at
        at = (at - 1) // 2
    heap[at], links.place[link] = link, at
    return used + 1


@kernel()
def _dropped(links: _Links, link: int, used: int) -> int:
    """Take a link out of the heap if it is there; return the size of the heap."""
    at, heap, place = links.place[link], links.heap, links.place
    if at < 0:
        return used
    place[link] = -1
    used -= 1
    last = heap[used]
    if last == link:
        return used
    _pushed(links, last, at)  # upwards from the gap, then downwards
    at = place[last]
    while 2 * at + 1 < used:
        child = 2 * at + 1
        if child + 1 < used and _is_closer(links, heap[child + 1], heap[child]):
            child += 1
        if not _is_closer(links, heap[child], last):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at], place[last] = last, at
    return used


@kernel(entry="i8[:], i8[:], i8[:]")
def common_node_kernel(parent: IntArray, left: IntArray, right: IntArray) -> IntArray:
    """Return the lowest node above both nodes of each pair, -1 if there is none.

    `parent[n]` is the node above node n, or -1 at a root; `left[k]` and `right[k]` are the nodes of
    pair k. A node has a greater number than its halves, so that the smaller of two is never above
    the other.
    """
    found = np.full(len(left), -1)
    for n in range(len(left)):
        a, b = left[n], right[n]
        while a != b and a >= 0 and b >= 0:
            if a < b:
                a = parent[a]
            else:
                b = parent[b]
        if a == b:
            found[n] = a
    return found


@kernel(entry="i8[:], b1[:]")
def highest_node_kernel(parent: IntArray, one: BoolArray) -> IntArray:
    """Return for each record the highest node above it that is one entity, itself if none is.

    `parent[n]` is the node above node n, or -1 at a root; `one` has the joins, the nodes that come
    after the records.
    """
    count = len(parent) - len(one)
    top = np.arange(len(parent))
    for node in range(len(parent) - 1, -1, -1):
        above = parent[node]
        if above >= 0 and (top[above] != above or one[above - count]):
            top[node] = top[above]
    return top[:count]


def _within_components(
    count: int, left: IntArray, right: IntArray, scores: FloatArray, weights: FloatArray
) -> IntArray:
    """Return the pairs whose records are connected by scores that can join."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    likely = scores >= LEAST
    graph = coo_array((np.ones(int(likely.sum())), (left[likely], right[likely])), (count, count))
    _, home = connected_components(graph, directed=False)
    return np.flatnonzero((home[left] == home[right]) & ((scores >= KEPT) | (weights > 1.0)))


def node_inputs(joined: Joined) -> FloatArray:
    """Return the inputs of the calibration of each node, in the order of COEFFICIENTS."""
    score, size = log_odds(joined.mean, SURE), np.log(joined.pairs)
    compared = np.log(np.clip(joined.listed, 0.5, joined.pairs) / joined.pairs)
    return np.column_stack([np.ones_like(score), score, size, score * size, compared])


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
        most = log_odds(np.ones(1), SURE)[0]
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
        found: IntArray = np.maximum(common_node_kernel(self.parent, left, right) - self.count, -1)
        return found

    def pair_probabilities(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the probability of each pair that its records are the same."""
        node = self.lowest_common(left, right)
        found: FloatArray = np.where(node >= 0, self.probability[node] if len(self.height) else 0.0,
                                     0.0)  # fmt: skip
        return found

    def cut(self, least: float) -> IntArray:
        """Return the entity of each record: nodes of at least this probability are one entity."""
        return highest_node_kernel(self.parent, self.probability >= least)

    def worlds(self, draws: int, seed: int = 0) -> IntArray:
        """Draw whole worlds: a row for each, with the entity of each record."""
        rng, stops = np.random.default_rng(seed), self._stops()
        found = np.empty((draws, self.count), dtype=np.int64)
        for n in range(draws):
            found[n] = highest_node_kernel(self.parent, rng.random(len(stops)) < stops)
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
