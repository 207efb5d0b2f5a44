"""Solve many sets, small ones of equal size together: the same recursion over each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from partita.configurations.count import bell, log2_of
from partita.configurations.exact.posterior import exact
from partita.configurations.exact.tables import SAFE
from partita.configurations.odds import UNSCALED, ScaledParameters, knowledge_of
from partita.configurations.report import unlisted
from partita.configurations.solve import Parameters, solve_set
from partita.core import (
    BoolArray,
    Budget,
    Distribution,
    Figure,
    Figures,
    FloatArray,
    IntArray,
    Listing,
    Marginals,
    PairProbabilities,
    Remainder,
)
from partita.errors import PartitaError

REASON = "exact by subset recursion"


@dataclass(frozen=True, eq=False)
class BatchAnswers:
    """The answers of many sets of n templates, set k in row k.

    `theta` and `pairs` (log-odds, probabilities) are rows over pairs in the order of
    np.triu_indices, `matrices` the log-odds as symmetric matrices; `best` holds labels, one row a
    configuration, and `shares` their probabilities.
    """

    theta: FloatArray
    matrices: FloatArray
    log_normalisers: FloatArray
    counts: IntArray
    pairs: FloatArray
    best: IntArray
    shares: FloatArray

    @cached_property
    def entropies(self) -> FloatArray:
        """In bits; where Σ|θ| is moderate, Σ θ·P is the expected log-weight without loss."""
        theta = np.where(np.isneginf(self.theta), 0.0, self.theta)
        nats = self.log_normalisers - np.einsum("ij,ij->i", self.pairs, theta)
        bits: FloatArray = np.maximum(0.0, nats) / np.log(2.0)
        return bits

    @cached_property
    def conflicts(self) -> FloatArray:
        """The mass κ of contradictions: 1 minus that of all configurations."""
        apart = -np.logaddexp(0.0, self.theta).sum(axis=1)
        masses: FloatArray = np.abs(np.expm1(np.minimum(0.0, apart + self.log_normalisers)))
        return masses


def solve_rows(theta: FloatArray, n: int, top: int) -> BatchAnswers:
    """Solve sets of n templates, given as rows of θ that are `safe`, by compiled loops."""
    from partita.configurations.exact.kernels import solve_each

    count, (left, right), top = len(theta), np.triu_indices(n, 1), min(top, bell(n))
    odds, pairs = np.zeros((count, n, n)), np.zeros((count, n, n))
    odds[:, left, right] = odds[:, right, left] = theta
    totals, counts = np.zeros(count), np.zeros(count, dtype=np.int64)
    best, logs = np.zeros((count, top, n), dtype=np.int64), np.zeros((count, top))
    solve_each(odds, totals, counts, pairs, best, logs)
    return BatchAnswers(
        theta,
        odds,
        totals,
        counts,
        np.clip(pairs[:, right, left], 0.0, 1.0),
        best,
        np.minimum(np.exp(logs - totals[:, None]), 1.0),
    )


def safe(theta: FloatArray) -> BoolArray:
    """Return which rows have so little evidence that no product of odds overflows or vanishes."""
    strength = np.where(np.isneginf(theta), 0.0, np.abs(theta)).sum(axis=1)
    moderate: BoolArray = strength < SAFE
    return moderate


def pair_matrices(rows: FloatArray, n: int) -> FloatArray:
    """Return rows of pairs as symmetric matrices with ones on the diagonal."""
    left, right = np.triu_indices(n, 1)
    matrices = np.tile(np.eye(n), (len(rows), 1, 1))
    matrices[:, left, right] = matrices[:, right, left] = rows
    return matrices


SHARED = 8  # templates up to which sets are solved together
TOGETHER = 1 << 14  # sets of one size that are solved at a time
COMPILED = 100  # sets from which compiled loops pay for being loaded
MODELS = ("evidential", "scaled", "uniform")
TOP = 10

Answer = Distribution | PartitaError


def solve_many(
    sets: Sequence[PairProbabilities],
    model: str = "evidential",
    *,
    parameters: Parameters | None = None,
    top: int | None = None,
    threshold: float | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    method: str = "auto",
    progress: Callable[[str], None] | None = None,
) -> Iterator[Answer]:
    """Yield the distributions of many sets in order; a refused set yields its error.

    All small sets are solved at once, before the first answer is given.
    """
    together = len(sets) >= COMPILED and threshold is None and method in ("auto", "exact")
    scaled = parameters if isinstance(parameters, ScaledParameters) else UNSCALED
    shared = _solve_small_sets(sets, model, scaled, top or TOP) if together else {}

    def answer(place: int, pairs: PairProbabilities) -> Answer:
        if place in shared:
            return _distribution(pairs, shared[place], model, seed)
        try:
            return solve_set(
                pairs,
                model,
                parameters=parameters,
                top=top,
                threshold=threshold,
                budget=budget,
                seed=seed,
                method=method,
                progress=progress,
            )
        except PartitaError as error:
            return error

    return map(answer, range(len(sets)), sets)


class _Row(NamedTuple):
    """The answer of one set: a row of a batch, and its pair probabilities as a matrix."""

    solved: BatchAnswers
    row: int
    marginals: FloatArray


def _solve_small_sets(
    sets: Sequence[PairProbabilities], model: str, scaled: ScaledParameters, top: int
) -> dict[int, _Row]:
    """Return the answer of each small set without must-links that is `safe`."""
    answered: dict[int, _Row] = {}
    by_size: dict[int, list[int]] = {}
    for place, pairs in enumerate(sets):
        if model in MODELS and 2 <= len(pairs.matrix) <= SHARED and not pairs.set.must:
            by_size.setdefault(len(pairs.matrix), []).append(place)
    for n in sorted(by_size):
        for start in range(0, len(by_size[n]), TOGETHER):
            places = np.array(by_size[n][start : start + TOGETHER])
            theta, free = _log_odds([sets[place] for place in places], scaled, model == "uniform")
            solvable = free & safe(theta)
            solved = solve_rows(theta[solvable], n, top)
            marginals = pair_matrices(solved.pairs, n)
            for row, place in enumerate(places[solvable].tolist()):
                answered[place] = _Row(solved, row, marginals[row])
    return answered


def _log_odds(
    sets: list[PairProbabilities], scaled: ScaledParameters, flat: bool
) -> tuple[FloatArray, BoolArray]:
    """Return θ of every pair as rows, −∞ where incompatible, and which sets have no must-link."""
    left, right = np.triu_indices(len(sets[0].matrix), 1)
    p = np.stack([pairs.matrix for pairs in sets])[:, left, right]
    apart = p == 0.0
    for row, pairs in enumerate(sets):
        if pairs.set.incompatible:
            apart[row] = ~knowledge_of(pairs).compatible[left, right]
    free: BoolArray = np.all(p < 1.0, axis=1)
    p, scaled = (np.full_like(p, 0.5), UNSCALED) if flat else (p, scaled)
    with np.errstate(divide="ignore"):
        theta = np.log(p) - np.log1p(-p)
    theta = scaled.scale * np.where(np.isfinite(theta), theta, 0.0) + scaled.bias
    return np.where(apart, -np.inf, theta), free


def _distribution(pairs: PairProbabilities, answer: _Row, model: str, seed: int) -> Distribution:
    solved, row, marginals = answer
    number, ids = int(solved.counts[row]), pairs.set.ids
    listing = Listing(ids, solved.best[row, :number], solved.shares[row, :number].tolist())
    left = number - len(listing)
    figures = (solved.entropies[row], solved.log_normalisers[row], math.log2(number))
    return Distribution(
        set=pairs.set,
        model=model,
        method="exact",
        reason=REASON,
        probabilities=pairs.matrix,
        marginals=Marginals.exact(marginals),
        configurations=listing,
        remainder=Remainder(left, log2_of(left), unlisted(listing, left)),
        figures=Figures(*(Figure.exact(float(figure)) for figure in figures)),
        conflict=None if model == "uniform" else float(solved.conflicts[row]),
        count=number,
        seed=seed,
        posterior=exact(solved.matrices[row]),
    )
