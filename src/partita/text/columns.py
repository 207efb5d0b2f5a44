"""Find table columns by delimiters, alignment or labels."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from partita.text.lines import WIDTH, Line, Span

GAP = re.compile(r"(?<![.!?:])[ \t\u00a0]{2,}")
LONGEST = 45


def aligned_cells(line: Line) -> list[Span]:
    """The cells of a line, split where two blanks stand that do not end a sentence."""
    if len(line.text) > WIDTH or "  " not in line.text:
        return [(line.start, line.end)] if line.text else []
    at = 0
    cells = []
    for gap in GAP.finditer(line.text):
        cells.append((line.start + at, line.start + gap.start()))
        at = gap.end()
    return [*cells, (line.start + at, line.end)]


def aligned_rows(lines: list[Line], cells: list[list[Span]]) -> list[dict[int, Span]] | None:
    """The rows of a table by column, or None where the lines do not agree on columns."""
    placed = [
        [(s - line.begin, e - line.begin) for s, e in row] for line, row in _both(lines, cells)
    ]
    lengths = [end - start for row in placed for start, end in row]
    if sum(lengths) > LONGEST * len(lengths):
        return None
    columns = _columns(placed)
    if len(columns) < 2 or not _agree(placed, columns):
        return None
    return [_row(own, where, columns) for own, where in zip(cells, placed, strict=True)]


def _both(lines: list[Line], cells: list[list[Span]]) -> list[tuple[Line, list[Span]]]:
    return list(zip(lines, cells, strict=True))


def _columns(placed: list[list[Span]]) -> list[Span]:
    """Where the columns run: the cells of the fullest rows, laid over each other.

    If few rows are full the others say more, so all are taken.
    """
    most = max(map(len, placed))
    full = [row for row in placed if len(row) == most]
    if len(full) >= 2 and 3 * len(full) >= len(placed):
        spans = [
            (min(s for s, _ in row), max(e for _, e in row)) for row in zip(*full, strict=True)
        ]
        if all(left[1] <= right[0] for left, right in pairwise(spans)):
            return spans
    return _merged(sorted(span for row in placed if len(row) > 1 for span in row))


def _merged(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for start, end in spans:
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _agree(placed: list[list[Span]], columns: list[Span]) -> bool:
    """Every column but the first has a start or an end that at least half of its rows share."""
    starts: list[Counter[int]] = [Counter() for _ in columns]
    ends: list[Counter[int]] = [Counter() for _ in columns]
    rows = [0] * len(columns)
    for row in placed:
        for start, end in row:
            n = _nearest(start, end, columns)
            starts[n][start] += 1
            ends[n][end] += 1
            rows[n] += 1
    for n in range(1, len(columns)):
        shared = max(max(starts[n].values(), default=0), max(ends[n].values(), default=0))
        if shared < 2 or 2 * shared < rows[n]:
            return False
    return True


def _nearest(start: int, end: int, columns: list[Span]) -> int:
    """The column that a cell overlaps most, or that is closest to it."""
    return max(
        range(len(columns)),
        key=lambda n: min(end, columns[n][1]) - max(start, columns[n][0]),
    )


def _row(own: list[Span], where: list[Span], columns: list[Span]) -> dict[int, Span]:
    row: dict[int, Span] = {}
    for span, (start, end) in zip(own, where, strict=True):
        n = _nearest(start, end, columns)
        row[n] = (row[n][0], span[1]) if n in row else span
    return row


BARS = re.compile(r"[|\u2502\u2503\u2551]")
TABS = re.compile(r"\t")
TAB_RUNS = re.compile(r"\t+")
SEMICOLONS = re.compile(r";")
COMMAS = re.compile(r",")
QUOTED = re.compile(r'"(?:[^"]|"")*"(?=\s*(?:[,;]|$))')
SHORT = 40


def bar_cells(text: str, line: Line) -> list[Span]:
    """Cells between bars; bars at the edges of the line are a frame."""
    start, end = line.start, line.end
    if BARS.match(line.text):
        start += 1
    if end > start and BARS.fullmatch(line.text[-1]):
        end -= 1
    return _cells(text, start, end, BARS)


def tab_cells(text: str, line: Line) -> list[Span]:
    return _cells(text, line.begin, line.stop, TABS)


def tab_run_cells(text: str, line: Line) -> list[Span]:
    """Cells between runs of tabs, as people type them to make columns meet."""
    return _cells(text, line.start, line.end, TAB_RUNS)


def semicolon_cells(text: str, line: Line) -> list[Span]:
    return _cells(text, line.start, line.end, SEMICOLONS)


def comma_cells(text: str, line: Line) -> list[Span]:
    return _cells(text, line.start, line.end, COMMAS)


def _cells(text: str, start: int, end: int, delimiter: re.Pattern[str]) -> list[Span]:
    """Spans between delimiters, without blanks and quotation marks around them."""
    cells = []
    at = start
    for cut in _cuts(text, start, end, delimiter):
        cells.append(_trimmed(text, at, cut[0]))
        at = cut[1]
    return [*cells, _trimmed(text, at, end)]


def _cuts(text: str, start: int, end: int, delimiter: re.Pattern[str]) -> list[Span]:
    """The delimiters outside of quotation marks; marks quote only at the start of a cell."""
    cuts: list[Span] = []
    at, open_until = start, start
    for found in delimiter.finditer(text, start, end):
        if found.start() < open_until:
            continue
        quoted = _quoted(text, at, found.start(), end) if delimiter in (COMMAS, SEMICOLONS) else 0
        if quoted > found.start():
            open_until = quoted
            continue
        cuts.append(found.span())
        at = open_until = found.end()
    return cuts


def _quoted(text: str, at: int, first: int, end: int) -> int:
    """Where quotation marks that open a cell close again, or 0."""
    while at < first and text[at].isspace():
        at += 1
    if at >= end or text[at] != '"':
        return 0
    found = QUOTED.match(text, at, end)
    return found.end() if found else 0


def _trimmed(text: str, start: int, end: int) -> Span:
    cell = text[start:end]
    start += len(cell) - len(cell.lstrip())
    end -= len(cell) - len(cell.rstrip())
    if end - start > 2 and text[start] == text[end - 1] == '"':
        return start + 1, end - 1
    return (start, end) if start < end else (start, start)


def are_bars(rows: list[list[Span]], lines: list[Line]) -> bool:
    return len(rows) >= 2 and len(rows[0]) >= 2


def are_tabs(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Two rows with two filled cells each: a tab alone may only indent."""
    return sum(sum(s < e for s, e in row) >= 2 for row in rows) >= 2


def are_semicolons(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Prose has semicolons too: two of them in each row or three rows, and cells that are short."""
    return (len(rows[0]) >= 3 or len(rows) >= 3) and _like_cells(rows, lines)


def are_commas(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Prose has commas with blanks after them; a file of values seldom has."""
    if len(rows) < 2 or len(rows[0]) < 3 or not _like_cells(rows, lines):
        return False
    blanks = sum(line.text.count(", ") for line in lines)
    return blanks * 10 <= len(rows) * (len(rows[0]) - 1) or len(rows) >= 3


def _like_cells(rows: list[list[Span]], lines: list[Line]) -> bool:
    lengths = [end - start for row in rows for start, end in row]
    sentences = sum(line.text.endswith((".", "!", "?", ",")) for line in lines)
    return max(lengths) <= 3 * SHORT and sum(lengths) <= SHORT * len(lengths) and sentences == 0


LABEL = re.compile(r"([A-Za-z][A-Za-z0-9 /().#&'-]{0,29})(?<! ) ?:\s+(?=\S)")
WORDS = 4
LONGEST_LABEL = 80
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
        if (
            label is None
            or len(label[1].split()) > WORDS
            or len(cell) - label.end() > LONGEST_LABEL
        ):
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
