"""Compare methods of merging events on the exam."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from partita.configurations.pair_models import GreedyParameters, GreedyPosterior, greedy_labels
from partita.core import IntArray, Posterior
from partita.evaluation.calibration import Interval, bootstrap
from partita.evaluation.experiment import Experiment, ExperimentEffort, run_experiment
from partita.evaluation.models import (
    Fitted,
    FittedPairModel,
    Greedy,
    Model,
    Uniform,
    UniformPosteriors,
)
from partita.evaluation.rows import markdown, row, sizes_markdown, table
from partita.evaluation.splits import Cut, coverage
from partita.training.pair_models import MergedSets
from partita.training.parameter_files import PairParameters, training_of
from partita_incidents.answers import answer_reading
from partita_incidents.cases import parse_dateline
from partita_incidents.characteristics import compatible_events
from partita_incidents.exam_templates import SCORED, Incident
from partita_incidents.incident_models import IncidentModels
from partita_incidents.merging import (
    MODEL,
    Merge,
    exam_merge,
    merge_all,
    merge_by_model,
    merge_compatible,
)
from partita_incidents.readings import read_story
from partita_incidents.score import Tally as ExamTally
from partita_incidents.score import score
from partita_incidents.stories import Story
from partita_incidents.training import (
    KeyedReading,
    Progress,
    TextModels,
    event_sets,
    keyed_stories,
    train_event_pairs,
    train_text_models,
)
from partita_incidents.training_data import KeyedStory, ReadingExamples

AGREEMENT = "greedy by agreement"
SEPARATED = f"{MODEL}, less merging"
PAIR_MODELS = ("merging", "evidential", MODEL)
EXAM = f"F above {AGREEMENT}"


def event_models(effort: ExperimentEffort, counts: UniformPosteriors) -> tuple[Model, ...]:
    """Return the paper's models over characteristics of events, and two greedy ones."""
    learner = EventLearner(effort.seed)
    return (
        Uniform(counts),
        Greedy(counts),
        GreedyByAgreement(counts),
        *(EventModel(name, learner, effort) for name in PAIR_MODELS),
    )


@dataclass(frozen=True, slots=True, eq=False)
class GreedyByAgreement:
    """Greedy merging; events with different types, days or places are incompatible."""

    counts: UniformPosteriors
    name: str = AGREEMENT

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        tallies = {2: MergedSets(), 3: MergedSets(), 4: MergedSets()}
        for cut in cuts:
            for members in cut.sets:
                labels = greedy_configuration(cut, members)
                joined = cut.joined[np.ix_(members, members)]
                right = np.array_equal(labels[:, None] == labels[None, :], joined)
                tallies[min(len(members), 4)] += right
        shares = GreedyParameters(*(tallies[size].share for size in (2, 3, 4)))
        return AgreementFitted(self.counts, shares)


@dataclass(frozen=True, slots=True, eq=False)
class AgreementFitted:
    """Greedy merging by agreement with fitted shares of correct sets."""

    counts: UniformPosteriors
    parameters: GreedyParameters
    whole: bool = False

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        share = self.parameters.share(len(members))
        return GreedyPosterior(
            greedy_configuration(cut, members), share, self.counts.uniform(cut, members)
        )


def greedy_configuration(cut: Cut, members: IntArray) -> IntArray:
    """Return the labels that greedy merging gives the events of a set."""
    return greedy_labels(compatible_events([cut.document.templates[n] for n in members.tolist()]))


@dataclass(slots=True)
class EventLearner:
    """Parameters of all models over pairs, trained once."""

    seed: int = 0
    cuts: Sequence[Cut] = ()
    parameters: list[PairParameters] = field(default_factory=list)

    def learn(self, cuts: Sequence[Cut]) -> PairParameters:
        if cuts is not self.cuts or not self.parameters:
            self.cuts, self.parameters = cuts, [train_event_pairs(cuts, seed=self.seed)]
        return self.parameters[0]


@dataclass(frozen=True, slots=True, eq=False)
class EventModel:
    """A model of configurations from trained pair probabilities of events."""

    name: str
    learner: EventLearner
    effort: ExperimentEffort

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        parameters = self.learner.learn(cuts)
        pairs = parameters.pair_model(training_of(self.name))
        scaled = parameters.scaled if self.name == "scaled" else None
        budget = self.effort.merging if self.name == "merging" else self.effort.budget
        return FittedPairModel(self.name, pairs, scaled, budget, self.effort.seed)


