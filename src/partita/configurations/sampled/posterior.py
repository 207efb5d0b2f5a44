"""Sampled answers: every figure with a standard error, and the normaliser from chains.

Run Markov chains from dispersed starts until they agree.

They are summarised by means over batches, their standard error, and how far chains differ.
error² is the mean of two estimates, weighted by their degrees of freedom: the variance between the
chains' means, and the variance of batch means within chains · max(1, F), F = the ratio of the two,
pooled over pairs: 1 for chains that mix. Split R-hat² of a pair is 1 + the variance of the means of
half chains / p(1 - p), so 1 / (R-hat² - 1) is the number of independent draws in half a chain.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.configurations.count import count_configurations
from partita.configurations.meters import SweepMeter, in_bytes
from partita.configurations.optimum import local_search, score
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
    from partita.configurations.sampled.kernels import ChainPairs, Elite, State


ERROR = 0.01  # the largest standard error of a pair that still counts as an answer
SCALE = 1.05  # the largest split R-hat of the log-weight and of a pair: ten draws in half a chain
DRIFT = 4.0  # the largest F
MIXING = 1.5  # the largest F at which what has been counted is kept
UNSURE = 0.01  # p(1 - p): below it split R-hat says little, and the error decides
WITHIN = 8  # degrees of freedom that the variance within chains is worth
UNSEEN = 1.5  # draws by which a frequency may be wrong, whatever its variance
PIECE = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class ChainSummary:
    """One round: pairs i < j row by row, the log-weight, and the signs of mixing."""

    sweeps: int  # by each chain
    pairs: FloatArray
    error: FloatArray
    disagreement: float
    drift: float
    scale: float  # split R-hat of the log-weight
    pair_scale: float  # the largest split R-hat of a pair
    score: float
    score_error: float
    slowness: float  # sweeps that are worth one independent draw, for the slowest pair
    chains: int

    @property
    def worst(self) -> float:
        return float(self.error.max(initial=0.0))

    @property
    def mixing(self) -> bool:
        """Whether the chains seem independent of their starts."""
        return self.drift <= MIXING and self.scale <= SCALE and self.pair_scale <= SCALE

    @property
    def agreed(self) -> bool:
        """Whether no sign speaks against mixing, whatever the error."""
        return self.drift <= DRIFT and self.scale <= SCALE and self.pair_scale <= SCALE

    @property
    def converged(self) -> bool:
        return self.agreed and self.worst <= ERROR


class ChainCounts(NamedTuple):
    """What chains counted in batches of equal length: by chain, and summed squares of batches."""

    totals: list[NDArray[np.float32]]
    early: list[NDArray[np.float32]]
    squares: FloatArray
    length: int
    batches: int
    half: int  # the number of batches in `early`


def summarise_chains(counts: ChainCounts, scores: FloatArray) -> ChainSummary:
    """Summarise counts of pairs, and log-weights, chain × sweep."""
    spread = _spread(counts)
    chains, sweeps = len(counts.totals), counts.length * counts.batches
    # chains that stand still count as one draw each, not as one for every batch
    inflation = min(max(1.0, spread.drift), counts.batches)
    between = chains - 1
    sure = _two_errors(between + WITHIN) / 2.0
    slowness = 1.0
    error = spread.within
    for piece in pieces(len(error)):
        variance = WITHIN * inflation * error[piece] + between * spread.between[piece]
        variance /= between + WITHIN
        unsure = spread.mean[piece] * (1.0 - spread.mean[piece])
        uncertain = unsure > UNSURE
        slow = variance[uncertain] * chains * sweeps / unsure[uncertain]
        slowness = max(slowness, float(slow.max(initial=1.0)))
        error[piece] = sure * np.sqrt(variance)
    error += min(UNSEEN * slowness / (chains * sweeps), 1.0)
    return ChainSummary(
        sweeps,
        spread.mean,
        error,
        spread.disagreement,
        spread.drift,
        _scale(scores),
        spread.scale,
        float(scores.mean()),
        _score_error(scores, counts.batches),
        slowness,
        chains,
    )


def _two_errors(freedom: int) -> float:
    """Return the quantile of Student's t that covers as much as two errors of the normal one."""
    return 2.0 * (1.0 + 1.24 / freedom + 1.1 / freedom**2)


