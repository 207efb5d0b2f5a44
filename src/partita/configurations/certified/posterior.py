"""Certified answers: every probability with a lower and an upper bound.

States that have covered the same templates, bounds, and the mass that flows between them.

Arrays of the kernels; all belong to the caller, n templates. `theta` (n × n): log-odds; `b` (n):
the price of each template, so that a cell C has the value v(C) = w(C)·exp(−Σ_{i∈C} b_i); `half`:
see `search.prices.half_gains`. `x`: the log-odds of the cell so far to each template, `rest` the
sums of the positive ones from a template on, both one row for each depth. `cells` (`masks` while
they are listed): bits of 64 templates to a word; those that begin with template i stand at
begin[i]:begin[i + 1] of `cells` and `shares` (their v, decreasing), and tails[k + i] is the sum of
the shares from k on, with what was left out (`begin` has n + 1 entries). A state is what is
covered: `keys` (states × words), with its `mass`; `slots` is a table of open addresses over `keys`,
`head` the first waiting state of each layer and `link` the next in its layer. Edges
edges[s, 0]:edges[s, 1] leave state s, each with a `cell` to a `target`; `sequence` are the states
in the order they were left, hence each after all that lead to it. `reach`: the share of the mass of
a state that arrives at the full cover; `cell_mass`: the mass that arrives by each cell; `room`: n
places for the members of a cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.count import count_bounds, count_configurations, log2_of
from partita.configurations.meters import SearchMeter
from partita.configurations.optimum import local_search, score
from partita.configurations.product_posterior import entropy_bounds
from partita.configurations.search.best import (
    best,
    disjoint,
    first_free,
    good_order,
    pool,
    renumber,
)
from partita.configurations.search.prices import UNIT, half_gains, mask_words, rounding, shares
from partita.core import (
    Best,
    Budget,
    Figure,
    FloatArray,
    IntArray,
    Marginals,
    Method,
    restricted_growth,
)
from partita.errors import Unavailable

Masks = NDArray[np.uint64]


@kernel()
def plus(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@kernel()
def subtree_bound(x: FloatArray, b: FloatArray, half: FloatArray, u: int) -> float:
    """Bound log Σ_T v(T)·exp(x(T)) over subsets T from u on, by w(T) ≤ exp(half(T))."""
    total = 0.0
    for w in range(u, len(b)):
        z = x[w] - b[w] + half[w]
        if z > -40.0:
            total += max(z, 0.0) + math.log1p(math.exp(-abs(z)))
        elif z > -np.inf:
            total += 1e-17
    return total


@kernel()
def step(theta: FloatArray, x: FloatArray, rest: FloatArray, depth: int, u: int) -> None:
    """Add u to the cell at this depth: its log-odds to all later ones, and their positive sums."""
    total = 0.0
    n = len(theta)
    rest[depth + 1, n] = 0.0
    for w in range(n - 1, u, -1):
        x[depth + 1, w] = x[depth, w] + theta[u, w]
        total += max(x[depth + 1, w], 0.0)
        rest[depth + 1, w] = total


@kernel(entry="f8[:,:], f8[:], f8[:,:], i8, f8, u8[:,:], f8[:], i8")
def cells_from(
    theta: FloatArray,
    b: FloatArray,
    half: FloatArray,
    first: int,
    least: float,
    masks: Masks,
    logs: FloatArray,
    nodes: int,
) -> tuple[int, float, int]:
    """List cells C with min C = first and log v(C) + b_first ≥ least; return what is left out.

    All T with min T = u have Σ v(T) ≤ 1, hence together with the cell C so far at most
    v(C)·exp(x_u + Σ_{w>u} max(0, x_w)); `subtree_bound` bounds it in another way. A branch whose
    bound is below `least` is left out and its bound kept; so is every branch once the nodes are
    used up or the arrays are full. Filled are `masks` and `logs` (log v(C) + b_first).
    """
    n = len(b)
    x, rest = np.empty((n + 1, n)), np.empty((n + 1, n + 1))  # rows are written when reached
    x[0] = 0.0
    value, following = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    step(theta, x, rest, 0, first)
    masks[0] = np.uint64(0)
    masks[0, first >> 6] = np.uint64(1) << np.uint64(first & 63)
    stack = np.empty((n + 1, masks.shape[1]), dtype=np.uint64)
    stack[1] = masks[0]
    logs[0], count, visited, left_out = 0.0, 1, 0, -np.inf
    depth, following[1] = 1, first + 1
    while depth > 0:
        u = following[depth]
        if u >= n:
            depth -= 1
            continue
        following[depth] = u + 1
        visited += 1
        if x[depth, u] == -np.inf:
            continue
        bound = value[depth] + x[depth, u] + rest[depth, u + 1]
        child = value[depth] + x[depth, u] - b[u]
        if bound >= least and visited <= nodes:
            step(theta, x, rest, depth, u)
            if u + 1 < n:
                bound = min(bound, child + subtree_bound(x[depth + 1], b, half[u + 1], u + 1))
            else:
                bound = min(bound, child)
        if bound < least or visited > nodes or count >= len(logs):
            left_out = plus(left_out, bound)
            continue
        depth += 1
        value[depth], following[depth] = child, u + 1
        stack[depth] = stack[depth - 1]
        stack[depth, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
        masks[count], logs[count] = stack[depth], child
        count += 1
    return count, left_out, visited


@kernel()
def fill_members(cell: Masks, n: int, room: IntArray) -> int:
    """Write the templates of a cell; return their number."""
    size = 0
    for i in range(n):
        if (cell[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
            room[size] = i
            size += 1
    return size


Indices = NDArray[np.int32]


@kernel()
def slot_of(key: Masks, keys: Masks, slots: Indices) -> int:
    """Return where the key stands in the table of open addresses, or would stand."""
    h = np.uint64(0)
    for word in range(len(key)):
        h = (h ^ key[word]) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    last = np.uint64(len(slots) - 1)
    slot = (h ^ (h >> np.uint64(32))) & last
    while slots[slot] >= 0:
        same = True
        for word in range(len(key)):
            same = same and keys[slots[slot], word] == key[word]
        if same:
            break
        slot = (slot + np.uint64(1)) & last
    return int(slot)


@kernel()
def find_state(
    key: Masks, free: int, keys: Masks, slots: Indices, head: Indices, link: Indices, used: int
) -> int:
    """Return the number of the state `key`, added if it is new and there is room; else −1."""
    slot = slot_of(key, keys, slots)
    if slots[slot] >= 0:
        return int(slots[slot])
    if used >= len(keys):
        return -1
    keys[used] = key
    slots[slot] = used
    link[used] = head[free]
    head[free] = used
    return used


@kernel(
    entry="i8[:], u8[:,:], f8[:], f8[:], f8, u8[:,:], f8[:], i4[:], i4[:], i4[:], i8[:,:], i4[:], "
    "i4[:], i4[:], i8[:], f8[:], i8"
)
def forward(
    begin: IntArray,
    cells: Masks,
    shares: FloatArray,
    tails: FloatArray,
    least: float,
    keys: Masks,
    mass: FloatArray,
    slots: Indices,
    head: Indices,
    link: Indices,
    edges: IntArray,
    target: Indices,
    cell: Indices,
    sequence: Indices,
    place: IntArray,
    lost: FloatArray,
    nodes: int,
) -> bool:
    """Propagate mass, layer by layer (a layer: the states with the same first free template).

    Mass below `least` or without room is added to `lost`. `place` holds the layer, the number of
    states, of edges, of states done, and the nodes of this call. False if it was paused.
    """
    n = len(begin) - 1
    key = np.empty(keys.shape[1], dtype=np.uint64)
    while place[0] < n:
        layer = place[0]
        state = head[layer]
        if state < 0:
            place[0] += 1
            continue
        if place[4] >= nodes:
            return False
        head[layer] = link[state]
        sequence[place[3]] = state
        place[3] += 1
        edges[state, 0] = place[2]
        k = begin[layer]
        while k < begin[layer + 1] and mass[state] * shares[k] >= least:
            if disjoint(cells[k], keys[state]):
                for word in range(len(key)):
                    key[word] = keys[state, word] | cells[k, word]
                flow, to = mass[state] * shares[k], -1
                free = first_free(key, layer, n)
                if place[2] < len(target):
                    to = find_state(key, free, keys, slots, head, link, place[1])
                if to < 0:
                    lost[0] += flow
                else:
                    place[1] = max(place[1], to + 1)
                    mass[to] += flow
                    target[place[2]], cell[place[2]] = to, k
                    place[2] += 1
            k += 1
        place[4] += k - begin[layer] + 1
        lost[0] += mass[state] * tails[k + layer]
        edges[state, 1] = place[2]
    return True


@kernel(entry="f8[:], f8[:], i8[:,:], i4[:], i4[:], i4[:], i8, f8[:], f8[:]")
def backward(
    shares: FloatArray,
    mass: FloatArray,
    edges: IntArray,
    target: Indices,
    cell: Indices,
    sequence: Indices,
    done: int,
    reach: FloatArray,
    cell_mass: FloatArray,
) -> None:
    """Compute the share of each state's mass that arrives, and the mass that arrives by a cell."""
    for step in range(done - 1, -1, -1):
        state = sequence[step]
        for e in range(edges[state, 0], edges[state, 1]):
            arriving = shares[cell[e]] * reach[target[e]]
            reach[state] += arriving
            cell_mass[cell[e]] += mass[state] * arriving


