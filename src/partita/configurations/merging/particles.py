"""Sequential draws and a beam of beginnings: the merger at work in many configurations at once.

Where a yes is forbidden, a draw takes one of the allowed decisions and is weighted by their mass:
E[Π allowed mass] = Z. Draws are chosen anew (in proportion to their weights) when less than half
of them count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.bounds import Kept, log_sum
from partita.configurations.merging.listed import Listed, listed
from partita.configurations.merging.model import Merger
from partita.configurations.merging.particles_kernels import draw, join_all, widen
from partita.records import FloatArray, IntArray

Row = tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray, IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """For each template whom it asks, latest first; log p, log(1 − p), p, 1 − p; whom to check."""

    size: int
    rows: list[Row]
    counts_closed: bool
    mates: IntArray

    @property
    def cost(self) -> int:
        """About the work of one draw, if a template meets no more tails than this."""
        return sum(min(len(row[0]), 64) + len(row[-1]) + 8 for row in self.rows)


def plan(model: Merger) -> Plan:
    n = model.size
    apart = np.tril(~model.compatible, -1)
    counts_closed = bool(2 * apart.sum() <= n * (n - 1) / 2)
    check = apart if counts_closed else np.tril(model.compatible, -1)
    rows = []
    for x in range(n):
        asks = np.flatnonzero(model.log_yes[x, :x] > -math.inf)[::-1].copy()
        yes, no = model.log_yes[x, :x], model.log_no[x, :x]
        rows.append((asks, yes, no, np.exp(yes), np.exp(no), np.flatnonzero(check[x])))
    return Plan(n, rows, counts_closed, _earlier_mates(model.groups))


def _earlier_mates(groups: IntArray) -> IntArray:
    """For each template the latest one before it that it must be with; −1 for none."""
    seen: dict[int, int] = {}
    mates = np.full(len(groups), -1, dtype=np.int64)
    for x, group in enumerate(groups.tolist()):
        mates[x] = seen.get(group, -1)
        seen[group] = x
    return mates


@dataclass(slots=True, eq=False)
class Crowd:
    """Configurations in the making, one a row.

    `home` is each template's cell, `last` and `sizes` are each cell's tail and size, `order` the
    tails from the oldest on, `cells` their number.
    """

    home: NDArray[np.int32]
    last: NDArray[np.int32]
    sizes: NDArray[np.int32]
    order: NDArray[np.int32]
    cells: IntArray
    scores: FloatArray
    work: int = 0

    def choose(self, rows: IntArray, upto: int) -> None:
        """These configurations instead, of which `upto` templates are placed."""
        for part in (self.home, self.last, self.sizes, self.order):
            part[:, :upto] = part[rows, :upto]
        self.cells, self.scores = self.cells[rows], self.scores[rows]


def crowd(count: int, size: int) -> Crowd:
    home, last, sizes, order = np.zeros((4, count, size), dtype=np.int32)
    return Crowd(home, last, sizes, order, np.zeros(count, dtype=np.int64), np.zeros(count))


BYTES = 4 * 4 + 4  # of one template in one configuration, while one table is chosen anew


def island(planned: Plan, count: int, rng: np.random.Generator) -> tuple[Crowd, FloatArray, float]:
    """Draws, their log-weights relative to each other, and the estimate of log Z."""
    drawn, logs, total = crowd(count, planned.size), np.zeros(count), 0.0
    for x, row in enumerate(planned.rows):
        drawn.work += draw(
            x, row, planned.counts_closed, planned.mates[x], drawn.home, drawn.last,
            drawn.sizes, drawn.order, drawn.cells, logs, drawn.scores, rng.random(count),
        )  # fmt: skip
        if (top := log_sum(logs)) == -math.inf:
            return drawn, logs, -math.inf
        shares = np.exp(logs - top)
        if count * float(np.square(shares).sum()) > 2.0 and x + 1 < planned.size:
            total += top - math.log(count)
            drawn.choose(_chosen(shares, rng), x + 1)
            logs = np.zeros(count)
    return drawn, logs, total + log_sum(logs) - math.log(count)


def _chosen(shares: FloatArray, rng: np.random.Generator) -> IntArray:
    """As many as there are, each as often as its share says, with one random offset."""
    count = len(shares)
    at = (np.arange(count) + rng.random()) / count
    bounds = np.cumsum(shares)
    chosen: IntArray = np.searchsorted(bounds, at * bounds[-1], side="right")
    return np.minimum(chosen, count - 1)


def beam(model: Merger, planned: Plan, width: int) -> Listed:
    """The best beginnings, template by template; the mass of the others bounds what is missing."""
    kept = crowd(1, planned.size)
    dropped: list[float] = []
    single = -math.inf
    for x, row in enumerate(planned.rows):
        source, joined, weight, left = widen(
            x, row, planned.counts_closed, planned.mates[x],
            kept.home, kept.last, kept.sizes, kept.order, kept.cells, kept.scores,
        )  # fmt: skip
        by = _largest(weight, width)
        rest = np.concatenate([np.delete(weight, by), left])
        dropped.append(log_sum(rest))
        single = max(single, float(rest.max(initial=-math.inf)))
        kept = _extended(kept, source[by], joined[by], weight[by], x)
    mass = Kept(log_sum(kept.scores), log_sum(np.array(dropped)), single, planned.size)
    return listed(model, kept.home.astype(np.int64), kept.scores, mass, None)


def _largest(weight: FloatArray, width: int) -> IntArray:
    """The places of the largest, in order."""
    if len(weight) <= width:
        return np.arange(len(weight))
    return np.sort(np.argpartition(-weight, width)[:width])


def _extended(kept: Crowd, source: IntArray, joined: IntArray, weight: FloatArray, x: int) -> Crowd:
    """The chosen beginnings with template x in its place."""
    home, last, sizes, order = (t[source] for t in (kept.home, kept.last, kept.sizes, kept.order))
    after = Crowd(home, last, sizes, order, kept.cells[source], weight)
    join_all(x, joined, after.home, after.last, after.sizes, after.order, after.cells)
    return after
