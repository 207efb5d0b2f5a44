"""How much a key would teach, before it is written: expected information about pair weights.

A pair with features f and probability p that the merger asks with chance a tells a·p(1−p)·f fᵀ of
the weights, and a set tells B, the sum over its pairs. With A held,
information = ½ log₂ det(I + A⁻¹B), in bits about the weights;
saved = ½ tr((A⁻¹ − (A + B)⁻¹) M) / ln 2, the bits that keys which tell M will cost less.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.learning.maxent import Codes, logistic
from partita.records import FloatArray, IntArray

LOG2 = math.log(2.0)
BATCH = 4096  # pairs whose features are written out at a time


@dataclass(frozen=True, slots=True, eq=False)
class OpenPairs:
    """The pairs of a set that may corefer or not: what is observed of each, and where its two
    templates stand, of how many."""

    codes: Codes
    left: IntArray
    right: IntArray
    templates: int


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the key of one set would tell, as rows R with B = RᵀR, and how many templates it has
    to place."""

    rows: FloatArray
    templates: int = 1

    @property
    def information(self) -> FloatArray:
        found: FloatArray = self.rows.T @ self.rows
        return found


def asked(given: OpenPairs, p: FloatArray) -> FloatArray:
    """The chance that the merger comes to ask about each pair S, T: that no template between them
    joins S, and T none between them, as if their answers were independent."""
    no = np.ones((given.templates, given.templates))
    no[given.left, given.right] = 1 - p
    of_s, of_t = np.ones_like(no), np.ones_like(no)
    of_s[:, 1:] = np.cumprod(no, axis=1)[:, :-1]
    of_t[:-1] = np.cumprod(no[::-1], axis=0)[::-1][1:]
    found: FloatArray = (of_s * of_t)[given.left, given.right]
    return found


def entropy(given: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> float:
    """Bits that the merger's answers hold together."""
    p = probabilities(given, weights, sizes)
    inside = np.clip(p, 1e-15, 1 - 1e-15)
    each = -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))
    return float(asked(given, p) @ each)


def probabilities(given: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """Of every open pair, by the weights of all features."""
    scores: FloatArray = weights[places(given.codes, sizes)].sum(axis=1)
    return logistic(scores)


def places(codes: Codes, sizes: Sequence[int]) -> IntArray:
    """Which features each pair has, as their numbers."""
    starts = np.cumsum([0, *sizes])[:-1].astype(np.int64)
    found: IntArray = codes + starts[None, :]
    return found


def tell(sets: Sequence[OpenPairs], weights: FloatArray, sizes: Sequence[int]) -> list[Told]:
    """What each set would tell, about the features that any of them has."""
    seen = np.zeros(sum(sizes), dtype=np.bool_)
    for one in sets:
        seen[places(one.codes, sizes)] = True
    column, features = np.cumsum(seen) - 1, int(seen.sum())
    return [
        Told(
            _rows(column[places(one.codes, sizes)], _variance(one, weights, sizes), features),
            one.templates,
        )
        for one in sets
    ]


def _variance(one: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> FloatArray:
    p = probabilities(one, weights, sizes)
    return asked(one, p) * p * (1 - p)


def _rows(has: IntArray, variance: FloatArray, features: int) -> FloatArray:
    """A row for each pair, but never more rows than features."""
    if len(has) <= features:
        return _written(has, variance, features)
    found = np.zeros((features, features))
    for first in range(0, len(has), BATCH):
        part = slice(first, first + BATCH)
        rows = _written(has[part], variance[part], features)
        found += rows.T @ rows
    values, vectors = np.linalg.eigh(found)
    root: FloatArray = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    return root


def _written(has: IntArray, variance: FloatArray, features: int) -> FloatArray:
    rows = np.zeros((len(has), features))
    rows[np.arange(len(has))[:, None], has] = np.sqrt(variance)[:, None]
    return rows


def nothing_held(features: int, precision: float) -> FloatArray:
    """A⁻¹ where only a Gaussian prior is held."""
    return np.eye(features) / precision


def held(inverse: FloatArray, one: Told) -> FloatArray:
    """A⁻¹ with what one more key tells, (A + RᵀR)⁻¹ = A⁻¹ − A⁻¹Rᵀ (I + R A⁻¹ Rᵀ)⁻¹ R A⁻¹."""
    across = one.rows @ inverse
    root = np.linalg.cholesky(_surprise(across, one))
    part = np.linalg.solve(root, across)
    found: FloatArray = inverse - part.T @ part
    return found


def holding(sets: Iterable[Told], features: int, precision: float) -> FloatArray:
    """A⁻¹ where a prior is held and what some keys told."""
    return np.linalg.inv(np.eye(features) * precision + total(sets, features)).astype(np.float64)


def information(inverse: FloatArray, one: Told) -> float:
    """Bits about the weights; what is known already counts no more, so returns diminish."""
    root = np.linalg.cholesky(_surprise(one.rows @ inverse, one))
    return float(np.log(np.diag(root)).sum()) / LOG2


def saved(inverse: FloatArray, one: Told, spread: FloatArray) -> float:
    """Bits that the keys which tell M are expected to cost less; `spread` is A⁻¹ M A⁻¹."""
    inner = one.rows @ spread @ one.rows.T
    surprise = _surprise(one.rows @ inverse, one)
    return max(0.0, float(np.trace(np.linalg.solve(surprise, inner)))) / 2 / LOG2


def spread_of(inverse: FloatArray, target: FloatArray) -> FloatArray:
    """A⁻¹ M A⁻¹: by how much each weight's doubt costs bits."""
    found: FloatArray = inverse @ target @ inverse
    return found


def total(sets: Iterable[Told], features: int) -> FloatArray:
    """M: what the keys of all these sets would tell."""
    found = np.zeros((features, features))
    for one in sets:
        found += one.information
    return found


def _surprise(across: FloatArray, one: Told) -> FloatArray:
    """I + R A⁻¹ Rᵀ."""
    found: FloatArray = np.eye(len(one.rows)) + across @ one.rows.T
    return found
