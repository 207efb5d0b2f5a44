"""Run Markov chains from dispersed starts until they agree.

They are summarised by means over batches, their standard error, and how far chains differ.
error² is the mean of two estimates, weighted by their degrees of freedom: the variance between the
chains' means, and the variance of batch means within chains · max(1, F), F = the ratio of the two,
pooled over pairs: 1 for chains that mix. Split R-hat² of a pair is 1 + the variance of the means of
half chains / p(1 - p), so 1 / (R-hat² - 1) is the number of independent draws in half a chain.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from partita.configurations.meters import SweepMeter
from partita.configurations.optimum import local_search
from partita.core import FloatArray, IntArray, restricted_growth

if TYPE_CHECKING:
    from partita.configurations.sampled.moves import ChainPairs, State
    from partita.configurations.sampled.runs import Elite

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
    from partita.configurations.sampled.moves import ChainPairs

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
    from partita.configurations.sampled.moves import blank, place

    n, state = len(pairs.theta), blank(len(pairs.theta))
    warm = pairs._replace(theta=pairs.theta * beta)
    for i in rng.permutation(n):
        place(warm, state, int(i), n, rng)
    return state_of(pairs, state.label[:n])


def state_of(pairs: ChainPairs, labels: IntArray) -> State:
    from partita.configurations.sampled.moves import blank
    from partita.configurations.sampled.runs import adopt

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
    from partita.configurations.sampled.moves import blank, place
    from partita.configurations.sampled.runs import run_chain, states

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
LENGTH = 32  # the least number of sweeps in a batch whose mean may count
TARGET = 0.003  # the standard error at which a round is the last
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
        from partita.configurations.sampled.runs import Notes, run_chain

        self.counts[:] = 0
        scores = np.empty(sweeps)
        notes = Notes(self.counts, scores, self.elite, np.zeros((0, 0), dtype=np.int32))
        run_chain(self.pairs, self.state, sweeps, self.moves, self.tied, notes, self.rng)
        self.total += self.counts
        self.scores.append(scores)

    def census(self, marks: NDArray[np.uint64], sweeps: int) -> FloatArray:
        """Return, for each further sweep, whether it ends in one of the marked partitions."""
        from partita.configurations.sampled.runs import hits

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
    from partita.configurations.sampled.runs import run_chain, states

    n = len(pairs.theta)
    notes = states(count, n)
    run_chain(pairs, state, count * apart, moves_of(n), any_incompatible(pairs), notes, rng)
    return notes.rows


def chains(pairs: ChainPairs, seeds: np.random.SeedSequence) -> list[Chain]:
    """Return one chain for each start."""
    from partita.configurations.sampled.runs import elite

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
    while not (result.agreed and result.worst <= TARGET) and (room := tally.room()) > 0:
        if result.mixing and tally.length >= LENGTH:
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
