"""Files of answers to the exam of 1992: read, fused, written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from partita.errors import InputError
from partita.formats.atomic import write_atomically
from partita.formats.muc_answers import answers
from partita.formats.muc_templates import Exam, read_exam
from partita.workspace.fusing.answering import Answers, fuse_answers


def fuse_exams(paths: Sequence[Path], out: Path) -> Answers:
    """Each file is a system, called as the file is."""
    exams: dict[str, Exam] = {}
    for path in paths:
        if path.stem in exams:
            raise InputError(f"is a second source called {path.stem}", file=str(path))
        exams[path.stem] = read_exam(path)
    fused = fuse_answers(exams)
    write_atomically(out, "".join(answers(fused.messages.items())))
    return fused
