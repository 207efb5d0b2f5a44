"""Train with few keys."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.configurations.odds import UNSCALED, ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.core import (
    Budget,
    CoreferenceSet,
    FloatArray,
    IntArray,
    Posterior,
    compatible_pairs,
    restricted_growth,
)
from partita.evaluation.models import FittedPairModel, Greedy, UniformPosteriors, greedy_tallies
from partita.evaluation.splits import Cut, allowed_bits, document_bits, excluded_bits
from partita.pairs.characteristics import pair_log_odds
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy, probability
from partita.templates.schema import Schema
from partita.training.key_likelihood import (
    KeyedSet,
    KeyLikelihood,
    KeyPrior,
    fit_scaled,
    fit_weights,
)
from partita.training.label_choice import OpenPairs, choose, feature_indices, key_information
from partita.training.maxent import Codes
from partita.training.pair_models import LabelledPairs, every_pair, merging_questions
from partita.training.parameter_files import (
    EVERY_PAIR,
    QUESTIONS,
    PairParameters,
    training_of,
)

# From what a message or two justify to what dozens do; research/start.py has the curves.
PRIORS = (KeyPrior(100.0, 100.0, 100.0), KeyPrior(30.0, 10.0, 30.0), KeyPrior(8.0, 1.0, 10.0))
FEW = 4  # messages: of fewer, none can be held out to choose the prior
TEMPERINGS = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares of the start's scale and bias
SCALED_PRECISION = 4.0  # of the prior around scale and bias
PRECISION = 5.0  # of the prior of pairs around what is there, for the study of which sets to label
BEFORE = 10.0  # sets that a share which is there counts for
DIGITS = 6  # what is beyond them differs between machines, and tells nothing


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A keyed document, observed once.

    The codes of its open pairs, for the pair model of every pair and for that of the merger's
    questions; the places of these pairs and whether they corefer; which of them the merger asks on
    its way to the key; the sets whose key is possible, with the places of their pairs; and a hash.
    """

    cut: Cut
    pairs: Codes
    by_merger: Codes
    open: LabelledPairs
    asked: IntArray
    sets: tuple[KeyedSet, ...]
    places: IntArray
    sha256: str

    @property
    def questions(self) -> tuple[Codes, NDArray[np.bool_]]:
        """The codes of the merger's questions, and the answers."""
        return self.by_merger[self.asked], self.open.yes[self.asked]


def lesson(cut: Cut, start: PairParameters) -> Lesson:
    """Return the training data of one key, with the characteristics of the parameters."""
    templates = cut.document.templates
    observed = template_columns(templates, schema=cut.schema, compatible=cut.compatible)
    open_pairs = every_pair(cut.labels, cut.compatible)
    pairs, by_merger = (
        model.codes(observed, open_pairs.left, open_pairs.right)
        for model in (start.every_pair, start.questions)
    )
    place = {pair: n for n, pair in enumerate(zip(open_pairs.left, open_pairs.right, strict=True))}
    path = merging_questions(cut.labels, cut.compatible)
    on_path = np.array([place[pair] for pair in zip(path.left, path.right, strict=True)], np.int64)
    sets, places = _keyed_sets(cut, open_pairs)
    digest = _hash(cut, (pairs, by_merger, open_pairs.yes))
    return Lesson(cut, pairs, by_merger, open_pairs, on_path, sets, places, digest)