class _Spread(NamedTuple):
    mean: FloatArray
    within: FloatArray  # the variance of the mean, by batches
    between: FloatArray  # the same, by chains
    drift: float
    disagreement: float
    scale: float


def _spread(counts: ChainCounts) -> _Spread:
    """Compute in pieces: thousands of templates have many pairs."""
    chains, batches, length = len(counts.totals), counts.batches, counts.length
    mean, within, between = (np.zeros(len(counts.squares)) for _ in range(3))
    inside = outside = apart = 0.0
    scale = 1.0
    for piece in pieces(len(mean)):
        means = _means(counts.totals, piece, length * batches)
        about = counts.squares[piece] / length**2 - batches * (means**2).sum(axis=0)
        around = np.maximum(about, 0.0) / (chains * max(batches - 1, 1))
        mean[piece], within[piece] = means.mean(axis=0), around / (chains * batches)
        between[piece] = means.var(axis=0, ddof=1) / chains
        inside += float(within[piece].sum())
        outside += float(between[piece].sum())
        apart = max(apart, float(np.ptp(means, axis=0).max(initial=0.0)))
        scale = max(scale, _pair_scale(counts, piece, means))
    return _Spread(mean, within, between, _ratio(outside, inside), apart, scale)


def _means(totals: list[NDArray[np.float32]], piece: slice, sweeps: int) -> FloatArray:
    return np.stack([total[piece] for total in totals]).astype(np.float64) / max(sweeps, 1)


def _pair_scale(counts: ChainCounts, piece: slice, means: FloatArray) -> float:
    """Return the largest split R-hat of these pairs."""
    first, all_ = counts.half * counts.length, counts.batches * counts.length
    early = _means(counts.early, piece, first)
    late = (means * all_ - early * first) / max(all_ - first, 1)
    halves = np.concatenate([early, late]) if 0 < first < all_ else means
    unsure = means.mean(axis=0)
    unsure *= 1.0 - unsure
    uncertain = unsure > UNSURE
    ratio = halves.var(axis=0, ddof=1)[uncertain] / unsure[uncertain]
    return float(np.sqrt(1.0 + ratio.max(initial=0.0)))


def pieces(count: int) -> Iterator[slice]:
    return (slice(start, start + PIECE) for start in range(0, count, PIECE))


def _ratio(above: float, below: float) -> float:
    return above / below if below > 0.0 else (0.0 if above == 0.0 else np.inf)


