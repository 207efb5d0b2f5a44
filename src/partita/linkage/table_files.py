"""Write tables as CSV, JSONL or Parquet, completely or not at all."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO

from partita.errors import InputError
from partita.files.writing import replacing, replacing_bytes, write_errors
from partita.records.tables import optional

FORMATS = (".csv", ".jsonl", ".parquet")
ROWS = 10_000  # written together
SEPARATOR = "|"  # of the ids in one value of a CSV


def check_suffix(path: Path) -> None:
    """Raise an error if the name does not say the format."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(f"has no known suffix (expected {', '.join(FORMATS)})", file=str(path))


def write_table(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns to a file whose suffix says the format."""
    check_suffix(path)
    if path.suffix.lower() == ".parquet":
        table = optional("pyarrow", "a Parquet file").table(dict(columns))
        from pyarrow.parquet import write_table as write_parquet

        with replacing_bytes(path) as stream, write_errors(path):
            write_parquet(table, stream)
        return
    rows = zip(*columns.values(), strict=True)
    with replacing(path) as text:
        if path.suffix.lower() == ".csv":
            listed = [isinstance(column[0], list) for column in columns.values() if column]
            values = ([_flat(v) for v in row] for row in rows) if any(listed) else rows
            _write_csv(text, chain([tuple(columns)], values))
            return
        for row in rows:
            text.write(json.dumps(dict(zip(columns, row, strict=True))) + "\n")


def _write_csv(text: TextIO, rows: Iterator[Sequence[Any]]) -> None:
    """Write rows, many at a time."""
    while together := list(islice(rows, ROWS)):
        buffer = StringIO()
        csv.writer(buffer, lineterminator="\n").writerows(together)
        text.write(buffer.getvalue())


def _flat(value: Any) -> Any:
    return SEPARATOR.join(map(str, value)) if isinstance(value, list) else value
