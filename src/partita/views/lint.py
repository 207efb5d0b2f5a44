"""Problems of a domain, one a line: file:line:column, how bad, what."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from partita.extraction.problems import Problem
from partita.views.trace import clean


def lint_text(name: str, problems: Sequence[Problem]) -> str:
    """The problems, and how many there are."""
    errors = sum(problem.error for problem in problems)
    warnings = len(problems) - errors
    lines = [_line(problem) for problem in problems]
    lines.append(f"{clean(name)}: {_counted(errors, 'error')}, {_counted(warnings, 'warning')}")
    return "\n".join(lines) + "\n"


def _line(problem: Problem) -> str:
    at = problem.at
    place = ":".join(str(part) for part in (_near(at.file), at.line, at.column) if part)
    return f"{clean(place)}: {'error' if problem.error else 'warning'}: {clean(problem.said)}"


def _near(file: str) -> str:
    """As it is seen from here, where that is shorter."""
    if not file:
        return ""
    try:
        near = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return near if len(near) < len(file) else str(Path(file))


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
