"""Solve many small sets of one size as rows of matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.configurations.dense.draws import canonical_rows
from partita.configurations.enumeration import log_weights, pair_table, partitions
from partita.records import BoolArray, FloatArray, IntArray

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
class _Sums:
    totals: FloatArray
    counts: IntArray
    pairs: FloatArray
    expected: FloatArray
    best: IntArray
    best_shares: FloatArray


def solve_rows(theta: FloatArray, must: BoolArray, n: int, top: int, compiled: bool) -> SolvedRows:
    """Solve sets given as rows of θ and must-links over pairs, in the order of np.triu_indices."""
    top = min(top, len(partitions(n)))
    strength = np.where(np.isneginf(theta), 0.0, np.abs(theta)).sum(axis=1)
    safe = compiled and not must.any() and strength.max() < SAFE
    sums = (_by_recursion if safe else _by_products)(theta, must, n, top)
    conflicts = np.abs(np.expm1(np.minimum(0.0, _base(theta, must) + sums.totals)))
    entropies = np.maximum(0.0, sums.totals - sums.expected) / np.log(2.0)
    return SolvedRows(
        theta,
        must,
        sums.totals.tolist(),
        conflicts.tolist(),
        entropies.tolist(),
        sums.counts.tolist(),
        _matrices(np.clip(sums.pairs, 0.0, 1.0), n),
        sums.best,
        np.minimum(sums.best_shares, 1.0).tolist(),
    )


def _by_products(theta: FloatArray, must: BoolArray, n: int, top: int) -> _Sums:
    weights = log_weights(theta, must, n)
    possible = weights > -np.inf
    shares, totals = _shares(weights)
    finite = weights if possible.all() else np.where(possible, weights, 0.0)
    best = _largest(weights, top)
    return _Sums(
        totals,
        np.count_nonzero(possible, axis=1),
        shares @ pair_table(n),
        np.einsum("ij,ij->i", shares, finite),
        partitions(n)[best],
        np.take_along_axis(shares, best, axis=1),
    )


def _by_recursion(theta: FloatArray, must: BoolArray, n: int, top: int) -> _Sums:
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
    labels = canonical_rows(best.reshape(-1, n)).reshape(best.shape)
    return _Sums(np.log(totals), counts, pairs, expected, labels, weights / totals[:, None])


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