@kernel(entry="u8[:,:], f8[:], i8")
def cell_pair_mass(cells: Masks, cell_mass: FloatArray, n: int) -> FloatArray:
    """Return the mass that arrives with two templates in one cell."""
    pairs = np.zeros((n, n))
    room = np.empty(n, dtype=np.int64)
    for k in range(len(cells)):
        if cell_mass[k] > 0.0:
            size = fill_members(cells[k], n, room)
            for p in range(size):
                for q in range(size):
                    pairs[room[p], room[q]] += cell_mass[k]
    return pairs


@kernel(entry="u8[:,:], f8[:], i8[:,:], i4[:], i4[:], f8[:], i8, f8[:,:]")
def walk_flow(
    cells: Masks,
    shares: FloatArray,
    edges: IntArray,
    target: Indices,
    cell: Indices,
    reach: FloatArray,
    final: int,
    uniforms: FloatArray,
) -> IntArray:
    """Draw configurations from the mass that arrives, by rows of `uniforms` (draws × n)."""
    count, n = uniforms.shape
    labels = np.zeros((count, n), dtype=np.int64)
    room = np.empty(n, dtype=np.int64)
    for row in range(count):
        state, depth = 0, 0
        while state != final:
            left = uniforms[row, depth] * reach[state]
            chosen = -1
            for e in range(edges[state, 0], edges[state, 1]):
                arriving = shares[cell[e]] * reach[target[e]]
                if arriving > 0.0:
                    chosen = e
                    left -= arriving
                    if left < 0.0:
                        break
            for p in range(fill_members(cells[cell[chosen]], n, room)):
                labels[row, room[p]] = depth
            state = target[chosen]
            depth += 1
    return labels


