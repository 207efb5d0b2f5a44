"""Sequential draws and beams of partial configurations.

Arrays of the kernels: `home`, `last`, `sizes`, `order` and `cells` are those of `Crowd`, one row
for each configuration (of which helpers get one), changed in place. For template x, `row` has the
four arrays of `BeamPlan.rows`: `asks` (whom, latest first), `yes`, `no` (log p and log(1 − p), by
earlier template), and `check`, which `counts_closed` explains; `mate` is an earlier template that
it must be with, or −1. `line` (x + 1) are the tails that it asks, `tails` the choices found (−1 for
a new cell) with `gains` (log-weights) or `shares`, of which the first `found` count; `seen` (n + 1)
is 0 before and after; `uniform` is a random number from 0 to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.merging.model import Merger, log_sum
from partita.core import FloatArray, IntArray

NEGLIGIBLE = 40.0  # e**-40 of the largest choice is less than what a double can tell


@kernel()
def _line(asks, home, last, order, cells, line):  # type: ignore[no-untyped-def]
    """List the tails that a template asks, latest first: its list or the cells', the shorter."""
    found = 0
    if cells <= len(asks):
        for c in range(cells):
            line[c] = order[cells - 1 - c]
        return cells, cells
    for a in range(len(asks)):
        if last[home[asks[a]]] == asks[a]:
            line[found] = asks[a]
            found += 1
    return found, len(asks)


@kernel()
def _choices(line, yes, no, check, counts_closed, mate, home, sizes, seen, tails, gains):  # type: ignore[no-untyped-def]
    """List a template's choices in one configuration: (their number, log-weight of the rest).

    `check` lists earlier templates that are incompatible with it (`counts_closed`), or those that
    are compatible: a cell is open if it has none of the former, or as many of the latter as it
    has members.
    """
    for y in check:
        seen[home[y]] += 1
    forced = home[mate] if mate >= 0 else -1
    found, spent, top = 0, 0.0, -np.inf
    for t in line:
        if mate < 0 and spent < top - NEGLIGIBLE:
            break
        cell = home[t]
        is_open = seen[cell] == (0 if counts_closed else sizes[cell])
        gain = spent + yes[t]
        if is_open and (forced < 0 or forced == cell) and gain > -np.inf:
            tails[found], gains[found] = t, gain
            top = max(top, gain)
            found += 1
        spent += no[t]
    left = spent
    if mate < 0 and spent > -np.inf and spent >= top - NEGLIGIBLE:
        tails[found], gains[found] = -1, spent
        found += 1
        left = -np.inf
    for y in check:
        seen[home[y]] = 0
    return found, left if mate < 0 else -np.inf


@kernel()
def join(x, t, home, last, sizes, order, cells):  # type: ignore[no-untyped-def]
    """Let x join the cell of t, or start one; return the number of cells."""
    label = cells if t < 0 else home[t]
    if t >= 0:
        place = 0
        while order[place] != t:
            place += 1
        for c in range(place, cells - 1):
            order[c] = order[c + 1]
        cells -= 1
    order[cells] = x
    home[x], last[label] = label, x
    sizes[label] += 1
    return cells + 1


@kernel()
def _pick(found, shares, uniform):  # type: ignore[no-untyped-def]
    """Pick one of the choices in proportion to its share."""
    total = 0.0
    for c in range(found):
        total += shares[c]
    left = uniform * total
    for c in range(found):
        left -= shares[c]
        if left < 0:
            return c
    return found - 1


@kernel(
    entry="i8, (i8[:], f8[:], f8[:], i8[:]), b1, i8, i4[:,:], i4[:,:], i4[:,:], "
    "i4[:,:], i8[:], f8[:], f8[:], f8[:]"
)
def draw_joins(x, row, counts_closed, mate, home, last, sizes, order, cells, logs, scores, uniform):  # type: ignore[no-untyped-def]
    """Let x choose at random in every configuration; return the work done.

    `logs` gather the log of the mass that was allowed, `scores` the log-weights; `uniform` has one
    number for each configuration.
    """
    asks, yes, no, check = row
    seen = np.zeros(home.shape[1] + 1, dtype=np.int64)
    line, tails = np.empty(x + 1, dtype=np.int64), np.empty(x + 1, dtype=np.int64)
    shares = np.empty(x + 1)
    work = (8 + len(check)) * len(home)
    for i in range(len(home)):
        asked, looked = _line(asks, home[i], last[i], order[i], cells[i], line)
        now = line[:asked]
        found, _ = _choices(
            now, yes, no, check, counts_closed, mate, home[i], sizes[i], seen, tails, shares
        )
        top, total = _scaled(found, shares)
        chosen = _pick(found, shares, uniform[i]) if found else 0
        logs[i] += top + np.log(total) if found else -np.inf
        scores[i] += top + np.log(shares[chosen]) if found else -np.inf
        t = tails[chosen] if found else -1
        cells[i] = join(x, t, home[i], last[i], sizes[i], order[i], cells[i])
        work += looked
    return work


