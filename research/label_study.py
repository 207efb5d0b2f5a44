"""Study which sets to label first."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.configurations.exact.tables import PairWeights, SubsetTables
from partita.configurations.odds import ScaledParameters
from partita.configurations.pair_models import GreedyParameters
from partita.core import FloatArray
from partita.corpora.documents import read_documents
from partita.domains import schema_of
from partita.errors import InputError
from partita.evaluation.models import part
from partita.evaluation.rows import table
from partita.evaluation.splits import Cut, cut_document
from partita.pairs.characteristics import EXTENDED, characters, feature_offsets, pairs_of, quintiles
from partita.pairs.columns import Column, template_columns
from partita.pairs.models import MaximumEntropy
from partita.training.few_keys import PRECISION, Lesson, lesson, sizes_of
from partita.training.label_choice import (
    KeyInformation,
    OpenPairs,
    expected_saving,
    feature_indices,
    information,
    inverse_with_keys,
    key_information,
    probabilities,
    question_probabilities,
    total_information,
    update_inverse,
    weighted_covariance,
)
from partita.training.maxent import Codes, Contexts, Regression, contexts, loss
from partita.training.pair_models import every_pair
from partita.training.parameter_files import PairParameters, shipped_pair_parameters
from partita.views.charts import altair, coloured, save


def small_sets(documents: Iterable[Cut], largest: int) -> Iterator[Cut]:
    """Yield every set of at most `largest` templates with something to decide.

    A set whose key contradicts what is known is left out: no choice of keys can teach it.
    """
    for document in documents:
        for members in document.sets:
            for chunk in np.array_split(members, -(-len(members) // largest)):
                piece = cut_document(part(document.document, chunk), document.schema)
                if piece.sets and not piece.crosses and not any(map(piece.broken, piece.sets)):
                    yield piece


def untrained_parameters(sets: Sequence[Cut]) -> PairParameters:
    """Return parameters with weights of 0, and classes of distance, which need no keys."""
    cutoffs = quintiles(map(_distances, sets))
    even = MaximumEntropy(EXTENDED, np.zeros(int(feature_offsets(EXTENDED)[-1])), cutoffs)
    greedy = GreedyParameters(0.5, 0.5, 0.5)
    return PairParameters(even, even, greedy, ScaledParameters(1.0, 0.0), 0.05, 0.05)


def _distances(document: Cut) -> Column:
    observed = template_columns(
        document.document.templates, schema=document.schema, compatible=document.compatible
    )
    questions = every_pair(document.labels, document.compatible)
    return characters(pairs_of(observed, questions.left, questions.right, ()))


def adapt(sample: Contexts, around: FloatArray, precision: float) -> FloatArray:
    """Return weights under a prior around other weights: less precision·|λ − λ₀|²/2.

    A feature that no pair has keeps the weight that it had, and answers of one kind alone are
    allowed.
    """
    seen = np.flatnonzero(sample.totals(sample.count) > 0)
    table, offset = sample.table(seen), sample.scores(around)
    rows = Regression(table, sample.count, sample.yes, precision, offset)
    weights = around.copy()
    weights[seen] += rows.newton(np.zeros(len(seen)))
    return weights


def entropy(pairs: OpenPairs, weights: FloatArray, sizes: Sequence[int]) -> float:
    """Return the joint entropy of the merger's answers in bits."""
    p = probabilities(pairs, weights, sizes)
    inside = np.clip(p, 1e-15, 1 - 1e-15)
    each = -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))
    return float(question_probabilities(pairs, p) @ each)


PER_TEMPLATE = " per template"
RULES = (
    "random",
    "longest",
    "entropy",
    f"entropy{PER_TEMPLATE}",
    "information",
    f"information{PER_TEMPLATE}",
    "saved",
    f"saved{PER_TEMPLATE}",
)

