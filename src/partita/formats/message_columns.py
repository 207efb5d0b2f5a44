"""Columns by alignment: cells two blanks apart whose starts or ends agree from row to row."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from partita.formats.message_lines import WIDTH, Line, Span

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
