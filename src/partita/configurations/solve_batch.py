"""Solve many sets, small ones of equal size together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations.enumeration import (
    REASON,
    Enumerated,
    log_weights,
    pair_table,
    partitions,
)
from partita.configurations.exact.posterior import log2_of
from partita.configurations.odds import UNSCALED, ScaledParameters, knowledge_of
from partita.configurations.report import unlisted
from partita.configurations.solve import Parameters, solve
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

SAFE = 600.0  # the sum of |θ| up to which products of odds neither overflow nor vanish


@dataclass(frozen=True, slots=True, eq=False)
class SolvedRows:
    """The answers of many sets, set k in row k; `best` holds labels, one row a configuration."""

    theta: FloatArray
    must: BoolArray
    log_normalisers: list[float]
    conflicts: list[float]
    entropies: list[float]
    counts: list[int]
    marginals: FloatArray
    best: IntArray
    best_probabilities: list[list[float]]


@dataclass(frozen=True, slots=True, eq=False)
class RowSums:
    """The same answers as arrays; `pairs` are rows in the order of np.triu_indices."""

    totals: FloatArray
    counts: IntArray
    pairs: FloatArray
    expected: FloatArray
    best: IntArray
    best_shares: FloatArray

    @property
    def entropies(self) -> FloatArray:
        bits: FloatArray = np.maximum(0.0, self.totals - self.expected) / np.log(2.0)
        return bits

    def conflicts(self, theta: FloatArray, must: BoolArray) -> FloatArray:
        return np.abs(np.expm1(np.minimum(0.0, _base(theta, must) + self.totals)))


def solve_rows(theta: FloatArray, must: BoolArray, n: int, top: int, compiled: bool) -> SolvedRows:
    """Solve sets given as rows of θ and must-links over pairs, in the order of np.triu_indices."""
    sums = row_sums(theta, must, n, top, compiled and not must.any() and bool(safe(theta).all()))
    return SolvedRows(
        theta,
        must,
        sums.totals.tolist(),
        sums.conflicts(theta, must).tolist(),
        sums.entropies.tolist(),
        sums.counts.tolist(),
        _matrices(sums.pairs, n),
        sums.best,
        sums.best_shares.tolist(),
    )


def safe(theta: FloatArray) -> BoolArray:
    """Return which rows have so little evidence that compiled loops may multiply odds."""
    strength = np.where(np.isneginf(theta), 0.0, np.abs(theta)).sum(axis=1)
    moderate: BoolArray = strength < SAFE
    return moderate


def row_sums(theta: FloatArray, must: BoolArray, n: int, top: int, compiled: bool) -> RowSums:
    """Return the sums over the configurations of every row, by compiled loops or by products."""
    sums = (_by_recursion if compiled else _by_products)(
        theta, must, n, min(top, len(partitions(n)))
    )
    return replace(
        sums, pairs=np.clip(sums.pairs, 0.0, 1.0), best_shares=np.minimum(sums.best_shares, 1.0)
    )


def _by_products(theta: FloatArray, must: BoolArray, n: int, top: int) -> RowSums:
    weights = log_weights(theta, must, n)
    possible = weights > -np.inf
    shares, totals = _shares(weights)
    finite = weights if possible.all() else np.where(possible, weights, 0.0)
    best = _largest(weights, top)
    return RowSums(
        totals,
        np.count_nonzero(possible, axis=1),
        shares @ pair_table(n),
        np.einsum("ij,ij->i", shares, finite),
        partitions(n)[best],
        np.take_along_axis(shares, best, axis=1),
    )


def _by_recursion(theta: FloatArray, must: BoolArray, n: int, top: int) -> RowSums:
    """Solve by compiled loops.

    Where Σ|θ| is moderate, Σ θ·P over pairs is the expected log-weight without loss.
    """
    from partita.configurations.small_sets_kernels import solve_each

    count, (left, right) = len(theta), np.triu_indices(n, 1)
    odds = np.ones((count, n, n))
    odds[:, left, right] = odds[:, right, left] = np.exp(theta)
    totals, counts = np.zeros(count), np.zeros(count, dtype=np.int64)
    shares, weights = np.zeros((count, n, n)), np.zeros((count, top))
    best = np.zeros((count, top, n), dtype=np.int64)
    solve_each(odds, totals, counts, shares, best, weights)
    pairs = shares[:, right, left]
    expected = np.einsum("ij,ij->i", pairs, np.where(np.isneginf(theta), 0.0, theta))
    return RowSums(np.log(totals), counts, pairs, expected, best, weights / totals[:, None])


def _shares(weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each row as probabilities, and its log-normaliser; zeros where nothing is possible."""
    top = weights.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    shares = weights - top[:, None]
    np.exp(shares, out=shares)
    sums = shares.sum(axis=1)
    sums = np.where(sums > 0.0, sums, 1.0)
    shares /= sums[:, None]
    return shares, top + np.log(sums)


