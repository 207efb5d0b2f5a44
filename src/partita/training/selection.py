"""Select features by approximate gain (Berger et al. 1996)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from partita.errors import InputError
from partita.records import FloatArray, IntArray
from partita.training.maxent import Contexts, bits, fit, logistic, refuse_one_class

NEGLIGIBLE = 1e-4
PATIENCE = 5
STEPS = 60
STRIDE = 1.0


@dataclass(frozen=True, slots=True)
class Step:
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
    """The steps in order (with the final weights), the weights of all features, why it stopped."""

    steps: tuple[Step, ...]
    weights: FloatArray
    precision: float
    pairs: int
    stopped: str


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A step before the final weights are known."""

    place: int
    approximate: float
    bits: float
    held_out: float | None


def gains(
    given: Contexts, weights: FloatArray, precision: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """For every feature the α that gains most with all else held, and the gain in bits per pair.

    Without a prior a feature that is seen with one answer only would get an infinite weight: it
    gains nothing. The values of one characteristic exclude each other, so they share one pass.
    """
    scores = given.scores(weights)
    found = [
        _characteristic_gains(given, column, size, scores, precision)
        for column, size in zip(given.codes.T, given.sizes, strict=True)
    ]
    alphas, gained = (np.concatenate(part) for part in zip(*found, strict=True))
    return alphas, gained / given.pairs / math.log(2)


def _characteristic_gains(
    given: Contexts,
    column: np.ndarray[tuple[int], np.dtype[np.uint8]],
    size: int,
    scores: FloatArray,
    precision: float,
) -> tuple[FloatArray, FloatArray]:
    def total(of: FloatArray) -> FloatArray:
        return np.asarray(np.bincount(column, weights=of, minlength=size), dtype=np.float64)

    yes, seen = total(given.yes), total(given.count)
    finite = (seen > 0) if precision > 0 else (yes > 0) & (yes < seen)
    alpha: FloatArray = np.zeros(size)
    for _ in range(STEPS):
        p = logistic(scores + alpha[column])
        slope = np.where(finite, yes - total(given.count * p) - precision * alpha, 0.0)
        curvature = total(given.count * p * (1 - p)) + precision
        step = np.clip(slope / np.maximum(curvature, 1e-300), -STRIDE, STRIDE)
        alpha = alpha + step
        if np.abs(step).max(initial=0.0) < 1e-10:
            break
    lost = total(given.count * (np.logaddexp(0, scores + alpha[column]) - np.logaddexp(0, scores)))
    return alpha, np.where(finite, alpha * yes - lost - precision * alpha**2 / 2, 0.0)


def select(
    given: Contexts,
    names: Sequence[str],
    *,
    precision: float = 0.0,
    held_out: Contexts | None = None,
    negligible: float = NEGLIGIBLE,
    patience: int = PATIENCE,
    most: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Selection:
    """Features made active one by one until every remaining gain is negligible or, where
    documents are held out, until their likelihood has not risen for `patience` features."""
    _refuse(given, names, held_out)
    weights, chosen, fitted = np.zeros(given.features), list[_Chosen](), list[FloatArray]()
    stopped = "all features are active" if most is None else f"{most} features were asked for"
    for number in range(len(names) if most is None else most):
        _, gained = gains(given, weights, precision)
        gained[[one.place for one in chosen]] = 0.0
        best = int(gained.argmax())
        if gained[best] < negligible:
            stopped = f"every remaining gain is below {negligible:g} bits per pair"
            break
        active = np.array([*(one.place for one in chosen), best])
        weights = fit(given, precision, active, weights)
        held = None if held_out is None else bits(held_out, weights)
        chosen.append(_Chosen(best, float(gained[best]), bits(given, weights), held))
        fitted.append(weights)
        if progress is not None:
            progress(f"{number + 1} {names[best]}: {chosen[-1].bits:.4f} bits per pair")
        if number - _best(chosen) >= patience:
            stopped = f"held-out likelihood has not risen for {patience} features"
            break
    kept = _best(chosen) + 1
    final = fitted[kept - 1] if kept else np.zeros(given.features)
    return Selection(
        _steps(chosen[:kept], names, final), final, precision, round(given.pairs), stopped
    )


def _best(chosen: Sequence[_Chosen]) -> int:
    """The step after which held-out pairs cost least; the last one where none are held out."""
    if not chosen or chosen[0].held_out is None:
        return len(chosen) - 1
    return int(np.argmin([math.inf if one.held_out is None else one.held_out for one in chosen]))


def _steps(chosen: Sequence[_Chosen], names: Sequence[str], final: FloatArray) -> tuple[Step, ...]:
    """The empty model needs one bit for every pair."""
    before = [1.0, *(one.bits for one in chosen)]
    return tuple(
        Step(
            names[one.place],
            one.approximate,
            earlier - one.bits,
            one.bits,
            one.held_out,
            float(final[one.place]),
        )
        for one, earlier in zip(chosen, before, strict=False)
    )


def _refuse(given: Contexts, names: Sequence[str], held_out: Contexts | None) -> None:
    if len(names) != given.features:
        raise InputError(f"{given.features} features need as many names, not {len(names)}")
    if held_out is not None and held_out.sizes != given.sizes:
        raise InputError("held-out pairs have other characteristics than the training pairs")
    refuse_one_class(given)


def active_of(selection: Selection, names: Sequence[str]) -> IntArray:
    """The places of the selected features."""
    place = {name: n for n, name in enumerate(names)}
    return np.array([place[step.feature] for step in selection.steps], dtype=np.int64)
