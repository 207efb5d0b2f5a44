"""Train all models over pairs from documents, and recalibrate them: one temperature per model.

A temperature T makes P(configuration) proportional to P^(1/T): the evidential and the scaled model
get log-odds divided by T, the merging model decisions with log-odds divided by T. So all sums stay
1 and pair probabilities go on respecting transitivity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.configurations.pair_models import GreedyParameters
from partita.core import BoolArray, FloatArray
from partita.evaluation.models import greedy_shares, training_document, training_sets
from partita.evaluation.splits import Cut, coverage, learn_excluded
from partita.pairs.characteristics import EXTENDED, Characteristic
from partita.pairs.models import MaximumEntropy
from partita.training.few_keys import (
    DIGITS,
    KeyedTrainingData,
    Lesson,
    digest_of,
    folds_of,
    keyed_training_data,
)
from partita.training.key_likelihood import KeyLikelihood
from partita.training.pair_models import (
    PairChoice,
    TrainingPairs,
    every_pair,
    fit_scale,
    merging_questions,
    select_features,
    select_pair_model,
    train_pair_model,
    training_pairs,
)
from partita.training.parameter_files import EVERY_PAIR, QUESTIONS, PairParameters
from partita.training.selection import Selection

Progress = Callable[[str], None]
Selections = dict[str, Selection]
HELD_OUT = 0.25  # of the documents: their likelihood says when to stop selecting
FEW_PAIRS = 5_000  # of fewer, what is held out is mostly chance: negligible gain says when to stop
ENOUGH_PAIRS = 100_000  # for the selection: the weights are learned from all


@dataclass(frozen=True, slots=True)
class PairTrainingPlan:
    """The characteristics, whether to select features, and the seed.

    The precision of the prior is chosen over documents unless it is set.
    """

    characteristics: tuple[Characteristic, ...] = EXTENDED
    selecting: bool = False
    seed: int = 0
    learned_from: str = ""
    precision: float | None = None


def train_pairs(
    cuts: Sequence[Cut], plan: PairTrainingPlan, progress: Progress
) -> tuple[PairParameters, Selections]:
    """Return the parameters of all pair models, and the selections by training set."""
    selections: Selections = {}

    def learn(name: str, ask: PairChoice) -> MaximumEntropy:
        progress(f"{name}: observing characteristics")
        pairs = training_pairs([training_document(cut) for cut in cuts], ask, plan.characteristics)
        model, selection = _learn(pairs, name, plan, lambda text: progress(f"{name}: {text}"))
        if selection is not None:
            selections[name] = selection
        return model

    questions, every = learn(QUESTIONS, merging_questions), learn(EVERY_PAIR, every_pair)
    progress("scale and bias")
    scaled = fit_scale(training_sets(cuts, every))
    shares, excluded = greedy_shares(cuts), learn_excluded(cuts)
    rounded = GreedyParameters(*(_rounded(p) for p in (shares.p2, shares.p3, shares.p_more)))
    return PairParameters(
        every,
        questions,
        rounded,
        replace(scaled, scale=_rounded(scaled.scale), bias=_rounded(scaled.bias)),
        _rounded(excluded.sets),
        _rounded(excluded.documents),
        plan.learned_from,
        every.sha256,
        plan.seed,
        _figures(cuts),
    ), selections


def _learn(
    pairs: TrainingPairs, name: str, plan: PairTrainingPlan, progress: Progress
) -> tuple[MaximumEntropy, Selection | None]:
    """Return weights for all features or, after a selection, for the selected ones."""
    words, seed = plan.learned_from, plan.seed
    if not plan.selecting:
        trained = train_pair_model(
            pairs,
            name=name,
            precision=plan.precision,
            seed=seed,
            learned_from=words,
            progress=progress,
        )
        return _short(trained), None
    few = len(pairs.yes) < FEW_PAIRS or len(np.unique(pairs.documents)) < 2
    away = 0.0 if few else HELD_OUT
    part = pairs.enough(ENOUGH_PAIRS, np.random.default_rng(seed))
    selection = select_features(part, held_out=away, seed=seed, progress=progress)
    progress(f"fitting {len(selection.steps)} weights to {len(pairs.yes):,} pairs")
    model = select_pair_model(pairs, selection, name=name, seed=seed, learned_from=words)
    return _short(model), selection


def _short(model: MaximumEntropy) -> MaximumEntropy:
    figures = {name: _rounded(value) for name, value in model.figures.items()}
    return replace(model, weights=model.weights.round(DIGITS), figures=figures)


def _figures(cuts: Sequence[Cut]) -> dict[str, float]:
    return {
        "documents": len({cut.document.name for cut in cuts}),
        "templates": sum(len(cut.labels) for cut in cuts),
        "sets": sum(len(cut.sets) for cut in cuts),
        "coverage": _rounded(coverage(cuts)),
    }


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)


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
