"""Score MUC-4 responses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.corpora.muc import Exam, Problem, read_exam
from partita.errors import InputError
from partita.evaluation.muc.entities import score_entities
from partita.evaluation.muc.score import Score, Tally, score


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """The score by slots and by roles, and what in the files was not as it should be."""

    score: Score
    entities: dict[str, Tally]
    problems: tuple[Problem, ...]
    unanswered: tuple[str, ...]


def mark(keys: Sequence[Path], response: Path) -> Marked:
    """A response beside the keys of its messages."""
    known = _together([read_exam(path) for path in keys])
    given = read_exam(response)
    if unknown := [message for message in given.messages if message not in known.messages]:
        raise InputError(f"answers {unknown[0]}, of which no key is given", file=given.file)
    return Marked(
        score(known.messages, given.incidents, known.incidents),
        score_entities(given.incidents, known.incidents),
        (*known.problems, *given.problems),
        tuple(message for message in known.messages if message not in given.messages),
    )


def _together(exams: Sequence[Exam]) -> Exam:
    """Several key files as one."""
    whole = Exam(", ".join(exam.file for exam in exams))
    for exam in exams:
        if twice := next((m for m in exam.messages if m in whole.messages), None):
            raise InputError(f"has a key for {twice}, as a file before it has", file=exam.file)
        whole.incidents += exam.incidents
        whole.messages |= exam.messages
        whole.problems += exam.problems
    return whole
