"""Train from keys around existing parameters."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from partita.configurations.odds import UNSCALED, ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.core import FloatArray, IntArray
from partita.evaluation.splits import Cut
from partita.pairs.models import MaximumEntropy
from partita.training.key_likelihood import KeyLikelihood, KeyPrior, fit_scaled, fit_weights
from partita.training.label_choice import feature_indices
from partita.training.lessons import KeyAnswer, Lesson, key_answer
from partita.training.pair_models import greedy_tallies
from partita.training.parameter_files import EVERY_PAIR, QUESTIONS, PairParameters

# From what a message or two justify to what dozens do; research/start.py has the curves.
PRIORS = (KeyPrior(100.0, 100.0, 100.0), KeyPrior(30.0, 10.0, 30.0), KeyPrior(8.0, 1.0, 10.0))
FEW = 4  # messages: of fewer, none can be held out to choose the prior
TEMPERINGS = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares of the start's scale and bias
SCALED_PRECISION = 4.0  # of the prior around scale and bias
BEFORE = 10.0  # sets that a share which is there counts for
DIGITS = 6  # what is beyond them differs between machines, and tells nothing


def adapt_parameters(
    start: PairParameters,
    lessons: Sequence[Lesson],
    learned_from: str = "",
    model: str = "evidential",
    prior: KeyPrior | None = None,
) -> PairParameters:
    """Return the parameters that some keys give; unchanged without keys.

    Weights are the most probable ones by the likelihood of whole keys under a prior around the
    start. Unless it is given, the prior is chosen: of each half of the messages, the keys should
    be most probable by weights that the other half gave. Evidential and scaled share weights: they
    are learned for evidential unless `model` is scaled. The prior of evidential is around the start
    or, as far as that makes the keys more probable, around its scaled log-odds: pairs of one cell
    repeat each other's evidence.
    """
    if not lessons:
        return start
    data = keyed_training_data(start, lessons)
    by_scaled = model == "scaled"
    scaled = start.scaled if by_scaled else UNSCALED
    tempered = UNSCALED if by_scaled else _tempering(start, data)
    base = weights_at_scale(start.every_pair, tempered)
    halves = _halves(start, lessons)
    prior = prior or _choose_prior(halves, base, scaled, lessons)
    every = fit_weights(data.product, data.every, base, prior, scaled)
    questions = fit_weights(data.merging, data.questions, start.questions.weights, prior)
    learned = _with_weights(start, every, questions)
    cuts, digest = [key.cut for key in lessons], digest_of(start, lessons)
    for share in (1.0, 0.5, 0.25, 0.125, 0.0):
        part = interpolate_parameters(start, learned, share)
        around = _relative_scale(start.scaled, tempered, share)
        part = replace(part, scaled=_held_out_scale(around, halves, base, prior, scaled))
        if not share or data.no_worse(start, part):
            break
    return replace(
        part,
        every_pair=_described(part.every_pair, learned_from, digest, data),
        questions=_described(part.questions, learned_from, digest, data),
        greedy=_greedy(start.greedy, cuts),
        excluded=_excluded_share(start.excluded, cuts),
        learned_from=learned_from,
        sha256=digest,
        figures=key_figures(cuts),
    )


def key_figures(cuts: Sequence[Cut]) -> dict[str, float]:
    """Return how many documents, templates and sets have keys."""
    return {
        "documents": len({cut.document.name for cut in cuts}),
        "templates": sum(len(cut.labels) for cut in cuts),
        "sets": sum(len(cut.sets) for cut in cuts),
    }


def weights_at_scale(model: MaximumEntropy, scaled: ScaledParameters) -> FloatArray:
    """Return the weights that give every pair its scaled log-odds."""
    weights: FloatArray = scaled.scale * model.weights + scaled.bias / len(model.characteristics)
    return weights


def _tempering(start: PairParameters, data: KeyedTrainingData) -> ScaledParameters:
    """Return how much of the start's scale and bias makes the keys most probable; none if equal."""
    odds = start.every_pair.weights[data.every].sum(axis=1)

    def part(share: float) -> ScaledParameters:
        return ScaledParameters(start.scaled.scale**share, start.scaled.bias * share)

    def value(one: ScaledParameters) -> float:
        return data.product(one.scale * odds + one.bias)[0]

    return max(map(part, TEMPERINGS), key=value)


def _relative_scale(
    scaled: ScaledParameters, tempered: ScaledParameters, share: float
) -> ScaledParameters:
    """Return the scale and bias that mean the same for weights that are partly tempered."""
    scale = scaled.scale / max(1 - share + share * tempered.scale, 1e-3)
    return ScaledParameters(scale, scaled.bias - scale * share * tempered.bias)


