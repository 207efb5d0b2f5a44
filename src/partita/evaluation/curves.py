"""Learning curves: bits of keys that were held out, by how many others were learned from.

Messages are parted into folds, never keys of one message. For every number k each key is predicted
once, by parameters learned from the first k keys of the other folds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.greedy import GreedyPosterior, greedy_labels
from partita.errors import InputError
from partita.evaluation.adapted import Lesson, adapted, pair_probabilities
from partita.evaluation.bits import allowed_bits, excluded_bits, log2_bell
from partita.evaluation.bootstrap import bootstrap
from partita.evaluation.set_models import Counts, PairFitted
from partita.learning.pair_parameters import PairParameters, training_of
from partita.records import Budget, FloatArray, IntArray, Posterior, restricted_growth

FOLDS = 5
NUMBERS = (0, 1, 2, 5, 10, 20, 40, 80, 160, 320)
MODELS = ("uniform", "greedy", "merging", "evidential", "scaled")
WORK = {"merging": 300_000}  # questions to the merger; of all others sweeps over a large set
USUAL = 300
TIMES = 500  # samples of messages for an interval


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """One key by one model: its bits, and the marginals of its open pairs beside the truth."""

    message: str
    templates: int
    bits: float
    stated: FloatArray
    observed: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """After so many keys: bits per template of keys held out, with an interval of 95 % over
    messages, and how each of them was answered."""

    keys: int
    bits: float
    low: float
    high: float
    answers: tuple[Answered, ...]


def answer(one: Lesson, learned: PairParameters, model: str, seed: int = 0) -> Answered:
    """What a key costs under some parameters; as `measure`, without what is drawn."""
    cut, counts = one.cut, Counts(_budget("uniform"), seed)
    spent, n = 0.0, len(cut.labels)
    stated = np.zeros((n, n))
    for members in cut.sets:
        found = _posterior(one, members, learned, model, counts)
        spent += _set_bits(one, members, found, learned.excluded, counts)
        stated[np.ix_(members, members)] = found.pairs().value
    if cut.crosses:
        spent = excluded_bits(n, sum(log2_bell(len(m)) for m in cut.sets), learned.crossing)
    elif n > 1 and not any(len(members) == n for members in cut.sets):
        spent -= math.log2(1 - learned.crossing)
    inside = np.clip(stated[one.open.left, one.open.right], 0.0, 1.0)
    return Answered(cut.document.name, n, spent, inside, one.open.yes)


def learning_curve(
    lessons: Sequence[Lesson], start: PairParameters, model: str = "evidential", seed: int = 0
) -> tuple[Point, ...]:
    """Keys in the order in which they were written; the point at 0 is of the parameters that are
    there, and with keys of one message it is the only one."""
    if model not in MODELS:
        raise InputError(f"model {model} learns no pairs from keys; expected {', '.join(MODELS)}")
    folds = _folds(lessons, seed)
    if not lessons:
        return ()
    taught = [[one for one, f in zip(lessons, folds, strict=True) if f != away] for away in folds]
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
        others = [one for one, fold in zip(lessons, folds, strict=True) if fold != away]
        learned[away] = adapted(start, others[:k])
    answers = tuple(
        answer(one, learned[fold], model, seed) for one, fold in zip(lessons, folds, strict=True)
    )
    low, high = _interval(answers, seed)
    return Point(k, _bits(answers), low, high, answers)


def _bits(answers: Sequence[Answered]) -> float:
    return math.fsum(one.bits for one in answers) / max(sum(one.templates for one in answers), 1)


def _interval(answers: Sequence[Answered], seed: int) -> tuple[float, float]:
    """Over messages, whose keys are drawn together."""
    groups: dict[str, list[Answered]] = {}
    for one in answers:
        groups.setdefault(one.message, []).append(one)

    def figure(drawn: Sequence[list[Answered]]) -> float:
        return _bits([one for group in drawn for one in group])

    rng = np.random.default_rng(seed)
    found = bootstrap(list(groups.values()), figure, rng, times=TIMES)
    return found.low, found.high


def _folds(lessons: Sequence[Lesson], seed: int) -> list[int]:
    """The fold of each key; few messages are left out one at a time."""
    names = list(dict.fromkeys(one.cut.document.name for one in lessons))
    order = np.random.default_rng(seed).permutation(len(names))
    fold = {names[n]: place % FOLDS for place, n in enumerate(order.tolist())}
    return [fold[one.cut.document.name] for one in lessons]


def _posterior(
    one: Lesson, members: IntArray, learned: PairParameters, model: str, counts: Counts
) -> Posterior:
    cut = one.cut
    if model == "uniform":
        return counts.uniform(cut, members)
    if model == "greedy":
        labels = greedy_labels(cut.compatible[np.ix_(members, members)])
        share = learned.greedy.share(len(members))
        return GreedyPosterior(labels, share, counts.uniform(cut, members))
    pairs = learned.pair_model(training_of(model))
    matrix = pair_probabilities(one, pairs, one.by_merger if model == "merging" else one.pairs)
    scaled = learned.scaled if model == "scaled" else None
    fitted = PairFitted(model, pairs, scaled, _budget(model), counts.seed, kept={cut: matrix})
    return fitted.posterior(cut, members)


def _set_bits(
    one: Lesson, members: IntArray, found: Posterior, excluded: float, counts: Counts
) -> float:
    mass = excluded if one.cut.open(members) else 0.0
    if one.cut.broken(members):
        return excluded_bits(len(members), counts.log2(one.cut, members), mass)
    key = restricted_growth(one.cut.labels[members].tolist())
    return allowed_bits(found.log_weight(key) - found.log_normaliser.value, mass)


def _budget(model: str) -> Budget:
    return Budget(work=WORK.get(model, USUAL))