Learn = Callable[[Sequence[int]], FloatArray]
Enough = Callable[[Sequence[int]], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Sets that can be labelled, the sizes of their characteristics, the precision of the prior,
    and a function that fits weights to some keys."""

    sets: Sequence[OpenPairs]
    sizes: tuple[int, ...]
    precision: float
    learn: Learn


@dataclass(frozen=True, slots=True, eq=False)
class Uncertainty:
    """The information of each set under the latest weights, and A⁻¹ of the keys so far."""

    keys: list[KeyInformation]
    target: FloatArray
    inverse: FloatArray

    def after(self, place: int) -> Uncertainty:
        return Uncertainty(self.keys, self.target, update_inverse(self.inverse, self.keys[place]))


def choose_by_rule(
    rule: str, pool: Pool, first: Sequence[int], enough: Enough, rng: np.random.Generator
) -> list[int]:
    """Return indices in the order in which a rule chooses them, until it is enough."""
    chosen, random_values = list(first), rng.random(len(pool.sets))
    kind, per_template = rule.removesuffix(PER_TEMPLATE), rule.endswith(PER_TEMPLATE)
    values, uncertainty = random_values, None
    if kind == "longest":
        values = random_values / 2 + [pairs.templates for pairs in pool.sets]
    while not enough(chosen) and len(chosen) < len(pool.sets):
        if kind == "entropy" and refit_due(len(chosen)):
            values = _entropies(pool, pool.learn(chosen))
        elif kind in ("information", "saved"):
            if uncertainty is None or refit_due(len(chosen)):
                uncertainty = _uncertainty(pool, chosen)
            else:
                uncertainty = uncertainty.after(chosen[-1])
            values = _gains(kind, uncertainty)
        chosen.append(_best(values, chosen, pool, per_template))
    return chosen


def refit_due(keys: int) -> bool:
    """Return whether weights are refitted after so many keys: seldom once there are many."""
    return keys <= 10 or keys % (2 if keys <= 20 else 4) == 0


def _entropies(pool: Pool, weights: FloatArray) -> FloatArray:
    return np.array([entropy(pairs, weights, pool.sizes) for pairs in pool.sets])


def _uncertainty(pool: Pool, chosen: Sequence[int]) -> Uncertainty:
    information = key_information(pool.sets, pool.learn(chosen), pool.sizes)
    features = information[0].rows.shape[1]
    inverse = inverse_with_keys((information[n] for n in chosen), features, pool.precision)
    return Uncertainty(information, total_information(information, features), inverse)


def _gains(kind: str, uncertainty: Uncertainty) -> FloatArray:
    if kind == "information":
        return np.array([information(uncertainty.inverse, key) for key in uncertainty.keys])
    spread = weighted_covariance(uncertainty.inverse, uncertainty.target)
    return np.array([expected_saving(uncertainty.inverse, key, spread) for key in uncertainty.keys])


def _best(values: FloatArray, chosen: Sequence[int], pool: Pool, per_template: bool) -> int:
    cost = np.array([pairs.templates for pairs in pool.sets]) if per_template else 1
    score = values / cost
    score[list(chosen)] = -np.inf
    return int(score.argmax())


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
WIDTH, HEIGHT = 300, 200
SIDES = {"keys": "after equal numbers of keys", "templates": "after equal numbers of templates"}


@dataclass(frozen=True, slots=True)
class KeyingDesign:
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
    sets: Sequence[Cut], start: PairParameters, design: KeyingDesign, progress: Progress
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
    sets: Sequence[Cut], design: KeyingDesign, rng: np.random.Generator
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


def _budgets(pool: Sequence[Lesson], design: KeyingDesign) -> dict[int, int]:
    """Return the average number of templates of each number of keys."""
    mean = float(np.mean([len(key.cut.labels) for key in pool]))
    return {number: round(number * mean) for number in design.numbers}


def _labelling_order(
    rule: str, pool: Sequence[Lesson], start: PairParameters, design: KeyingDesign, run: int
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
    design: KeyingDesign,
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


LARGEST = 10  # templates that a person can place at a time


@dataclass(frozen=True, slots=True)
class Plan:
    """A corpus with keys, the largest set to key, and whether to start from shipped parameters."""

    corpora: Sequence[Path]
    source: str | None = None
    largest: int = LARGEST
    shipped: bool = False
    domain: str | None = None
    design: KeyingDesign = field(default_factory=KeyingDesign)


@dataclass(frozen=True, slots=True, eq=False)
class KeyingStudy:
    """The figures of a study, and the size of its corpus."""

    rows: list[RuleComparison]
    design: KeyingDesign
    documents: int
    sets: int
    templates: int
    start: str

    def json(self) -> str:
        report = {
            "documents": self.documents,
            "sets": self.sets,
            "templates": self.templates,
            "start": self.start,
            "design": asdict(self.design),
            "rows": [asdict(one) for one in self.rows],
        }
        return json.dumps(report, ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        """Return a table for each model, by number of keys and by number of templates."""
        mean = self.templates / self.sets
        summary = (
            f"{self.documents} documents, {self.sets:,} sets of {mean:.1f} templates on average; "
            f"{self.design.runs} runs, pools of {self.design.pool} sets, "
            f"{self.design.held} sets of other documents held out; start: {self.start}\n"
        )
        return "\n".join([summary, *(self._table(model, by) for model in MODELS for by in BY)])

    def _table(self, model: str, by: str) -> str:
        rows = [one for one in self.rows if (one.model, one.by) == (model, by)]
        numbers = list(dict.fromkeys(one.number for one in rows))
        words = {"keys": "{} keys", "templates": "as many templates as {} keys have"}[by]
        lines = [
            [rule, *(_cell(one) for one in rows if one.rule == rule)]
            for rule in dict.fromkeys(one.rule for one in rows)
        ]
        head = ["rule", *(words.format(n) for n in numbers)]
        return f"### Bits per template, {model}, by {by}\n\n{table(head, lines)}\n"

    def save_chart(self, path: Path) -> None:
        save(choice_chart(self.rows), path)


def choice_chart(rows: Sequence[RuleComparison]) -> Any:
    """Return a chart of differences to random choice, with 95% intervals; lower is better."""
    alt = altair()
    models = list(dict.fromkeys(one.model for one in rows))
    grid = [
        alt.hconcat(*(_panel(alt, rows, model, by) for by in SIDES)).resolve_scale(y="shared")
        for model in models
    ]
    return coloured(alt.vconcat(*grid).resolve_scale(color="shared"))


def _panel(alt: Any, rows: Sequence[RuleComparison], model: str, by: str) -> Any:
    values = [asdict(one) for one in rows if (one.model, one.by) == (model, by)]
    rules = list(dict.fromkeys(one.rule for one in rows))
    numbers = sorted({one.number for one in rows})
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("number:O", sort=numbers, title="keys", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("rule:N", sort=rules),
        color=alt.Color("rule:N", sort=rules, title="rule"),
    )
    points = base.mark_point(filled=True, size=40).encode(
        y=alt.Y("difference:Q", title="bits per template, difference to random choice")
    )
    ranges = base.mark_rule().encode(y="low:Q", y2="high:Q")
    title = f"{model}, {SIDES[by]}"
    return (ranges + points).properties(title=title, width=WIDTH, height=HEIGHT)


def _cell(one: RuleComparison) -> str:
    if one.rule == CHANCE:
        return f"{one.bits:.3f}"
    return f"{one.bits:.3f} ({one.difference:+.3f}, {one.low:+.3f} to {one.high:+.3f})"


def study(plan: Plan, progress: Progress) -> KeyingStudy:
    """Compare the rules that choose the next set to key on a corpus with keys."""
    if plan.largest < 2:
        raise InputError(f"largest set has {plan.largest} templates (expected at least 2)")
    schema, cuts = schema_of(plan.domain, plan.corpora), []
    for document in read_documents(plan.corpora, plan.source):
        progress(f"reading {document.name}")
        cuts.append(cut_document(document, schema))
    sets = list(small_sets(cuts, plan.largest))
    start = shipped_pair_parameters() if plan.shipped else untrained_parameters(sets)
    rows = compare_rules(run_study(sets, start, plan.design, progress))
    templates = sum(len(one.labels) for one in sets)
    start_text = "the parameters that come with Partita" if plan.shipped else "no parameters"
    return KeyingStudy(rows, plan.design, len(cuts), len(sets), templates, start_text)
