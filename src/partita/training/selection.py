"""Select features by approximate gain (Berger et al. 1996)."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from partita.core import FloatArray
from partita.training.maxent import (
    Contexts,
    bits,
    fit_maxent,
    logistic_probability,
    require_both_classes,
)

MIN_GAIN = 1e-4
STEPS = 60
MAX_STEP = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The selected features in order, the bits per pair after each, and the weights of all."""

    active: tuple[int, ...]
    bits: tuple[float, ...]
    weights: FloatArray


def gains(
    sample: Contexts, weights: FloatArray, precision: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return for every feature the best α with all else fixed, and its gain in bits per pair.

    Without a prior a feature that is seen with one answer only would get an infinite weight: its
    gain is 0. The values of one characteristic exclude each other, so they share one pass.
    """
    scores = sample.scores(weights)
    parts = [
        _characteristic_gains(sample, column, size, scores, precision)
        for column, size in zip(sample.codes.T, sample.sizes, strict=True)
    ]
    alphas, gained = (np.concatenate(part) for part in zip(*parts, strict=True))
    return alphas, gained / sample.pairs / math.log(2)


def _characteristic_gains(
    sample: Contexts,
    column: np.ndarray[tuple[int], np.dtype[np.uint8]],
    size: int,
    scores: FloatArray,
    precision: float,
) -> tuple[FloatArray, FloatArray]:
    def total(of: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(column, weights=of, minlength=size), dtype=np.float64)

    yes, seen = total(sample.yes), total(sample.count)
    finite = (seen > 0) if precision > 0 else (yes > 0) & (yes < seen)
    alpha: FloatArray = np.zeros(size)
    for _ in range(STEPS):
        p = logistic_probability(scores + alpha[column])
        slope = np.where(finite, yes - total(sample.count * p) - precision * alpha, 0.0)
        curvature = total(sample.count * p * (1 - p)) + precision
        step = np.clip(slope / np.maximum(curvature, 1e-300), -MAX_STEP, MAX_STEP)
        alpha = alpha + step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    lost = total(sample.count * (np.logaddexp(0, scores + alpha[column]) - np.logaddexp(0, scores)))
    return alpha, np.where(finite, alpha * yes - lost - precision * alpha**2 / 2, 0.0)


def select(
    sample: Contexts, precision: float = 0.0, skipped: Collection[int] = (), least: float = MIN_GAIN
) -> Selection:
    """Add features one by one until every remaining gain is below the least, in bits per pair.

    Those `skipped` are not added.
    """
    require_both_classes(sample)
    weights, active, costs = np.zeros(sample.features), list[int](), list[float]()
    while len(active) < sample.features:
        _, gained = gains(sample, weights, precision)
        gained[[*skipped, *active]] = 0.0
        best = int(gained.argmax())
        if gained[best] < least:
            break
        active.append(best)
        weights = fit_maxent(sample, precision, np.array(active), weights)
        costs.append(bits(sample, weights))
    return Selection(tuple(active), tuple(costs), weights)
