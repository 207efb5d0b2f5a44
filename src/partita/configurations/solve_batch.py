"""Solve many sets, small ones of equal size together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from partita.configurations.count import bell, log2_of
from partita.configurations.exact.listed import cell_order, partitions
from partita.configurations.exact.posterior import exact
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


@dataclass(frozen=True, slots=True, eq=False)
class BatchAnswers:
    """The answers of many sets of n templates, set k in row k.

    `theta` and `pairs` (log-odds, probabilities) are rows over pairs in the order of
    np.triu_indices; `best` holds labels, one row a configuration, and `shares` their probabilities.
    `entropies` are in bits.
    """

    theta: FloatArray
    log_normalisers: FloatArray
    entropies: FloatArray
    counts: IntArray
    pairs: FloatArray
    best: IntArray
    shares: FloatArray

    def conflicts(self) -> FloatArray:
        """The mass κ of contradictions: 1 minus that of all configurations."""
        apart = -np.logaddexp(0.0, self.theta).sum(axis=1)
        masses: FloatArray = np.abs(np.expm1(np.minimum(0.0, apart + self.log_normalisers)))
        return masses


def solve_rows(theta: FloatArray, n: int, top: int) -> BatchAnswers:
    """Solve sets of n templates, given as rows of θ, by a list of all configurations."""
    labels, joined = _listed(n)
    apart = np.isneginf(theta)
    logs = np.where(apart, 0.0, theta) @ joined.T
    logs[apart.astype(np.float64) @ joined.T > 0.0] = -np.inf
    most = logs.max(axis=1, keepdims=True)
    shares = np.exp(logs - most)
    sums = shares.sum(axis=1, keepdims=True)
    shares /= sums
    surprises = most + np.log(sums) - np.where(shares > 0.0, logs, 0.0)
    order = _largest_places(logs, min(top, len(labels)))
    return BatchAnswers(
        theta,
        (most + np.log(sums))[:, 0],
        np.maximum(0.0, np.einsum("ij,ij->i", shares, surprises)) / math.log(2.0),
        np.isfinite(logs).sum(axis=1),
        np.clip(shares @ joined, 0.0, 1.0),
        labels[order],
        np.take_along_axis(shares, order, axis=1),
    )


def _largest_places(values: FloatArray, top: int) -> IntArray:
    """Return the places of the largest values of each row, the first among equals first."""
    least = np.partition(values, -top, axis=1)[:, -top, None]
    rows, places = np.nonzero(values >= least)
    if len(places) > top * len(values):  # equals at the end of a row
        return np.argsort(-values, axis=1, kind="stable")[:, :top]
    found, several = values[rows, places].reshape(-1, top), places.reshape(-1, top)
    return np.take_along_axis(several, np.argsort(-found, axis=1, kind="stable"), axis=1)


@cache
def _listed(n: int) -> tuple[IntArray, FloatArray]:
    """Return all configurations, and which pairs each joins, in the order of their cells."""
    left, right = np.triu_indices(n, 1)
    labels = partitions(n)[np.argsort(cell_order(n))]
    return labels, (labels[:, left] == labels[:, right]).astype(np.float64)


def pair_matrices(rows: FloatArray, n: int, diagonal: float) -> FloatArray:
    """Return rows of pairs as symmetric matrices."""
    left, right = np.triu_indices(n, 1)
    matrices = np.full((len(rows), n, n), diagonal)
    matrices[:, left, right] = matrices[:, right, left] = rows
    return matrices


SHARED = 8  # templates up to which sets are solved together
TOGETHER = 1 << 21  # configurations of sets of one size that are listed at a time
MANY = 100  # sets from which small ones are solved together
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
    together = len(sets) >= MANY and threshold is None and method in ("auto", "exact")
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
    """The answer of one set: a row of a batch; its pair probabilities and log-odds as matrices."""

    solved: BatchAnswers
    row: int
    marginals: FloatArray
    odds: FloatArray
    conflict: float


def _solve_small_sets(
    sets: Sequence[PairProbabilities], model: str, scaled: ScaledParameters, top: int
) -> dict[int, _Row]:
    """Return the answer of each small set without must-links."""
    answered: dict[int, _Row] = {}
    by_size: dict[int, list[int]] = {}
    for place, pairs in enumerate(sets):
        if model in MODELS and 2 <= len(pairs.matrix) <= SHARED and not pairs.set.must:
            by_size.setdefault(len(pairs.matrix), []).append(place)
    for n in sorted(by_size):
        step = max(1, TOGETHER // bell(n))
        for start in range(0, len(by_size[n]), step):
            places = np.array(by_size[n][start : start + step])
            theta, free = _log_odds([sets[place] for place in places], scaled, model == "uniform")
            solved = solve_rows(theta[free], n, top)
            marginals, conflicts = pair_matrices(solved.pairs, n, 1.0), solved.conflicts()
            odds = pair_matrices(solved.theta, n, 0.0)
            for row, place in enumerate(places[free].tolist()):
                about = marginals[row], odds[row], float(conflicts[row])
                answered[place] = _Row(solved, row, *about)
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
    solved, row, marginals, odds, conflict = answer
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
        conflict=None if model == "uniform" else conflict,
        count=number,
        seed=seed,
        posterior=exact(odds),
    )
