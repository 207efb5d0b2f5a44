"""Estimate the normaliser from chains."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.configurations.meters import SweepMeter
from partita.configurations.sampled.chains import (
    Chain,
    Progress,
    any_incompatible,
    run_parallel,
    state_of,
    wander,
)
from partita.core import Figure, FloatArray, IntArray

if TYPE_CHECKING:
    from partita.configurations.sampled.moves import ChainPairs
    from partita.configurations.sampled.runs import Elite

SHARE = 0.05  # with less of the mass in V the ladder is the better way
LENGTH = 16  # sweeps in a batch
CENSUS_TARGET = 0.005  # the standard error, in nats, at which it ends


def census(
    every: list[Chain], visited: Elite, meter: SweepMeter, progress: Progress = None
) -> Figure | None:
    """Return the log-normaliser, or None if too little of the mass was visited."""
    marks, log_mass = np.sort(visited.marks), float(np.logaddexp.reduce(visited.scores))
    shares = np.zeros((len(every), 0))
    while shares.shape[1] < 2 or _unsure(shares, meter):
        more = max(4, shares.shape[1] // 2)
        begun = time.monotonic()
        shares = np.hstack([shares, _hit_shares(every, marks, more)])
        meter.charge(more * LENGTH * len(every), begun)
        if progress:
            progress(f"{shares.mean():.3f} of the mass was visited")
    if shares.mean() < SHARE:
        return None
    share = float(shares.mean())
    return Figure.estimate(log_mass - float(np.log(share)), _census_error(shares))


def _hit_shares(every: list[Chain], marks: NDArray[np.uint64], batches: int) -> FloatArray:
    """Return the share of hits, chain × batch."""
    hits = np.stack(run_parallel(lambda chain: chain.census(marks, LENGTH * batches), every))
    shares: FloatArray = hits.reshape(len(every), batches, LENGTH).mean(axis=2)
    return shares


def _unsure(shares: FloatArray, meter: SweepMeter) -> bool:
    """Return whether more sweeps are worth it and allowed."""
    more = shares.size * LENGTH / 2
    return bool(
        shares.mean() >= SHARE and _census_error(shares) > CENSUS_TARGET and meter.sweeps() >= more
    )


def _census_error(shares: FloatArray) -> float:
    """Return the error of the log of the mean share: by batches, at least as chains differ."""
    by_batch = shares.std(ddof=1) / np.sqrt(shares.size)
    by_chain = shares.mean(axis=1).std(ddof=1) / np.sqrt(len(shares))
    once = 1.0 / (shares.size * LENGTH)  # a miss that was as likely not to be seen
    return float(max(by_batch, by_chain, once) / max(float(shares.mean()), once))


TARGET = 0.01  # the standard error, in nats, at which no more passes are made
PASSES = 12  # into which the budget is cut
ABREAST = 2  # passes between two looks at the error
MIN_PASSES = 6  # passes
OVERLAP = 0.02  # of two rungs, .5 if they are alike: with less they hardly know of each other
MOST = 2000  # steps on one rung in one pass


class Ladder:
    """Passes for one set: their starts, the order of templates, and their sums."""

    def __init__(
        self,
        pairs: ChainPairs,
        begin: IntArray,
        order: IntArray,
        fresh: int,
        seeds: np.random.SeedSequence,
    ) -> None:
        n = len(order)
        self.pairs, self.begin, self.order = pairs, begin, order
        self.fresh, self.seeds = fresh, seeds
        self.centre = np.full(n, np.nan)
        self.made = 0
        # renewing the last 8, seldom 16, …: so many single moves on the k-th rung, in sweeps
        rungs = np.arange(1, n + 1)
        self.cost = float((np.minimum(rungs, 12 + 4 * np.log2(1 + rungs / 8))).sum()) / n

    def passes(self, count: int, steps: int, meter: SweepMeter) -> FloatArray:
        """Run so many at once; return means, pass × down or up × side of the bridge × rung."""
        begun = time.monotonic()
        seeds = self.seeds.spawn(count)
        sums = run_parallel(lambda t: self._one(self.made + t, steps, seeds[t]), range(count))
        self.made += count
        meter.charge(count * self.sweeps(steps), begun)
        return np.stack(sums)

    def sweeps(self, steps: int) -> float:
        """Return the sweeps of one pass: down, up, and a quarter more to settle on every rung."""
        return 2.5 * steps * self.cost + self.fresh

    def _one(self, number: int, steps: int, seed: np.random.SeedSequence) -> FloatArray:
        from partita.configurations.sampled.runs import ladder

        n, rng = len(self.order), np.random.default_rng(seed)
        state = state_of(self.pairs, self.begin[number % len(self.begin)])
        wander(self.pairs, state, 1, self.fresh, rng)
        sums = np.zeros((4, n))
        ladder(
            self.pairs,
            state,
            self.order,
            steps,
            any_incompatible(self.pairs),
            self.centre,
            sums,
            rng,
        )
        return np.maximum(sums.reshape(2, 2, n)[:, :, 1:] / steps, 1e-300)

    def centred(self, meter: SweepMeter) -> None:
        """Run short passes that place the bridges: first the mean of l, then better."""
        most = max(meter.sweeps() / 20 / (2.5 * self.cost), 1.0)
        self.centre[1:] = self.passes(1, int(min(10, most)), meter)[0, :, 1].mean(axis=0)
        for steps in sorted({int(min(20, most)), int(min(40, most))}):
            sums = np.log(self.passes(1, steps, meter)[0].sum(axis=0))
            self.centre[1:] = np.maximum(self.centre[1:] + sums[0] - sums[1], 0.0)

    def figure(self, sums: FloatArray) -> Figure:
        """Return the estimate from all passes, and its error."""
        count = len(sums)
        both, base = sums.sum(axis=1), float(self.centre[1:].sum())
        whole = both.sum(axis=0)
        without = np.array([_bridges(np.delete(both, t, 0).sum(axis=0)) for t in range(count)])
        value = count * _bridges(whole) - (count - 1) * float(without.mean())
        by_pass = float(np.sqrt((count - 1) * without.var()))
        by_rung = float(np.sqrt(np.diff(np.log(both), axis=1).var(axis=0, ddof=1).sum() / count))
        lag = abs(_bridges(sums[:, 0].sum(axis=0)) - _bridges(sums[:, 1].sum(axis=0)))
        overlap = np.sqrt(whole[0] * whole[1]) / (2 * count)
        loose = overlap < OVERLAP  # there the estimate is only the middle between both sides
        torn = float(np.log(0.5 / overlap[loose]).sum())
        # an error that is itself estimated from few passes is kept on the safe side
        error = max(by_pass, by_rung) * (1.0 + 1.5 / np.sqrt(count))
        return Figure.estimate(base + value, float(np.hypot(error, lag / 4)) + torn)


def _bridges(sums: FloatArray) -> float:
    return float((np.log(sums[0]) - np.log(sums[1])).sum())


def log_normaliser(ladder: Ladder, meter: SweepMeter, progress: Progress = None) -> Figure:
    """Run passes until the error is small or the budget is spent; six at least."""
    if len(ladder.order) == 1:
        return Figure.exact(0.0)
    ladder.fresh = int(min(ladder.fresh, 1 + meter.sweeps() / (8 * PASSES)))
    ladder.centred(meter)
    room = (meter.sweeps() / PASSES - ladder.fresh) / (2.5 * ladder.cost)
    steps = int(np.clip(room, 1, MOST))
    need = ABREAST * ladder.sweeps(steps)
    sums = np.zeros((0, 2, 2, len(ladder.order) - 1))
    figure = Figure.estimate(0.0, np.inf)
    while len(sums) < MIN_PASSES or (meter.sweeps() >= need and _error(figure) > TARGET):
        sums = np.concatenate([sums, ladder.passes(ABREAST, steps, meter)])
        figure = ladder.figure(sums)
        if progress:
            progress(f"log-normaliser {figure.value:.3f}, error {_error(figure):.3f}")
    return figure


def _error(figure: Figure) -> float:
    return figure.high - figure.value


def rungs(pairs: ChainPairs, marginal: FloatArray) -> IntArray:
    """Return an order in which neighbours follow each other and each has support from earlier ones.

    First whoever is likely to be with somebody already there, the best supported first; then
    whoever is nearest.
    """
    n = len(marginal)
    near, support, todo = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
    order = np.zeros(n, dtype=np.int64)
    for t in range(n):
        key = np.where(near >= 0.5, 2.0 + _squash(support), near)
        i = order[t] = int(np.argmax(np.where(todo, key, -1.0)))
        todo[i] = False
        possible = marginal[i] > 0.0
        support[possible] += marginal[i, possible] * pairs.theta[i, possible]
        hint = 1e-6 / (1.0 + np.exp(-np.clip(pairs.theta[i], -30.0, 30.0)))
        near = np.maximum(near, marginal[i] + hint)
    return order


def _squash(x: FloatArray) -> FloatArray:
    """Map into (-1, 1), keeping the order."""
    return x / (1.0 + np.abs(x))
