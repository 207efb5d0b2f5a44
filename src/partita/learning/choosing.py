"""How much a key would teach, before it is written: expected information about pair weights.

Pairs with features F and probabilities p tell  B = Fᵀ diag(p(1−p)) F  of the weights. With A held,
information = ½ log₂ det(I + A⁻¹B), in bits about the weights;
saved = ½ tr((A⁻¹ − (A + B)⁻¹) M) / ln 2, the bits that pairs which tell M will cost less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partita.learning.maxent import Contexts
from partita.records import FloatArray

LOG2 = math.log(2.0)


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What the key of one set would tell: √(p(1−p))·f, a row for each different pair, so that
    B = RᵀR; and what it costs to write it."""

    rows: FloatArray
    templates: int = 1

    @property
    def information(self) -> FloatArray:
        found: FloatArray = self.rows.T @ self.rows
        return found


def told(given: Contexts, p: FloatArray, templates: int = 1) -> Told:
    """Of the pairs of a set, whose different contexts have these probabilities; never more rows
    than features."""
    variance = given.count * p * (1 - p)
    rows = given.table(np.arange(given.features)) * np.sqrt(variance)[:, None]
    if len(rows) > given.features:
        rows = np.asarray(np.linalg.qr(rows, mode="r"), dtype=np.float64)
    return Told(rows, templates)


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


def information(inverse: FloatArray, one: Told) -> float:
    """Bits about the weights; what is known already counts no more, so returns diminish."""
    root = np.linalg.cholesky(_surprise(one.rows @ inverse, one))
    return float(np.log(np.diag(root)).sum()) / LOG2


def saved(inverse: FloatArray, one: Told, spread: FloatArray) -> float:
    """Bits that the pairs which tell M are expected to cost less; `spread` is A⁻¹ M A⁻¹."""
    inner = one.rows @ spread @ one.rows.T
    surprise = _surprise(one.rows @ inverse, one)
    return max(0.0, float(np.trace(np.linalg.solve(surprise, inner)))) / 2 / LOG2


def spread_of(inverse: FloatArray, target: FloatArray) -> FloatArray:
    """A⁻¹ M A⁻¹: by how much each weight's doubt costs bits."""
    found: FloatArray = inverse @ target @ inverse
    return found


def total(sets: Sequence[Told], features: int) -> FloatArray:
    """M: what the keys of all these sets would tell."""
    found = np.zeros((features, features))
    for one in sets:
        found += one.information
    return found


def _surprise(across: FloatArray, one: Told) -> FloatArray:
    """I + R A⁻¹ Rᵀ."""
    found: FloatArray = np.eye(len(one.rows)) + across @ one.rows.T
    return found
