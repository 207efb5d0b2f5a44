"""Find the K best configurations and prove them: neighbours first, then covers by cheap cells.

Arrays of the kernels, the caller's: `theta` (n × n) are log-odds; `labels`, `rows` and `room`
(configurations × n) have the cell of each template, `weights` the log-weights of configurations.
`names` (n) are random numbers of templates, whose sum names a cell; a `key` is the sum of `mixed`
names of cells, and `seen` a table of open addresses of keys (a power of two; 0 is empty). Cells and
what is `covered` are masks, 64 templates to a word.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.meters import SearchMeter
from partita.configurations.optimum import local_search, score
from partita.configurations.search.prices import (
    CellColumns,
    cheap,
    mask_words,
    prices,
    rounding,
    simple_prices,
)
from partita.core import Best, Budget, FloatArray, IntArray

Labels = NDArray[np.int32]
Keys = NDArray[np.uint64]


@kernel()
def mixed(key: np.uint64) -> np.uint64:
    """Scramble the bits, so that sums over cells tell configurations apart (0 stays 0)."""
    key = (key ^ (key >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return key ^ (key >> np.uint64(32))


@kernel()
def remember_key(seen: Keys, key: np.uint64) -> bool:
    """Put a key into a table of open addresses; return False if it was there."""
    last = np.uint64(len(seen) - 1)
    slot = key & last
    while seen[slot] != np.uint64(0):
        if seen[slot] == key:
            return False
        slot = (slot + np.uint64(1)) & last
    seen[slot] = key
    return True


@kernel()
def key_of(labels: Labels, names: Keys) -> np.uint64:
    """Return a key of the configuration, whatever its cells are called."""
    cells = np.zeros(len(labels) + 1, dtype=np.uint64)
    for i in range(len(labels)):
        cells[labels[i]] += names[i]
    key = np.uint64(0)
    for cell in cells:
        key += mixed(cell)
    return key


@kernel()
def expand_partition(
    theta: FloatArray,
    names: Keys,
    labels: Labels,
    weight: float,
    above: float,
    seen: Keys,
    room: Labels,
    weights: FloatArray,
    count: int,
) -> int:
    """Write to `room` the single moves from one configuration, if new and heavier than `above`.

    Returns the number of rows in use; where that is all there are, moves may have been passed over.
    """
    n = len(labels)
    used = labels.max() + 1
    gains = np.zeros((used + 1, n))
    cells = np.zeros(used + 1, dtype=np.uint64)
    for i in range(n):
        gains[labels[i]] += theta[i]
        cells[labels[i]] += names[i]
    key = key_of(labels, names)
    for i in range(n):
        here = labels[i]
        left = key - mixed(cells[here]) + mixed(cells[here] - names[i])
        for there in range(used + 1):
            moved = weight + gains[there, i] - gains[here, i]
            if there == here or not moved > above or count == len(weights):
                continue
            new = left - mixed(cells[there]) + mixed(cells[there] + names[i])
            if remember_key(seen, new):
                room[count] = labels
                room[count, i] = there
                weights[count] = moved
                count += 1
    return count


@kernel(entry="f8[:,:], u8[:], i4[:,:], f8[:], b1[:], f8, u8[:], i4[:,:], f8[:]")
def expand_all(
    theta: FloatArray,
    names: Keys,
    labels: Labels,
    weights: FloatArray,
    expanded: NDArray[np.bool_],
    above: float,
    seen: Keys,
    room: Labels,
    found: FloatArray,
) -> int:
    """Expand each row that is not yet, in order, while there is room for all its moves.

    `expanded` is set for each row that was; `found` are the log-weights of the rows of `room`.
    """
    count = 0
    for row in range(len(labels)):
        remember_key(seen, key_of(labels[row], names))
    for row in range(len(labels)):
        if expanded[row]:
            continue
        count = expand_partition(
            theta, names, labels[row], weights[row], above, seen, room, found, count
        )
        if count == len(found):
            break
        expanded[row] = True
    return count


@kernel(entry="f8[:,:], i8[:,:], f8[:]")
def renumber(theta: FloatArray, rows: IntArray, weights: FloatArray) -> None:
    """Renumber each row's labels by first appearance, in place; fill in their log-weights."""
    n = rows.shape[1]
    weights[:] = 0.0
    for k in range(len(rows)):
        names = np.full(n, -1)
        used = 0
        for i in range(n):
            label = rows[k, i]
            if names[label] < 0:
                names[label] = used
                used += 1
            rows[k, i] = names[label]
            for j in range(i):
                if rows[k, j] == rows[k, i]:
                    weights[k] += theta[j, i]