@dataclass(frozen=True, slots=True, eq=False)
class MergingResult:
    """A method of merging: the number of answered incidents, and the score of each message."""

    method: str
    incidents: int
    messages: Sequence[ExamTally]

    @property
    def total(self) -> ExamTally:
        return sum(self.messages, ExamTally())


def merging_methods(parameters: PairParameters) -> dict[str, Merge]:
    """Return all methods that are compared."""
    return {
        "greedy": merge_all,
        AGREEMENT: merge_compatible,
        **{model: merge_by_model(parameters, model) for model in PAIR_MODELS},
        SEPARATED: exam_merge(parameters),
    }


def score_merging_methods(
    text_models: TextModels,
    parameters: PairParameters,
    test: Sequence[KeyedReading],
    progress: Progress,
) -> Iterator[MergingResult]:
    """Score each method; screening is trained anew on what it makes of the training stories."""
    for name, merge in merging_methods(parameters).items():
        progress(f"answering with events merged by: {name}")
        screening = text_models.train_screening(merge)
        models = IncidentModels(text_models.reading, parameters, screening, text_models.fills)
        answers = [answer_reading(reading, models, merge) for reading, _ in test]
        tallies = [
            _tally(reading.story.message.id, incidents, key)
            for (reading, key), incidents in zip(test, answers, strict=True)
        ]
        yield MergingResult(name, sum(map(len, answers)), tallies)


def _tally(message: str, incidents: Sequence[Incident], key: Sequence[Incident]) -> ExamTally:
    tallies: Mapping[str, ExamTally] = score([message], incidents, key).messages[message]
    return sum((tallies.get(slot.name, ExamTally()) for slot in SCORED), ExamTally())


def f_difference(other: MergingResult, best: MergingResult, seed: int = 0) -> Interval:
    """Return by how many points of F a method is ahead, as a 95 % bootstrap interval."""
    pairs = list(zip(best.messages, other.messages, strict=True))

    def difference(sample: Sequence[tuple[ExamTally, ExamTally]]) -> float:
        best_total, other_total = (sum(side, ExamTally()) for side in zip(*sample, strict=True))
        return 100 * (other_total.f() - best_total.f())

    return bootstrap(pairs, difference, np.random.default_rng(seed))


def bits_difference(sets: Experiment, model: str, seed: int = 0) -> tuple[float, Interval]:
    """Return how many more bits per set a model needs than that of MODEL, and a 95 % interval."""
    pairs = [
        (sum(one.bits for one in mine.sets), sum(one.bits for one in best.sets), len(mine.sets))
        for mine, best in zip(sets.measures[model], sets.measures[MODEL], strict=True)
    ]

    def difference(sample: Sequence[tuple[float, float, int]]) -> float:
        count = sum(sets for _, _, sets in sample)
        return sum(mine - best for mine, best, _ in sample) / max(count, 1)

    return difference(pairs), bootstrap(pairs, difference, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True, eq=False)
