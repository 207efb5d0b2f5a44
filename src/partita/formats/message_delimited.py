"""Columns by delimiters: bars, tabs, semicolons or commas, equally many in every row."""

from __future__ import annotations

import re

from partita.formats.message_lines import Line, Span

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
