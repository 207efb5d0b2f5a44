"""Find table columns by delimiters, alignment or labels."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from partita.text.lines import WIDTH, Line, Span

GAP = re.compile(r"(?<![.!?:])[ \t\u00a0]{2,}")
LONGEST = 45


def aligned_cells(line: Line) -> list[Span]:
    """Return the cells of a line, split at two or more blanks that do not end a sentence."""
    if len(line.text) > WIDTH or "  " not in line.text:
        return [(line.start, line.end)] if line.text else []
    at = 0
    cells = []
    for gap in GAP.finditer(line.text):
        cells.append((line.start + at, line.start + gap.start()))
        at = gap.end()
    return [*cells, (line.start + at, line.end)]


def aligned_rows(lines: list[Line], cells: list[list[Span]]) -> list[dict[int, Span]] | None:
    """Return the rows of a table by column, or None if the lines do not share columns."""
    placed = [
        [(start - line.begin, end - line.begin) for start, end in row]
        for line, row in zip(lines, cells, strict=True)
    ]
    lengths = [end - start for row in placed for start, end in row]
    if sum(lengths) > LONGEST * len(lengths):
        return None
    columns = _columns(placed)
    if len(columns) < 2 or not _agree(placed, columns):
        return None
    return [_row(row, positions, columns) for row, positions in zip(cells, placed, strict=True)]


def _columns(placed: list[list[Span]]) -> list[Span]:
    """Return the columns' spans: the union of the cells of the fullest rows.

    If only few rows are full, all rows are used.
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
    merged: list[Span] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _agree(placed: list[list[Span]], columns: list[Span]) -> bool:
    """Return whether at least half of the rows share a start or an end in each further column."""
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
    """Return the column that a cell overlaps most, or the closest one."""
    return max(
        range(len(columns)),
        key=lambda n: min(end, columns[n][1]) - max(start, columns[n][0]),
    )


def _row(cells: list[Span], positions: list[Span], columns: list[Span]) -> dict[int, Span]:
    row: dict[int, Span] = {}
    for span, (start, end) in zip(cells, positions, strict=True):
        n = _nearest(start, end, columns)
        row[n] = (row[n][0], span[1]) if n in row else span
    return row


BARS = re.compile(r"[|\u2502\u2503\u2551]")
TABS = re.compile(r"\t")
TAB_RUNS = re.compile(r"\t+")
SEMICOLONS = re.compile(r";")
COMMAS = re.compile(r",")
QUOTED = re.compile(r'"(?:[^"]|"")*"(?=\s*(?:[,;]|$))')
SHORT_CELL = 40


def bar_cells(text: str, line: Line) -> list[Span]:
    """Return the cells between bars; bars at the edges of the line are a frame."""
    start, end = line.start, line.end
    if BARS.match(line.text):
        start += 1
    if end > start and BARS.fullmatch(line.text[-1]):
        end -= 1
    return _cells(text, start, end, BARS)


def tab_cells(text: str, line: Line) -> list[Span]:
    return _cells(text, line.begin, line.stop, TABS)


def tab_run_cells(text: str, line: Line) -> list[Span]:
    """Return the cells between runs of tabs, as typed to align columns."""
    return _cells(text, line.start, line.end, TAB_RUNS)


def semicolon_cells(text: str, line: Line) -> list[Span]:
    return _cells(text, line.start, line.end, SEMICOLONS)


def comma_cells(text: str, line: Line) -> list[Span]:
    return _cells(text, line.start, line.end, COMMAS)


def _cells(text: str, start: int, end: int, delimiter: re.Pattern[str]) -> list[Span]:
    """Return the spans between delimiters, without surrounding blanks and quotation marks."""
    cells = []
    at = start
    for cut in _delimiters(text, start, end, delimiter):
        cells.append(_trimmed(text, at, cut[0]))
        at = cut[1]
    return [*cells, _trimmed(text, at, end)]


