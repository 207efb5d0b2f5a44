"""Sampled answers: every figure with a standard error, and the normaliser from chains."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import count_configurations
from partita.configurations.meters import SweepMeter
from partita.configurations.sampled.chains import (
    COOLING,
    SEARCHES,
    Chain,
    ChainSummary,
    Progress,
    annealed_state,
    any_incompatible,
    chain_bytes,
    chain_pairs,
    chains,
    explore,
    run_parallel,
    state_of,
    wander,
)
from partita.core import (
    Best,
    Budget,
    Figure,
    FloatArray,
    IntArray,
    Marginals,
    Method,
    restricted_growth,
    restricted_growth_rows,
)
from partita.errors import TooLarge, Unavailable

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


LOOKS = 3e7  # around how many configurations to look, times n²


def merge_visited(every: list[Elite]) -> Elite:
    """Return all that any chain kept, each once, best first."""
    marks = np.concatenate([e.marks[: e.filled[0]] for e in every])
    scores = np.concatenate([e.scores[: e.filled[0]] for e in every])
    labels = np.concatenate([e.labels[: e.filled[0]] for e in every])
    once = np.unique(marks, return_index=True)[1]
    order = once[np.lexsort((marks[once], -scores[once]))]
    filled = np.array([len(order)])
    return every[0]._replace(
        labels=labels[order], scores=scores[order], marks=marks[order], filled=filled
    )


def log_mass(visited: Elite) -> float:
    """Return the log of the summed weights of the visited: no normaliser is below it."""
    return float(np.logaddexp.reduce(visited.scores))


def best_unvisited(
    pairs: ChainPairs, visited: Elite, rng: np.random.Generator, meter: SweepMeter
) -> float:
    """Return the largest log-weight that cooling finds and no chain visited; −∞ if none."""
    from partita.configurations.sampled.runs import mark

    marks, best = set(visited.marks.tolist()), -np.inf
    begun, count = time.monotonic(), int(np.clip(meter.sweeps() / (10 * COOLING), 1, SEARCHES))
    for _ in range(count):
        state = annealed_state(pairs, rng)
        if int(mark(state, visited.keys)) not in marks:
            best = max(best, float(state.score[0]))
    meter.charge(count * COOLING, begun)
    return best


def best_visited(pairs: ChainPairs, visited: Elite, k: int) -> Best:
    """Return the k best found; nothing is claimed about the unvisited."""
    elite_found = _expand_best(pairs, visited, max(k, 1))
    rows = [restricted_growth(row) for row in elite_found.labels[: elite_found.filled[0]]]
    weights = np.array([_log_weight(pairs.theta, row) for row in rows])
    order = sorted(range(len(rows)), key=lambda t: (-weights[t], tuple(rows[t])))[:k]
    labels = np.array([rows[t] for t in order], dtype=np.int64).reshape(len(order), -1)
    return Best(labels, weights[order], np.inf)


def _expand_best(pairs: ChainPairs, visited: Elite, k: int) -> Elite:
    """Expand the k best, the best first, until all have been expanded."""
    from partita.configurations.sampled.runs import elite, expand_state

    n = len(pairs.theta)
    best = elite(max(k, 16), n)
    kept = min(len(best.scores), visited.filled[0])
    for name in ("labels", "scores", "marks"):
        getattr(best, name)[:kept] = getattr(visited, name)[:kept]
    best.filled[0] = kept
    done: set[int] = set()
    for _ in range(int(np.clip(LOOKS / n**2, 20, 2000))):
        fresh = [t for t in _ranking(best, k) if int(best.marks[t]) not in done]
        if not fresh:
            break
        done.add(int(best.marks[fresh[0]]))
        expand_state(pairs, state_of(pairs, best.labels[fresh[0]]), best)
    return best


def _ranking(best: Elite, k: int) -> list[int]:
    order = np.argsort(-best.scores[: best.filled[0]], kind="stable")
    return [int(t) for t in order[:k]]


def _log_weight(theta: FloatArray, labels: IntArray) -> float:
    return float(theta[np.triu(labels[:, None] == labels[None, :], 1)].sum())


CHAINS_SHARE = 0.65  # of the budget; what the chains leave, the normaliser may take
FRESH = 100  # the most sweeps between two draws, or before a pass down the ladder
OVERLOOKED = 0.02  # the probability of a configuration that chains that mix would have visited
BLUR = 5.0  # the largest standard error of the log-normaliser that counts as an answer
UNMIXED = 1.0  # the least error in nats of a log-normaliser from chains that have not mixed
SAFE = 4.0  # standard errors by which an estimate may fall short of what was visited
COUNTING = 3.0  # seconds, for an estimate of the number of configurations


@dataclass(eq=False)
class SampledPosterior:
    """The estimates of chains, and whether they have converged."""

    size: int
    log_normaliser: Figure
    converged: bool
    reason: str
    near: ChainPairs
    summary: ChainSummary
    visited: Elite
    last: IntArray  # where each chain stands
    seed: int
    counting: Budget  # for the number of configurations, when it is asked for
    method: Method = "sampled"

    @property
    def disagreement(self) -> float:
        """The largest difference of a pair's probability between two chains."""
        return self.summary.disagreement

    @property
    def error(self) -> FloatArray:
        """The standard error of every pair."""
        return _square(self.near, self.summary.error, 0.0)

    def log_weight(self, labels: IntArray) -> float:
        joined = np.triu(labels[:, None] == labels[None, :], 1)
        return float(self.near.theta[joined].sum())

    def count(self) -> int | None:
        return self._count

    @cached_property
    def _count(self) -> int | None:
        return count_configurations(self.near.theta > -np.inf)

    def log2_count(self) -> Figure:
        return self._log2_count

    @cached_property
    def _log2_count(self) -> Figure:
        """log₂ of the exact number, or the normaliser of the same set with all log-odds 0."""
        number = self.count()
        if number is not None:
            return Figure.exact(math.log2(number))
        level = np.where(self.near.theta > -np.inf, 0.0, -np.inf)
        return _bits(sampled(level, self.counting, self.seed).log_normaliser)

    def entropy(self) -> Figure:
        """Return the entropy, never below 0 whatever the noise."""
        value = self.log_normaliser.value - self.summary.score
        error = self.log_normaliser.high - self.log_normaliser.value
        error = math.hypot(error, self.summary.score_error)
        return _bits(Figure.estimate(max(value, 0.0), error))

    def pairs(self) -> Marginals:
        value = _square(self.near, self.summary.pairs, 1.0)
        high = self.error
        low = value - high
        high += value  # in place: for thousands of templates each matrix counts
        np.clip(low, 0.0, None, out=low)
        np.clip(high, None, 1.0, out=high)
        return Marginals(value, low, high, "estimate")

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        raise Unavailable(
            "sampling does not give all cells; it gives pairs and the best configurations"
        )

    def best(self, k: int) -> Best:
        return best_visited(self.near, self.visited, k)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        """Draw states far enough apart by continuing one of the chains."""
        state = state_of(self.near, self.last[rng.integers(len(self.last))])
        rows = wander(self.near, state, count, _fresh(self.summary), rng)
        return restricted_growth_rows(np.asarray(rows, dtype=np.int64).reshape(count, self.size))


