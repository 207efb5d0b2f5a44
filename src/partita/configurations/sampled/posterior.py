"""Sampled answers: every figure with a standard error."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from partita.configurations.count import count_configurations
from partita.configurations.meters import SweepMeter
from partita.configurations.sampled.chains import (
    COOLING,
    SEARCHES,
    Progress,
    annealed_state,
    chain_bytes,
    chain_pairs,
    chains,
    explore,
    state_of,
    wander,
)
from partita.configurations.sampled.normaliser import Ladder, census, log_normaliser, rungs
from partita.configurations.sampled.summary import ChainSummary
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