def _delimiters(text: str, start: int, end: int, delimiter: re.Pattern[str]) -> list[Span]:
    """Return the delimiters outside quotation marks, which quote only at the start of a cell."""
    cuts: list[Span] = []
    at, open_until = start, start
    for match in delimiter.finditer(text, start, end):
        if match.start() < open_until:
            continue
        quoted = (
            _quote_end(text, at, match.start(), end) if delimiter in (COMMAS, SEMICOLONS) else 0
        )
        if quoted > match.start():
            open_until = quoted
            continue
        cuts.append(match.span())
        at = open_until = match.end()
    return cuts


def _quote_end(text: str, at: int, first: int, end: int) -> int:
    """Return where the quotation marks of a cell close, or 0."""
    while at < first and text[at].isspace():
        at += 1
    if at >= end or text[at] != '"':
        return 0
    match = QUOTED.match(text, at, end)
    return match.end() if match else 0


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
    """Return whether two rows have two filled cells each; a single tab may only indent."""
    return sum(sum(s < e for s, e in row) >= 2 for row in rows) >= 2


def are_semicolons(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Return whether short cells recur: at least two semicolons per row, or three rows."""
    return (len(rows[0]) >= 3 or len(rows) >= 3) and _are_short(rows, lines)


def are_commas(rows: list[list[Span]], lines: list[Line]) -> bool:
    """Return whether commas separate values; in prose a blank follows each comma."""
    if len(rows) < 2 or len(rows[0]) < 3 or not _are_short(rows, lines):
        return False
    blanks = sum(line.text.count(", ") for line in lines)
    return blanks * 10 <= len(rows) * (len(rows[0]) - 1) or len(rows) >= 3


def _are_short(rows: list[list[Span]], lines: list[Line]) -> bool:
    lengths = [end - start for row in rows for start, end in row]
    sentences = sum(line.text.endswith((".", "!", "?", ",")) for line in lines)
    return (
        max(lengths) <= 3 * SHORT_CELL
        and sum(lengths) <= SHORT_CELL * len(lengths)
        and sentences == 0
    )


LABEL = re.compile(r"([A-Za-z][A-Za-z0-9 /().#&'-]{0,29})(?<! ) ?:\s+(?=\S)")
MOST_WORDS = 4
LONGEST_VALUE = 80
SECTIONS = frozenset(
    """
    activity analysis assessment background body comment comments conclusion conclusions
    description details discussion evaluation findings general intelligence message mission
    narrative note notes observation observations outlook remark remarks report situation
    summary text update warning
    """.split()  # noqa: SIM905
)


def labelled_values(line: Line) -> list[tuple[Span, Span]]:
    """Return the labels of a line with their values, or [] if a part has no label."""
    pairs = []
    for start, end in aligned_cells(line):
        cell = line.text[start - line.start : end - line.start]
        label = LABEL.match(cell)
        if (
            label is None
            or len(label[1].split()) > MOST_WORDS
            or len(cell) - label.end() > LONGEST_VALUE
        ):
            return []
        pairs.append(((start, start + label.end(1)), (start + label.end(), end)))
    return pairs


def is_form(rows: list[list[tuple[Span, Span]]], text: str) -> bool:
    """Return whether labels are distinct, at least two lines or three labels, with short values."""
    pairs = [pair for row in rows for pair in row]
    names = {text[start:end].lower() for (start, end), _ in pairs}
    prose = sum(text[end - 1] in ".?!" and end - start > 30 for _, (start, end) in pairs)
    return (len(rows) > 1 or len(pairs) > 2) and len(names) == len(pairs) and 2 * prose < len(pairs)


def section_label(text: str) -> Span | None:
    """Return the end of a label such as `REMARKS:` and the start of the text, or None."""
    label = LABEL.match(text[:80])
    if label is None or label[1].lower() not in SECTIONS:
        return None
    return label.end(1), label.end()
