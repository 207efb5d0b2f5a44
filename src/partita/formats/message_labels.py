"""Labelled values: lines such as `Location: Kinston` that together are one row of a table."""

from __future__ import annotations

import re

from partita.formats.message_columns import aligned_cells
from partita.formats.message_lines import Line, Span

LABEL = re.compile(r"([A-Za-z][A-Za-z0-9 /().#&'-]{0,29})(?<! ) ?:\s+(?=\S)")
WORDS = 4
LONGEST = 80
SECTIONS = frozenset(
    [
        "activity",
        "analysis",
        "assessment",
        "background",
        "body",
        "comment",
        "comments",
        "conclusion",
        "conclusions",
        "description",
        "details",
        "discussion",
        "evaluation",
        "findings",
        "general",
        "intelligence",
        "message",
        "mission",
        "narrative",
        "note",
        "notes",
        "observation",
        "observations",
        "outlook",
        "remark",
        "remarks",
        "report",
        "situation",
        "summary",
        "text",
        "update",
        "warning",
    ]
)


def labelled(line: Line) -> list[tuple[Span, Span]]:
    """The labels of a line and their values, or nothing where a part of it has no label."""
    found = []
    for start, end in aligned_cells(line):
        cell = line.text[start - line.start : end - line.start]
        label = LABEL.match(cell)
        if label is None or len(label[1].split()) > WORDS or len(cell) - label.end() > LONGEST:
            return []
        found.append(((start, start + label.end(1)), (start + label.end(), end)))
    return found


def is_form(rows: list[list[tuple[Span, Span]]], text: str) -> bool:
    """Two labelled lines or three labels in one, all different, and values that are not prose."""
    pairs = [pair for row in rows for pair in row]
    names = {text[start:end].lower() for (start, end), _ in pairs}
    prose = sum(text[end - 1] in ".?!" and end - start > 30 for _, (start, end) in pairs)
    return (len(rows) > 1 or len(pairs) > 2) and len(names) == len(pairs) and 2 * prose < len(pairs)


def section_label(text: str) -> Span | None:
    """A word such as `REMARKS:` before a paragraph: the end of the label, the start of the rest."""
    found = LABEL.match(text[:80])
    if found is None or found[1].lower() not in SECTIONS:
        return None
    return found.end(1), found.end()