def _scale(scores: FloatArray) -> float:
    """Return R-hat over half chains: sqrt(1 + variance of their means / variance within)."""
    halves = scores[:, : scores.shape[1] // 2 * 2].reshape(2 * len(scores), -1)
    means, within = halves.mean(axis=1), halves.var(axis=1).mean()
    size = float(np.abs(scores).max(initial=1.0))
    return float(
        np.sqrt(
            1.0
            + _ratio(_without_rounding(means.var(ddof=1), size), _without_rounding(within, size))
        )
    )


def _without_rounding(variance: float, size: float) -> float:
    """Return zero where it is no more than the rounding of numbers of this size."""
    return float(variance) if variance > (1e-12 * size) ** 2 else 0.0


def _score_error(scores: FloatArray, batches: int) -> float:
    """Return the error of the mean log-weight, by batches, at least as chains differ."""
    means = scores.reshape(len(scores), batches, -1).mean(axis=2)
    by_batch = means.std(ddof=1) / np.sqrt(means.size)
    by_chain = means.mean(axis=1).std(ddof=1) / np.sqrt(len(means))
    return float(max(by_batch, by_chain))


CHAINS = ((100, 32), (400, 16))  # up to so many templates so many chains
FEWEST = 8  # chains, for larger sets
ANNEALED = 4  # one of so many starts is annealed
WARMEST = 0.25  # the least factor of the log-odds at which templates are scattered
SEARCHES = 8  # local searches from which the best is taken
WARMTHS, SOAK = 20, 3  # steps of cooling, and sweeps at each
COOLING = WARMTHS * SOAK
STEEPEST = 3.0  # beyond this log-odds a partner is not picked any more often


def chain_bytes(n: int, compatible: int) -> int:
    """Predict the peak memory of a run: neighbours, counts of all chains, and the answer."""
    pairs, count = compatible // 2, chain_count(n)
    kept = count * KEPT * (8 * n + 48)  # by each chain, and once more when they are merged
    summed = 24 * count * min(pairs, PIECE)  # while counts are summed up
    return 8 * compatible + pairs * (12 * count + 40) + 40 * n * n + kept + summed + (1 << 24)


def chain_count(n: int) -> int:
    """Return the number of chains; many short ones find more modes than few long ones."""
    return next((count for most, count in CHAINS if n <= most), FEWEST)


def moves_of(n: int) -> int:
    """Return how many moves of whole cells are tried in a sweep, beside one of each template."""
    return max(1, n // 5)


def chain_pairs(theta: FloatArray) -> ChainPairs:
    """Return the compatible pairs by rows; partners are picked in proportion to min(odds, e³)."""
    from partita.configurations.sampled.kernels import ChainPairs

    n = len(theta)
    possible = theta > -np.inf
    np.fill_diagonal(possible, False)
    first = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
    near = np.nonzero(possible)[1].astype(np.int32)
    pick = np.empty(len(near), dtype=np.float32)
    for i in range(n):
        row = slice(first[i], first[i + 1])
        pick[row] = _running_sums(theta[i, possible[i]])
    above = np.triu(possible).sum(axis=1)
    base = np.cumsum(above) - first[1:]  # both run to the end of a row
    return ChainPairs(np.ascontiguousarray(theta), first, near, pick, base)


def any_incompatible(pairs: ChainPairs) -> bool:
    """Return whether any two templates exclude each other."""
    return len(pairs.near) < len(pairs.theta) * (len(pairs.theta) - 1)


def _running_sums(gains: FloatArray) -> FloatArray:
    """Return running sums of the chances, ending at 1."""
    weights = np.exp(np.clip(gains, -30.0, STEEPEST))
    sums = np.cumsum(weights)
    return sums / sums[-1] if len(sums) else sums


def starts(pairs: ChainPairs, rng: np.random.Generator) -> list[State]:
    """Return one state for each chain, as dispersed as is cheap.

    All apart, all together, the best of local searches; then annealed states and states in which
    templates found their cells one by one, in random orders and at several temperatures.
    """
    n = len(pairs.theta)
    fixed = [
        np.arange(n),
        _together(pairs.theta > -np.inf),
        local_search(pairs.theta, starts=1 + min(SEARCHES, 2000 // n)),
    ]
    states = [state_of(pairs, labels) for labels in fixed]
    for t in range(chain_count(n) - len(states)):
        beta = WARMEST ** (t % ANNEALED / (ANNEALED - 1))
        warm = t % ANNEALED == 0
        states.append(annealed_state(pairs, rng) if warm else _scattered_state(pairs, beta, rng))
    return states


def _scattered_state(pairs: ChainPairs, beta: float, rng: np.random.Generator) -> State:
    """Return a state in which each template in turn drew its cell, the log-odds times beta."""
    from partita.configurations.sampled.kernels import blank, place

    n, state = len(pairs.theta), blank(len(pairs.theta))
    warm = pairs._replace(theta=pairs.theta * beta)
    for i in rng.permutation(n):
        place(warm, state, int(i), n, rng)
    return state_of(pairs, state.label[:n])


def state_of(pairs: ChainPairs, labels: IntArray) -> State:
    from partita.configurations.sampled.kernels import adopt, blank

    state = blank(len(labels))
    adopt(pairs, state, restricted_growth(labels))
    return state


def _together(possible: np.ndarray) -> IntArray:
    """Put each template in turn into the largest cell that can take it."""
    labels = np.full(len(possible), -1, dtype=np.int64)
    shared: list[np.ndarray] = []  # by cell: with whom all of its members are compatible
    sizes: list[int] = []
    for i in range(len(possible)):
        fits = [c for c, common in enumerate(shared) if common[i]]
        if not fits:
            shared.append(possible[i].copy())
            sizes.append(0)
            fits = [len(shared) - 1]
        labels[i] = home = max(fits, key=lambda c: sizes[c])
        shared[home] &= possible[i]
        sizes[home] += 1
    return labels


def _steepest(theta: FloatArray) -> float:
    """Return the largest log-odds either way, or 1; row by row, to save memory."""
    return max(1.0, *(float(np.abs(row[row > -np.inf]).max()) for row in theta))


def annealed_state(pairs: ChainPairs, rng: np.random.Generator) -> State:
    """Return a state from a random order of templates by annealing."""
    from partita.configurations.sampled.kernels import blank, place, run_chain, states

    n, state = len(pairs.theta), blank(len(pairs.theta))
    warm = pairs._replace(theta=np.empty_like(pairs.theta))
    for step, beta in enumerate(np.geomspace(1.0 / _steepest(pairs.theta), 1.0, WARMTHS)):
        np.multiply(pairs.theta, beta, out=warm.theta)
        if step == 0:
            for i in rng.permutation(n):
                place(warm, state, int(i), n, rng)
        run_chain(warm, state, SOAK, moves_of(n), any_incompatible(pairs), states(0, n), rng)
    return state_of(pairs, state.label[:n])


BATCHES = 10  # in a round
BATCH_LENGTH = 32  # the least number of sweeps in a batch whose mean may count
ROUND_TARGET = 0.003  # the standard error at which a round is the last
SERIAL = 10_000  # sweeps times templates in a batch: with fewer, threads take longer to start
KEPT = 256  # of the best configurations that a chain has visited

Progress = Callable[[str], None] | None
One = TypeVar("One")
Other = TypeVar("Other")


def run_parallel(work: Callable[[One], Other], items: Iterable[One]) -> list[Other]:
    """Apply the work to each item, on all processors: compiled code releases the lock."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))


@dataclass(slots=True)
class Chain:
    """A state, its own random numbers, and its counts in this round."""

    pairs: ChainPairs
    state: State
    rng: np.random.Generator
    elite: Elite
    moves: int
    tied: bool
    counts: NDArray[np.int32]
    total: NDArray[np.float32]
    early: NDArray[np.float32]  # of the total, what the first half of the batches counted
    scores: list[FloatArray] = field(default_factory=list)

    def run(self, sweeps: int) -> None:
        from partita.configurations.sampled.kernels import Notes, run_chain

        self.counts[:] = 0
        scores = np.empty(sweeps)
        notes = Notes(self.counts, scores, self.elite, np.zeros((0, 0), dtype=np.int32))
        run_chain(self.pairs, self.state, sweeps, self.moves, self.tied, notes, self.rng)
        self.total += self.counts
        self.scores.append(scores)

    def census(self, marks: NDArray[np.uint64], sweeps: int) -> FloatArray:
        """Return, for each further sweep, whether it ends in one of the marked partitions."""
        from partita.configurations.sampled.kernels import hits

        hit = np.zeros(sweeps)
        hits(
            *(self.pairs, self.state, self.moves, self.tied),
            *(self.elite.keys, marks, hit, self.rng),
        )
        return hit

    def release(self) -> None:
        """Free the counts, which take the most memory."""
        self.counts, self.scores = self.counts[:0].copy(), []
        self.total = self.early = self.total[:0].copy()

    def forget(self) -> None:
        self.total[:] = self.early[:] = 0
        self.scores = []


def wander(
    pairs: ChainPairs, state: State, count: int, apart: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """Continue from a state; return so many states, so many sweeps apart, as rows of labels."""
    from partita.configurations.sampled.kernels import run_chain, states

    n = len(pairs.theta)
    notes = states(count, n)
    run_chain(pairs, state, count * apart, moves_of(n), any_incompatible(pairs), notes, rng)
    return notes.rows


def chains(pairs: ChainPairs, seeds: np.random.SeedSequence) -> list[Chain]:
    """Return one chain for each start."""
    from partita.configurations.sampled.kernels import elite

    n = len(pairs.theta)
    first, *others = (np.random.default_rng(seed) for seed in seeds.spawn(1 + chain_count(n)))
    count = len(pairs.near) // 2
    return [
        Chain(
            *(pairs, state, rng, elite(KEPT, n), moves_of(n), any_incompatible(pairs)),
            np.zeros(count, dtype=np.int32),
            *np.zeros((2, count), dtype=np.float32),
        )
        for state, rng in zip(starts(pairs, first), others, strict=True)
    ]


def explore(every: list[Chain], meter: SweepMeter, progress: Progress = None) -> ChainSummary:
    """Run rounds until the error is small and the chains agree, or the budget is spent."""
    # short at first, but not so short that adding up the counts takes longer than counting
    tally = ChainTally(every, 4 + len(every[0].counts) // (100 * len(every[0].pairs.theta)), meter)
    tally.add_halves(BATCHES)
    result = _report_progress(tally.summary(), progress)
    while not (result.agreed and result.worst <= ROUND_TARGET) and (room := tally.room()) > 0:
        if result.mixing and tally.length >= BATCH_LENGTH:
            tally.add_half(min(len(tally), room))
        elif room >= BATCHES:
            tally = ChainTally(every, min(2 * tally.length, tally.length * room // BATCHES), meter)
            tally.add_halves(BATCHES)
        else:
            break
        result = _report_progress(tally.summary(), progress)
    return result


def _report_progress(result: ChainSummary, progress: Progress) -> ChainSummary:
    if progress:
        progress(
            f"{result.sweeps} sweeps: error {result.worst:.4f}, "
            f"chains differ by {result.disagreement:.3f}"
        )
    return result


class ChainTally:
    """Batches of equal length, and what all chains counted in them."""

    def __init__(self, every: list[Chain], length: int, meter: SweepMeter) -> None:
        self.every, self.length, self.meter = every, length, meter
        self.squares = np.zeros(len(every[0].counts))
        self.half = 0  # the number of batches in the first half
        for chain in every:
            chain.forget()

    def __len__(self) -> int:
        return len(self.every[0].scores)

    @property
    def parallel(self) -> bool:
        """Whether a batch takes longer than to start threads for it."""
        return self.length * len(self.every[0].pairs.theta) >= SERIAL

    def room(self) -> int:
        """Return how many more batches of this length are allowed."""
        return int(min(self.meter.sweeps() / (self.length * len(self.every)), 1e9))

    def add_halves(self, batches: int) -> None:
        """Add the first batches, in two halves."""
        self._add(batches // 2)
        self.add_half(batches - batches // 2)

    def add_half(self, batches: int) -> None:
        """Add batches as the second half; all before are the first."""
        self.half = len(self)
        for chain in self.every:
            chain.early[:] = chain.total
        self._add(batches)

    def _add(self, batches: int) -> None:
        for _ in range(batches):
            if self.meter.over and len(self) >= 2:
                break
            begun = time.monotonic()
            run_each = run_parallel if self.parallel else map
            list(run_each(lambda chain: chain.run(self.length), self.every))
            for chain in self.every:
                for piece in pieces(len(self.squares)):
                    self.squares[piece] += chain.counts[piece].astype(np.float64) ** 2
            self.meter.charge(self.length * len(self.every), begun)

    def summary(self) -> ChainSummary:
        counts = ChainCounts(
            [chain.total for chain in self.every],
            [chain.early for chain in self.every],
            self.squares,
            self.length,
            len(self),
            self.half,
        )
        return summarise_chains(
            counts, np.stack([np.concatenate(chain.scores) for chain in self.every])
        )


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
        from partita.configurations.sampled.kernels import ladder

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
        key = np.where(near >= 0.5, 2.0 + support / (1.0 + np.abs(support)), near)
        i = order[t] = int(np.argmax(np.where(todo, key, -1.0)))
        todo[i] = False
        possible = marginal[i] > 0.0
        support[possible] += marginal[i, possible] * pairs.theta[i, possible]
        hint = 1e-6 / (1.0 + np.exp(-np.clip(pairs.theta[i], -30.0, 30.0)))
        near = np.maximum(near, marginal[i] + hint)
    return order


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
    from partita.configurations.sampled.kernels import mark

    marks, best = set(visited.marks.tolist()), -np.inf
    begun, count = time.monotonic(), int(np.clip(meter.sweeps() / (10 * COOLING), 1, SEARCHES))
    for _ in range(count):
        state = annealed_state(pairs, rng)
        if int(mark(state, visited.keys)) not in marks:
            best = max(best, float(state.score[0]))
    meter.charge(count * COOLING, begun)
    return best


def best_visited(pairs: ChainPairs, visited: Elite, k: int) -> Best:
    """Return the k best visited, at least one; nothing is claimed about the others."""
    rows = [restricted_growth(row) for row in visited.labels[: max(k, 1)]]
    weights = np.array([score(pairs.theta, row) for row in rows])
    order = sorted(range(len(rows)), key=lambda t: (-weights[t], tuple(rows[t])))
    labels = np.array([rows[t] for t in order], dtype=np.int64).reshape(len(order), -1)
    return Best(labels, weights[order], np.inf)


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
        return score(self.near.theta, labels)

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
        raise TooLarge(f"sampling {n} templates", in_bytes(needs), in_bytes(budget.memory))


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
