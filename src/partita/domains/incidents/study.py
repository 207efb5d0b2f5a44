"""Compare ways of merging events on the exam."""

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
from partita.domains.incidents.pipeline import keyed_stories
from partita.domains.incidents.readings import read_story
from partita.domains.incidents.screening import answer_reading
from partita.domains.incidents.training import (
    KeyedReading,
    Progress,
    TextModels,
    event_sets,
    train_event_pairs,
    train_text_models,
)
from partita.errors import InputError
from partita.evaluation.calibration import Interval, bootstrap
from partita.evaluation.experiment import Effort, Experiment, run
from partita.evaluation.models import Counts, Fitted, Greedy, Model, PairFitted, Uniform
from partita.evaluation.muc.score import Tally as ExamTally
from partita.evaluation.muc.score import score
from partita.evaluation.rows import markdown, sizes_markdown, table
from partita.evaluation.splits import Cut
from partita.records import IntArray, Posterior
from partita.training.pair_parameters import PairParameters, training_of
from partita.training.set_models import Tally


def event_models(effort: Effort, counts: Counts) -> tuple[Model, ...]:
    """The paper's, over what is observed of events; greedy twice."""
    learner = EventLearner(effort.seed)
    return (
        Uniform(counts),
        Greedy(counts),
        GreedyByAgreement(counts),
        *(EventModel(name, learner, effort) for name in ("merging", "evidential", "scaled")),
    )


@dataclass(frozen=True, slots=True, eq=False)
class GreedyByAgreement:
    """A greedy merger for which events that tell other types, days or places are incompatible."""

    counts: Counts
    name: str = "greedy by agreement"

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        tallies = {2: Tally(), 3: Tally(), 4: Tally()}
        for cut in cuts:
            for members in cut.sets:
                made = greedy_configuration(cut, members)
                joined = cut.joined[np.ix_(members, members)]
                right = np.array_equal(made[:, None] == made[None, :], joined)
                tallies[min(len(members), 4)] += right
        shares = GreedyParameters(*(tallies[size].share for size in (2, 3, 4)))
        return AgreementFitted(self.counts, shares)


@dataclass(frozen=True, slots=True, eq=False)
class AgreementFitted:
    counts: Counts
    parameters: GreedyParameters
    whole: bool = False

    def posterior(self, cut: Cut, members: IntArray) -> Posterior:
        share = self.parameters.share(len(members))
        return GreedyPosterior(
            greedy_configuration(cut, members), share, self.counts.uniform(cut, members)
        )


def greedy_configuration(cut: Cut, members: IntArray) -> IntArray:
    """What the merger makes of a set."""
    return greedy_labels(compatible_events([cut.document.templates[n] for n in members.tolist()]))


@dataclass(slots=True)
class EventLearner:
    """The parameters of all models over pairs, learned once."""

    seed: int = 0
    cuts: Sequence[Cut] = ()
    known: list[PairParameters] = field(default_factory=list)

    def learn(self, cuts: Sequence[Cut]) -> PairParameters:
        if cuts is not self.cuts or not self.known:
            self.cuts, self.known = cuts, [train_event_pairs(cuts, seed=self.seed)]
        return self.known[0]


@dataclass(frozen=True, slots=True, eq=False)
class EventModel:
    """A model of configurations from learned probabilities of two events."""

    name: str
    learner: EventLearner
    effort: Effort

    def fit(self, cuts: Sequence[Cut]) -> Fitted:
        learned = self.learner.learn(cuts)
        pairs = learned.pair_model(training_of(self.name))
        scaled = learned.scaled if self.name == "scaled" else None
        budget = self.effort.merging if self.name == "merging" else self.effort.budget
        return PairFitted(self.name, pairs, scaled, budget, self.effort.seed)


@dataclass(frozen=True, slots=True, eq=False)
class MergingResult:
    """A way of merging: how many incidents were answered, and what each message scored."""

    way: str
    incidents: int
    messages: Sequence[ExamTally]

    @property
    def total(self) -> ExamTally:
        return sum(self.messages, ExamTally())


def merging_methods(learned: PairParameters) -> dict[str, Merge]:
    """All that are compared."""
    return {
        "each alone": keep_separate,
        "greedy": merge_all,
        "greedy by agreement": merge_compatible,
        **{name: merge_by_model(learned, name) for name in ("merging", "evidential", "scaled")},
    }