def sampled(
    theta: FloatArray,
    budget: Budget,
    seed: int,
    progress: Progress = None,
    bounds: Figure | None = None,
) -> SampledPosterior:
    """Run chains until they agree or the budget is spent, then estimate the normaliser.

    An estimate that contradicts the certified `bounds` of the log-normaliser is no answer. With
    `budget.work`, a number of sweeps, the result is the same on any machine; otherwise the clock
    decides.
    """
    _check_memory(theta, budget)
    _compile()
    meter = SweepMeter.of(budget)
    pairs = chain_pairs(theta)
    chain_seeds, ladder_seeds, search_seed = np.random.SeedSequence(seed).spawn(3)
    every = chains(pairs, chain_seeds)
    part = meter.share(CHAINS_SHARE)
    summary = explore(every, part, progress)
    meter.settle(part, CHAINS_SHARE)
    for chain in every:
        chain.release()
    visited = merge_visited([chain.elite for chain in every])
    unvisited = best_unvisited(pairs, visited, np.random.default_rng(search_seed), meter)
    estimate = census(every, visited, meter, progress)
    last = np.stack([chain.state.label[: len(theta)] for chain in every])
    if estimate is None:
        order = rungs(pairs, _square(pairs, summary.pairs, 1.0))
        ladder = Ladder(pairs, last, order, _fresh(summary), ladder_seeds)
        estimate = log_normaliser(ladder, meter, progress)
    return SampledPosterior(
        len(theta),
        *_verdict(estimate, summary, log_mass(visited), unvisited, bounds),
        pairs,
        summary,
        visited,
        last,
        seed,
        replace(budget, seconds=min(budget.seconds, COUNTING)),
    )


