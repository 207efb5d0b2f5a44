"""Logistic regression with a ridge:  P(yes) = 1/(1 + e^{−w·x}),  w by Newton's method."""

from __future__ import annotations

import numpy as np

from partita.errors import InputError
from partita.records import FloatArray

STEPS = 100
ENOUGH = 1e-9


def logistic(score: FloatArray) -> FloatArray:
    """1/(1 + e^{−score}), without overflow."""
    half = np.tanh(score / 2)
    return (1 + half) / 2


def fit_logistic(x: FloatArray, yes: FloatArray, ridge: float) -> FloatArray:
    """Weights that make the outcomes most probable, less ridge·|w|²/2."""
    if not 0 < yes.sum() < len(yes):
        raise InputError("training data has one class only; expected pairs of both")
    weights = np.zeros(x.shape[1])
    for _ in range(STEPS):
        step, gain = _newton_step(x, yes, ridge, weights)
        if gain < ENOUGH:
            break
        weights = _improved(x, yes, ridge, weights, step)
    return weights


def _newton_step(
    x: FloatArray, yes: FloatArray, ridge: float, weights: FloatArray
) -> tuple[FloatArray, float]:
    """The step, and twice what it would gain if the curvature stayed as it is."""
    p = logistic(x @ weights)
    gradient = x.T @ (yes - p) - ridge * weights
    curvature = x.T @ (x * (p * (1 - p))[:, None]) + ridge * np.eye(len(weights))
    step: FloatArray = np.linalg.solve(curvature, gradient).astype(np.float64)
    return step, float(gradient @ step)


def _improved(
    x: FloatArray, yes: FloatArray, ridge: float, weights: FloatArray, step: FloatArray
) -> FloatArray:
    """As much of the step as does not make things worse: half of it, a quarter, and so on."""
    least = _loss(x, yes, ridge, weights)
    for halving in range(30):
        there: FloatArray = weights + step / 2.0**halving
        if _loss(x, yes, ridge, there) <= least:
            return there
    return weights


def _loss(x: FloatArray, yes: FloatArray, ridge: float, weights: FloatArray) -> float:
    score = x @ weights
    return float(np.logaddexp(0, score).sum() - yes @ score + ridge * (weights @ weights) / 2)
