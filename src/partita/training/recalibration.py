"""Recalibrate trained parameters: one temperature for each model, learned from keys.

A temperature T makes P(configuration) proportional to P^(1/T): the evidential and the scaled model
get log-odds divided by T, the merging model decisions with log-odds divided by T. So all sums stay
1 and pair probabilities go on respecting transitivity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.core import BoolArray, FloatArray
from partita.training.few_keys import (
    DIGITS,
    KeyedTrainingData,
    Lesson,
    digest_of,
    folds_of,
    keyed_training_data,
)
from partita.training.key_likelihood import KeyLikelihood
from partita.training.pair_parameters import PairParameters

PRECISION = 4.0  # of the prior of log T around 0
MIN_LOG_SCALE, MAX_LOG_SCALE = math.log(0.1), math.log(10.0)
MODELS = ("evidential", "scaled", "merging")


@dataclass(frozen=True, slots=True)
class Temperature:
    """The temperature of one model, and bits per keyed set held out before and after.

    `value` is 1 where a temperature from the other keys does not make held-out ones more probable.
    """

    model: str
    value: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, eq=False)
class Recalibrated:
    """Parameters at their temperatures."""

    parameters: PairParameters
    temperatures: tuple[Temperature, ...]


def recalibrate(
    start: PairParameters, lessons: Sequence[Lesson], learned_from: str = "", seed: int = 0
) -> Recalibrated:
    """Fit a temperature to each model by the likelihood of whole keys.

    Keys of a single message change nothing: none can be held out.
    """
    folds = np.array(folds_of(lessons, seed))
    away = sorted(set(folds.tolist())) if len(set(folds.tolist())) > 1 else []
    some = [keyed_training_data(start, _where(lessons, folds == fold)) for fold in away]
    others = [keyed_training_data(start, _where(lessons, folds != fold)) for fold in away]
    whole = keyed_training_data(start, lessons)
    temperatures = tuple(
        _temperature(model, start, whole, list(zip(some, others, strict=True))) for model in MODELS
    )
    parameters = replace(
        at_temperatures(start, *(one.value for one in temperatures)),
        learned_from=f"{start.learned_from}; temperatures from {learned_from}",
        sha256=digest_of(start, lessons),
    )
    return Recalibrated(parameters, temperatures)


def _where(lessons: Sequence[Lesson], chosen: BoolArray) -> list[Lesson]:
    return [one for one, kept in zip(lessons, chosen.tolist(), strict=True) if kept]


def at_temperatures(
    start: PairParameters, evidential: float, scaled: float, merging: float
) -> PairParameters:
    """Return the parameters of every model at its temperature; forest stays as it is."""
    every, questions = start.every_pair, start.questions
    kept, forest = start.scaled, start.forest
    return replace(
        start,
        every_pair=replace(every, weights=(every.weights / evidential).round(DIGITS)),
        questions=replace(questions, weights=(questions.weights / merging).round(DIGITS)),
        scaled=replace(
            kept,
            scale=round(kept.scale * evidential / scaled, DIGITS),
            bias=round(kept.bias / scaled, DIGITS),
        ),
        forest=replace(forest, scale=round(forest.scale * evidential, DIGITS)),
    )


def _temperature(
    model: str,
    start: PairParameters,
    whole: KeyedTrainingData,
    folds: Sequence[tuple[KeyedTrainingData, KeyedTrainingData]],
) -> Temperature:
    """Return the temperature of a model if it makes held-out keys more probable, else 1."""
    before, after = 0.0, 0.0
    for held, others in folds:
        likelihood, odds = _odds(model, start, held)
        before += likelihood(odds)[0]
        after += likelihood(odds / _fitted(*_odds(model, start, others)))[0]
    better = after > before
    value = round(_fitted(*_odds(model, start, whole)), DIGITS) if better else 1.0
    sets = max(len(whole.product.sets), 1) * -math.log(2)
    return Temperature(model, value, before / sets, (after if better else before) / sets)


def _odds(
    model: str, start: PairParameters, data: KeyedTrainingData
) -> tuple[KeyLikelihood, FloatArray]:
    """Return the likelihood of keys by a model, and the log-odds that it takes."""
    if model == "merging":
        return data.merging, start.questions.weights[data.questions].sum(axis=1)
    odds: FloatArray = start.every_pair.weights[data.every].sum(axis=1)
    if model == "scaled":
        odds = start.scaled.scale * odds + start.scaled.bias
    return data.product, odds


def _fitted(likelihood: KeyLikelihood, odds: FloatArray) -> float:
    """Return the most probable temperature; the keys are never less probable than at 1."""
    from scipy.optimize import minimize_scalar

    def loss(log_t: float) -> float:
        return PRECISION * log_t**2 / 2 - likelihood(odds * math.exp(-log_t))[0]

    found = minimize_scalar(
        loss, bounds=(MIN_LOG_SCALE, MAX_LOG_SCALE), method="bounded", options={"xatol": 1e-4}
    )
    return math.exp(float(found.x)) if found.fun <= loss(0.0) else 1.0
