"""The probability of each fill, from the claims of several systems."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.corpora.muc_templates import SLOTS, Fill
from partita.domains.incidents.fusion_things import (
    INCIDENT_SLOTS,
    MIN_WEIGHT,
    ROLES,
    Report,
    Role,
    Thing,
    group_things,
)
from partita.evaluation.muc.fills import compare, compare_strings, location
from partita.fusion.claims import Claims
from partita.fusion.detection import balance, correlations, detect, independence
from partita.fusion.fuse import Fused, Settings, answers_by_object, fuse
from partita.records import FloatArray

YES, NO = "yes", "no"
NONE = "-"  # that a slot has no fill is a value, too
OPTIONAL = frozenset({8, 15, 16, 17, 22, 24})  # the others are filled whenever a thing is there
OPEN_KINDS = frozenset({"date", "location", "number"})
Fact = tuple[str, Sequence[str], Sequence[str]]  # a name, who reports it, who might have
Row = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """An incident or a thing in it, and what each system says of it, by slot."""

    name: str
    role: Role | None
    said: Mapping[str, Mapping[int, str]]


@dataclass(frozen=True, slots=True, eq=False)
class FusionCase:
    """All that is said of an incident."""

    name: str
    reports: Sequence[Report]
    subjects: Sequence[Subject]

    @property
    def sources(self) -> list[str]:
        return [one.source for one in self.reports]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fill that a subject may have: its expected points, those of what each system says there,
    and how probable it is that there is any fill at all."""

    slot: int
    text: str
    points: float
    by_source: Mapping[str, float]
    present: float


def fusion_cases(
    groups: Sequence[Sequence[Report]], trust: Mapping[str, float] | None = None
) -> list[FusionCase]:
    """The incidents with their things, named by message and number."""
    found = []
    for number, reports in enumerate(groups):
        name = f"{reports[0].incident.message} {number}"
        told = [Subject(name, None, {one.source: one.whole for one in reports})]
        for role in ROLES:
            for n, thing in enumerate(group_things(reports, role.name, trust)):
                told.append(_subject(f"{name} {role.name} {n}", role, thing))
        found.append(FusionCase(name, reports, told))
    return found


def _subject(name: str, role: Role, told: Mapping[str, Thing]) -> Subject:
    return Subject(name, role, {source: thing.fills for source, thing in told.items()})


@dataclass(frozen=True, slots=True, eq=False)
class SystemWeights:
    """The systems, how much the word of each counts, and how far each is trusted."""

    sources: Sequence[str]
    weights: FloatArray
    trust: FloatArray

    @property
    def trusted(self) -> dict[str, float]:
        return dict(zip(self.sources, self.trust.tolist(), strict=True))

    @classmethod
    def heard(cls, found: Sequence[FusionCase], sources: Sequence[str]) -> SystemWeights:
        """Systems that report the same incidents too often count less."""
        reported, asked = _table(_reports(found, sources), sources)
        weights = independence(correlations(reported, asked))
        return cls(sources, weights, np.ones(len(sources)))


def incident_probabilities(found: Sequence[FusionCase], voices: SystemWeights) -> dict[str, float]:
    """How probable each incident is: a system that does not report it says that there is none."""
    return _detection_probabilities(_reports(found, voices.sources), voices)


def _reports(found: Sequence[FusionCase], sources: Sequence[str]) -> list[Fact]:
    return [(case.name, case.sources, sources) for case in found]


def thing_probabilities(found: Sequence[FusionCase], voices: SystemWeights) -> dict[str, float]:
    """How probable it is that a thing is part of its incident, if there is that incident.

    What systems find and make up is learned of all roles together, how many things there are by
    role.
    """
    told = [(case, subject) for case in found for subject in case.subjects if subject.role]
    facts = [(subject.name, list(subject.said), case.sources) for case, subject in told]
    roles = [subject.role.name for _, subject in told if subject.role]
    return _detection_probabilities(facts, voices, roles)