def _base(theta: FloatArray, must: BoolArray) -> FloatArray:
    """Return the log of the probability with which all free pairs are apart."""
    sums: FloatArray = np.where(must, 0.0, -np.logaddexp(0.0, theta)).sum(axis=1)
    return sums


def _matrices(rows: FloatArray, n: int) -> FloatArray:
    """Return rows of pairs as symmetric matrices with ones on the diagonal."""
    left, right = np.triu_indices(n, 1)
    matrices = np.tile(np.eye(n), (len(rows), 1, 1))
    matrices[:, left, right] = matrices[:, right, left] = rows
    return matrices


def _largest(weights: FloatArray, k: int) -> IntArray:
    """Return the places of the k largest of each row, largest first, ties in order of place."""
    first = weights.shape[1] - k
    places = np.sort(np.argpartition(weights, first, axis=1)[:, first:], axis=1)
    order = np.argsort(-np.take_along_axis(weights, places, axis=1), axis=1, kind="stable")
    return np.take_along_axis(places, order, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class PaddedAnswers:
    """The answers of many sets of up to SHARED templates, as rows of equal length.

    The count of a set is 0 where it was not solved. `figures` are log₂ of the number of unlisted
    configurations and their mass, log₂ of the number of all, entropy, log-normaliser, conflict.
    """

    counts: IntArray
    pairs: FloatArray
    labels: NDArray[np.uint8]
    shares: FloatArray
    figures: FloatArray


def solve_padded(
    p: FloatArray, sizes: IntArray, scaled: ScaledParameters, top: int
) -> PaddedAnswers:
    """Solve rows of pair probabilities by compiled loops.

    Sets with must-links or with very strong evidence are not solved.
    """
    count, top = len(p), min(top, len(partitions(int(sizes.max(initial=0)))))
    answers = PaddedAnswers(
        np.zeros(count, np.int64),
        np.zeros(p.shape),
        np.zeros((count, top, SHARED), np.uint8),
        np.zeros((count, top)),
        np.zeros((count, 6)),
    )
    for n in range(2, SHARED + 1):
        rows, pairs = np.flatnonzero(sizes == n), n * (n - 1) // 2
        rows = rows[(p[rows, :pairs] < 1.0).all(axis=1)]
        part = np.asfortranarray(p[rows, :pairs])  # so that sums have the order of `_log_odds`
        theta = _scaled_log_odds(part, np.False_, part == 0.0, scaled)
        suitable = safe(theta)
        if suitable.any():
            _fill(answers, rows[suitable], np.asfortranarray(theta[suitable]), n)
    return answers


def _fill(answers: PaddedAnswers, rows: IntArray, theta: FloatArray, n: int) -> None:
    must = np.zeros_like(theta, np.bool_)
    sums = row_sums(theta, must, n, answers.shares.shape[1], compiled=True)
    listed = sums.best_shares.shape[1]
    answers.counts[rows] = sums.counts
    answers.pairs[rows, : theta.shape[1]] = sums.pairs
    answers.labels[rows, :listed, :n] = sums.best
    answers.shares[rows, :listed] = sums.best_shares
    left = np.maximum(sums.counts - listed, 0).tolist()
    bits = {number: log2_of(number) for number in set(left)}
    masses = map(math.fsum, sums.best_shares.tolist())
    answers.figures[rows] = np.column_stack(
        [
            [bits[number] for number in left],
            [
                max(0.0, 1.0 - mass) if more else 0.0
                for mass, more in zip(masses, left, strict=True)
            ],
            [math.log2(number) for number in sums.counts.tolist()],
            sums.entropies,
            sums.totals,
            sums.conflicts(theta, must),
        ]
    )


SHARED = 8  # templates up to which sets share a table
ENTRIES = 1 << 16  # log-weights held at a time: what a core has in its own cache
COMPILED = 500  # sets from which compiled loops pay for being loaded
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
    shares = model in MODELS and threshold is None and method in ("auto", "exact")
    scaled = parameters if isinstance(parameters, ScaledParameters) else UNSCALED
    shared = _solve_small_sets(sets, model, scaled, top or TOP) if shares else {}

    def answer(place: int, pairs: PairProbabilities) -> Answer:
        if place in shared:
            return _distribution(pairs, *shared[place], model, seed)
        try:
            return solve(
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


def _solve_small_sets(
    sets: Sequence[PairProbabilities], model: str, scaled: ScaledParameters, top: int
) -> dict[int, tuple[SolvedRows, int]]:
    """Return the row with the answer of each small set that has a possible configuration."""
    answered: dict[int, tuple[SolvedRows, int]] = {}
    by_size: dict[int, list[int]] = {}
    for place, pairs in enumerate(sets):
        by_size.setdefault(len(pairs.matrix), []).append(place)
    for n in sorted(by_size.keys() & set(range(2, SHARED + 1))):
        for places in _chunks(by_size[n], max(1, ENTRIES // len(partitions(n)))):
            theta, must = _log_odds([sets[place] for place in places], scaled, model == "uniform")
            rows = solve_rows(theta, must, n, top, compiled=len(sets) >= COMPILED)
            for row, place in enumerate(places):
                if rows.counts[row]:
                    answered[place] = (rows, row)
    return answered


def _chunks(places: list[int], size: int) -> Iterator[list[int]]:
    return (places[start : start + size] for start in range(0, len(places), size))


def _log_odds(
    sets: list[PairProbabilities], scaled: ScaledParameters, flat: bool
) -> tuple[FloatArray, BoolArray]:
    """Return θ of every pair as rows, −∞ where incompatible, and which pairs are must-links."""
    left, right = np.triu_indices(len(sets[0].matrix), 1)
    p = np.stack([pairs.matrix for pairs in sets])[:, left, right]
    must, apart = p == 1.0, p == 0.0
    for row, pairs in enumerate(sets):
        if pairs.set.must or pairs.set.incompatible:
            knowledge = knowledge_of(pairs)
            must[row], apart[row] = knowledge.must[left, right], ~knowledge.compatible[left, right]
    if flat:
        return np.where(apart, -np.inf, 0.0), must
    return _scaled_log_odds(p, must, apart, scaled), must


def _scaled_log_odds(
    p: FloatArray, must: BoolArray | np.bool_, apart: BoolArray, scaled: ScaledParameters
) -> FloatArray:
    with np.errstate(divide="ignore"):
        theta = np.log(p) - np.log1p(-p)
    theta = scaled.scale * np.where(must | apart, 0.0, theta) + scaled.bias
    return np.where(apart, -np.inf, theta)


def _distribution(
    pairs: PairProbabilities, rows: SolvedRows, row: int, model: str, seed: int
) -> Distribution:
    number = rows.counts[row]
    ids, total = pairs.set.ids, Figure.exact(rows.log_normalisers[row])
    listing = Listing(ids, rows.best[row, :number], rows.best_probabilities[row][:number])
    left = number - len(listing)
    return Distribution(
        set=pairs.set,
        model=model,
        method="exact",
        reason=REASON,
        probabilities=pairs.matrix,
        marginals=Marginals.exact(rows.marginals[row]),
        configurations=listing,
        remainder=Remainder(left, log2_of(left), unlisted(listing, left)),
        figures=Figures(Figure.exact(rows.entropies[row]), total, Figure.exact(math.log2(number))),
        conflict=None if model == "uniform" else rows.conflicts[row],
        count=number,
        seed=seed,
        posterior=Enumerated(len(ids), rows.theta[row], rows.must[row], total),
    )