SLICE = 1 << 16  # nodes between two looks at the clock
NODES = 64  # nodes for each cell that there is room for, fewer where each takes longer
COARSER = 30.0


@dataclass(frozen=True, slots=True)
class SearchEffort:
    """The limits of one pass.

    `least` is the smallest mass that is followed; `cells` that begin with one template and `states`
    have room.
    """

    least: float
    cells: int
    states: int


@dataclass(frozen=True, slots=True, eq=False)
class CoveringCells:
    """Cells by their first template, largest share first.

    tails[k + i] bounds the sum of the shares of template i's cells from the k-th on, with those
    that are not listed; least[i] is the share down to which they are all listed.
    """

    b: FloatArray
    least: FloatArray
    begin: IntArray
    masks: Masks
    shares: FloatArray
    tails: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """The states and edges of one pass, and the bounds on the log-normaliser that it gives."""

    cells: CoveringCells
    mass: FloatArray
    edges: IntArray
    target: Indices
    cell: Indices
    sequence: Indices
    final: int
    low: float
    high: float


def cells(
    theta: FloatArray,
    labels: IntArray,
    guess: FloatArray,
    least: FloatArray,
    room: int,
    meter: SearchMeter,
) -> CoveringCells:
    """Return prices b ≥ guess, last template first, and the cells with large shares.

    `labels` is a good configuration: its cells say beforehand how large is large. `least` is made
    coarser for templates whose cells do not fit into the room.
    """
    n, words = len(theta), mask_words(len(theta))
    maker = _PriceMaker(theta, labels, guess, least.copy(), meter)
    places = np.zeros((room, words), dtype=np.uint64), np.zeros(room)
    lists = [maker.cells_of(i, places) for i in range(n - 1, -1, -1)][::-1]
    begin = np.cumsum([0, *(len(shares) for _, shares, _ in lists)])
    masks, shares, tails = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    return CoveringCells(maker.b, maker.least, begin, masks, shares, tails)