@dataclass(frozen=True, slots=True, eq=False)
class KeyedTrainingData:
    """The keyed sets under both models, and the features of all their pairs."""

    product: KeyLikelihood
    merging: KeyLikelihood
    every: IntArray
    questions: IntArray

    def log_likelihoods(self, learned: PairParameters) -> FloatArray:
        """Return those of evidential, scaled and merging."""
        odds = learned.every_pair.weights[self.every].sum(axis=1)
        decisions = learned.questions.weights[self.questions].sum(axis=1)
        scaled = learned.scaled.scale * odds + learned.scaled.bias
        values = (self.product(odds), self.product(scaled), self.merging(decisions))
        return np.array([value for value, _ in values])

    def no_worse(self, start: PairParameters, learned: PairParameters) -> bool:
        return bool((self.log_likelihoods(learned) >= self.log_likelihoods(start)).all())


def keyed_training_data(start: PairParameters, lessons: Sequence[Lesson]) -> KeyedTrainingData:
    sets = tuple(one for key in lessons for one in key.sets)
    every = np.concatenate([key.pairs[key.places] for key in lessons])
    questions = np.concatenate([key.by_merger[key.places] for key in lessons])
    return KeyedTrainingData(
        KeyLikelihood(sets),
        KeyLikelihood(sets, merging=True),
        feature_indices(every, sizes_of(start.every_pair)),
        feature_indices(questions, sizes_of(start.questions)),
    )


def sizes_of(model: MaximumEntropy) -> tuple[int, ...]:
    """Return the number of features of each characteristic."""
    return tuple(len(characteristic.values) for characteristic in model.characteristics)


def _with_weights(
    start: PairParameters, every: FloatArray, questions: FloatArray
) -> PairParameters:
    return replace(
        start,
        every_pair=replace(start.every_pair, weights=every.round(DIGITS)),
        questions=replace(start.questions, weights=questions.round(DIGITS)),
    )


def interpolate_parameters(
    start: PairParameters, learned: PairParameters, share: float
) -> PairParameters:
    """Return parameters on the way from the start (0) to those that were learned (1)."""

    def mixed(first: Any, second: Any) -> Any:
        return first + share * (second - first)

    def shares(first: Any, second: Any, names: Sequence[str]) -> dict[str, float]:
        both = ((name, getattr(first, name), getattr(second, name)) for name in names)
        return {name: round(mixed(one, other), DIGITS) for name, one, other in both}

    every, questions = (
        mixed(start.pair_model(name).weights, learned.pair_model(name).weights)
        for name in (EVERY_PAIR, QUESTIONS)
    )
    part = replace(
        learned,
        scaled=ScaledParameters(**shares(start.scaled, learned.scaled, ("scale", "bias"))),
        greedy=GreedyParameters(**shares(start.greedy, learned.greedy, ("p2", "p3", "p_more"))),
        excluded=round(mixed(start.excluded, learned.excluded), DIGITS),
    )
    return _with_weights(part, every, questions)


def with_fitted_scale(learned: PairParameters, lessons: Sequence[Lesson]) -> PairParameters:
    """Return the parameters, rounded, with the scale and bias that the keys give."""
    every, questions = learned.every_pair.weights, learned.questions.weights
    rounded = _with_weights(learned, every, questions)
    data = keyed_training_data(rounded, lessons)
    odds = rounded.every_pair.weights[data.every].sum(axis=1)
    return replace(rounded, scaled=_rounded_scale(data.product, odds, UNSCALED))


_Halves = tuple["KeyedTrainingData", "KeyedTrainingData"] | None


def _halves(start: PairParameters, lessons: Sequence[Lesson]) -> _Halves:
    """Return the keys of every other message, and the rest; None for a single message."""
    number: dict[str, int] = {}
    for one in lessons:
        number.setdefault(one.cut.document.name, len(number))
    halves = [[one for one in lessons if number[one.cut.document.name] % 2 == n] for n in (0, 1)]
    if not all(halves):
        return None
    return keyed_training_data(start, halves[0]), keyed_training_data(start, halves[1])


def _choose_prior(
    halves: _Halves, base: FloatArray, scaled: ScaledParameters, lessons: Sequence[Lesson]
) -> KeyPrior:
    if halves is None or len({one.cut.document.name for one in lessons}) < FEW:
        return PRIORS[0]

    def value(prior: KeyPrior) -> float:
        likelihood, odds = _held_out(halves, base, prior, scaled)
        return likelihood(scaled.scale * odds + scaled.bias)[0]

    return max(PRIORS, key=value)