@kernel()
def _scaled(found, gains):  # type: ignore[no-untyped-def]
    """Turn logarithms into shares of the largest: (its logarithm, sum of the shares)."""
    top, total = -np.inf, 0.0
    for c in range(found):
        top = max(top, gains[c])
    for c in range(found):
        gains[c] = np.exp(gains[c] - top)
        total += gains[c]
    return top, total


@kernel(
    entry="i8, (i8[:], f8[:], f8[:], i8[:]), b1, i8, i4[:,:], i4[:,:], i4[:,:], "
    "i4[:,:], i8[:], f8[:]"
)
def widen(x, row, counts_closed, mate, home, last, sizes, order, cells, scores):  # type: ignore[no-untyped-def]
    """List every choice of x in every configuration: source, tail, log-weight; and the rest.

    `scores` are the log-weights of the configurations so far.
    """
    asks, yes, no, check = row
    seen = np.zeros(home.shape[1] + 1, dtype=np.int64)
    line, tails = np.empty(x + 1, dtype=np.int64), np.empty(x + 1, dtype=np.int64)
    gains = np.empty(x + 1)
    room = len(home) * (len(asks) + 1)
    source, joined = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    weight, left = np.empty(room), np.empty(len(home))
    made = 0
    for i in range(len(home)):
        asked, _ = _line(asks, home[i], last[i], order[i], cells[i], line)
        found, left[i] = _choices(
            line[:asked], yes, no, check, counts_closed, mate,
            home[i], sizes[i], seen, tails, gains,
        )  # fmt: skip
        left[i] += scores[i]
        for c in range(found):
            source[made], joined[made], weight[made] = i, tails[c], scores[i] + gains[c]
            made += 1
    return source[:made], joined[:made], weight[:made], left


@kernel(entry="i8, i8[:], i4[:,:], i4[:,:], i4[:,:], i4[:,:], i8[:]")
def join_all(x, tails, home, last, sizes, order, cells):  # type: ignore[no-untyped-def]
    """Let template x join the tail tails[i] in the configuration of every row i of the arrays."""
    for i in range(len(home)):
        cells[i] = join(x, tails[i], home[i], last[i], sizes[i], order[i], cells[i])


@kernel(entry="i4[:,:], f8[:], f8[:,:]")
def together(home, weights, sums):  # type: ignore[no-untyped-def]
    """Add each configuration's weight to the pairs it joins, later by earlier; return how many.

    `weights` (configurations) are added to `sums` (n × n).
    """
    n, joined = home.shape[1], 0
    before = np.empty(home.shape, dtype=np.int32)
    last = np.empty(n + 1, dtype=np.int32)
    for i in range(len(home)):
        last[:] = -1
        for x in range(n):
            before[i, x] = last[home[i, x]]
            last[home[i, x]] = x
    for x in range(n):
        row = sums[x]  # stays in the cache while all configurations add to it
        for i in range(len(home)):
            y = before[i, x]
            while y >= 0:
                row[y] += weights[i]
                joined += 1
                y = before[i, y]
    return joined


@kernel(entry="f8, f8[:,:], f8[:,:], f8[:,:], f8[:,:]")
def add_island_pairs(z, pairs, sums, squares, products):  # type: ignore[no-untyped-def]
    """Add an island's `pairs` (n × n, its P) to the `sums` of z·P, and clear them for the next.

    `squares` and `products` get (z·P)² and z²·P, all below the diagonal.
    """
    for x in range(len(pairs)):
        for y in range(x):
            share = z * pairs[x, y]
            sums[x, y] += share
            squares[x, y] += share * share
            products[x, y] += z * share
            pairs[x, y] = 0.0


@kernel(entry="f8[:,:], f8[:,:], f8[:,:], f8, f8, f8, i8")
def settle(sums, squares, products, total, z_squares, effective, islands):  # type: ignore[no-untyped-def]
    """Turn the sums of `add_island_pairs` in place into pair probabilities and their bounds.

    `sums` become P, `squares` and `products` its lower and upper bound. `total` is the sum of z
    over the islands, `z_squares` that of z², and `effective` the number of draws that count. What
    all islands saw never or always has the error of one draw.
    """
    for x in range(len(sums)):
        for y in range(x):
            value = sums[x, y] / total
            spread = squares[x, y] - 2 * value * products[x, y] + value * value * z_squares
            variance = max(0.0, spread) / total**2 * islands / (islands - 1)
            if variance == 0.0:
                smooth = (value * effective + 1) / (effective + 2)
                variance = smooth * (1 - smooth) / effective
            error, value = np.sqrt(variance), min(1.0, value)
            sums[x, y] = sums[y, x] = value
            squares[x, y] = squares[y, x] = max(0.0, value - error)
            products[x, y] = products[y, x] = min(1.0, value + error)
        sums[x, x] = squares[x, x] = products[x, x] = 1.0


Row = tuple[IntArray, FloatArray, FloatArray, IntArray]


