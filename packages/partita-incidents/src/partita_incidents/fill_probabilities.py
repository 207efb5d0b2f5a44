"""Probabilities of incidents, things and fills from the answers of several systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import FloatArray
from partita.fusion.claims import Claims
from partita.fusion.fuse import Fused, FusionSettings, answers_by_object, fuse_slots
from partita_incidents.exam_templates import SLOTS, Fill
from partita_incidents.fills import compare, compare_strings, location
from partita_incidents.fusion_things import (
    INCIDENT_SLOTS,
    MIN_WEIGHT,
    ROLES,
    Report,
    Role,
    Thing,
    group_things,
)
from partita_incidents.source_detection import balance, correlations, detect, independence

YES, NO = "yes", "no"
NONE = "-"  # the value of a slot without a fill
OPTIONAL = frozenset({8, 15, 16, 17, 22, 24})  # the others are always filled
OPEN_KINDS = frozenset({"date", "location", "number"})
Fact = tuple[str, Sequence[str], Sequence[str]]  # a name, who reports it, who might have
Row = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """An incident or a thing in it, with the fills of each system by slot."""

    name: str
    role: Role | None
    fills: Mapping[str, Mapping[int, str]]


@dataclass(frozen=True, slots=True, eq=False)
class FusionCase:
    """The reports of one incident, with the incident and its things as subjects."""

    name: str
    reports: Sequence[Report]
    subjects: Sequence[Subject]

    @property
    def sources(self) -> list[str]:
        return [report.source for report in self.reports]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible fill of a subject: its expected points, those of each system's fill, and the
    probability that there is a fill at all."""

    slot: int
    text: str
    points: float
    by_source: Mapping[str, float]
    present: float


def fusion_cases(
    groups: Sequence[Sequence[Report]], trust: Mapping[str, float] | None = None
) -> list[FusionCase]:
    """Return the incidents with their things, named by message and number."""
    cases = []
    for number, reports in enumerate(groups):
        name = f"{reports[0].incident.message} {number}"
        subjects = [Subject(name, None, {report.source: report.whole for report in reports})]
        for role in ROLES:
            for n, thing in enumerate(group_things(reports, role.name, trust)):
                subjects.append(_subject(f"{name} {role.name} {n}", role, thing))
        cases.append(FusionCase(name, reports, subjects))
    return cases


def _subject(name: str, role: Role, thing_by_source: Mapping[str, Thing]) -> Subject:
    return Subject(name, role, {source: thing.fills for source, thing in thing_by_source.items()})


@dataclass(frozen=True, slots=True, eq=False)
class SystemWeights:
    """The systems, a weight for each against shared errors, and how far each is trusted."""

    sources: Sequence[str]
    weights: FloatArray
    trust: FloatArray

    @property
    def trust_by_source(self) -> dict[str, float]:
        return dict(zip(self.sources, self.trust.tolist(), strict=True))

    @classmethod
    def from_cases(cls, cases: Sequence[FusionCase], sources: Sequence[str]) -> SystemWeights:
        """Weigh systems down that report the same incidents too often."""
        reported, eligible = _table(_reports(cases, sources), sources)
        weights = independence(correlations(reported, eligible))
        return cls(sources, weights, np.ones(len(sources)))


def incident_probabilities(cases: Sequence[FusionCase], systems: SystemWeights) -> dict[str, float]:
    """Return the probability of each incident; not reporting it counts against it."""
    return _detection_probabilities(_reports(cases, systems.sources), systems)


def _reports(cases: Sequence[FusionCase], sources: Sequence[str]) -> list[Fact]:
    return [(case.name, case.sources, sources) for case in cases]


def thing_probabilities(cases: Sequence[FusionCase], systems: SystemWeights) -> dict[str, float]:
    """Return the probability that each thing is part of its incident, given the incident.

    Error rates of systems are learned from all roles together, the number of things by role.
    """
    subjects = [(case, subject) for case in cases for subject in case.subjects if subject.role]
    facts = [(subject.name, list(subject.fills), case.sources) for case, subject in subjects]
    roles = [subject.role.name for _, subject in subjects if subject.role]
    return _detection_probabilities(facts, systems, roles)