def _held_out(
    halves: tuple[KeyedTrainingData, KeyedTrainingData],
    base: FloatArray,
    prior: KeyPrior,
    scaled: ScaledParameters = UNSCALED,
) -> tuple[KeyLikelihood, FloatArray]:
    """Return all keys, and the log-odds of their pairs by weights that the other half gave."""
    odds = []
    for held, other in (halves, halves[::-1]):
        weights = fit_weights(other.product, other.every, base, prior, scaled)
        odds.append(weights[held.every].sum(axis=1))
    return KeyLikelihood((*halves[0].product.sets, *halves[1].product.sets)), np.concatenate(odds)


def _held_out_scale(
    around: ScaledParameters,
    halves: _Halves,
    base: FloatArray,
    prior: KeyPrior,
    scaled: ScaledParameters,
) -> ScaledParameters:
    """Fit scale and bias to log-odds by weights that other keys gave, learned as these were: on
    the keys that gave the weights, any scale is too small."""
    if halves is None:
        return around
    likelihood, odds = _held_out(halves, base, prior, scaled)
    if not len(odds):
        return around
    return _rounded_scale(likelihood, odds, around)


def _rounded_scale(
    likelihood: KeyLikelihood, odds: FloatArray, around: ScaledParameters
) -> ScaledParameters:
    found = fit_scaled(likelihood, odds, around, SCALED_PRECISION)
    return ScaledParameters(round(found.scale, DIGITS), round(found.bias, DIGITS))


def _described(
    model: MaximumEntropy, learned_from: str, digest: str, data: KeyedTrainingData
) -> MaximumEntropy:
    merging = model.training == QUESTIONS
    likelihood, indices = (data.merging, data.questions) if merging else (data.product, data.every)
    nats, _ = likelihood(model.weights[indices].sum(axis=1))
    bits = round(-nats / math.log(2) / max(len(likelihood.sets), 1), DIGITS)
    figures = {"pairs": len(indices), "bits_per_set": bits + 0.0}
    return replace(model, learned_from=learned_from, sha256=digest, figures=figures)


@dataclass(frozen=True, slots=True, eq=False)
class Taught:
    """Parameters learned from keys, and the answers for every key before and after.

    `share` is how much of the step was taken: 1, or less where the whole step would have made the
    keys less probable in sum under the model in use; 0 if it was refused.
    """

    parameters: PairParameters
    model: str
    before: tuple[KeyAnswer, ...]
    after: tuple[KeyAnswer, ...]
    share: float

    @property
    def bits(self) -> tuple[float, float]:
        """The bits of all keys before and after."""
        before, after = (math.fsum(one.bits for one in side) for side in (self.before, self.after))
        return before, after

    @property
    def note(self) -> str | None:
        """What was refused, if anything was."""
        if self.share == 1.0:
            return None
        if not self.share:
            return "refused: any step would make the keys less probable in sum; nothing changed"
        share = f"{self.share:.3g} of the step was taken"
        return f"{share}: all of it would make the keys less probable in sum"


def teach(
    start: PairParameters,
    lessons: Sequence[Lesson],
    *,
    model: str = "evidential",
    learned_from: str = "",
    latest: PairParameters | None = None,
) -> Taught:
    """Learn from keys around the start, and refuse what makes them less probable than `latest`.

    The keys are measured by the model in use, exactly as they are evaluated. `latest` are the
    parameters in use, the start by default.
    """
    held = start if latest is None else latest
    before = tuple(key_answer(key, held, model) for key in lessons)
    learned = adapt_parameters(start, lessons, learned_from, model)
    for share in (1.0, 0.5, 0.25, 0.125):
        part = interpolate_parameters(held, learned, share) if share < 1 else learned
        after = tuple(key_answer(key, part, model) for key in lessons)
        taught = Taught(part, model, before, after, share)
        if taught.bits[1] <= taught.bits[0]:
            return taught
    return Taught(held, model, before, before, 0.0)


def _greedy(start: GreedyParameters, cuts: Sequence[Cut]) -> GreedyParameters:
    shares = zip((start.p2, start.p3, start.p_more), greedy_tallies(cuts), strict=True)
    return GreedyParameters(*(_share(before, one.right, one.sets) for before, one in shares))


def _excluded_share(before: float, cuts: Sequence[Cut]) -> float:
    open_sets = [(cut, members) for cut in cuts for members in cut.sets if cut.open(members)]
    return _share(before, sum(cut.broken(members) for cut, members in open_sets), len(open_sets))


def _share(before: float, count: float, of: float) -> float:
    return round((before * BEFORE + count) / (BEFORE + of), DIGITS)


def digest_of(start: PairParameters, lessons: Sequence[Lesson]) -> str:
    """Return a digest of the previous parameters and of all keys, in order."""
    parts = (start.sha256, *(key.sha256 for key in lessons))
    return hashlib.sha256("".join(parts).encode()).hexdigest()
