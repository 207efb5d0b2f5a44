"""Compare methods of merging events on the exam."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from partita.evaluation.calibration import Interval, bootstrap
from partita.evaluation.rows import table
from partita.training.parameter_files import PairParameters
from partita_incidents.answers import answer_reading
from partita_incidents.cases import parse_dateline
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
    keyed_stories,
    train_event_pairs,
    train_text_models,
)
from partita_incidents.training_data import KeyedStory, ReadingExamples

AGREEMENT = "greedy by agreement"
SEPARATED = f"{MODEL}, less merging"
PAIR_MODELS = ("merging", "evidential", MODEL)
EXAM = f"F above {AGREEMENT}"


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


@dataclass(frozen=True, slots=True, eq=False)
class IncidentStudy:
    """F under each method of merging, over all messages that were held out."""

    methods: Sequence[MergingResult]
    train: int
    test: int
    seed: int = 0

    def json(self) -> str:
        found = {"exam": [self._row(result) for result in self.methods]}
        return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"

    def __str__(self) -> str:
        sizes = f"{self.train} messages to learn from, {self.test} to test on"
        return f"The exam, all templates: {sizes}\n\n{self._exam()}\n"

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
        [_joined_results(results) for results in zip(*parts, strict=True)],
        len(splits[0][0]),
        sum(len(held_out) for _, held_out in splits),
        seed,
    )


def _day(story: Story) -> date:
    """Return the day of a message; those without one come first."""
    return parse_dateline(story.message.fields.get("date", "")) or date.min


def _measured(
    examples: Sequence[KeyedStory],
    lessons: ReadingExamples,
    split: tuple[Sequence[int], Sequence[int]],
    progress: Progress,
    seed: int,
) -> list[MergingResult]:
    """Train everything on the first part of a split, and measure it on the second."""
    text_models = train_text_models(examples, progress, split[0], lessons)
    progress("reading the test messages")
    test_readings = [
        (read_story(story, text_models.reading), key)
        for story, key in (examples[n] for n in split[1])
    ]
    parameters = train_event_pairs(text_models.sets())
    return list(score_merging_methods(text_models, parameters, test_readings, progress))


def _joined_results(results: Sequence[MergingResult]) -> MergingResult:
    messages = [tally for result in results for tally in result.messages]
    return MergingResult(results[0].method, sum(r.incidents for r in results), messages)
