"""Dual prices that bound the weight of every configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from partita.configurations.search.meter import Meter
from partita.core import FloatArray, IntArray

Masks = NDArray[np.uint64]


Array = TypeVar("Array", bound=NDArray[Any])

NEAR = 0.05  # the first gap that is tried, in units of a typical log-odds
WIDER = 1.4  # how the gap grows when no prices are found
ROUNDS = 400
UNIT = float(np.finfo(np.float64).eps)
MOST_ROWS = 200  # broken constraints taken from one exhaustive search


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Cells as bit masks in words of 64, and their reduced costs."""

    masks: Masks
    costs: FloatArray
    complete: bool


def words_of(n: int) -> int:
    """Return how many words of 64 bits a mask of n templates has."""
    return -(-n // 64)


def simple_prices(theta: FloatArray) -> FloatArray:
    """Return a_i = ½ Σ_j max(0, θ_ij): feasible whatever the log-odds are."""
    return np.asarray(0.5 * np.maximum(theta, 0.0).sum(axis=1))


def prices(theta: FloatArray, labels: IntArray, near: float, meter: Meter) -> FloatArray | None:
    """Return feasible prices near the log-weight of the configuration; None if work ran out."""
    from partita.configurations.search.cell_kernels import project

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


def _shortfall(theta: FloatArray, a: FloatArray, state: _State, meter: Meter) -> float:
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
    theta: FloatArray, penalised: FloatArray, a: FloatArray, tolerance: float, meter: Meter
) -> FloatArray | None:
    """Return cells with r < −tolerance as rows of 0 and 1; none only if there are none.

    The exhaustive search may pass over a cell when a part of it has −tolerance ≤ r < 0: then each
    part adds at most the tolerance, so that a + tolerance is feasible in any case.
    """
    from partita.configurations.search.cell_kernels import descend

    rows = np.zeros((len(a), len(a)))
    if count := descend(penalised, a, -tolerance, rows):
        return rows[:count]
    cells = cheap(theta, a, -tolerance, meter, most=1 << 16)
    if len(cells.costs):
        worst = np.argsort(cells.costs, kind="stable")[:MOST_ROWS]
        return rows_of(cells.masks[worst], len(a))
    return np.empty((0, len(a))) if cells.complete else None


def cheap(theta: FloatArray, a: FloatArray, below: float, meter: Meter, most: int) -> Columns:
    """Return all cells with a reduced cost below the limit, or as many as fit or were reached."""
    from partita.configurations.search.cell_kernels import DONE, FULL, cheap_cells

    n, words = len(a), words_of(len(a))
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
    return Columns(masks[:count], costs[:count], status == DONE)


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
