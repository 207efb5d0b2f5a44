"""Maximum entropy by Newton's method:  λ += (Fᵀ W F + r)⁻¹ (Fᵀ(yes − np) − rλ),  W = np(1−p)."""

from __future__ import annotations

import numpy as np

from partita.learning.logistic import logistic
from partita.learning.maxent import Contexts, loss, refuse_one_class
from partita.records import FloatArray, IntArray

STEPS = 200
ENOUGH = 1e-12
SLACK = 1e-15  # rounding of the objective must not stop the last, smallest step


def newton(
    given: Contexts, active: IntArray, precision: float = 0.0, start: FloatArray | None = None
) -> FloatArray:
    """The weights that make the answers most probable; without a prior, of several such weights
    (a characteristic's features always sum to one) those nearest to the start."""
    refuse_one_class(given)
    table = given.table(active)
    weights = np.zeros(given.features) if start is None else start.copy()
    weights[np.setdiff1d(np.arange(given.features), active)] = 0.0
    inner = weights[active]
    least = _objective(given, table, inner, precision)
    for _ in range(STEPS):
        step, gain = _step(given, table, inner, precision)
        inner, least = _improved(given, table, inner, step, precision, least)
        if gain < ENOUGH * given.pairs:
            break
    weights[active] = inner
    return weights


def _step(
    given: Contexts, table: FloatArray, inner: FloatArray, precision: float
) -> tuple[FloatArray, float]:
    """The step, and twice what it would gain if the curvature stayed as it is."""
    p = logistic(table @ inner)
    gradient = table.T @ (given.yes - given.count * p) - precision * inner
    curvature = table.T @ (table * (given.count * p * (1 - p))[:, None])
    curvature[np.diag_indices_from(curvature)] += precision
    if precision > 0:
        step = np.linalg.solve(curvature, gradient)
    else:
        step = np.linalg.lstsq(curvature, gradient, rcond=1e-10)[0]
    return step.astype(np.float64), float(gradient @ step)


def _improved(
    given: Contexts,
    table: FloatArray,
    inner: FloatArray,
    step: FloatArray,
    precision: float,
    least: float,
) -> tuple[FloatArray, float]:
    """As much of the step as makes nothing worse: all of it, half of it, and so on."""
    for halving in range(40):
        there: FloatArray = inner + step / 2.0**halving
        if (found := _objective(given, table, there, precision)) <= least + SLACK * abs(least):
            return there, found
    return inner, least


def _objective(given: Contexts, table: FloatArray, inner: FloatArray, precision: float) -> float:
    return loss(given, table @ inner) + precision * float(inner @ inner) / 2
