"""Train with few keys, and measure learning curves."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations import PAIR_MODELS
from partita.configurations.greedy import GreedyParameters, GreedyPosterior, greedy_labels
from partita.configurations.odds import ScaledParameters
from partita.errors import InputError
from partita.evaluation.bits import allowed_bits, excluded_bits, log2_bell
from partita.evaluation.calibration import bootstrap
from partita.evaluation.models import Counts, FittedPairModel
from partita.evaluation.splits import Cut
from partita.pairs.characteristics import log_odds
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy, probability
from partita.records import Budget, FloatArray, IntArray, Posterior, restricted_growth
from partita.training.maxent import Codes, adapt, bits, contexts
from partita.training.pair_models import LabelledPairs, every_pair, merging_questions
from partita.training.pair_parameters import PairParameters, training_of
from partita.training.set_models import fit_scale

PRECISION = 5.0  # of the prior around what is there: with 1 to 40 keys of depots 3 to 10 were best
BEFORE = 10.0  # sets that a share which is there counts for
DIGITS = 6  # what is beyond them differs between machines, and tells nothing


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """A keyed set, observed once.

    The codes of its open pairs, for the pair model of every pair and for that of the merger's
    questions; the places of these pairs and whether they corefer; which of them the merger asks on
    its way to the key; and a hash of all that.
    """

    cut: Cut
    pairs: Codes
    by_merger: Codes
    open: LabelledPairs
    asked: IntArray
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
    content = (cut.document.name, pairs.tolist(), by_merger.tolist(), open_pairs.yes.tolist())
    digest = hashlib.sha256(repr(content).encode()).hexdigest()
    return Lesson(cut, pairs, by_merger, open_pairs, on_path, digest)


def adapt_parameters(
    start: PairParameters,
    lessons: Sequence[Lesson],
    learned_from: str = "",
    precision: float = PRECISION,
) -> PairParameters:
    """Return the parameters that some keys give; unchanged without keys."""
    if not lessons:
        return start
    digest = _digest(start, lessons)
    every = _weights(start.every_pair, [(key.pairs, key.open.yes) for key in lessons], precision)
    questions = _weights(start.questions, [key.questions for key in lessons], precision)
    cuts = [key.cut for key in lessons]
    return replace(
        start,
        every_pair=replace(every, learned_from=learned_from, sha256=digest),
        questions=replace(questions, learned_from=learned_from, sha256=digest),
        greedy=_greedy(start.greedy, cuts),
        scaled=_fit_scale(start.scaled, lessons, every),
        excluded=_excluded_share(start.excluded, cuts),
        learned_from=learned_from,
        sha256=digest,
        figures={
            "documents": len({cut.document.name for cut in cuts}),
            "templates": sum(len(cut.labels) for cut in cuts),
            "sets": sum(len(cut.sets) for cut in cuts),
        },
    )


def pair_probabilities(key: Lesson, model: MaximumEntropy, codes: Codes) -> FloatArray:
    """Return pair probabilities from the codes of open pairs; 0 for incompatible ones."""
    p = probability(log_odds(codes, model.characteristics, model.weights))
    matrix = np.eye(len(key.cut.labels))
    matrix[key.open.left, key.open.right] = matrix[key.open.right, key.open.left] = p
    return matrix


def _weights(
    model: MaximumEntropy,
    observed: Sequence[tuple[Codes, NDArray[np.bool_]]],
    precision: float,
) -> MaximumEntropy:
    sizes = [len(characteristic.values) for characteristic in model.characteristics]
    codes, yes = (np.concatenate(side) for side in zip(*observed, strict=True))
    training = contexts(codes, yes, sizes)
    weights = adapt(training, model.weights, precision).round(DIGITS)
    spent = round(bits(training, weights), DIGITS)
    figures = {"pairs": len(yes), "bits_per_pair": spent, "precision": precision}
    return replace(model, weights=weights, figures=figures)


def _greedy(start: GreedyParameters, cuts: Sequence[Cut]) -> GreedyParameters:
    right = {2: [0.0, 0.0], 3: [0.0, 0.0], 4: [0.0, 0.0]}
    for cut in cuts:
        for members in cut.sets:
            inside = np.ix_(members, members)
            labels = greedy_labels(cut.compatible[inside])
            tally = right[min(len(members), 4)]
            tally[0] += np.array_equal(labels[:, None] == labels[None, :], cut.joined[inside])
            tally[1] += 1
    shares = zip((start.p2, start.p3, start.p_more), right.values(), strict=True)
    return GreedyParameters(*(_share(before, *tally) for before, tally in shares))


def _fit_scale(
    start: ScaledParameters, lessons: Sequence[Lesson], model: MaximumEntropy
) -> ScaledParameters:
    """Fit on log-odds that are scaled as before, so that no change is (1, 0)."""
    sets = []
    for key in lessons:
        p = pair_probabilities(key, model, key.pairs)
        theta = np.where(
            (p > 0) & (p < 1), np.log(np.clip(p, 1e-12, 1)) - np.log1p(-p * (p < 1)), 0
        )
        again = np.where(p > 0, probability(start.scale * theta + start.bias), 0.0)
        np.fill_diagonal(again, 1.0)
        for members in key.cut.sets:
            sets.append((again[np.ix_(members, members)], key.cut.labels[members]))
    if not sets:
        return start
    learned = fit_scale(sets)
    scale, bias = learned.scale * start.scale, learned.scale * start.bias + learned.bias
    return ScaledParameters(round(scale, DIGITS), round(bias, DIGITS))


def _excluded_share(before: float, cuts: Sequence[Cut]) -> float:
    open_sets = [(cut, members) for cut in cuts for members in cut.sets if cut.open(members)]
    return _share(before, sum(cut.broken(members) for cut, members in open_sets), len(open_sets))


def _share(before: float, count: float, of: float) -> float:
    return round((before * BEFORE + count) / (BEFORE + of), DIGITS)


def _digest(start: PairParameters, lessons: Sequence[Lesson]) -> str:
    """Return a digest of the previous parameters and of all keys, in order."""
    parts = (start.sha256, *(key.sha256 for key in lessons))
    return hashlib.sha256("".join(parts).encode()).hexdigest()


FOLDS = 5
NUMBERS = (0, 1, 2, 5, 10, 20, 40, 80, 160, 320)
WORK = {"merging": 300_000}  # questions to the merger; of all others sweeps over a large set
USUAL = 300
TIMES = 500  # samples of messages for an interval


@dataclass(frozen=True, slots=True, eq=False)
class KeyAnswer:
    """One key by one model: its bits, and the marginals of its open pairs beside the truth."""

    message: str
    templates: int
    bits: float
    stated: FloatArray
    observed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """A point of a learning curve: bits per template of the held-out keys after so many keys.

    The interval of 95 % is over messages; `answers` are those of each held-out key.
    """

    keys: int
    bits: float
    low: float
    high: float
    answers: tuple[KeyAnswer, ...]


def answer(key: Lesson, learned: PairParameters, model: str, seed: int = 0) -> KeyAnswer:
    """Return the bits of a key under some parameters; as `measure`, without draws."""
    cut, counts = key.cut, Counts(_budget("uniform"), seed)
    spent, n = 0.0, len(cut.labels)
    stated = np.zeros((n, n))
    for members in cut.sets:
        posterior = _posterior(key, members, learned, model, counts)
        spent += _set_bits(key, members, posterior, learned.excluded, counts)
        stated[np.ix_(members, members)] = posterior.pairs().value
    if cut.crosses:
        spent = excluded_bits(n, sum(log2_bell(len(m)) for m in cut.sets), learned.crossing)
    elif n > 1 and not any(len(members) == n for members in cut.sets):
        spent -= math.log2(1 - learned.crossing)
    inside = np.clip(stated[key.open.left, key.open.right], 0.0, 1.0)
    return KeyAnswer(cut.document.name, n, spent, inside, key.open.yes)


def learning_curve(
    lessons: Sequence[Lesson], start: PairParameters, model: str = "evidential", seed: int = 0
) -> tuple[Point, ...]:
    """Return the learning curve over keys in the order in which they were written.

    The point at 0 is that of the previous parameters; with keys of one message it is the only one.
    """
    if model not in PAIR_MODELS:
        raise InputError(
            f"model {model} learns no pairs from keys; expected {', '.join(PAIR_MODELS)}"
        )
    folds = _folds(lessons, seed)
    if not lessons:
        return ()
    taught = [[key for key, f in zip(lessons, folds, strict=True) if f != away] for away in folds]
    last = min(map(len, taught))
    numbers = sorted({*(k for k in NUMBERS if k < last), last})
    return tuple(_point(k, lessons, folds, start, model, seed) for k in numbers)


def _point(
    k: int,
    lessons: Sequence[Lesson],
    folds: Sequence[int],
    start: PairParameters,
    model: str,
    seed: int,
) -> Point:
    learned = {}
    for away in sorted(set(folds)):
        others = [key for key, fold in zip(lessons, folds, strict=True) if fold != away]
        learned[away] = adapt_parameters(start, others[:k])
    answers = tuple(
        answer(key, learned[fold], model, seed) for key, fold in zip(lessons, folds, strict=True)
    )
    low, high = _interval(answers, seed)
    return Point(k, _bits(answers), low, high, answers)


def _bits(answers: Sequence[KeyAnswer]) -> float:
    return math.fsum(answered.bits for answered in answers) / max(
        sum(answered.templates for answered in answers), 1
    )


def _interval(answers: Sequence[KeyAnswer], seed: int) -> tuple[float, float]:
    """Return the interval over messages, whose keys are drawn together."""
    groups: dict[str, list[KeyAnswer]] = {}
    for answered in answers:
        groups.setdefault(answered.message, []).append(answered)

    def figure(sample: Sequence[list[KeyAnswer]]) -> float:
        return _bits([answered for group in sample for answered in group])

    rng = np.random.default_rng(seed)
    interval = bootstrap(list(groups.values()), figure, rng, times=TIMES)
    return interval.low, interval.high


def _folds(lessons: Sequence[Lesson], seed: int) -> list[int]:
    """Return the fold of each key; few messages are left out one at a time."""
    names = list(dict.fromkeys(key.cut.document.name for key in lessons))
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[n]: place % FOLDS for place, n in enumerate(order.tolist())}
    return [fold[key.cut.document.name] for key in lessons]


def _posterior(
    key: Lesson, members: IntArray, learned: PairParameters, model: str, counts: Counts
) -> Posterior:
    cut = key.cut
    if model == "uniform":
        return counts.uniform(cut, members)
    if model == "greedy":
        labels = greedy_labels(cut.compatible[np.ix_(members, members)])
        share = learned.greedy.share(len(members))
        return GreedyPosterior(labels, share, counts.uniform(cut, members))
    pairs = learned.pair_model(training_of(model))
    matrix = pair_probabilities(key, pairs, key.by_merger if model == "merging" else key.pairs)
    scaled = learned.scaled if model == "scaled" else None
    fitted = FittedPairModel(model, pairs, scaled, _budget(model), counts.seed, kept={cut: matrix})
    return fitted.posterior(cut, members)


def _set_bits(
    lesson: Lesson, members: IntArray, posterior: Posterior, excluded: float, counts: Counts
) -> float:
    mass = excluded if lesson.cut.open(members) else 0.0
    if lesson.cut.broken(members):
        return excluded_bits(len(members), counts.log2(lesson.cut, members), mass)
    key = restricted_growth(lesson.cut.labels[members].tolist())
    return allowed_bits(posterior.log_weight(key) - posterior.log_normaliser.value, mass)


def _budget(model: str) -> Budget:
    return Budget(work=WORK.get(model, USUAL))
