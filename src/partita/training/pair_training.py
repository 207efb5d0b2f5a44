"""Train all models over pairs from documents, pair by pair, as the paper does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.configurations.pair_models import GreedyParameters
from partita.evaluation.models import greedy_shares, training_document, training_sets
from partita.evaluation.splits import Cut, coverage, learn_excluded
from partita.pairs.characteristics import EXTENDED, Characteristic
from partita.pairs.models import MaximumEntropy
from partita.training.few_keys import DIGITS, key_figures
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
        {**key_figures(cuts), "coverage": _rounded(coverage(cuts))},
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


def _rounded(value: float) -> float:
    return round(float(value), DIGITS)