def _detection_probabilities(
    facts: Sequence[Fact], systems: SystemWeights, roles: Sequence[str] | None = None
) -> dict[str, float]:
    if not facts:
        return {}
    reported, eligible = _table(facts, systems.sources)
    probabilities = detect(reported, eligible, systems.weights).probability
    role_names = np.array(roles or [""] * len(facts))
    trust = systems.trust * systems.weights
    for role in np.unique(role_names):
        of_role = role_names == role
        probabilities[of_role] = balance(
            probabilities[of_role], reported[of_role], eligible[of_role], trust
        )
    return {
        name: probability
        for (name, _, _), probability in zip(facts, probabilities.tolist(), strict=True)
    }


def _table(facts: Sequence[Fact], sources: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    reported = np.array(
        [[s in reporting for s in sources] for _, reporting, _ in facts], dtype=float
    )
    eligible = np.array([[s in eligible for s in sources] for _, _, eligible in facts], dtype=float)
    return reported, eligible


def fuse_fills(cases: Sequence[FusionCase]) -> Fused:
    """Fuse the fills of all incidents and things."""
    rows = [row for case in cases for row in _values(case)]
    kinds = {
        slot: "open" if SLOTS[int(slot)].kind in OPEN_KINDS else "closed" for _, _, slot, _ in rows
    }
    return fuse_slots(Claims.of(rows), FusionSettings(kinds=kinds, independent=True))


def _values(case: FusionCase) -> Iterator[Row]:
    """Yield the claims; for string slots only whether there is a string."""
    for subject in case.subjects:
        for source, fills in subject.fills.items():
            for slot in slots_of(subject):
                value = fills.get(slot, NONE)
                if SLOTS[slot].kind == "string":
                    yield source, subject.name, str(slot), NO if value == NONE else YES
                elif value != NONE or slot in OPTIONAL:
                    yield source, subject.name, str(slot), _normalised(slot, value)


def slots_of(subject: Subject) -> tuple[int, ...]:
    """Return the slots that an incident or a thing of a role can have."""
    return INCIDENT_SLOTS if subject.role is None else (*subject.role.strings, *subject.role.more)


def _normalised(slot: int, value: str) -> str:
    """Return a value for comparison: places without their kinds, all else without case."""
    if SLOTS[slot].kind == "location" and value != NONE:
        country, below = location(value)
        return ": ".join((country, *(" - ".join(names) for names in below)))
    return " ".join(value.upper().split())


ValueProbabilities = Mapping[tuple[str, str], Mapping[str, float]]


def value_probabilities(fused: Fused) -> ValueProbabilities:
    """Return the probability of every value by subject and slot."""
    return {
        key: {value.value.upper(): value.probability for value in answer.values}
        for key, answer in answers_by_object(fused).items()
    }


def best_candidate(
    subject: Subject,
    slot: int,
    probabilities: ValueProbabilities,
    probability: float,
    trust: Mapping[str, float],
) -> Candidate | None:
    """Return the fill with the most expected points, or None if no system gives one.

    Which string is right is decided by votes that are weighted by trust.
    """
    texts = {source: fills[slot] for source, fills in subject.fills.items() if slot in fills}
    if not texts:
        return None
    values = probabilities[subject.name, str(slot)]
    if SLOTS[slot].kind == "string":
        present = probability * values.get(YES.upper(), 0.0)
        truths = {text: present * vote for text, vote in _votes(texts, trust).items()}
    else:
        present = probability * (1 - values.get(NONE, 0.0))
        truths = {value: probability * p for value, p in values.items() if value != NONE}
    points = {text: _points(slot, text, truths) for text in texts.values()}
    best = max(sorted(points), key=lambda text: points[text])
    by_source = {source: points[text] for source, text in texts.items()}
    return Candidate(slot, best, points[best], by_source, present)


def _votes(texts: Mapping[str, str], trust: Mapping[str, float]) -> dict[str, float]:
    votes: dict[str, float] = defaultdict(float)
    for source, text in texts.items():
        votes[text] += max(trust[source], MIN_WEIGHT)
    return {text: vote / sum(votes.values()) for text, vote in votes.items()}


def _points(slot: int, text: str, truths: Mapping[str, float]) -> float:
    return sum(p * score_fill(slot, text, truth) for truth, p in truths.items())


def score_fill(slot: int, text: str, truth: str) -> float:
    """Return the points of a fill if another one is right."""
    if SLOTS[slot].kind == "string":
        return compare_strings(text, truth)
    return compare(SLOTS[slot], Fill((text,)), Fill((truth,)))