class IncidentStudy:
    """Bits of the event sets under each model, and F under each method of merging."""

    sets: Experiment
    methods: Sequence[MergingResult]
    train: int
    test: int
    seed: int = 0

    def json(self) -> str:
        progress = {
            "sets": self.sets.json(),
            "exam": [self._row(result) for result in self.methods],
        }
        return json.dumps(progress, ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        sizes = f"{self.train} messages to learn from, {self.test} to test on"
        return "\n\n".join(
            (
                f"## Event sets: {sizes}",
                markdown(self.sets.rows),
                sizes_markdown(self.sets.rows),
                self._bits(),
                "## The exam, all templates",
                self._exam(),
                "",
            )
        )

    @property
    def experiments(self) -> dict[str, Experiment]:
        """Return the experiments whose charts can be drawn."""
        return {"": self.sets}

    def _bits(self) -> str:
        """Return a table of the differences in bits, paired by message."""
        lines = [
            [name, _difference(*bits_difference(self.sets, name, self.seed))]
            for name in self.sets.measures
            if name != MODEL
        ]
        return table(("model", f"bits per set above {MODEL} (95 %)"), lines)

    def _exam(self) -> str:
        header = ("events merged", "incidents", "recall", "precision", "F", f"{EXAM} (95 %)")
        return table(header, [self._line(result) for result in self.methods])

    def _line(self, result: MergingResult) -> list[str]:
        row = self._row(result)
        shares = [f"{row[name]:.2f}" for name in ("recall", "precision", "f")]
        return [row["way"], str(row["incidents"]), *shares, self._ahead(result)]

    def _row(self, result: MergingResult) -> dict[str, Any]:
        total = result.total
        return {
            "way": result.method,
            "incidents": result.incidents,
            "recall": 100 * total.recall,
            "precision": 100 * total.precision,
            "f": 100 * total.f(),
        }

    def _ahead(self, result: MergingResult) -> str:
        best = next(each for each in self.methods if each.method == AGREEMENT)
        if result is best:
            return ""
        points = 100 * (result.total.f() - best.total.f())
        return _difference(points, f_difference(result, best, self.seed))


def _difference(points: float, interval: Interval) -> str:
    return f"{points:+.2f} ({interval.low:+.2f} to {interval.high:+.2f})"


def study_incidents(
    corpora: Sequence[Path],
    test: Sequence[Path],
    progress: Progress,
    seed: int = 0,
    gazetteer: Path | None = None,
    folds: int = 5,
) -> IncidentStudy:
    """Train everything on some messages of the exam, and measure it on others.

    Without test corpora, the messages are cut into periods of equally many messages, and each
    period is measured by models of the others: news of one month tell of the same incidents.
    """
    examples = keyed_stories(corpora, progress, gazetteer)
    learned, numbers = len(examples), range(len(examples))
    if test:
        examples += keyed_stories(test, progress, gazetteer)
        splits: list[tuple[Sequence[int], Sequence[int]]]
        splits = [(numbers, range(learned, len(examples)))]
    else:
        ordered = sorted(numbers, key=lambda n: _day(examples[n][0]))
        periods = [sorted(period.tolist()) for period in np.array_split(ordered, folds)]
        splits = [([n for n in numbers if n not in {*held}], held) for held in periods]
    lessons = ReadingExamples(examples)
    parts = [_measured(examples, lessons, split, progress, seed) for split in splits]
    return IncidentStudy(
        _joined(parts, seed),
        [_joined_results(results) for results in zip(*(p.methods for p in parts), strict=True)],
        len(splits[0][0]),
        sum(len(held_out) for _, held_out in splits),
        seed,
    )


def _day(story: Story) -> date:
    """Return the day of a message; those without one come first."""
    return parse_dateline(story.message.fields.get("date", "")) or date.min


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One split: its event sets, the figures of all models on them, and of all methods."""

    tested: Sequence[Cut]
    sets: Experiment
    methods: Sequence[MergingResult]


def _measured(
    examples: Sequence[KeyedStory],
    lessons: ReadingExamples,
    split: tuple[Sequence[int], Sequence[int]],
    progress: Progress,
    seed: int,
) -> _Part:
    """Train everything on the first part of a split, and measure it on the second."""
    text_models = train_text_models(examples, progress, split[0], lessons)
    progress("reading the test messages")
    test_readings = [
        (read_story(story, text_models.reading), key)
        for story, key in (examples[n] for n in split[1])
    ]
    learned_from, tested_on = text_models.sets(), event_sets(test_readings, text_models.reading)
    effort = ExperimentEffort(seed=seed)
    models = event_models(effort, UniformPosteriors(effort.budget, seed))
    sets = run_experiment(
        learned_from, tested_on, models, effort=effort, progress=progress, paper=False
    )
    parameters = train_event_pairs(learned_from, seed=seed)
    results = score_merging_methods(text_models, parameters, test_readings, progress)
    return _Part(tested_on, sets, tuple(results))


def _joined(parts: Sequence[_Part], seed: int) -> Experiment:
    """Return the figures of all models over the sets of all parts."""
    tested = [cut for part in parts for cut in part.tested]
    measures = {
        name: tuple(measure for part in parts for measure in part.sets.measures[name])
        for name in parts[0].sets.measures
    }
    kept = coverage(tested)
    rows = tuple(row(name, found, kept, seed=seed) for name, found in measures.items())
    excluded = float(np.mean([part.sets.excluded for part in parts]))
    return Experiment(rows, measures, parts[0].sets.train, len(tested), excluded)


def _joined_results(results: Sequence[MergingResult]) -> MergingResult:
    messages = [tally for result in results for tally in result.messages]
    return MergingResult(results[0].method, sum(r.incidents for r in results), messages)
