"""Rows of claims from CSV, tab-separated text, JSONL, Parquet or Arrow, whichever a file is."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from partita.errors import InputError
from partita.formats.claim_columns import ROLES
from partita.formats.pairs import opened
from partita.formats.rows import Rows, csv_rows, jsonl_rows
from partita.formats.text import Lines

FORMS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".tsv": "tab", ".txt": "tab",
         ".tab": "tab", ".parquet": "parquet", ".pq": "parquet", ".arrow": "arrow",
         ".feather": "arrow"}  # fmt: skip
KNOWN = {name for names in ROLES.values() for name in names}


def rows_of(path: str | Path, columns: Sequence[str] = ()) -> Iterator[Rows]:
    """The rows of a file; `columns` name those of a file that has no header."""
    form = FORMS.get(Path(path).suffix.lower(), "csv")
    with opened(path) as stream:
        lines = Lines(stream, str(path))
        if form == "tab":
            yield from _tab_rows(lines, tuple(columns))
        elif columns:
            yield from _headed(lines, tuple(columns))
        elif form == "parquet":
            from partita.formats.frames import parquet_rows

            yield from parquet_rows(stream, str(path))
        elif form == "arrow":
            yield _arrow_rows(stream, str(path))
        else:
            yield from (csv_rows if form == "csv" else jsonl_rows)(lines)


def _arrow_rows(stream: BinaryIO, file: str) -> Rows:
    """The rows of an Arrow file, which is also what Feather is."""
    try:
        import pyarrow
    except ImportError:
        raise InputError("is Arrow; reading it takes pip install pyarrow", file=file) from None
    from pyarrow import feather

    try:
        table = feather.read_table(BytesIO(stream.read()))
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"is not Arrow: {str(error).splitlines()[0]}", file=file) from error
    values = [column.to_pylist() for column in table.columns]
    return Rows(tuple(table.column_names), values, range(1, table.num_rows + 1), {})


def _headed(lines: Lines, columns: tuple[str, ...]) -> Iterator[Rows]:
    """A CSV without a header, a row in each line: the names come from elsewhere."""
    for block in lines.blocks():
        before = lines.read
        rows = list(csv.reader(lines.decoded(block), skipinitialspace=True))
        yield _squared(columns, rows, before + 1, lines.broken)


def _tab_rows(lines: Lines, columns: tuple[str, ...]) -> Iterator[Rows]:
    """Values between tabs; without names a first line that has none of ours is a row too."""
    for block in lines.blocks():
        before = lines.read
        texts = [line.rstrip("\r\n") for line in lines.decoded(block)]
        rows = [text.split("\t") if text.strip() else [] for text in texts]
        first = before + 1
        if not columns:
            blank = next((n for n, row in enumerate(rows) if row), len(rows))
            if blank == len(rows):
                continue
            columns, taken = _names(rows[blank], lines.file, first + blank)
            rows, first = rows[blank + taken :], first + blank + taken
        yield _squared(columns, rows, first, lines.broken)


def _names(row: Sequence[str], file: str, line: int) -> tuple[tuple[str, ...], int]:
    """The columns of a table, and how many lines they take; two without names are a truth each."""
    if any(name.strip().lower() in KNOWN for name in row):
        return tuple(name.strip() for name in row), 1
    if len(row) == 2:
        return ("object", "value"), 0
    problem = f"names no column; say what its {len(row)} columns are by --columns"
    raise InputError(problem, file=file, line=line)


def _squared(
    columns: tuple[str, ...],
    rows: list[list[str]],
    first: int,
    broken: dict[int, str] | None = None,
) -> Rows:
    """Columns of equal length; rows that are too short or too long become problems."""
    width, problems = len(columns), {}
    kept = [n for n, row in enumerate(rows) if row]
    for at, n in enumerate(kept):
        if len(rows[n]) != width:
            problems[at] = f"has {len(rows[n])} values; expected {width}: {', '.join(columns)}"
            rows[n] = (rows[n] + [""] * width)[:width]
        if broken and first + n in broken:
            problems[at] = broken[first + n]
    values = list(zip(*(rows[n] for n in kept), strict=True)) or [()] * width
    return Rows(columns, values, [first + n for n in kept], problems)