def _hash(cut: Cut, arrays: Iterable[NDArray[Any]]) -> str:
    """Return a hash of all that is learned from a key."""
    others = [(str(cells), weight) for cells, weight in cut.document.alternatives]
    digest = hashlib.sha256(repr((cut.document.name, others)).encode())
    for array in arrays:
        digest.update(repr(array.shape).encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _keyed_sets(cut: Cut, pairs: LabelledPairs) -> tuple[tuple[KeyedSet, ...], IntArray]:
    """Return the sets that the key leaves possible, and the places of their pairs."""
    sets, places = [], [np.zeros(0, dtype=np.int64)]
    for members in cut.sets:
        rows, weights = weighted_rows(cut, members)
        if not len(rows):
            continue
        position = np.full(len(cut.labels), -1)
        position[members] = np.arange(len(members))
        inside = np.flatnonzero(position[pairs.left] >= 0)
        left, right = position[pairs.left[inside]], position[pairs.right[inside]]
        sets.append(KeyedSet(len(members), left, right, rows, weights))
        places.append(inside)
    return tuple(sets), np.concatenate(places)


def weighted_rows(cut: Cut, members: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the configurations of a set that its key holds possible and knowledge allows.

    Their weights sum to 1; the key itself comes first.
    """
    ids, closed = cut.document.ids, ~cut.compatible[np.ix_(members, members)]
    weighted = [(cut.labels, 1.0)]
    weighted += [(cells.labels(ids), weight) for cells, weight in cut.document.alternatives]
    shares: dict[tuple[int, ...], float] = {}
    for labels, weight in weighted:
        row = restricted_growth(labels[members].tolist())
        if not (closed & (row[:, None] == row[None, :])).any():
            shares[tuple(row.tolist())] = shares.get(tuple(row.tolist()), 0.0) + weight
    weights = np.array(list(shares.values()), dtype=np.float64)
    rows = np.array(list(shares), dtype=np.int64).reshape(len(shares), len(members))
    return rows, weights / weights.sum() if len(weights) else weights


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
        part = replace(part, scaled=_held_out_scale(around, halves, base, prior))
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
    around: ScaledParameters, halves: _Halves, base: FloatArray, prior: KeyPrior
) -> ScaledParameters:
    """Fit scale and bias to held-out log-odds: on the keys that gave the weights, any scale is too
    small."""
    if halves is None:
        return around
    likelihood, odds = _held_out(halves, base, prior)
    if not len(odds):
        return around
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


def open_pair_matrix(key: Lesson, model: MaximumEntropy, codes: Codes) -> FloatArray:
    """Return pair probabilities from the codes of open pairs; 0 for incompatible ones."""
    p = probability(pair_log_odds(codes, model.characteristics, model.weights))
    matrix = np.eye(len(key.cut.labels))
    matrix[key.open.left, key.open.right] = matrix[key.open.right, key.open.left] = p
    return matrix


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


WORK = {"merging": 300_000}  # questions to the merger; of all others sweeps over a large set
USUAL = 300


@dataclass(frozen=True, slots=True, eq=False)
class KeyAnswer:
    """One key by one model: its bits, and the marginals of its open pairs beside the truth.

    `probability` is that of the key among the configurations that knowledge allows.
    """

    message: str
    templates: int
    bits: float
    probability: float
    stated: FloatArray
    observed: NDArray[np.bool_]


def key_answer(key: Lesson, learned: PairParameters, model: str, seed: int = 0) -> KeyAnswer:
    """Return the bits of a key under some parameters; as `measure`, without draws."""
    cut, counts = key.cut, UniformPosteriors(_budget("uniform"), seed)
    spent, n, log_probability = 0.0, len(cut.labels), -math.inf if cut.crosses else 0.0
    stated = np.zeros((n, n))
    for members in cut.sets:
        posterior = _posterior(key, members, learned, model, counts)
        spent += _set_bits(key, members, posterior, learned.excluded, counts)
        if not cut.broken(members):
            row = restricted_growth(cut.labels[members].tolist())
            log_probability += posterior.log_weight(row) - posterior.log_normaliser.value
        else:
            log_probability = -math.inf
        stated[np.ix_(members, members)] = posterior.pairs().value
    sizes = [len(members) for members in cut.sets]
    spent = document_bits(n, sizes, spent, cut.crosses, learned.crossing)
    inside = np.clip(stated[key.open.left, key.open.right], 0.0, 1.0)
    probability = min(math.exp(min(log_probability, 0.0)), 1.0)
    return KeyAnswer(cut.document.name, n, spent, probability, inside, key.open.yes)


def _posterior(
    key: Lesson, members: IntArray, learned: PairParameters, model: str, counts: UniformPosteriors
) -> Posterior:
    cut = key.cut
    if model == "uniform":
        return counts.uniform(cut, members)
    if model == "greedy":
        return Greedy(counts, learned.greedy).posterior(cut, members)
    pairs = learned.pair_model(training_of(model))
    matrix = open_pair_matrix(key, pairs, key.by_merger if model == "merging" else key.pairs)
    parameters = getattr(learned, model) if model in ("scaled", "forest") else None
    fitted = FittedPairModel(
        model, pairs, parameters, _budget(model), counts.seed, kept={cut: matrix}
    )
    return fitted.posterior(cut, members)


def _set_bits(
    lesson: Lesson,
    members: IntArray,
    posterior: Posterior,
    excluded: float,
    counts: UniformPosteriors,
) -> float:
    mass = excluded if lesson.cut.open(members) else 0.0
    rows, weights = weighted_rows(lesson.cut, members)
    if not len(rows):
        return excluded_bits(len(members), counts.log2(lesson.cut, members), mass)
    total = posterior.log_normaliser.value
    each = [allowed_bits(posterior.log_weight(row) - total, mass) for row in rows]
    return float(weights @ each)


def _budget(model: str) -> Budget:
    return Budget(work=WORK.get(model, USUAL))


SAMPLE_SIZE = 200  # sets compared at most: an even sample of a long run is as good and fast


def set_gains(
    sets: Sequence[CoreferenceSet],
    parameters: PairParameters,
    keyed: Collection[str] = (),
    *,
    schema: Schema | None = None,
    limit: int = 10,
) -> list[tuple[str, float]]:
    """Return the sets to key next, best first, each with its gain.

    The gain is the expected reduction in bits over all sets once the set has a key. For a set of
    more than ten templates it is per ten templates, as many as a person places at a time.

    `sets` are all sets of a run, `keyed` the names of those that have a key, `parameters` the
    latest there are. Sets without open pairs are left out. The ranking uses the model of
    merging questions whatever the model of the run: docs/keys.md has the study.
    """
    model = parameters.questions
    labelled = [one for one in sets if one.name in keyed]
    rest = _sample([one for one in sets if one.name not in keyed])
    pairs = [_open_pairs(one, model, schema) for one in (*labelled, *rest)]
    sizes = [len(one.values) for one in model.characteristics]
    described = key_information(pairs, model.weights, sizes)
    gains = choose(described, range(len(labelled)), PRECISION, limit)
    return [(rest[place - len(labelled)].name, gain) for place, gain in gains]


def _open_pairs(one: CoreferenceSet, model: MaximumEntropy, schema: Schema | None) -> OpenPairs:
    """Return the pairs of a set that a key decides: neither incompatible nor certain."""
    allowed, place = compatible_pairs(one), {name: n for n, name in enumerate(one.ids)}
    columns = template_columns(one.templates, schema=schema, compatible=allowed)
    undecided = np.triu(allowed, 1)
    for ends in one.must:
        undecided[tuple(sorted(place[name] for name in ends))] = False
    left, right = np.nonzero(undecided)
    return OpenPairs(model.codes(columns, left, right), left, right, len(one))


def _sample(sets: list[CoreferenceSet]) -> list[CoreferenceSet]:
    if len(sets) <= SAMPLE_SIZE:
        return sets
    return [sets[n] for n in np.linspace(0, len(sets) - 1, SAMPLE_SIZE).astype(int).tolist()]