class _PriceMaker:
    """The prices of the templates already priced, and the state needed for the next one."""

    def __init__(
        self,
        theta: FloatArray,
        labels: IntArray,
        guess: FloatArray,
        least: FloatArray,
        meter: SearchMeter,
    ) -> None:
        self.theta, self.labels, self.guess, self.least = theta, labels, guess, least
        self.meter, self.rounding = meter, rounding(theta)
        self.b, self.half = np.zeros(len(theta)), half_gains(theta)

    def cells_of(
        self, i: int, room: tuple[Masks, FloatArray]
    ) -> tuple[Masks, FloatArray, FloatArray]:
        """Set b[i] so that the shares of all cells that begin with i add up to at most 1."""
        count, left_out = self._search(i, room)
        order = np.argsort(-room[1][:count], kind="stable")
        masks, logs = room[0][order], room[1][order]
        self.b[i] = max(self.guess[i], self._raised(_log_sum(logs, left_out)))
        shares = np.exp(logs - self.b[i])
        tails = np.append(np.cumsum(shares[::-1])[::-1], 0.0) + math.exp(left_out - self.b[i])
        return masks, shares, tails

    def _search(self, i: int, room: tuple[Masks, FloatArray]) -> tuple[int, float]:
        """Return the cells and the logarithm of what is left out, coarser until they fit."""
        scale = self._scale(i)
        while True:
            nodes = self.meter.allowance(NODES * len(room[1]) // (1 + len(self.b) // 64))
            below = scale + math.log(self.least[i])
            count, left_out, visited = cells_from(
                self.theta, self.b, self.half, i, below, *room, nodes
            )
            self.meter.spend(min(visited, nodes))
            fits = visited <= nodes and count < len(room[1])
            if fits or not nodes or self.least[i] >= 1.0:
                return count, left_out
            self.least[i] *= COARSER

    def _scale(self, i: int) -> float:
        """Return a lower bound on b[i]: the weight of the rest of i's cell beyond its prices."""
        mates = i + np.flatnonzero(self.labels[i:] == self.labels[i])
        inner = 0.5 * self.theta[np.ix_(mates, mates)].sum() - self.b[mates].sum()
        return max(float(self.guess[i]), float(inner), 0.0)

    def _raised(self, log_sum: float) -> float:
        return log_sum + self.rounding + 8 * UNIT * len(self.b) * (1.0 + float(self.b.sum()))


def _log_sum(logs: FloatArray, left_out: float) -> float:
    """Return the logarithm of the sum, given logarithms in decreasing order and one more."""
    top = max(float(logs[0]), left_out)
    return top + math.log(float(np.exp(logs - top).sum()) + math.exp(left_out - top))


def flow(theta: FloatArray, cells: CoveringCells, effort: SearchEffort, meter: SearchMeter) -> Flow:
    """Propagate mass from the state in which nothing is covered."""
    n, words = len(theta), cells.masks.shape[1]
    states, most = effort.states, 8 * effort.states
    keys, mass = np.zeros((states, words), dtype=np.uint64), np.zeros(states)
    slots = np.full(1 << (2 * states).bit_length(), -1, dtype=np.int32)
    head, link = np.full(n + 1, -1, dtype=np.int32), np.full(states, -1, dtype=np.int32)
    edges, sequence = np.zeros((states, 2), dtype=np.int64), np.zeros(states, dtype=np.int32)
    target, cell = np.zeros(most, dtype=np.int32), np.zeros(most, dtype=np.int32)
    place, lost, done = np.zeros(5, dtype=np.int64), np.zeros(1), False
    mass[0], head[0], place[1] = 1.0, 0, 1
    while not done and (nodes := meter.allowance(SLICE)):
        place[4] = 0
        done = forward(
            cells.begin,
            cells.masks,
            cells.shares,
            cells.tails,
            effort.least,
            keys,
            mass,
            slots,
            head,
            link,
            edges,
            target,
            cell,
            sequence,
            place,
            lost,
            nodes,
        )
        meter.spend(int(place[4]))
    used, used_edges, passed = int(place[1]), int(place[2]), int(place[3])
    final = int(head[n])
    low, high = _bounds(
        theta, cells.b, mass[:used], sequence[:passed], final, float(lost[0]), used_edges
    )
    return Flow(
        *(cells, mass[:used], edges[:used], target[:used_edges], cell[:used_edges]),
        *(sequence[:passed], final, low, high),
    )


def _bounds(
    theta: FloatArray,
    b: FloatArray,
    mass: FloatArray,
    passed: Indices,
    final: int,
    lost: float,
    edges: int,
) -> tuple[float, float]:
    """Return the bounds on the log-normaliser, rounded outward.

    A log-weight loses at most `rounding` and as much for b; adding positive numbers loses at most
    one unit for each addition, of which no mass has undergone more than there are edges.
    """
    waiting = np.ones(len(mass), dtype=np.bool_)
    waiting[passed] = False
    arrived = 0.0
    if final >= 0:
        waiting[final] = False
        arrived = float(mass[final])
    n, total = len(b), math.fsum(b)
    slack = rounding(theta) + UNIT * (8 * n * (8.0 + total) + edges + len(mass))
    upper = math.fsum([arrived, lost, *mass[waiting].tolist()])
    low = math.log(arrived) + total - slack if arrived > 0.0 else -math.inf
    return low, math.log(upper) + total + slack


@dataclass(frozen=True, slots=True, eq=False)
class Visited:
    """The distribution over the configurations that were visited.

    `log_mass` is a lower bound on the log-normaliser, `pairs` and `entropy` (natural) are of the
    visited part alone, up to `slack` of rounding; `position` says where in the order of `flow` each
    template stands.
    """

    log_mass: float
    pairs: FloatArray
    entropy: float
    position: IntArray
    slack: float
    flow: Flow | None = None
    reach: FloatArray | None = None

    def reordered(self, position: IntArray) -> Visited:
        """Return the same distribution with templates in the caller's order."""
        return replace(self, pairs=self.pairs[np.ix_(position, position)], position=position)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray | None:
        """Draw rows of labels from the visited part; None if it is only a list."""
        flow = self.flow
        if flow is None or self.reach is None:
            return None
        uniforms = rng.random((count, len(self.position)))
        rows = walk_flow(
            *(flow.cells.masks, flow.cells.shares, flow.edges, flow.target, flow.cell),
            *(self.reach, flow.final, uniforms),
        )
        return rows[:, self.position]


def from_list(theta: FloatArray, labels: IntArray) -> Visited:
    """Return the distribution over configurations listed one by one."""
    rows = np.ascontiguousarray(labels)
    weights = np.empty(len(rows))
    renumber(theta, rows, weights)
    top = float(weights.max())
    share = np.exp(weights - top)
    total = float(share.sum())
    share /= total
    pairs = np.zeros(theta.shape)
    for row, p in zip(rows, share, strict=True):
        pairs += p * (row[:, None] == row[None, :])
    entropy = float(-(share[share > 0.0] * np.log(share[share > 0.0])).sum())
    mass = top + math.log(total)
    slack = listing_slack(theta, mass)
    return Visited(mass - slack, pairs, entropy, np.arange(len(theta)), slack + UNIT * len(rows))


def listing_slack(theta: FloatArray, log_mass: float) -> float:
    """Bound the rounding of a sum over a list: log-odds, exponentials and the sum itself.

    numpy adds pairwise, so that a sum of any length that fits in memory loses fewer than 60 units.
    """
    return rounding(theta) + UNIT * (64.0 + 2.0 * abs(log_mass))


def from_flow(flow: Flow) -> Visited:
    """Return the mass that arrives: H = log(arrived) − Σ_C P(C)·log v(C), prices cancel."""
    shares = flow.cells.shares
    reach, cell_mass = np.zeros(len(flow.mass)), np.zeros(len(shares))
    reach[flow.final] = 1.0
    backward(
        *(shares, flow.mass, flow.edges, flow.target, flow.cell),
        *(flow.sequence, len(flow.sequence), reach, cell_mass),
    )
    arrived, used = float(reach[0]), cell_mass > 0.0
    pairs = cell_pair_mass(flow.cells.masks, cell_mass, len(flow.cells.b)) / arrived
    entropy = math.log(arrived) - float(cell_mass[used] @ np.log(shares[used])) / arrived
    position, slack = np.arange(len(flow.cells.b)), 4.0 * UNIT * (64 + len(flow.target))
    pairs, entropy = np.clip(pairs, 0.0, 1.0), max(0.0, entropy)
    return Visited(flow.low, pairs, entropy, position, slack, flow, reach)


STARTS = 4
LISTED = 256  # configurations around the best: a lower bound before anything else
GUESS = 0.75  # share of the best configuration's log-odds that prices start from
NARROW = 1e-6  # the width of the log-normaliser at which it is enough
MISSING = 1e-3  # the share of mass not visited up to which draws are offered
FIRST = SearchEffort(least=1e-3, cells=1 << 12, states=1 << 12)
FINEST = 1e-15
LEAST_CELLS = 64
MOST_PAIRS = 1 << 24  # looked at for the first lower bound
MOST_STATES = 1 << 22


def narrowing(theta: FloatArray, budget: Budget) -> Iterator[CertifiedPosterior]:
    """Yield answers, each at least as narrow as the one before; the last one counts."""
    _compile()
    return _narrowing(theta, SearchMeter(budget))


@cache
def _compile() -> None:
    """Compile on a small set before the clock starts: compilation is not part of the budget."""
    *_, last = _narrowing(np.zeros((8, 8)), SearchMeter(Budget(work=10**6)))
    last.draws(1, np.random.default_rng(0))


def _narrowing(theta: FloatArray, meter: SearchMeter) -> Iterator[CertifiedPosterior]:
    start = local_search(theta, STARTS)
    order = good_order(start)
    back = np.argsort(order)
    inside = np.ascontiguousarray(theta[np.ix_(order, order)])
    near = pool(inside, start[order], score(theta, start), LISTED, meter)
    count = len(near.labels) if near.closed else max(8, MOST_PAIRS // len(theta) ** 2)
    visited_list = from_list(inside, near.labels[:count])
    if near.closed:
        high = visited_list.log_mass + 3.0 * listing_slack(theta, visited_list.log_mass)
        yield CertifiedPosterior(theta, visited_list.reordered(back), high, meter.budget)
        return
    for visited, high in _passes(inside, start[order], visited_list, meter):
        yield CertifiedPosterior(theta, visited.reordered(back), high, meter.budget)


def _passes(
    theta: FloatArray, labels: IntArray, visited: Visited, meter: SearchMeter
) -> Iterator[tuple[Visited, float]]:
    """Yield passes of mass, each following smaller shares than the one before."""
    effort, high = _limited_to_memory(FIRST, len(theta), meter.budget.memory), math.inf
    guess, least = GUESS * shares(theta, labels), np.full(len(theta), 0.1 * effort.least)
    candidates = cells(theta, labels, guess, least, effort.cells, meter)
    while True:
        passed = flow(theta, candidates, effort, meter)
        high = min(high, passed.high)
        if passed.low > visited.log_mass:
            visited = from_flow(passed)
        yield visited, high
        narrow = high - visited.log_mass <= NARROW
        if narrow or effort.least <= FINEST or not meter.allowance():
            return
        effort = _more(effort, passed, meter.budget.memory)
        least = np.maximum(0.1 * effort.least, 0.1 * candidates.least)
        candidates = cells(theta, labels, guess, least, effort.cells, meter)


def _more(effort: SearchEffort, passed: Flow, memory: int) -> SearchEffort:
    """Return limits for the next pass: a tenth of the mass, room for eight times what was used."""
    listed = int(np.diff(passed.cells.begin).max())
    effort_wanted = SearchEffort(
        0.1 * effort.least, max(FIRST.cells, 8 * listed), 8 * len(passed.mass)
    )
    return _limited_to_memory(effort_wanted, len(passed.cells.b), memory)


def _limited_to_memory(effort: SearchEffort, n: int, memory: int) -> SearchEffort:
    """Cut the limits to the memory; two passes are held at a time."""
    words = mask_words(n)
    room = memory // 8 // (n * (8 * words + 32))
    states = min(MOST_STATES, memory // 4 // (8 * words + 160))
    states = max(FIRST.states, min(effort.states, states))
    return SearchEffort(effort.least, max(LEAST_CELLS, min(effort.cells, room)), states)


@dataclass(frozen=True, eq=False)
class CertifiedPosterior:
    """Bounds on every figure, from the visited part and a bound on the rest."""

    theta: FloatArray
    visited: Visited
    log_upper: float
    budget: Budget
    method: Method = field(default="certified", init=False)

    @property
    def size(self) -> int:
        return len(self.theta)

    @property
    def log_normaliser(self) -> Figure:
        return Figure.interval(self.visited.log_mass, self.log_upper)

    @property
    def missing(self) -> float:
        """The largest share of the probability that may not have been visited."""
        return -math.expm1(min(0.0, self.visited.log_mass - self.log_upper))

    @property
    def reason(self) -> str:
        width = self.log_upper - self.visited.log_mass
        return f"certified bounds, log-normaliser within {width:.2g}"

    def log_weight(self, labels: IntArray) -> float:
        return score(self.theta, labels)

    def count(self) -> int | None:
        return count_configurations(np.isfinite(self.theta))

    def log2_count(self) -> Figure:
        if (number := self.count()) is not None:
            return Figure.exact(log2_of(number))
        return Figure.interval(*count_bounds(np.isfinite(self.theta)))

    def entropy(self) -> Figure:
        """Bound it from the entropy of what was visited and the number of configurations."""
        inside, most = self.visited.entropy / math.log(2.0), self.log2_count().high
        low, high = entropy_bounds(inside, most, 1.0 - self.missing)
        slack = (1e-12 + self.visited.slack) * (1.0 + most)
        return Figure.interval(max(0.0, low - slack), min(most, high + slack))

    def pairs(self) -> Marginals:
        together = self.visited.pairs
        least = 1.0 - self.missing
        low = np.clip(together * least - self.visited.slack, 0.0, 1.0)
        high = np.clip(1.0 - (1.0 - together) * least + self.visited.slack, 0.0, 1.0)
        impossible = ~np.isfinite(self.theta)
        low[impossible], high[impossible] = 0.0, 0.0
        np.fill_diagonal(low, 1.0)
        np.fill_diagonal(high, 1.0)
        return Marginals((low + high) / 2, low, high, "interval")

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        raise Unavailable("certified answers do not list all cells; they give pair probabilities")

    def best(self, k: int) -> Best:
        return best(self.theta, k, self.budget)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        """Draw from the visited part if at most a thousandth of the mass is missing."""
        if self.missing <= MISSING:
            rows = self.visited.draws(count, rng)
            if rows is not None:
                return np.array([restricted_growth(row) for row in rows])
        raise Unavailable(
            f"{self.missing:.1%} of the mass may not have been visited, too much to draw from; "
            "ask the sampled method"
        )
