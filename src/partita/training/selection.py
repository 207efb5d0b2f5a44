"""Select features by approximate gain (Berger et al. 1996)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.training.maxent import (
    Contexts,
    bits,
    fit_maxent,
    logistic_probability,
    require_both_classes,
)

MIN_GAIN = 1e-4
PATIENCE = 5
STEPS = 60
MAX_STEP = 1.0


@dataclass(frozen=True, slots=True)
class SelectionStep:
    """One feature made active.

    `approximate` is the gain that it was chosen for and `gain` what the refit gained, in bits per
    pair; `bits` and `held_out` are what a pair costs afterwards, in training and held-out data.
    """

    feature: str
    approximate: float
    gain: float
    bits: float
    held_out: float | None
    weight: float


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """The steps in order with the final weights, the weights of all features, why it stopped."""

    steps: tuple[SelectionStep, ...]
    weights: FloatArray
    precision: float
    pairs: int
    stopped: str


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A step before the final weights are fitted."""

    place: int
    approximate: float
    bits: float
    held_out: float | None


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
    sample: Contexts,
    names: Sequence[str],
    *,
    precision: float = 0.0,
    held_out: Contexts | None = None,
    negligible: float = MIN_GAIN,
    patience: int = PATIENCE,
    most: int | None = None,
    skipped: frozenset[str] = frozenset(),
    progress: Callable[[str], None] | None = None,
) -> Selection:
    """Add features one by one until every remaining gain is negligible or, with held-out documents,
    until their likelihood has not risen for `patience` features. Those `skipped` are not added."""
    _check_names(sample, names, held_out)
    never = [place for place, name in enumerate(names) if name in skipped]
    weights, chosen, fitted = np.zeros(sample.features), list[_Candidate](), list[FloatArray]()
    stopped = "all features are active" if most is None else f"{most} features were requested"
    for number in range(len(names) if most is None else most):
        _, gained = gains(sample, weights, precision)
        gained[[*never, *(step.place for step in chosen)]] = 0.0
        best = int(gained.argmax())
        if gained[best] < negligible:
            stopped = f"every remaining gain is below {negligible:g} bits per pair"
            break
        active = np.array([*(step.place for step in chosen), best])
        weights = fit_maxent(sample, precision, active, weights)
        held_out_bits = None if held_out is None else bits(held_out, weights)
        chosen.append(_Candidate(best, float(gained[best]), bits(sample, weights), held_out_bits))
        fitted.append(weights)
        if progress is not None:
            progress(f"{number + 1} {names[best]}: {chosen[-1].bits:.4f} bits per pair")
        if number - _best(chosen) >= patience:
            stopped = f"held-out likelihood has not risen for {patience} features"
            break
    kept = _best(chosen) + 1
    final = fitted[kept - 1] if kept else np.zeros(sample.features)
    return Selection(
        _steps(chosen[:kept], names, final), final, precision, round(sample.pairs), stopped
    )


def _best(chosen: Sequence[_Candidate]) -> int:
    """Return the step with the lowest held-out cost; the last one without held-out pairs."""
    if not chosen or chosen[0].held_out is None:
        return len(chosen) - 1
    return int(np.argmin([math.inf if step.held_out is None else step.held_out for step in chosen]))


def _steps(
    chosen: Sequence[_Candidate], names: Sequence[str], final: FloatArray
) -> tuple[SelectionStep, ...]:
    """Return the steps with their gains; the empty model needs one bit per pair."""
    before = [1.0, *(step.bits for step in chosen)]
    return tuple(
        SelectionStep(
            names[step.place],
            step.approximate,
            earlier - step.bits,
            step.bits,
            step.held_out,
            float(final[step.place]),
        )
        for step, earlier in zip(chosen, before, strict=False)
    )


def _check_names(sample: Contexts, names: Sequence[str], held_out: Contexts | None) -> None:
    if len(names) != sample.features:
        raise InputError(f"{sample.features} features need as many names, not {len(names)}")
    if held_out is not None and held_out.sizes != sample.sizes:
        raise InputError("held-out pairs have other characteristics than the training pairs")
    require_both_classes(sample)


def selected_indices(selection: Selection, names: Sequence[str]) -> IntArray:
    """Return the indices of the selected features."""
    index = {name: n for n, name in enumerate(names)}
    return np.array([index[step.feature] for step in selection.steps], dtype=np.int64)
