"""Weights from few keys, around weights that are there: the likelihood of the answers, less
precision·|λ − λ₀|²/2.

What no key has shown keeps the weight that it had, and answers of one kind alone do no harm.
"""

from __future__ import annotations

import numpy as np

from partita.learning.logistic import logistic
from partita.learning.maxent import Contexts, loss
from partita.records import FloatArray

STEPS = 100
ENOUGH = 1e-10  # of what a step would gain, for each pair


def adapt(given: Contexts, around: FloatArray, precision: float) -> FloatArray:
    """The weights of all features, by Newton's method on how far they move."""
    seen = np.flatnonzero(given.totals(given.count) > 0)
    table, before = given.table(seen), given.scores(around)
    moved = np.zeros(len(seen))
    least = loss(given, before)
    for _ in range(STEPS):
        step, gain = _step(given, table, before, moved, precision)
        if gain <= ENOUGH * max(given.pairs, 1.0):
            break
        moved, least = _improved(given, table, before, moved, step, precision, least)
    weights = around.copy()
    weights[seen] += moved
    return weights


def _step(
    given: Contexts, table: FloatArray, before: FloatArray, moved: FloatArray, precision: float
) -> tuple[FloatArray, float]:
    """The step, and twice what it would gain if the curvature stayed as it is."""
    p = logistic(before + table @ moved)
    gradient = table.T @ (given.yes - given.count * p) - precision * moved
    curvature = table.T @ (table * (given.count * p * (1 - p))[:, None])
    curvature[np.diag_indices_from(curvature)] += precision
    step = np.linalg.solve(curvature, gradient)
    return step.astype(np.float64), float(gradient @ step)


def _improved(
    given: Contexts,
    table: FloatArray,
    before: FloatArray,
    moved: FloatArray,
    step: FloatArray,
    precision: float,
    least: float,
) -> tuple[FloatArray, float]:
    """As much of the step as makes nothing worse: all of it, half of it, and so on."""
    for halving in range(40):
        there: FloatArray = moved + step / 2.0**halving
        found = loss(given, before + table @ there) + precision * float(there @ there) / 2
        if found <= least:
            return there, found
    return moved, least
