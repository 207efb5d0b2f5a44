"""Study which sets to label first."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.exact.tables import PairWeights, SubsetTables
from partita.configurations.greedy import GreedyParameters
from partita.configurations.odds import ScaledParameters
from partita.core import FloatArray
from partita.errors import InputError
from partita.evaluation.learning_curves import PRECISION, Lesson, lesson, sizes_of
from partita.evaluation.models import part
from partita.evaluation.splits import Cut, cut
from partita.pairs.characteristics import characters, offsets, pairs_of, quintiles
from partita.pairs.columns import template_columns
from partita.pairs.extended import EXTENDED
from partita.pairs.models import MaximumEntropy
from partita.pairs.readings import Column
from partita.training.label_choice import RULES, OpenPairs, Pool, choose_by_rule, feature_indices
from partita.training.maxent import Codes, adapt, contexts, loss
from partita.training.pair_models import every_pair
from partita.training.pair_parameters import PairParameters


def small_sets(documents: Iterable[Cut], largest: int) -> Iterator[Cut]:
    """Yield every set of at most `largest` templates with something to decide.

    A set whose key contradicts what is known is left out: no choice of keys can teach it.
    """
    for document in documents:
        for members in document.sets:
            for chunk in np.array_split(members, -(-len(members) // largest)):
                piece = cut(part(document.document, chunk), document.schema)
                if piece.sets and not piece.crosses and not any(map(piece.broken, piece.sets)):
                    yield piece


def untrained_parameters(sets: Sequence[Cut]) -> PairParameters:
    """Return parameters with weights of 0, and classes of distance, which need no keys."""
    cutoffs = quintiles(map(_distances, sets))
    even = MaximumEntropy(EXTENDED, np.zeros(int(offsets(EXTENDED)[-1])), cutoffs)
    greedy = GreedyParameters(0.5, 0.5, 0.5)
    return PairParameters(even, even, greedy, ScaledParameters(1.0, 0.0), 0.05, 0.05)


def _distances(document: Cut) -> Column:
    observed = template_columns(
        document.document.templates, schema=document.schema, compatible=document.compatible
    )
    questions = every_pair(document.labels, document.compatible)
    return characters(pairs_of(observed, questions.left, questions.right, ()))


Seen = Sequence[tuple[Codes, NDArray[np.bool_]]]
MODELS = ("merging", "evidential")


def merging_weights(keys: Sequence[Lesson], start: PairParameters) -> FloatArray:
    """Learn weights from the questions on the way to some keys."""
    return _weights(start.questions, [key.questions for key in keys])


def held_out_bits(
    keys: Sequence[Lesson], held: Sequence[Lesson], start: PairParameters
) -> dict[str, float]:
    """Return bits per template of the held-out keys, with parameters from the other keys."""
    question_weights, every = (
        merging_weights(keys, start),
        [(key.pairs, key.open.yes) for key in keys],
    )
    weights, sizes = _weights(start.every_pair, every), sizes_of(start.every_pair)
    spent = (
        _merging_bits(held, question_weights, sizes_of(start.questions)),
        math.fsum(evidential_bits(key, weights, sizes) for key in held),
    )
    templates = sum(len(key.cut.labels) for key in held)
    return {model: each / templates for model, each in zip(MODELS, spent, strict=True)}


def evidential_bits(key: Lesson, weights: FloatArray, sizes: Sequence[int]) -> float:
    """Return the bits of one key that knowledge does not exclude."""
    scores = weights[feature_indices(key.pairs, sizes)].sum(axis=1)
    theta = np.full(key.cut.compatible.shape, -np.inf)
    np.fill_diagonal(theta, 0.0)
    theta[key.open.left, key.open.right] = theta[key.open.right, key.open.left] = scores
    return (
        SubsetTables(PairWeights(theta)).log_total - float(scores[key.open.yes].sum())
    ) / math.log(2)


def _weights(model: MaximumEntropy, seen: Seen) -> FloatArray:
    codes, yes = (np.concatenate(side) for side in zip(*seen, strict=True))
    return adapt(contexts(codes, yes, sizes_of(model)), model.weights, PRECISION)


def _merging_bits(held: Sequence[Lesson], weights: FloatArray, sizes: Sequence[int]) -> float:
    codes, yes = (np.concatenate(side) for side in zip(*(o.questions for o in held), strict=True))
    questions = contexts(codes, yes, sizes)
    return loss(questions, questions.scores(weights)) / math.log(2)


Progress = Callable[[str], None]
LEVEL = 0.95
CHANCE = "random"
BY = ("keys", "templates")


@dataclass(frozen=True, slots=True)
class Design:
    """The design of a study.

    Sets in a pool, sets held out, keys at first, the numbers of keys to measure after, runs, rules.
    """

    pool: int = 120
    held: int = 150
    first: int = 2
    numbers: tuple[int, ...] = (5, 10, 20, 40)
    runs: int = 20
    seed: int = 0
    rules: tuple[str, ...] = RULES


@dataclass(frozen=True, slots=True)
class RuleMeasure:
    """One rule in one run: bits per template of the held-out keys, by model.

    Measured after so many keys, or after as many templates as that many keys have on average, with
    the number of keys by then.
    """

    run: int
    rule: str
    by: str
    number: int
    keys: int
    templates: int
    bits: dict[str, float]


@dataclass(frozen=True, slots=True)
class RuleComparison:
    """One rule over all runs, and its difference to chance with an interval of 95 %."""

    model: str
    by: str
    rule: str
    number: int
    bits: float
    difference: float
    low: float
    high: float
    keys: float
    templates: float


def run_study(
    sets: Sequence[Cut], start: PairParameters, design: Design, progress: Progress
) -> list[RuleMeasure]:
    """Run the study: a third of the documents is held out, the pool is drawn from the others."""
    lessons: dict[int, Lesson] = {}

    def observed(places: Iterable[int]) -> list[Lesson]:
        chosen = list(places)
        for n in chosen:
            if n not in lessons:
                lessons[n] = lesson(sets[n], start)
        return [lessons[n] for n in chosen]

    measures: list[RuleMeasure] = []
    for run in range(design.runs):
        pool, held = map(
            observed, _pool_and_held_out(sets, design, np.random.default_rng([design.seed, run]))
        )
        for rule in design.rules:
            progress(f"run {run + 1} of {design.runs}: {rule}")
            order = _labelling_order(rule, pool, start, design, run)
            measures += _measure_rule(
                run, rule, [pool[n] for n in order], pool, held, start, design
            )
    return measures


def _pool_and_held_out(
    sets: Sequence[Cut], design: Design, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Return places of the sets of the pool and of those held out, never of one document."""
    names = sorted({document.document.name for document in sets})
    away = {names[n] for n in rng.permutation(len(names))[: len(names) // 3].tolist()}
    order = rng.permutation(len(sets)).tolist()
    pool = [n for n in order if sets[n].document.name not in away][: design.pool]
    held = [n for n in order if sets[n].document.name in away][: design.held]
    if len(pool) <= max(design.numbers) or not held:
        expected = f"more than {max(design.numbers)}, and documents beside them to measure on"
        raise InputError(f"the corpus has {len(pool)} sets to key; expected {expected}")
    return pool, held


def _budgets(pool: Sequence[Lesson], design: Design) -> dict[int, int]:
    """Return the average number of templates of each number of keys."""
    mean = float(np.mean([len(key.cut.labels) for key in pool]))
    return {number: round(number * mean) for number in design.numbers}


def _labelling_order(
    rule: str, pool: Sequence[Lesson], start: PairParameters, design: Design, run: int
) -> list[int]:
    """Return the order in which a rule takes the pool, as far as anything is measured."""
    pairs = [
        OpenPairs(key.by_merger, key.open.left, key.open.right, len(key.cut.labels)) for key in pool
    ]
    last, most = max(design.numbers), max(_budgets(pool, design).values())

    def learn(chosen: Sequence[int]) -> FloatArray:
        return merging_weights([pool[n] for n in chosen], start)

    def enough(chosen: Sequence[int]) -> bool:
        return len(chosen) >= last and sum(pairs[n].templates for n in chosen) >= most

    choices = Pool(pairs, sizes_of(start.questions), PRECISION, learn)
    luck = np.random.default_rng([design.seed, run, 1])
    return choose_by_rule(rule, choices, range(design.first), enough, luck)


def _measure_rule(
    run: int,
    rule: str,
    keys: Sequence[Lesson],
    pool: Sequence[Lesson],
    held: Sequence[Lesson],
    start: PairParameters,
    design: Design,
) -> Iterator[RuleMeasure]:
    """Measure the parameters from the first of these keys."""
    spent = np.cumsum([len(total.cut.labels) for total in keys]).tolist()
    bits: dict[int, dict[str, float]] = {}
    for number, budget in _budgets(pool, design).items():
        within = max(design.first, sum(total <= budget for total in spent))
        for by, count in zip(BY, (number, within), strict=True):
            if count not in bits:
                bits[count] = held_out_bits(keys[:count], held, start)
            yield RuleMeasure(run, rule, by, number, count, spent[count - 1], bits[count])


def compare_rules(measures: Sequence[RuleMeasure]) -> list[RuleComparison]:
    """Compare every rule with chance, run by run."""
    rows: dict[tuple[str, str, int], list[RuleMeasure]] = {}
    for measure in measures:
        rows.setdefault((measure.by, measure.rule, measure.number), []).append(measure)
    return [
        _compare_rule(model, group, rows[by, CHANCE, number])
        for model in MODELS
        for (by, _, number), group in sorted(rows.items(), key=lambda row: BY.index(row[0][0]))
    ]


def _compare_rule(
    model: str, group: Sequence[RuleMeasure], chance: Sequence[RuleMeasure]
) -> RuleComparison:
    first = group[0]
    mine, other = (np.array([measure.bits[model] for measure in side]) for side in (group, chance))
    low, high = paired_interval(mine - other)
    return RuleComparison(
        model,
        first.by,
        first.rule,
        first.number,
        float(mine.mean()),
        float((mine - other).mean()),
        low,
        high,
        float(np.mean([measure.keys for measure in group])),
        float(np.mean([measure.templates for measure in group])),
    )


def paired_interval(differences: FloatArray, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of their mean, by Student's t."""
    from scipy.special import stdtrit

    n, mean = len(differences), float(differences.mean())
    if n < 2:
        return mean, mean
    half = float(stdtrit(n - 1, (1 + level) / 2) * differences.std(ddof=1) / np.sqrt(n))
    return mean - half, mean + half
