"""Lint problems and traces as text."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from partita.rules.domain import RuleProblem
from partita.rules.extractor import PhaseTrace, RuleMatch, TracedPiece
from partita.views.layout import clean, count_text

MAX_LINES = 400  # of a phase


def trace_text(message: str, seen: Sequence[PhaseTrace], width: int = 80) -> str:
    """Return the trace of a message, phase by phase and sentence by sentence."""
    lines = [f"Message {clean(message)}", ""]
    lines += [line for phase in seen for line in (*_text_phase(phase, width), "")]
    return "\n".join(lines) + "\n"


def _text_phase(seen: PhaseTrace, width: int) -> Iterator[str]:
    yield f"{clean(seen.phase)}: {match_count(seen)}"
    if not seen.whole:
        yield "  the work limit for one message was reached here"
    lines = [line for n in range(len(seen.sentences)) for line in _text_sentence(seen, n, width)]
    yield from lines[:MAX_LINES]
    if len(lines) > MAX_LINES:
        yield f"  {len(lines) - MAX_LINES:,} more lines"


def match_count(seen: PhaseTrace) -> str:
    matches = "1 match" if seen.count == 1 else f"{seen.count} matches"
    rules = "1 rule" if seen.rules == 1 else f"{seen.rules} rules"
    tried = "at the cursor" if seen.starts == "cursor" else "everywhere"
    return f"{matches} of {rules}, tried {tried}"


def _text_sentence(seen: PhaseTrace, n: int, width: int) -> Iterator[str]:
    value_text = " ".join(map(_text_piece, seen.sentences[n]))
    yield from textwrap.wrap(value_text, width, initial_indent="  ", subsequent_indent="  ")
    for win in seen.wins[n]:
        yield from _text_win(win, width)


def _text_piece(piece: TracedPiece) -> str:
    text = clean(piece.text)
    return f"[{text}]{piece.mark}" if piece.built else f"{text.replace(' ', '_')}/{piece.mark}"


def _text_win(win: RuleMatch, width: int) -> Iterator[str]:
    what = f"about {clean(win.about)!r}" if win.about else f"→ {clean(win.kind)}"
    head = f"* {clean(win.rule)}: {clean(win.text)!r} {what}"
    yield from _wrapped(head, width, 4)
    if win.made:
        yield from _wrapped(", ".join(pairs(win.made)), width, 8)
    if win.status:
        yield from _wrapped(clean(win.status), width, 8)
    if win.beaten:
        others = ", ".join(f"{clean(rule)} ({size})" for rule, size in win.beaten)
        yield from _wrapped(f"beat {others} with {win.size}", width, 8)
    for refusal in win.refused:
        yield from _wrapped(f"left out {clean(refusal)}", width, 8)


def pairs(made: Mapping[str, Any]) -> Iterator[str]:
    """Yield attributes or slots with their values."""
    for name, value in made.items():
        yield f"{clean(name)}={attribute_text(value)}"


def attribute_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(pairs(value))}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(attribute_text, value))}]"
    return clean(value)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    space = " " * indent
    return textwrap.wrap(text, width, initial_indent=space, subsequent_indent=space + "  ")


def lint_text(name: str, problems: Sequence[RuleProblem]) -> str:
    """Return the problems and their counts."""
    errors = sum(problem.error for problem in problems)
    warnings = len(problems) - errors
    lines = [_line(problem) for problem in problems]
    lines.append(f"{clean(name)}: {count_text(errors, 'error')}, {count_text(warnings, 'warning')}")
    return "\n".join(lines) + "\n"


def _line(problem: RuleProblem) -> str:
    at = problem.at
    place = ":".join(str(part) for part in (_relative_path(at.file), at.line, at.column) if part)
    return f"{clean(place)}: {'error' if problem.error else 'warning'}: {clean(problem.said)}"


def _relative_path(file: str) -> str:
    """Return the path relative to the current folder if that is shorter."""
    if not file:
        return ""
    try:
        near = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return near if len(near) < len(file) else str(Path(file))
