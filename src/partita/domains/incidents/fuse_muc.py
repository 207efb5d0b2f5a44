"""Fuse the answers of several systems to the MUC-4 exam."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from partita.corpora.muc import Exam, answers, read_exam
from partita.corpora.muc_templates import SLOTS, Fill, Incident
from partita.domains.incidents.fill_probabilities import (
    Candidate,
    FusionCase,
    Subject,
    SystemWeights,
    ValueProbabilities,
    best_candidate,
    fuse_fills,
    fusion_cases,
    incident_probabilities,
    slots_of,
    thing_probabilities,
    value_probabilities,
)
from partita.domains.incidents.fusion_things import group_reports, make_report
from partita.errors import InputError
from partita.evaluation.muc.score import CONTENT, TYPE
from partita.files.writing import write_atomically
from partita.records import FloatArray


@dataclass(frozen=True, slots=True)
class SystemTrust:
    """How many templates and fills it gives, what share of them is expected to be right, what share
    of the truth that is, how much its word counts beside systems that agree with it too often."""

    source: str
    templates: int
    fills: int
    precision: float
    recall: float
    f: float
    weight: float


ROUNDS = 3
MIN_PROBABILITY = 0.05  # incidents that are less probable are not looked at further


@dataclass(frozen=True, slots=True, eq=False)
class FusedAnswers:
    """The fused templates by message, trust in every system, and how the fills were chosen."""

    messages: Mapping[str, tuple[Incident, ...]]
    trusted: tuple[SystemTrust, ...]
    least: float

    @property
    def templates(self) -> int:
        return sum(map(len, self.messages.values()))

    @property
    def fills(self) -> int:
        told = (one for found in self.messages.values() for one in found)
        return sum(len(fills) for one in told for fills in one.fills.values())


ScoredCases = list[tuple[FusionCase, list[tuple[Subject, Candidate]]]]


def fuse_answers(exams: Mapping[str, Exam]) -> FusedAnswers:
    """By the name of the system; templates that speak of nobody and nothing cannot be matched."""
    if len(exams) < 2:
        raise InputError("expected answers of several systems")
    reports = [
        make_report(source, incident)
        for source, exam in sorted(exams.items())
        for incident in exam.incidents
        if any(incident.of(slot) for slot in CONTENT)
    ]
    if not reports:
        raise InputError("no system names anybody or anything in any template")
    voices = SystemWeights.heard(fusion_cases(group_reports(reports)), sorted(exams))
    for _ in range(ROUNDS):  # trust tells what belongs together, and that tells whom to trust
        found = fusion_cases(group_reports(reports, voices.trusted), voices.trusted)
        weighed = _score_cases(found, voices)
        trusted = tuple(_system_trust(exams, weighed, voices))
        voices = replace(voices, trust=np.array([one.precision for one in trusted]))
    points = np.array([one.points for _, told in weighed for _, one in told])
    least = _threshold(points, trusted)
    return FusedAnswers(_messages(exams, weighed, least), trusted, least)


def _threshold(points: FloatArray, trusted: Sequence[SystemTrust]) -> float:
    """What a fill must be worth, so that as many are stated as by systems, by trust.

    F is largest about where as much is stated as there is. How much that is, those who are trusted
    know better than probabilities that take no account of what all systems get wrong together.
    """
    many = np.average([one.fills for one in trusted], weights=[one.f for one in trusted])
    ordered = np.sort(points)[::-1]
    return float(ordered[min(max(round(many), 1), len(ordered)) - 1])


def _score_cases(found: Sequence[FusionCase], voices: SystemWeights) -> ScoredCases:
    """Every incident that is possible at all with the best fill of each slot."""
    there = incident_probabilities(found, voices)
    possible = [case for case in found if there[case.name] > MIN_PROBABILITY]
    if not possible:
        return []
    parts = thing_probabilities(possible, voices)
    shares = value_probabilities(fuse_fills(possible))
    return [
        (case, list(_candidates(case, shares, there[case.name], parts, voices.trusted)))
        for case in possible
    ]


def _candidates(
    case: FusionCase,
    shares: ValueProbabilities,
    worth: float,
    parts: Mapping[str, float],
    trust: Mapping[str, float],
) -> Iterator[tuple[Subject, Candidate]]:
    for subject in case.subjects:
        here = worth * parts.get(subject.name, 1.0)
        for slot in slots_of(subject):
            if (found := best_candidate(subject, slot, shares, here, trust)) is not None:
                yield subject, found


def _messages(
    exams: Mapping[str, Exam], weighed: ScoredCases, least: float
) -> dict[str, tuple[Incident, ...]]:
    kept: dict[str, list[Incident]] = {m: [] for exam in exams.values() for m in exam.messages}
    for case, told in weighed:
        fills = _fills(list(_worth_stating(told, least)))
        if any(fills.get(slot) for slot in CONTENT) and fills.get(TYPE):
            message = case.reports[0].incident.message
            number = str(len(kept[message]) + 1)
            kept[message].append(Incident(message, number, fills))
    return {message: tuple(kept[message]) for message in sorted(kept)}


def _worth_stating(
    told: Sequence[tuple[Subject, Candidate]], least: float
) -> Iterator[tuple[Subject, Candidate]]:
    """What is worth stating; of a thing its string and what is said of it, or nothing."""
    for _, bundle in groupby(told, key=lambda pair: pair[0].name):
        mine = list(bundle)
        chosen = [pair for pair in mine if pair[1].points >= least]
        if mine[0][0].role is not None and not any(_is_string(pair) for pair in chosen):
            named = [max(filter(_is_string, mine), key=lambda pair: pair[1].points, default=None)]
            whole = [pair for pair in (*named, *chosen) if pair is not None]
            chosen = whole if sum(one.points - least for _, one in whole) >= 0 else []
        yield from chosen


def _is_string(pair: tuple[Subject, Candidate]) -> bool:
    return SLOTS[pair[1].slot].kind == "string"


def _fills(kept: Sequence[tuple[Subject, Candidate]]) -> dict[int, tuple[Fill, ...]]:
    """With the strings that they are said of: a thing's first string that is stated."""
    named: dict[str, str] = {}
    found: dict[int, list[Fill]] = defaultdict(list)
    for subject, one in kept:
        slot = SLOTS[one.slot]
        tags = (named[subject.name],) if slot.tagged and subject.name in named else ()
        found[one.slot].append(Fill((one.text,), tags))
        if slot.kind == "string":
            named.setdefault(subject.name, one.text)
    return {slot: tuple(fills) for slot, fills in sorted(found.items())}


