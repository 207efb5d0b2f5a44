"""Prices of templates, and the cells that are cheap at these prices.

Throughout: `theta` (n × n) are log-odds, `a` (n) the prices of templates, and the reduced cost of a
cell C is r(C) = Σ_{i∈C} a_i − Σ_{i<j∈C} θ_ij. All arrays of the kernels belong to the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.meters import SearchMeter
from partita.core import FloatArray, IntArray

Masks = NDArray[np.uint64]


Array = TypeVar("Array", bound=NDArray[Any])

NEAR = 0.05  # the first gap that is tried, in units of a typical log-odds
WIDER = 1.4  # how the gap grows when no prices are found
ROUNDS = 400
UNIT = float(np.finfo(np.float64).eps)
MOST_ROWS = 200  # broken constraints taken from one exhaustive search


@dataclass(frozen=True, slots=True, eq=False)
class CellColumns:
    """Cells as bit masks in words of 64, and their reduced costs."""

    masks: Masks
    costs: FloatArray
    complete: bool


def mask_words(n: int) -> int:
    """Return how many words of 64 bits a mask of n templates has."""
    return -(-n // 64)


def simple_prices(theta: FloatArray) -> FloatArray:
    """Return a_i = ½ Σ_j max(0, θ_ij): feasible whatever the log-odds are."""
    return np.asarray(0.5 * np.maximum(theta, 0.0).sum(axis=1))


def prices(
    theta: FloatArray, labels: IntArray, near: float, meter: SearchMeter
) -> FloatArray | None:
    """Return feasible prices near the log-weight of the configuration; None if work ran out."""
    state = _State(theta, labels, near)
    a = shares(theta, labels)
    for _ in range(ROUNDS):
        broken = _violated_cells(theta, state.penalised, a, state.tolerance, meter)
        if broken is None:
            return None
        if not len(broken):
            return a + _shortfall(theta, a, state, meter)
        state.add(broken)
        rows, weights = state.rows, state.weights
        if not project(rows, weights, a, state.score + state.gap, 0.1 * state.tolerance):
            state.gap *= WIDER
    return None


def _shortfall(theta: FloatArray, a: FloatArray, state: _State, meter: SearchMeter) -> float:
    """Return what to add to each price: the tolerance, or 0 if they are feasible.

    The second matters where many configurations weigh the same as the best: with prices above it
    all of them would have to be visited.
    """
    if state.near > len(a) * state.tolerance:
        return state.tolerance
    exact = cheap(theta, a, -rounding(theta), meter, most=1)
    return state.tolerance if len(exact.costs) or not exact.complete else 0.0


def rounding(theta: FloatArray) -> float:
    """Bound the rounding of sums of log-odds over a configuration: each adds at most n² terms."""
    sizes = np.abs(theta[np.isfinite(theta)]).sum()
    return 4.0 * UNIT * len(theta) * float(sizes)


def shares(theta: FloatArray, labels: IntArray) -> FloatArray:
    """Return half of each template's log-odds to its cell: they add up to the log-weight."""
    together = labels[:, None] == labels[None, :]
    half = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    return np.asarray(np.maximum(half, 0.0))