MIN_KEPT = (
    64  # configurations kept even if fewer are asked for, so that moves can lead out of a dip
)

MOST = 1 << 23  # labels written in one round, unless more are asked for


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Configurations with their log-weights, best first; `closed` if moves reach no other."""

    labels: IntArray
    weights: FloatArray
    closed: bool


def pool(theta: FloatArray, start: IntArray, weight: float, k: int, meter: SearchMeter) -> Pool:
    """Return about the k best around the start, by rounds in which each is expanded once.

    However small the budget, k are found if there are as many.
    """
    rounds = _Rounds(theta, start, weight, max(k, MIN_KEPT))
    while rounds.pending() and (meter.allowance() or len(rounds.weights) < k):
        meter.spend(rounds.round())
    return rounds.pool()


class _Rounds:
    """The configurations kept, best first, and which of them are expanded."""

    def __init__(self, theta: FloatArray, start: IntArray, weight: float, k: int) -> None:
        n = len(theta)
        self.theta, self.k = theta, k
        self.rows = max(2 * k, min(4 * k + 16 * n, MOST // n))
        self.names = np.random.default_rng(n).integers(1, 1 << 63, n, dtype=np.uint64)
        self.labels = start[None, :].astype(np.int32)
        self.weights = np.array([weight])
        self.expanded = np.zeros(1, dtype=np.bool_)
        self.whole = True

    def pending(self) -> bool:
        return not self.expanded.all()

    def round(self) -> int:
        """Expand as many as there is room for; return the number of configurations written.

        What was dropped before is too light to be written again, so that only those kept must be
        known to avoid writing one twice; one for whose moves there was no room is expanded again.
        """
        room = np.empty((self.rows, len(self.theta)), dtype=np.int32)
        weights = np.empty(self.rows)
        seen = np.zeros(1 << (4 * (self.rows + self.k)).bit_length(), dtype=np.uint64)
        above = float(self.weights[-1]) if len(self.weights) == self.k else -np.inf
        count = expand_all(
            *(self.theta, self.names, self.labels, self.weights, self.expanded),
            *(above, seen, room, weights),
        )
        self._keep(room[:count], weights[:count])
        return count + 1

    def _keep(self, labels: NDArray[np.int32], weights: FloatArray) -> None:
        expanded = np.concatenate([self.expanded, np.zeros(len(labels), dtype=np.bool_)])
        labels = np.vstack([self.labels, labels])
        weights = np.concatenate([self.weights, weights])
        order = np.argsort(-weights, kind="stable")[: self.k]
        self.whole &= len(order) == len(weights)
        self.labels, self.weights, self.expanded = labels[order], weights[order], expanded[order]

    def pool(self) -> Pool:
        closed = self.whole and not self.pending()
        return Pool(self.labels.astype(np.int64), self.weights, closed)


STARTS = 8
CLOSE = 0.05  # of the distance from the best to the K-th: what prices may lie above the best


def best(theta: FloatArray, k: int, budget: Budget) -> Best:
    """Return the k best configurations (at least one), with a gap of 0 where proved in budget."""
    _compile()
    return _best(theta, max(k, 1), SearchMeter(budget))


@cache
def _compile() -> None:
    """Compile with a small search before the clock starts: the budget excludes compilation."""
    ring = np.abs(np.subtract.outer(np.arange(7), np.arange(7)))
    theta = np.where(np.isin(ring, (1, 6)), 1.0, np.where(ring == 0, 0.0, -0.5))
    _best(theta, 1, SearchMeter(Budget(work=10**6)), 1)


def _best(theta: FloatArray, k: int, meter: SearchMeter, starts: int = STARTS) -> Best:
    start = local_search(theta, starts)
    order = good_order(start)
    inside = np.ascontiguousarray(theta[np.ix_(order, order)])
    near = pool(inside, start[order], score(theta, start), k, meter)
    candidates = (
        _Candidates(near.labels, -np.inf) if near.closed else _prove_best(inside, near, k, meter)
    )
    return _list_best(theta, candidates, np.argsort(order), k)


@dataclass(frozen=True, slots=True, eq=False)
class _Candidates:
    """Configurations, and a log-weight that no other one exceeds (−∞: there is no other)."""

    labels: IntArray
    ceiling: float


def _prove_best(theta: FloatArray, near: Pool, k: int, meter: SearchMeter) -> _Candidates:
    """Return all configurations above the K-th of the pool, by covers with cheap cells."""
    threshold = float(near.weights[k - 1])
    distance = float(near.weights[0]) - threshold
    a = prices(theta, near.labels[0], CLOSE * distance, meter)
    if a is None:
        return _Candidates(near.labels, float(simple_prices(theta).sum()))
    upper, slack = float(a.sum()), rounding(theta)
    below = upper - threshold - slack
    cells = cheap(theta, a, below, meter, _most_cells(len(a), meter.budget))
    if not cells.complete:
        return _Candidates(near.labels, upper)
    covers = _covers(cells, below, len(a), k, meter)
    labels = np.vstack([near.labels, covers.labels])
    return _Candidates(labels, -np.inf if covers.complete else upper)


def _most_cells(n: int, budget: Budget) -> int:
    """Return how many fit a quarter of the memory: a mask and a cost, twice while sorting."""
    return max(1 << 12, budget.memory // 4 // (32 * mask_words(n) + 64))


@dataclass(frozen=True, slots=True, eq=False)
class _Covers:
    labels: IntArray
    complete: bool


def _covers(cells: CellColumns, below: float, n: int, k: int, meter: SearchMeter) -> _Covers:
    """Return the k covers of least cost below the given one."""
    begin, masks, costs = _by_first(cells, n)
    rows = max(2 * k, 1024)
    labels, totals = np.zeros((rows, n), dtype=np.int32), np.zeros(rows)
    covered = np.zeros((n + 1, masks.shape[1]), dtype=np.uint64)
    total = np.zeros(len(covered))
    element, following, chosen = (np.zeros(len(covered), dtype=np.int64) for _ in range(3))
    place, status = np.zeros(3, dtype=np.int64), -1
    while status != DONE and (nodes := meter.allowance()):
        place[2] = 0
        status = covers(
            *(begin, masks, costs, below, covered, total, element, following, chosen),
            *(place, labels, totals, nodes),
        )
        meter.spend(int(place[2]))
        if status == FULL:
            kept = np.argsort(totals, kind="stable")[:k]
            below = min(below, float(totals[kept[-1]]))
            labels[:k], totals[:k] = labels[kept], totals[kept]
            place[1] = k
    return _Covers(labels[: place[1]].astype(np.int64), status == DONE)


def _by_first(cells: CellColumns, n: int) -> tuple[IntArray, NDArray[np.uint64], FloatArray]:
    """Sort the cells by first template, then by cost; return where each template's begin."""
    lowest = np.full(len(cells.costs), n)
    for word in range(cells.masks.shape[1] - 1, -1, -1):
        bits = cells.masks[:, word]
        nonzero = bits != 0
        least = bits[nonzero] & (~bits[nonzero] + np.uint64(1))
        lowest[nonzero] = 64 * word + np.frexp(least.astype(np.float64))[1] - 1
    order = np.lexsort((cells.costs, lowest))
    begin = np.searchsorted(lowest[order], np.arange(n + 1))
    return begin, cells.masks[order], cells.costs[order]