def _system_trust(
    exams: Mapping[str, Exam], weighed: ScoredCases, voices: SystemWeights
) -> Iterator[SystemTrust]:
    truths = sum(one.present for _, told in weighed for _, one in told)
    worth: dict[str, float] = defaultdict(float)
    for _, told in weighed:
        for _, one in told:
            for source, points in one.by_source.items():
                worth[source] += points
    for source, weight in zip(voices.sources, voices.weights.tolist(), strict=True):
        exam = exams[source]
        fills = sum(len(f) for i in exam.incidents for f in i.fills.values())
        precision = worth[source] / fills if fills else 0.0
        recall = worth[source] / truths if truths else 0.0
        f = 2 * worth[source] / (fills + truths) if fills + truths else 0.0
        yield SystemTrust(source, len(exam.incidents), fills, precision, recall, f, weight)


def fuse_exams(paths: Sequence[Path], out: Path) -> FusedAnswers:
    """Each file is a system, called as the file is."""
    exams: dict[str, Exam] = {}
    for path in paths:
        if path.stem in exams:
            raise InputError(f"is a second source called {path.stem}", file=str(path))
        exams[path.stem] = read_exam(path)
    fused = fuse_answers(exams)
    write_atomically(out, "".join(answers(fused.messages.items())))
    return fused
