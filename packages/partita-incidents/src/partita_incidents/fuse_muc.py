"""Fuse the answers of several systems to the MUC-4 exam."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

import numpy as np

from partita.core import FloatArray
from partita.errors import InputError
from partita.files.writing import write_atomically
from partita_incidents.exam_files import Exam, format_templates, read_exam
from partita_incidents.exam_templates import SLOTS, Fill, Incident
from partita_incidents.fill_probabilities import (
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
from partita_incidents.fusion_things import group_reports, make_report
from partita_incidents.score import CONTENT, TYPE


@dataclass(frozen=True, slots=True)
class SystemTrust:
    """The templates and fills of a system, its expected precision, recall and F, and its weight
    beside systems that agree with it too often."""

    source: str
    templates: int
    fills: int
    precision: float
    recall: float
    f: float
    weight: float


ROUNDS = 3
MIN_PROBABILITY = 0.05  # less probable incidents are dropped


@dataclass(frozen=True, slots=True, eq=False)
class FusedAnswers:
    """The fused templates by message, the trust in each system, and the threshold of points."""

    messages: Mapping[str, tuple[Incident, ...]]
    trusted: tuple[SystemTrust, ...]
    least: float

    @property
    def templates(self) -> int:
        return sum(map(len, self.messages.values()))

    @property
    def fills(self) -> int:
        incidents = (
            incident
            for incidents_of_message in self.messages.values()
            for incident in incidents_of_message
        )
        return sum(len(fills) for incident in incidents for fills in incident.fills.values())


ScoredCases = list[tuple[FusionCase, list[tuple[Subject, Candidate]]]]


def fuse_answers(exams: Mapping[str, Exam]) -> FusedAnswers:
    """Fuse answers by the name of the system; templates without any content are left out."""
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
    systems = SystemWeights.from_cases(fusion_cases(group_reports(reports)), sorted(exams))
    for _ in range(ROUNDS):  # trust tells what belongs together, and that tells whom to trust
        fused_cases = fusion_cases(
            group_reports(reports, systems.trust_by_source), systems.trust_by_source
        )
        scored = _score_cases(fused_cases, systems)
        trusted = tuple(_system_trust(exams, scored, systems))
        systems = replace(systems, trust=np.array([candidate.precision for candidate in trusted]))
    points = np.array([candidate.points for _, candidates in scored for _, candidate in candidates])
    threshold = _threshold(points, trusted)
    return FusedAnswers(_messages(exams, scored, threshold), trusted, threshold)


def _threshold(points: FloatArray, trusted: Sequence[SystemTrust]) -> float:
    """Return the points a fill needs so that as many are stated as systems state on average.

    F is largest about where as much is stated as is true. Trusted systems estimate that better than
    the probabilities, which ignore errors that all systems share.
    """
    count = np.average(
        [system.fills for system in trusted], weights=[system.f for system in trusted]
    )
    ordered = np.sort(points)[::-1]
    return float(ordered[min(max(round(count), 1), len(ordered)) - 1])


def _score_cases(fused_cases: Sequence[FusionCase], systems: SystemWeights) -> ScoredCases:
    """Return every possible incident with the best fill of each slot."""
    incident_probability = incident_probabilities(fused_cases, systems)
    possible = [case for case in fused_cases if incident_probability[case.name] > MIN_PROBABILITY]
    if not possible:
        return []
    parts = thing_probabilities(possible, systems)
    shares = value_probabilities(fuse_fills(possible))
    return [
        (
            case,
            list(
                _candidates(
                    case, shares, incident_probability[case.name], parts, systems.trust_by_source
                )
            ),
        )
        for case in possible
    ]


def _candidates(
    case: FusionCase,
    shares: ValueProbabilities,
    probability: float,
    parts: Mapping[str, float],
    trust: Mapping[str, float],
) -> Iterator[tuple[Subject, Candidate]]:
    for subject in case.subjects:
        subject_probability = probability * parts.get(subject.name, 1.0)
        for slot in slots_of(subject):
            if (
                best := best_candidate(subject, slot, shares, subject_probability, trust)
            ) is not None:
                yield subject, best


def _messages(
    exams: Mapping[str, Exam], scored: ScoredCases, threshold: float
) -> dict[str, tuple[Incident, ...]]:
    answers_by_message: dict[str, list[Incident]] = {
        m: [] for exam in exams.values() for m in exam.messages
    }
    for case, candidates in scored:
        fills = _fills(list(_worth_stating(candidates, threshold)))
        if any(fills.get(slot) for slot in CONTENT) and fills.get(TYPE):
            message = case.reports[0].incident.message
            number = str(len(answers_by_message[message]) + 1)
            answers_by_message[message].append(Incident(message, number, fills))
    return {message: tuple(answers_by_message[message]) for message in sorted(answers_by_message)}


def _worth_stating(
    candidates: Sequence[tuple[Subject, Candidate]], threshold: float
) -> Iterator[tuple[Subject, Candidate]]:
    """Yield the candidates above the threshold; a thing is stated with its string or not at all."""
    for _, group in groupby(candidates, key=lambda pair: pair[0].name):
        of_subject = list(group)
        chosen = [pair for pair in of_subject if pair[1].points >= threshold]
        if of_subject[0][0].role is not None and not any(_is_string(pair) for pair in chosen):
            named = [
                max(filter(_is_string, of_subject), key=lambda pair: pair[1].points, default=None)
            ]
            whole = [pair for pair in (*named, *chosen) if pair is not None]
            chosen = (
                whole if sum(candidate.points - threshold for _, candidate in whole) >= 0 else []
            )
        yield from chosen


def _is_string(pair: tuple[Subject, Candidate]) -> bool:
    return SLOTS[pair[1].slot].kind == "string"


def _fills(kept: Sequence[tuple[Subject, Candidate]]) -> dict[int, tuple[Fill, ...]]:
    """Return the fills by slot, tagged with the first stated string of their thing."""
    strings: dict[str, str] = {}
    fills_by_slot: dict[int, list[Fill]] = defaultdict(list)
    for subject, candidate in kept:
        slot = SLOTS[candidate.slot]
        tags = (strings[subject.name],) if slot.tagged and subject.name in strings else ()
        fills_by_slot[candidate.slot].append(Fill((candidate.text,), tags))
        if slot.kind == "string":
            strings.setdefault(subject.name, candidate.text)
    return {slot: tuple(fills) for slot, fills in sorted(fills_by_slot.items())}


def _system_trust(
    exams: Mapping[str, Exam], scored: ScoredCases, systems: SystemWeights
) -> Iterator[SystemTrust]:
    truths = sum(candidate.present for _, candidates in scored for _, candidate in candidates)
    points_by_source: dict[str, float] = defaultdict(float)
    for _, candidates in scored:
        for _, candidate in candidates:
            for source, points in candidate.by_source.items():
                points_by_source[source] += points
    for source, weight in zip(systems.sources, systems.weights.tolist(), strict=True):
        exam = exams[source]
        fills = sum(len(f) for i in exam.incidents for f in i.fills.values())
        precision = points_by_source[source] / fills if fills else 0.0
        recall = points_by_source[source] / truths if truths else 0.0
        f = 2 * points_by_source[source] / (fills + truths) if fills + truths else 0.0
        yield SystemTrust(source, len(exam.incidents), fills, precision, recall, f, weight)


def fuse_exams(paths: Sequence[Path], out: Path) -> FusedAnswers:
    """Fuse files of answers, each named after its system, and write the result."""
    exams: dict[str, Exam] = {}
    for path in paths:
        if path.stem in exams:
            raise InputError(f"is a second source called {path.stem}", file=str(path))
        exams[path.stem] = read_exam(path)
    fused = fuse_answers(exams)
    write_atomically(out, "".join(format_templates(fused.messages.items())))
    return fused