def score_merging_methods(
    school: TextModels, learned: PairParameters, test: Sequence[KeyedReading], told: Progress
) -> Iterator[MergingResult]:
    """Screening is learned anew for every way, from what that way makes of the training stories."""
    for name, merge in merging_methods(learned).items():
        told(f"answering, events merged: {name}")
        experts = IncidentModels(school.readers, learned, school.screeners(merge), school.judges)
        given = [answer_reading(reading, experts, merge) for reading, _ in test]
        tallies = [
            _tally(reading.story.message.id, found, key)
            for (reading, key), found in zip(test, given, strict=True)
        ]
        yield MergingResult(name, sum(map(len, given)), tallies)


def _tally(message: str, given: Sequence[Incident], key: Sequence[Incident]) -> ExamTally:
    tallies: Mapping[str, ExamTally] = score([message], given, key).messages[message]
    return sum((tallies.get(slot.name, ExamTally()) for slot in SCORED), ExamTally())


def f_difference(other: MergingResult, best: MergingResult, seed: int = 0) -> Interval:
    """By how many points of F a way is behind, over messages drawn with replacement, 95 %."""
    pairs = list(zip(best.messages, other.messages, strict=True))

    def gap(drawn: Sequence[tuple[ExamTally, ExamTally]]) -> float:
        one, two = (sum(side, ExamTally()) for side in zip(*drawn, strict=True))
        return 100 * (one.f() - two.f())

    return bootstrap(pairs, gap, np.random.default_rng(seed))


@dataclass(frozen=True, slots=True, eq=False)
class IncidentStudy:
    """Bits of the event sets under each model, and F under each way of merging."""

    sets: Experiment
    ways: Sequence[MergingResult]
    train: int
    test: int
    seed: int = 0

    def json(self) -> str:
        told = {"sets": self.sets.json(), "exam": [self._way(one) for one in self.ways]}
        return json.dumps(told, ensure_ascii=False, allow_nan=False) + "\n"

    def markdown(self) -> str:
        learned = f"{self.train} messages to learn from, {self.test} to test on"
        return "\n\n".join(
            (
                f"## Event sets: {learned}",
                markdown(self.sets.rows),
                sizes_markdown(self.sets.rows),
                "## The exam, all templates",
                self._exam(),
                "",
            )
        )

    @property
    def experiments(self) -> dict[str, Experiment]:
        """The experiments whose charts can be drawn."""
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
        return table(header, [self._line(self._way(one)) for one in self.ways])

    def _line(self, one: dict[str, Any]) -> list[str]:
        gap = one["behind"]
        told = f"{gap['points']:.2f} ({gap['low']:.2f} to {gap['high']:.2f})" if gap else ""
        shares = [f"{one[name]:.2f}" for name in ("recall", "precision", "f")]
        return [one["way"], str(one["incidents"]), *shares, told]

    def _way(self, one: MergingResult) -> dict[str, Any]:
        total = one.total
        return {
            "way": one.way,
            "incidents": one.incidents,
            "recall": 100 * total.recall,
            "precision": 100 * total.precision,
            "f": 100 * total.f(),
            "behind": self._behind(one),
        }

    def _behind(self, one: MergingResult) -> dict[str, float] | None:
        best = next(way for way in self.ways if way.way == MODEL)
        if one is best:
            return None
        points = 100 * (best.total.f() - one.total.f())
        return {"points": points, **asdict(f_difference(one, best, self.seed))}


def study_incidents(
    corpora: Sequence[Path],
    test: Sequence[Path],
    told: Progress,
    seed: int = 0,
    gazetteer: Path | None = None,
) -> IncidentStudy:
    """Learn everything from some messages of the exam, and measure it on others."""
    if not test:
        raise InputError("events are learned from one corpus and measured on another: give --test")
    school = train_text_models(keyed_stories(corpora, told, gazetteer), told)
    told("reading what to test on")
    asked = [
        (read_story(story, school.readers), key)
        for story, key in keyed_stories(test, told, gazetteer)
    ]
    learned_from, tested_on = school.sets(), event_sets(asked, school.readers)
    effort = Effort(seed=seed)
    models = event_models(effort, Counts(effort.budget, seed))
    sets = run(learned_from, tested_on, models, effort=effort, progress=told, paper=False)
    ways = tuple(
        score_merging_methods(school, train_event_pairs(learned_from, seed=seed), asked, told)
    )
    return IncidentStudy(sets, ways, len(school.held_out), len(asked), seed)