@cache
def _compile() -> None:
    """Load the compiled code, or compile it once for all, before the clock starts."""
    pairs = chain_pairs(np.zeros((2, 2)))
    every = chains(pairs, np.random.SeedSequence(0))
    every[0].run(1)
    ladder = Ladder(
        pairs, np.zeros((1, 2), dtype=np.int64), np.arange(2), 1, np.random.SeedSequence(0)
    )
    ladder.passes(1, 1, SweepMeter(0.0, 1.0))


def _check_memory(theta: FloatArray, budget: Budget) -> None:
    n = len(theta)
    needs = chain_bytes(n, int(np.count_nonzero(theta > -np.inf)))
    if needs > budget.memory:
        raise TooLarge(f"sampling {n} templates", _megabytes(needs), _megabytes(budget.memory))


def _megabytes(count: int) -> str:
    return f"{math.ceil(count / 1e6)} MB"


def _verdict(
    estimate: Figure,
    summary: ChainSummary,
    visited: float,
    unvisited: float,
    bounds: Figure | None = None,
) -> tuple[Figure, bool, str]:
    """Return the normaliser, whether the estimates count as an answer, and why.

    `visited` is the log of the summed weights of what was visited, `unvisited` the largest
    log-weight of what was not.
    """
    error = estimate.high - estimate.value
    possible = estimate.value + SAFE * error >= visited
    least = float(np.logaddexp(visited, unvisited))
    raised = replace(estimate, value=max(estimate.value, least), high=max(estimate.high, least))
    details = (
        f"{summary.chains} chains of {summary.sweeps} sweeps from dispersed starts differ by at "
        f"most {summary.disagreement:.3f} on a pair, standard error at most {summary.worst:.4f}"
    )
    if not summary.agreed and not summary.mixing:
        raised = Figure.estimate(raised.value, max(error, summary.score_error, UNMIXED))
        return raised, False, f"the chains have not mixed, so the answer is unreliable: {details}"
    if not summary.converged:
        return raised, False, f"the budget ran out before the error was small: {details}"
    if unvisited > estimate.value + math.log(OVERLOOKED):
        return (
            raised,
            False,
            f"a search found a likely configuration that no chain visited: {details}",
        )
    if bounds is not None and not _allowed(estimate, bounds):
        problem = "the estimate of the normaliser contradicts its certified bounds"
        return raised, False, f"{problem}: {details}"
    if error > BLUR:
        return raised, False, f"the log-normaliser has an error of {error:.1f} nats: {details}"
    if not possible:
        return raised, False, f"the estimate of the normaliser is below what was visited: {details}"
    return raised, True, details


def _allowed(estimate: Figure, bounds: Figure) -> bool:
    """Return whether an estimate lies within certified bounds, but for its error."""
    margin = SAFE * (estimate.high - estimate.value)
    return bounds.low - margin <= estimate.value <= bounds.high + margin


def _fresh(summary: ChainSummary) -> int:
    """Return the sweeps until a state is nearly independent of its start."""
    return int(min(max(2.0, 3.0 * summary.slowness), FRESH))


def _square(near: ChainPairs, values: FloatArray, diagonal: float) -> FloatArray:
    """Return the matrix of compatible pairs i < j given row by row; 0 for all others."""
    matrix = np.zeros_like(near.theta)
    for i in range(len(matrix)):
        there = near.near[near.first[i] : near.first[i + 1]]
        later = there[there > i]
        stop = near.base[i] + near.first[i + 1]
        matrix[i, later] = matrix[later, i] = values[stop - len(later) : stop]
    np.fill_diagonal(matrix, diagonal)
    return matrix


def _bits(nats: Figure) -> Figure:
    bit = math.log(2.0)
    return Figure(nats.value / bit, nats.low / bit, nats.high / bit, nats.kind)
