"""One pass of mass over covered sets: L = what arrives, U = L + what is lost on the way.

Z = exp(b(N))·(mass that would arrive if all cells were followed), and mass that is lost would
arrive at most whole; so  exp(b(N))·arrived ≤ Z ≤ exp(b(N))·(arrived + lost).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.search.meter import Meter
from partita.configurations.search.prices import UNIT, half_gains, rounding, words_of
from partita.core import FloatArray, IntArray

Masks = NDArray[np.uint64]
Indices = NDArray[np.int32]

SLICE = 1 << 16  # nodes between two looks at the clock
NODES = 64  # nodes for each cell that there is room for, fewer where each takes longer
COARSER = 30.0


@dataclass(frozen=True, slots=True)
class Effort:
    """The limits of one pass.

    `least` is the smallest mass that is followed; `cells` that begin with one template and `states`
    have room.
    """

    least: float
    cells: int
    states: int


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
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

    cells: Cells
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
    meter: Meter,
) -> Cells:
    """Return prices b ≥ guess, last template first, and the cells with large shares.

    `labels` is a good configuration: its cells say beforehand how large is large. `least` is made
    coarser for templates whose cells do not fit into the room.
    """
    n, words = len(theta), words_of(len(theta))
    maker = _PriceMaker(theta, labels, guess, least.copy(), meter)
    places = np.zeros((room, words), dtype=np.uint64), np.zeros(room)
    lists = [maker.cells_of(i, places) for i in range(n - 1, -1, -1)][::-1]
    begin = np.cumsum([0, *(len(shares) for _, shares, _ in lists)])
    masks, shares, tails = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    return Cells(maker.b, maker.least, begin, masks, shares, tails)


class _PriceMaker:
    """The prices of the templates already priced, and the state needed for the next one."""

    def __init__(
        self,
        theta: FloatArray,
        labels: IntArray,
        guess: FloatArray,
        least: FloatArray,
        meter: Meter,
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
        from partita.configurations.certified.states import cells_from

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


def flow(theta: FloatArray, cells: Cells, effort: Effort, meter: Meter) -> Flow:
    """Propagate mass from the state in which nothing is covered."""
    from partita.configurations.certified.states import forward

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