def _median(values: FloatArray) -> float:
    """Return the median; numpy's own loads masked arrays first."""
    middle = np.sort(values)[(len(values) - 1) // 2 : len(values) // 2 + 1]
    return float(middle.mean())


class _State:
    """The constraints so far and the target gap."""

    def __init__(self, theta: FloatArray, labels: IntArray, near: float) -> None:
        names = np.flatnonzero(np.bincount(labels))  # unlike np.unique loads no masked arrays
        cells = (labels[None, :] == names[:, None]).astype(np.float64)
        finite = np.abs(theta[np.isfinite(theta)])
        self.theta = np.where(np.isfinite(theta), theta, 0.0)
        self.penalised = np.where(np.isfinite(theta), theta, -1.0 - finite.sum())
        self.tolerance = 1e-8 * float(finite.max(initial=1.0))
        self.rows, self.weights = np.empty((0, len(theta))), np.empty(0)
        self.add(cells)
        self.near = near
        self.score = float(self.weights.sum())
        self.gap = max(near, NEAR * _median(finite), len(theta) * self.tolerance)

    def add(self, rows: FloatArray) -> None:
        weights = 0.5 * ((rows @ self.theta) * rows).sum(axis=1)
        self.rows = np.ascontiguousarray(np.vstack([self.rows, rows]))
        self.weights = np.concatenate([self.weights, weights])


def _violated_cells(
    theta: FloatArray, penalised: FloatArray, a: FloatArray, tolerance: float, meter: SearchMeter
) -> FloatArray | None:
    """Return cells with r < −tolerance as rows of 0 and 1; none only if there are none.

    The exhaustive search may pass over a cell when a part of it has −tolerance ≤ r < 0: then each
    part adds at most the tolerance, so that a + tolerance is feasible in any case.
    """
    rows = np.zeros((len(a), len(a)))
    if count := descend(penalised, a, -tolerance, rows):
        return rows[:count]
    cells = cheap(theta, a, -tolerance, meter, most=1 << 16)
    if len(cells.costs):
        worst = np.argsort(cells.costs, kind="stable")[:MOST_ROWS]
        return rows_of(cells.masks[worst], len(a))
    return np.empty((0, len(a))) if cells.complete else None


def cheap(
    theta: FloatArray, a: FloatArray, below: float, meter: SearchMeter, most: int
) -> CellColumns:
    """Return all cells with a reduced cost below the limit, or as many as fit or were reached."""
    n, words = len(a), mask_words(len(a))
    x, place = np.zeros((n + 1, n)), np.zeros(3, dtype=np.int64)
    r, following = np.zeros(len(x)), np.zeros(len(x), dtype=np.int64)
    stack = np.zeros((len(x), words), dtype=np.uint64)
    size = min(most, 1 << 14)
    masks, costs = np.zeros((size, words), dtype=np.uint64), np.zeros(size)
    half, status = half_gains(theta), -1
    while status != DONE and (nodes := meter.allowance()):
        place[2] = 0
        status = cheap_cells(
            theta, a, half, below, x, r, following, place, stack, masks, costs, nodes
        )
        meter.spend(int(place[2]))
        if status == FULL:
            if len(costs) >= most:
                break
            size = min(most, 4 * len(costs))
            masks, costs = _longer(masks, size), _longer(costs, size)
    count = int(place[1])
    return CellColumns(masks[:count], costs[:count], status == DONE)


def rows_of(masks: Masks, n: int) -> FloatArray:
    """Return bit masks as rows of 0 and 1."""
    bits = np.unpackbits(masks.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    return bits[:, :n].astype(np.float64)


def half_gains(theta: FloatArray) -> FloatArray:
    """Return half[u, w] = ½ Σ_{v ≥ u} max(0, θ_wv)."""
    positive = 0.5 * np.maximum(theta, 0.0)
    return np.ascontiguousarray(np.cumsum(positive[::-1], axis=0)[::-1])


def _longer(array: Array, size: int) -> Array:
    grown = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return cast(Array, grown)


DONE, PAUSED, FULL = 0, 1, 2


@kernel(entry="f8[:,:], f8[:], f8, f8[:,:]")
def descend(theta: FloatArray, a: FloatArray, below: float, found: FloatArray) -> int:
    """Find distinct cells with r < below, as rows of 0 and 1, grown from every template.

    `theta` (n, n) are log-odds, 0 on the diagonal and very low, but finite, for incompatible pairs;
    `a` (n) are the prices of templates. Rows of `found` (n, n), the caller's, are written; their
    number is returned. `inside` is the cell at hand, r its reduced cost and x[u] = Σ_{i inside}
    θ_iu, so that adding u lowers r by x[u] − a[u]. The best single change is made until none lowers
    r; the seed stays.
    """
    n = len(a)
    count = 0
    for seed in range(n):
        x = theta[seed].copy()
        inside = np.zeros(n)
        inside[seed] = 1.0
        r = a[seed]
        for _ in range(4 * n):
            best, chosen = 1e-12, -1
            for u in range(n):
                gain = a[u] - x[u] if inside[u] else x[u] - a[u]
                if gain > best and (u != seed):
                    best, chosen = gain, u
            if chosen < 0:
                break
            r -= best
            sign = -1.0 if inside[chosen] else 1.0
            inside[chosen] += sign
            for u in range(n):
                x[u] += sign * theta[chosen, u]
        if r < below:
            known = False
            for k in range(count):
                known = known or bool(np.all(found[k] == inside))
            if not known:
                found[count] = inside
                count += 1
    return count


@kernel(entry="f8[:,:], f8[:], f8[:], f8, f8")
def project(
    rows: FloatArray, weights: FloatArray, a: FloatArray, total: float, tolerance: float
) -> bool:
    """Move a until rows·a ≥ weights, a ≥ 0 and Σa ≤ total, all within the tolerance.

    Projections on one half-space after another, a little too far (1.5) to arrive inside: the
    relaxation method of Agmon, and of Motzkin and Schoenberg (1954). `rows` (cells, n) are of 0 and
    1; `a` (n) is changed in place. False after 300 rounds: there may be no such a.
    """
    n = len(a)
    for _ in range(300):
        worst = 0.0
        for k in range(len(rows)):
            size, value = 0.0, 0.0
            for u in range(n):
                value += rows[k, u] * a[u]
                size += rows[k, u]
            lacking = weights[k] - value
            if lacking > 0.0:
                worst = max(worst, lacking)
                for u in range(n):
                    a[u] += rows[k, u] * 1.5 * lacking / size
        surplus = -total
        for u in range(n):
            a[u] = max(a[u], 0.0)
            surplus += a[u]
        if surplus > 0.0:
            worst = max(worst, surplus)
            for u in range(n):
                a[u] -= surplus / n
        if worst <= tolerance:
            return True
    return False


@kernel()
def most_off(x: FloatArray, a: FloatArray, half: FloatArray, u: int) -> float:
    """Return the most that templates from u on can take off the reduced cost of a cell.

    `x` (n): the sums of its log-odds to each template; `half` (n): row u of `half_gains`.
    """
    alone, mixed = 0.0, 0.0
    for w in range(u, len(a)):
        alone += max(x[w], 0.0)
        mixed += max(x[w] - a[w] + half[w], 0.0)
    return min(alone, mixed)


@kernel(
    entry="f8[:,:], f8[:], f8[:,:], f8, f8[:,:], f8[:], i8[:], i8[:], u8[:,:], u8[:,:], f8[:], i8"
)
def cheap_cells(
    theta: FloatArray,
    a: FloatArray,
    half: FloatArray,
    below: float,
    x: FloatArray,
    r: FloatArray,
    following: IntArray,
    place: IntArray,
    stack: Masks,
    masks: Masks,
    costs: FloatArray,
    nodes: int,
) -> int:
    """List all cells with r < below, depth first; can be paused and goes on from its arrays.

    With x_w = Σ_{i∈C} θ_iw, what templates from u on can still take off r(C) is at most Σ_w max(0,
    x_w), because a cell of them alone has r ≥ 0, and at most Σ_w max(0, x_w − a_w + half[u, w]),
    where half[u, w] = ½ Σ_{v ≥ u} max(0, θ_wv). `place` holds the depth, the number of cells found
    and the nodes of this call.

    At each depth d up to place[0], stack[d] is the mask of a cell of d templates, r[d] its reduced
    cost, x[d, w] its x_w for the templates w after its last one, and following[d] the next template
    to add. The first place[1] rows of `masks` and `costs` are the cells found. All of these belong
    to the caller, who makes more room when they are FULL.
    """
    n = len(a)
    depth, count = place[0], place[1]
    status = DONE
    while depth >= 0:
        u = following[depth]
        if u >= n:
            depth -= 1
            continue
        if place[2] >= nodes:
            status = PAUSED
            break
        if count >= len(costs):
            status = FULL
            break
        place[2] += 1
        if depth > 0 and r[depth] - most_off(x[depth], a, half[u], u) >= below:
            depth -= 1
            continue
        following[depth] = u + 1
        cost = r[depth] + a[u] - x[depth, u]
        if cost == np.inf:
            continue
        for w in range(u + 1, n):
            x[depth + 1, w] = x[depth, w] + theta[u, w]
        depth += 1
        r[depth] = cost
        stack[depth] = stack[depth - 1]
        stack[depth, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
        following[depth] = u + 1
        if cost < below:
            masks[count] = stack[depth]
            costs[count] = cost
            count += 1
    place[0], place[1] = depth, count
    return status
