"""Certified answers: every probability with a lower and an upper bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from partita.configurations.certified.states import CoveringCells, Flow, SearchEffort, cells, flow
from partita.configurations.count import bell, count_configurations, log2_of
from partita.configurations.meters import SearchMeter
from partita.configurations.optimum import local_search, score
from partita.configurations.search.best import best, good_order, pool
from partita.configurations.search.prices import UNIT, mask_words, rounding, shares
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
        from partita.configurations.certified.states import walk_flow

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
    from partita.configurations.search.best import renumber

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
    from partita.configurations.certified.states import backward, cell_pair_mass

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
GUESSES = (0.75, 0.5, 1.0, 0.0)  # shares of the best configuration's log-odds tried as prices
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
    guess, candidates = _guess(theta, labels, effort, meter)
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


def _guess(
    theta: FloatArray, labels: IntArray, effort: SearchEffort, meter: SearchMeter
) -> tuple[FloatArray, CoveringCells]:
    """Return the initial prices with the least sum, and their cells."""
    half, least = shares(theta, labels), np.full(len(theta), 0.1 * effort.least)
    best_guess = half * GUESSES[0]
    chosen = cells(theta, labels, best_guess, least, effort.cells, meter)
    for share in GUESSES[1:]:
        if not meter.allowance():
            break
        other = cells(theta, labels, share * half, least, effort.cells, meter)
        if other.b.sum() < chosen.b.sum():
            best_guess, chosen = share * half, other
    return best_guess, chosen


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
        """H = h(q) + q·H_visited + (1−q)·H_rest with q ≥ L/U visited and 0 ≤ H_rest ≤ log count.

        Both bounds are concave in q: the least is at an end, the largest at the left end or where
        the derivative is 0.
        """
        inside, most = self.visited.entropy / math.log(2.0), self.log2_count().high
        least = 1.0 - self.missing
        peak = 1.0 / (1.0 + 2.0 ** min(1000.0, most - inside))
        q = max(least, peak)
        low = min(inside, _binary(least) + least * inside)
        high = _binary(q) + q * inside + (1.0 - q) * most
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


def _binary(q: float) -> float:
    """Return the entropy of a coin, in bits."""
    return -sum(p * math.log2(p) for p in (q, 1.0 - q) if p > 0.0)


def count_bounds(compatible: NDArray[np.bool_]) -> tuple[float, float]:
    """Return bounds on log₂ of the number of configurations.

    Each template joins the cell of a compatible one before it or none: at most Π (1 + earlier).
    Disjoint sets of mutually compatible templates can be partitioned at will: at least Π Bell.
    """
    earlier = np.tril(compatible, -1).sum(axis=1)
    high = min(float(np.log2(1.0 + earlier).sum()), log2_of(bell(len(compatible))))
    left, low = np.ones(len(compatible), dtype=np.bool_), 0.0
    while left.any():
        clique = _clique(compatible, left)
        low += log2_of(bell(len(clique)))
        left[clique] = False
    return low, high


def _clique(compatible: NDArray[np.bool_], left: NDArray[np.bool_]) -> list[int]:
    """Return mutually compatible templates among the remaining ones, grown greedily."""
    clique: list[int] = []
    able = left.copy()
    while able.any():
        names = np.flatnonzero(able)
        clique.append(int(names[np.argmax(compatible[np.ix_(names, names)].sum(axis=1))]))
        able &= compatible[clique[-1]]
        able[clique[-1]] = False
    return clique