def _detection_probabilities(
    facts: Sequence[Fact], voices: SystemWeights, roles: Sequence[str] | None = None
) -> dict[str, float]:
    if not facts:
        return {}
    reported, asked = _table(facts, voices.sources)
    found = detect(reported, asked, voices.weights).probability
    named = np.array(roles or [""] * len(facts))
    trust = voices.trust * voices.weights
    for role in np.unique(named):
        mine = named == role
        found[mine] = balance(found[mine], reported[mine], asked[mine], trust)
    return {name: share for (name, _, _), share in zip(facts, found.tolist(), strict=True)}


def _table(facts: Sequence[Fact], sources: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    reported = np.array([[s in told for s in sources] for _, told, _ in facts], dtype=float)
    asked = np.array([[s in those for s in sources] for _, _, those in facts], dtype=float)
    return reported, asked


def fuse_fills(found: Sequence[FusionCase]) -> Fused:
    """What fills the slots, by all that is said of incidents and things."""
    rows = [row for case in found for row in _values(case)]
    kinds = {
        slot: "open" if SLOTS[int(slot)].kind in OPEN_KINDS else "closed" for _, _, slot, _ in rows
    }
    return fuse(Claims.of(rows), Settings(kinds=kinds))


def _values(case: FusionCase) -> Iterator[Row]:
    """Of strings only whether there is one; which, the systems' strings themselves tell."""
    for subject in case.subjects:
        for source, fills in subject.said.items():
            for slot in slots_of(subject):
                value = fills.get(slot, NONE)
                if SLOTS[slot].kind == "string":
                    yield source, subject.name, str(slot), NO if value == NONE else YES
                elif value != NONE or slot in OPTIONAL:
                    yield source, subject.name, str(slot), _normalised(slot, value)


def slots_of(subject: Subject) -> tuple[int, ...]:
    return INCIDENT_SLOTS if subject.role is None else (*subject.role.strings, *subject.role.more)


def _normalised(slot: int, value: str) -> str:
    """How values are compared: places without their kinds, everything else without case."""
    if SLOTS[slot].kind == "location" and value != NONE:
        country, below = location(value)
        return ": ".join((country, *(" - ".join(names) for names in below)))
    return " ".join(value.upper().split())


ValueProbabilities = Mapping[tuple[str, str], Mapping[str, float]]


def value_probabilities(fused: Fused) -> ValueProbabilities:
    """The probability of every value, by subject and slot."""
    return {
        key: {one.value.upper(): one.probability for one in answer.values}
        for key, answer in answers_by_object(fused).items()
    }


def best_candidate(
    subject: Subject,
    slot: int,
    beliefs: ValueProbabilities,
    worth: float,
    trust: Mapping[str, float],
) -> Candidate | None:
    """The fill with the most expected points; None if nobody gives any.

    Which string is the true one, systems say with as many votes as they are trusted.
    """
    given = {source: fills[slot] for source, fills in subject.said.items() if slot in fills}
    if not given:
        return None
    shares = beliefs[subject.name, str(slot)]
    if SLOTS[slot].kind == "string":
        present = worth * shares.get(YES.upper(), 0.0)
        truths = {text: present * share for text, share in _votes(given, trust).items()}
    else:
        present = worth * (1 - shares.get(NONE, 0.0))
        truths = {value: worth * p for value, p in shares.items() if value != NONE}
    points = {text: _points(slot, text, truths) for text in given.values()}
    best = max(sorted(points), key=lambda text: points[text])
    by_source = {source: points[text] for source, text in given.items()}
    return Candidate(slot, best, points[best], by_source, present)


def _votes(given: Mapping[str, str], trust: Mapping[str, float]) -> dict[str, float]:
    votes: dict[str, float] = defaultdict(float)
    for source, text in given.items():
        votes[text] += max(trust[source], MIN_WEIGHT)
    return {text: share / sum(votes.values()) for text, share in votes.items()}


def _points(slot: int, text: str, truths: Mapping[str, float]) -> float:
    return sum(p * score_fill(slot, text, truth) for truth, p in truths.items())


def score_fill(slot: int, given: str, truth: str) -> float:
    if SLOTS[slot].kind == "string":
        return compare_strings(given, truth)
    return compare(SLOTS[slot], Fill((given,)), Fill((truth,)))