@dataclass(frozen=True, slots=True, eq=False)
class BeamPlan:
    """For each template whom it asks, latest first; log p, log(1 − p); whom to check."""

    size: int
    rows: list[Row]
    counts_closed: bool
    mates: IntArray

    @property
    def cost(self) -> int:
        """The approximate work of one draw, if a template meets no more tails than this."""
        return sum(min(len(row[0]), 64) + len(row[-1]) + 8 for row in self.rows)


def plan_beam(model: Merger) -> BeamPlan:
    n = model.size
    apart = np.tril(~model.compatible, -1)
    counts_closed = bool(2 * apart.sum() <= n * (n - 1) / 2)
    check = apart if counts_closed else np.tril(model.compatible, -1)
    rows = []
    for x in range(n):
        asks = np.flatnonzero(model.log_yes[x, :x] > -math.inf)[::-1].copy()
        yes, no = model.log_yes[x, :x], model.log_no[x, :x]
        rows.append((asks, yes, no, np.flatnonzero(check[x])))
    return BeamPlan(n, rows, counts_closed, _earlier_mates(model.groups))


def _earlier_mates(groups: IntArray) -> IntArray:
    """Return, for each template, the latest earlier one that it must be with; −1 for none."""
    latest: dict[int, int] = {}
    mates = np.full(len(groups), -1, dtype=np.int64)
    for x, group in enumerate(groups.tolist()):
        mates[x] = latest.get(group, -1)
        latest[group] = x
    return mates


@dataclass(slots=True, eq=False)
class Crowd:
    """Partial configurations, one a row.

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
        """Replace the configurations by these, of which `upto` templates are placed."""
        for part in (self.home, self.last, self.sizes, self.order):
            part[:, :upto] = part[rows, :upto]
        self.cells, self.scores = self.cells[rows], self.scores[rows]


def crowd(count: int, size: int) -> Crowd:
    home, last, sizes, order = np.zeros((4, count, size), dtype=np.int32)
    return Crowd(home, last, sizes, order, np.zeros(count, dtype=np.int64), np.zeros(count))


BYTES = 4 * 4 + 4  # of one template in one configuration, while one table is chosen anew


def island(
    planned: BeamPlan, count: int, rng: np.random.Generator
) -> tuple[Crowd, FloatArray, float]:
    """Return draws, their log-weights relative to each other, and the estimate of log Z."""
    draws, logs, total = crowd(count, planned.size), np.zeros(count), 0.0
    for x, row in enumerate(planned.rows):
        draws.work += draw_joins(
            x, row, planned.counts_closed, planned.mates[x], draws.home, draws.last,
            draws.sizes, draws.order, draws.cells, logs, draws.scores, rng.random(count),
        )  # fmt: skip
        if (top := log_sum(logs)) == -math.inf:
            return draws, logs, -math.inf
        shares = np.exp(logs - top)
        if count * float(np.square(shares).sum()) > 2.0 and x + 1 < planned.size:
            total += top - math.log(count)
            draws.choose(_resample(shares, rng), x + 1)
            logs = np.zeros(count)
    return draws, logs, total + log_sum(logs) - math.log(count)


def _resample(shares: FloatArray, rng: np.random.Generator) -> IntArray:
    """Resample as many as there are, by their shares, with one random offset."""
    count = len(shares)
    at = (np.arange(count) + rng.random()) / count
    bounds = np.cumsum(shares)
    chosen: IntArray = np.searchsorted(bounds, at * bounds[-1], side="right")
    return np.minimum(chosen, count - 1)


def best_beginnings(planned: BeamPlan, width: int) -> tuple[Crowd, FloatArray, float]:
    """Return the best beginnings, template by template, with what was dropped.

    That is the logarithm of the mass dropped at each template, and the largest single log-weight.
    """
    beginnings = crowd(1, planned.size)
    dropped: list[float] = []
    single = -math.inf
    for x, row in enumerate(planned.rows):
        source, joined, weight, left = widen(
            x, row, planned.counts_closed, planned.mates[x],
            beginnings.home, beginnings.last, beginnings.sizes, beginnings.order,
            beginnings.cells, beginnings.scores,
        )  # fmt: skip
        by = _largest(weight, width)
        rest = np.concatenate([np.delete(weight, by), left])
        dropped.append(log_sum(rest))
        single = max(single, float(rest.max(initial=-math.inf)))
        beginnings = _extend(beginnings, source[by], joined[by], weight[by], x)
    return beginnings, np.array(dropped), single


def _largest(weight: FloatArray, width: int) -> IntArray:
    """Return the places of the largest, in order."""
    if len(weight) <= width:
        return np.arange(len(weight))
    return np.sort(np.argpartition(-weight, width)[:width])


def _extend(
    beginnings: Crowd, source: IntArray, joined: IntArray, weight: FloatArray, x: int
) -> Crowd:
    """Return the chosen beginnings with template x in its place."""
    home, last, sizes, order = (
        t[source] for t in (beginnings.home, beginnings.last, beginnings.sizes, beginnings.order)
    )
    after = Crowd(home, last, sizes, order, beginnings.cells[source], weight)
    join_all(x, joined, after.home, after.last, after.sizes, after.order, after.cells)
    return after
