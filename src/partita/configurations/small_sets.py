"""Solve many small sets of one size as rows of matrices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.compilation import kernel
from partita.configurations.dense.draws import canonical_rows
from partita.configurations.enumeration import joined, log_weights, partitions
from partita.configurations.graphs import BoolArray
from partita.records import FloatArray, IntArray


@kernel()
def solve_each(odds, totals, counts, pairs, best, best_weights):  # type: ignore[no-untyped-def]
    """For each set: the sum of weights, their number, the share of each pair, and the best."""
    n = odds.shape[1]
    w, z, most = np.ones(1 << n), np.ones(1 << n), np.ones(1 << n)
    number, cells = np.ones(1 << n, np.int64), np.zeros(n, np.int64)
    for s in range(odds.shape[0]):
        _weights(odds[s], w)
        _recursion(w, z, most, number)
        totals[s], counts[s] = z[-1], number[-1]
        _share_kernel(w, z, pairs[s])
        best_weights[s, :] = 0.0
        _best(w, most, cells, best[s], best_weights[s])


@kernel()
def _weights(odds, w):  # type: ignore[no-untyped-def]
    for i in range(odds.shape[0]):
        bit = 1 << i
        for s in range(bit):
            product = w[s]
            for j in range(i):
                if s >> j & 1:
                    product *= odds[i, j]
            w[bit | s] = product


@kernel()
def _recursion(w, z, most, number):  # type: ignore[no-untyped-def]
    bit = 1
    while bit < w.shape[0]:
        for s in range(bit):
            total, top, count, c = 0.0, 0.0, 0, s
            while True:
                weight = w[bit | c]
                if weight > 0.0:
                    total += weight * z[s ^ c]
                    top = max(top, weight * most[s ^ c])
                    count += number[s ^ c]
                if c == 0:
                    break
                c = (c - 1) & s
            z[bit | s], most[bit | s], number[bit | s] = total, top, count
        bit *= 2


@kernel()
def _share_kernel(w, z, pairs):  # type: ignore[no-untyped-def]
    everything = w.shape[0] - 1
    for c in range(1, w.shape[0]):
        share = w[c] * z[everything ^ c] / z[everything]
        for i in range(pairs.shape[0]):
            if c >> i & 1:
                for j in range(i):
                    if c >> j & 1:
                        pairs[i, j] += share


@kernel()
def _best(w, most, cells, best, weights):  # type: ignore[no-untyped-def]
    """Depth first over the cell of the last open template, what cannot be among the best left.

    At each depth: what is open, the others beside its last template, and the weight so far.
    (A loop with a stack: compiled recursion cannot be cached.)
    """
    n = cells.shape[0]
    rest, joined = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    weight = np.ones(n + 1)
    rest[0], depth = w.shape[0] - 1, 0
    joined[0] = rest[0] ^ _last(rest[0])
    while depth >= 0:
        top = _last(rest[depth])
        others, c = rest[depth] ^ top, joined[depth]
        if c < 0:
            depth -= 1
            continue
        joined[depth] = (c - 1) & others if c > 0 else -1
        reached = weight[depth] * w[top | c]
        if reached * most[others ^ c] <= weights[-1]:
            continue
        cells[depth] = top | c
        depth += 1
        rest[depth], weight[depth] = others ^ c, reached
        if rest[depth] == 0:
            _keep(best, weights, cells[:depth], reached)
            depth -= 1
        else:
            joined[depth] = rest[depth] ^ _last(rest[depth])


@kernel()
def _last(mask):  # type: ignore[no-untyped-def]
    """The highest bit of a mask."""
    bit = 1
    while bit * 2 <= mask:
        bit *= 2
    return bit


@kernel()
def _keep(best, weights, cells, weight):  # type: ignore[no-untyped-def]
    """Into its place among the best; an equal one that came before stays before."""
    k = weights.shape[0] - 1
    if weight <= weights[k]:
        return
    while k > 0 and weight > weights[k - 1]:
        weights[k] = weights[k - 1]
        best[k, :] = best[k - 1, :]
        k -= 1
    weights[k] = weight
    for i in range(best.shape[1]):
        for cell in range(cells.shape[0]):
            if cells[cell] >> i & 1:
                best[k, i] = cell


SAFE = 600.0  # the sum of |θ| up to which products of odds neither overflow nor vanish


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Row k of everything belongs to set k; `best` are labels, one row a configuration."""

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


def solve_rows(theta: FloatArray, must: BoolArray, n: int, top: int, compiled: bool) -> Rows:
    """θ and must-links as rows over pairs, in the order of np.triu_indices."""
    top = min(top, len(partitions(n)))
    strength = np.where(np.isneginf(theta), 0.0, np.abs(theta)).sum(axis=1)
    safe = compiled and not must.any() and strength.max() < SAFE
    sums = (_by_recursion if safe else _by_products)(theta, must, n, top)
    conflicts = np.abs(np.expm1(np.minimum(0.0, _base(theta, must) + sums.totals)))
    entropies = np.maximum(0.0, sums.totals - sums.expected) / np.log(2.0)
    return Rows(
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
        shares @ joined(n),
        np.einsum("ij,ij->i", shares, finite),
        partitions(n)[best],
        np.take_along_axis(shares, best, axis=1),
    )


def _by_recursion(theta: FloatArray, must: BoolArray, n: int, top: int) -> _Sums:
    """Where Σ|θ| is moderate, Σ θ·P over pairs is the expected log-weight without loss."""

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
    """Each row as probabilities, and its log-normaliser; zeros where nothing is possible."""
    top = weights.max(axis=1)
    top = np.where(np.isfinite(top), top, 0.0)
    shares = weights - top[:, None]
    np.exp(shares, out=shares)
    sums = shares.sum(axis=1)
    sums = np.where(sums > 0.0, sums, 1.0)
    shares /= sums[:, None]
    return shares, top + np.log(sums)


def _base(theta: FloatArray, must: BoolArray) -> FloatArray:
    """log of the mass with which the free pairs all say no."""
    sums: FloatArray = np.where(must, 0.0, -np.logaddexp(0.0, theta)).sum(axis=1)
    return sums


def _matrices(rows: FloatArray, n: int) -> FloatArray:
    """Rows of pairs as symmetric matrices with ones on the diagonal."""
    left, right = np.triu_indices(n, 1)
    matrices = np.tile(np.eye(n), (len(rows), 1, 1))
    matrices[:, left, right] = matrices[:, right, left] = rows
    return matrices


def _largest(weights: FloatArray, k: int) -> IntArray:
    """The places of the k largest of each row, largest first, equal ones in order of place."""
    first = weights.shape[1] - k
    some = np.sort(np.argpartition(weights, first, axis=1)[:, first:], axis=1)
    order = np.argsort(-np.take_along_axis(weights, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