def _list_best(theta: FloatArray, candidates: _Candidates, back: IntArray, k: int) -> Best:
    """Return the k best of those found, each once, ties by their labels."""
    rows = np.ascontiguousarray(candidates.labels[:, back])
    weights = np.empty(len(rows))
    renumber(theta, rows, weights)
    order = np.lexsort((*rows.T[::-1], -weights))
    rows, weights = rows[order], weights[order]
    fresh = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    rows, weights = rows[fresh][:k], weights[fresh][:k]
    return Best(rows, weights, max(0.0, candidates.ceiling - float(weights[-1])))


def good_order(labels: IntArray) -> IntArray:
    """Order templates by cell, the largest cells first: what must be together is decided early."""
    sizes = np.bincount(labels)
    return np.lexsort((labels, -sizes[labels]))


Masks = NDArray[np.uint64]

DONE, PAUSED, FULL = 0, 1, 2


@kernel()
def first_free(covered: Masks, start: int, n: int) -> int:
    """Return the first template from start on that is not covered."""
    i = start
    while i < n and (covered[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
        i += 1
    return i


@kernel()
def disjoint(cell: Masks, covered: Masks) -> bool:
    """Return whether a cell has none of the templates that are covered."""
    shared = np.uint64(0)
    for word in range(len(cell)):
        shared |= cell[word] & covered[word]
    return bool(shared == np.uint64(0))


@kernel()
def write_labels(cells: Masks, chosen: IntArray, depth: int, row: Labels) -> None:
    """Write the labels of the cells that were chosen at the depths 0…depth into a row."""
    for d in range(depth + 1):
        cell = cells[chosen[d]]
        for i in range(len(row)):
            if (cell[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
                row[i] = d


@kernel(
    entry="i8[:], u8[:,:], f8[:], f8, u8[:,:], f8[:], i8[:], i8[:], i8[:], i8[:], i4[:,:], f8[:], "
    "i8"
)
def covers(
    begin: IntArray,
    cells: Masks,
    costs: FloatArray,
    below: float,
    covered: Masks,
    total: FloatArray,
    element: IntArray,
    following: IntArray,
    chosen: IntArray,
    place: IntArray,
    labels: Labels,
    found: FloatArray,
    nodes: int,
) -> int:
    """List all covers with total cost < below; can be paused and goes on from its arrays.

    cells[begin[i]:begin[i + 1]] begin with template i and are sorted by cost (`costs`). `place`
    holds the depth, the number of covers found and the nodes of this call. At each depth:
    `covered`, the `total` cost so far, `element`, the first free template, `following`, the next of
    its cells, and `chosen`, the cell taken. Filled are the `labels` and costs (`found`) of covers.
    """
    n = len(begin) - 1
    depth, count = place[0], place[1]
    status = DONE
    while depth >= 0:
        k = following[depth]
        if k >= begin[element[depth] + 1] or total[depth] + costs[k] >= below:
            depth -= 1
            continue
        if place[2] >= nodes:
            status = PAUSED
            break
        if count >= len(found):
            status = FULL
            break
        place[2] += 1
        following[depth] = k + 1
        if not disjoint(cells[k], covered[depth]):
            continue
        chosen[depth] = k
        for word in range(cells.shape[1]):
            covered[depth + 1, word] = covered[depth, word] | cells[k, word]
        free = first_free(covered[depth + 1], element[depth], n)
        if free == n:
            write_labels(cells, chosen, depth, labels[count])
            found[count] = total[depth] + costs[k]
            count += 1
            continue
        total[depth + 1] = total[depth] + costs[k]
        depth += 1
        element[depth], following[depth] = free, begin[free]
    place[0], place[1] = depth, count
    return status
