"""Compare methods of merging events on the exam."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from partita.configurations.greedy import GreedyParameters, GreedyPosterior, greedy_labels
from partita.corpora.muc_templates import SCORED, Incident
from partita.domains.incidents.characteristics import compatible_events
from partita.domains.incidents.incident_models import IncidentModels
from partita.domains.incidents.merging import (
    MODEL,
    Merge,
    keep_separate,
    merge_all,
    merge_by_model,
    merge_compatible,
)
from partita.domains.incidents.readings import read_story
from partita.domains.incidents.screening import answer_reading
from partita.domains.incidents.training import (
    KeyedReading,
    Progress,
    TextModels,
    event_sets,
    keyed_stories,
    train_event_pairs,
    train_text_models,
)
from partita.errors import InputError
from partita.evaluation.calibration import Interval, bootstrap
from partita.evaluation.experiment import Effort, Experiment, run
from partita.evaluation.models import Counts, Fitted, FittedPairModel, Greedy, Model, Uniform
from partita.evaluation.muc.score import Tally as ExamTally
from partita.evaluation.muc.score import score
from partita.evaluation.rows import markdown, sizes_markdown, table
from partita.evaluation.splits import Cut
from partita.records import IntArray, Posterior
from partita.training.pair_parameters import PairParameters, training_of
from partita.training.set_models import Tally


def event_models(effort: Effort, counts: Counts) -> tuple[Model, ...]:
    """Return the paper's models over characteristics of events, and two greedy ones."""
    learner = EventLearner(effort.seed)
    return (
        Uniform(counts),
        Greedy(counts),
        GreedyByAgreement(counts),
        *(EventModel(name, learner, effort) for name in ("merging", "evidential", "scaled")),
    )


@dataclass(frozen=True, slots=True, eq=False)
class GreedyByAgreement:
    """Greedy merging; events with different types, days or places are incompatible."""

    counts: Counts
    name: str = "greedy by agreement"

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        tallies = {2: Tally(), 3: Tally(), 4: Tally()}
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

    counts: Counts
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
    effort: Effort

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
        "each alone": keep_separate,
        "greedy": merge_all,
        "greedy by agreement": merge_compatible,
        **{name: merge_by_model(parameters, name) for name in ("merging", "evidential", "scaled")},
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
        models = IncidentModels(
            text_models.reading, parameters, text_models.train_screening(merge), text_models.fills
        )
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
    """Return by how many points of F a method is behind, as a 95 % bootstrap interval."""
    pairs = list(zip(best.messages, other.messages, strict=True))

    def difference(sample: Sequence[tuple[ExamTally, ExamTally]]) -> float:
        best_total, other_total = (sum(side, ExamTally()) for side in zip(*sample, strict=True))
        return 100 * (best_total.f() - other_total.f())

    return bootstrap(pairs, difference, np.random.default_rng(seed))


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
                "## The exam, all templates",
                self._exam(),
                "",
            )
        )

    @property
    def experiments(self) -> dict[str, Experiment]:
        """Return the experiments whose charts can be drawn."""
        return {"": self.sets}

    def _exam(self) -> str:
        header = (
            "events merged",
            "incidents",
            "recall",
            "precision",
            "F",
            f"behind {MODEL} (95 %)",
        )
        return table(header, [self._line(self._row(result)) for result in self.methods])

    def _line(self, row: dict[str, Any]) -> list[str]:
        difference = row["behind"]
        progress = (
            f"{difference['points']:.2f} ({difference['low']:.2f} to {difference['high']:.2f})"
            if difference
            else ""
        )
        shares = [f"{row[name]:.2f}" for name in ("recall", "precision", "f")]
        return [row["way"], str(row["incidents"]), *shares, progress]

    def _row(self, result: MergingResult) -> dict[str, Any]:
        total = result.total
        return {
            "way": result.method,
            "incidents": result.incidents,
            "recall": 100 * total.recall,
            "precision": 100 * total.precision,
            "f": 100 * total.f(),
            "behind": self._behind(result),
        }

    def _behind(self, result: MergingResult) -> dict[str, float] | None:
        best = next(each for each in self.methods if each.method == MODEL)
        if result is best:
            return None
        points = 100 * (best.total.f() - result.total.f())
        return {"points": points, **asdict(f_difference(result, best, self.seed))}


def study_incidents(
    corpora: Sequence[Path],
    test: Sequence[Path],
    progress: Progress,
    seed: int = 0,
    gazetteer: Path | None = None,
) -> IncidentStudy:
    """Train everything on some messages of the exam, and measure it on others."""
    if not test:
        raise InputError(
            "models are trained on one corpus and measured on another (expected --test)"
        )
    text_models = train_text_models(keyed_stories(corpora, progress, gazetteer), progress)
    progress("reading the test messages")
    test_readings = [
        (read_story(story, text_models.reading), key)
        for story, key in keyed_stories(test, progress, gazetteer)
    ]
    learned_from, tested_on = text_models.sets(), event_sets(test_readings, text_models.reading)
    effort = Effort(seed=seed)
    models = event_models(effort, Counts(effort.budget, seed))
    sets = run(learned_from, tested_on, models, effort=effort, progress=progress, paper=False)
    results = tuple(
        score_merging_methods(
            text_models, train_event_pairs(learned_from, seed=seed), test_readings, progress
        )
    )
    return IncidentStudy(sets, results, len(text_models.held_out), len(test_readings), seed)
