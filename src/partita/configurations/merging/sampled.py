"""Sampled: islands of weighted draws, whose disagreement is the error.

With Z_r and P_r of island r, Z = mean Z_r, P = Σ Z_r P_r / Σ Z_r, and by the delta method
error(P)² = Σ Z_r² (P_r − P)² / (Σ Z_r)²; the effective size is 1/(error(Z)²/Z² + 1/draws).
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.listed import ListedPosterior, MergingPosterior
from partita.configurations.merging.model import Merger, is_constrained, log_sum
from partita.configurations.merging.particles import (
    BYTES,
    BeamPlan,
    add_island_pairs,
    island,
    plan_beam,
    settle,
    together,
)
from partita.configurations.meters import in_bytes
from partita.core import Best, BoolArray, Budget, Figure, FloatArray, IntArray, Marginals, Method
from partita.errors import TooLarge, Unavailable

ISLANDS = 16
CLOSE, ENOUGH = 0.005, 1000.0  # the standard error of pairs and the draws that count, sought
FAR, MIN_EFFECTIVE_DRAWS = 0.05, 400.0  # ... and those with which it may be called an answer
REDRAWN = 3e8  # work for draws from which some are chosen, at most
RATE = 6e7  # units of work a second, about


@dataclass(frozen=True, slots=True, eq=False)
class SampledMerging(MergingPosterior):
    """The posterior by weighted draws."""

    planned: BeamPlan
    reference: ListedPosterior
    log_normaliser: Figure
    marginals: Marginals
    bits: Figure
    effective: float
    draws_made: int
    work: int
    converged: bool
    memory: int
    reason: str
    method: Method = "sampled"

    @property
    def error(self) -> float:
        """The largest standard error of a pair probability."""
        return float((self.marginals.high - self.marginals.low).max(initial=0.0)) / 2

    def entropy(self) -> Figure:
        return self.bits

    def pairs(self) -> Marginals:
        return self.marginals

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        raise Unavailable("cell probabilities need an exact answer; draws give pair probabilities")

    def best(self, k: int) -> Best:
        return self.reference.best(k)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        free = self.log_normaliser.kind == "exact"
        room = min(self.memory / (BYTES * self.size), REDRAWN / self.planned.cost)
        size = count if free else max(count, int(min(4 * count + 4096, room)))
        draws, logs, _ = island(self.planned, size, rng)
        chosen = np.arange(count)
        if not free:
            chosen = rng.choice(size, count, p=np.exp(logs - log_sum(logs)))
        return draws.home[chosen].astype(np.int64)


@dataclass(slots=True, eq=False)
class _Sums:
    """What the islands add up to, relative to a common scale of Z."""

    z: FloatArray
    score: FloatArray
    known: FloatArray  # the share of draws that are among the best known configurations
    pairs: FloatArray
    squares: FloatArray
    products: FloatArray
    work: int = 0


def sampled_merging(
    model: Merger,
    budget: Budget,
    seed: int,
    reference: ListedPosterior,
    why: str,
) -> SampledMerging:
    """Draw larger and larger islands until the pairs are close enough or the budget is spent."""
    planned, top = plan_beam(model), reference.best(200)
    most = _most_draws(model, budget)
    room = RATE * budget.seconds if budget.work is None else float(budget.work)
    end = time.monotonic() + (budget.seconds if budget.work is None else math.inf)
    count = int(min(most, max(64, min(1024, room / (4 * ISLANDS * planned.cost)))))
    while True:
        start = time.monotonic()
        answer = _answer(model, planned, reference, top, count, seed, budget, why)
        room -= answer.work
        elapsed = time.monotonic() - start
        times = min(most / count, room / answer.work, (end - start - elapsed) / (1.5 * elapsed))
        factor = max((answer.error / CLOSE) ** 2, ENOUGH / answer.effective)
        if factor <= 1 or times < 2:
            return answer
        count *= 2 ** int(math.log2(max(2.0, min(times, 2 * factor, 16.0))))


def _most_draws(model: Merger, budget: Budget) -> int:
    """Return how many draws an island may have beside the tables of pairs."""
    tables = 10 * 8 * model.size**2
    draws = (budget.memory - tables) // (2 * BYTES * model.size)
    if draws < 64:
        needs = in_bytes(tables + 128 * BYTES * model.size)
        raise TooLarge(f"draws of {model.size} templates", needs, in_bytes(budget.memory))
    return int(min(draws, 1 << 20))


def _answer(
    model: Merger,
    planned: BeamPlan,
    reference: ListedPosterior,
    top: Best,
    count: int,
    seed: int,
    budget: Budget,
    why: str,
) -> SampledMerging:
    totals, sums = _islands(planned, count, seed, top)
    draws = ISLANDS * count
    log_z = log_sum(totals) - math.log(ISLANDS)
    error = _spread(sums.z, np.ones(ISLANDS))
    effective = 1.0 / (error**2 + 1.0 / draws)
    marginals = _marginals(sums, effective)
    figure = Figure.estimate(log_z, error) if is_constrained(model) else Figure.exact(0.0)
    good = (
        effective >= MIN_EFFECTIVE_DRAWS
        and float((marginals.high - marginals.low).max()) / 2 <= FAR
    )
    good = good and _plausible(sums, top, reference, log_z, error)
    reason = f"{why}: {draws} draws, effective size {effective:.0f}"
    return SampledMerging(
        model, planned, reference, figure, marginals, _bits(sums, log_z, error),
        effective, draws, sums.work, good, budget.memory, reason,
    )  # fmt: skip


def _sums(n: int) -> _Sums:
    z, score, listed = np.zeros((3, ISLANDS))
    pairs, squares, products = np.zeros((3, n, n))
    return _Sums(z, score, listed, pairs, squares, products)


def _islands(planned: BeamPlan, count: int, seed: int, top: Best) -> tuple[FloatArray, _Sums]:
    n = planned.size
    totals = np.empty(ISLANDS)
    sums = _sums(n)
    scale, pairs = -math.inf, np.zeros((n, n))
    for r in range(ISLANDS):
        draws, logs, totals[r] = island(planned, count, np.random.default_rng([seed, count, r]))
        sums.work += draws.work
        if totals[r] == -math.inf:
            continue
        scale = totals[r] if scale == -math.inf else scale
        shares = np.exp(logs - log_sum(logs))
        z = sums.z[r] = math.exp(min(300.0, totals[r] - scale))  # no square overflows
        sums.score[r] = float((shares * np.where(shares > 0, draws.scores, 0.0)).sum())
        sums.known[r] = float(shares[_among(draws.home, top.labels)].sum())
        sums.work += together(draws.home, shares, pairs)
        add_island_pairs(z, pairs, sums.pairs, sums.squares, sums.products)
    return totals, sums


def _among(rows: NDArray[np.int32], listed: IntArray) -> BoolArray:
    """Return which rows are listed, by a hash; both are in restricted growth form."""
    mixer = np.random.default_rng(0).integers(1, 1 << 62, rows.shape[1])
    return np.isin(rows @ mixer, listed @ mixer)


def _spread(z: FloatArray, values: FloatArray) -> float:
    """Return the relative error of Σ z·values."""
    weighted = z * values
    mean = float(weighted.mean())
    if mean == 0:
        return math.inf
    return float(weighted.std(ddof=1)) / abs(mean) / math.sqrt(len(z))


def _ratio(sums: _Sums, values: FloatArray) -> tuple[float, float]:
    """Return Σ z·values / Σ z with its error."""
    total = float(sums.z.sum())
    mean = float(sums.z @ values) / total
    return mean, math.sqrt(float(((sums.z * (values - mean)) ** 2).sum())) / total


def _marginals(sums: _Sums, effective: float) -> Marginals:
    """Return the pair marginals; their sums are used up to save memory for large sets."""
    total, squares = float(sums.z.sum()), float(sums.z @ sums.z)
    settle(sums.pairs, sums.squares, sums.products, total, squares, effective, len(sums.z))
    return Marginals(sums.pairs, sums.squares, sums.products, "estimate")


def _bits(sums: _Sums, log_z: float, error: float) -> Figure:
    """Return log Z − E[log weight], in bits."""
    mean, spread = _ratio(sums, sums.score)
    value = max(0.0, (log_z - mean) / math.log(2))
    return Figure.estimate(value, math.hypot(spread, error) / math.log(2))


def _plausible(
    sums: _Sums,
    top: Best,
    reference: ListedPosterior,
    log_z: float,
    error: float,
) -> bool:
    """Return whether the estimate agrees with the proven bounds.

    The total is at least the mass that a search has kept, and the draws must meet the best known
    configurations as often as their weights say: that they never do is how such draws fail.
    """
    if log_z + 4 * error + 1e-6 < reference.mass.kept:
        return False
    mass = float(np.exp(np.minimum(top.log_weights - log_z, 1.0)).sum())
    met, spread = _ratio(sums, sums.known)
    return abs(mass - met) <= 4 * (spread + mass * error) + 0.02
