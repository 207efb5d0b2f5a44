"""Write tables: whole columns to a file whose suffix says the format, or rows as CSV.

Cells are written as they are, so that what is written can be read again. Spreadsheets run a text
that begins as a formula does; where they will open a file, `excel_safe` puts a quote before it.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

from partita.core.tabular import optional
from partita.errors import InputError
from partita.files.writing import replacing, replacing_bytes, write_errors

FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # spreadsheets take such text as a formula
TABLE_FORMATS = (".csv", ".tsv", ".jsonl", ".parquet", ".arrow", ".feather")
ROWS = 10_000  # written together
SEPARATOR = "|"  # of the ids in one value of a CSV


def check_suffix(path: Path) -> None:
    """Raise an error if the name does not say the format."""
    if path.suffix.lower() not in TABLE_FORMATS:
        raise InputError(
            f"has no known suffix (expected {', '.join(TABLE_FORMATS)})", file=str(path)
        )


def write_table(
    path: Path, columns: Mapping[str, Sequence[Any]], *, excel_safe: bool = False
) -> None:
    """Write columns to a file whose suffix says the format."""
    check_suffix(path)
    suffix = path.suffix.lower()
    if suffix in (".parquet", ".arrow", ".feather"):
        _write_arrow(path, columns, suffix)
        return
    rows = zip(*columns.values(), strict=True)
    with replacing(path) as text:
        if suffix == ".jsonl":
            for row in rows:
                text.write(json.dumps(dict(zip(columns, row, strict=True))) + "\n")
            return
        mark = "\t" if suffix == ".tsv" else ","
        text.write(csv_text([tuple(columns)], mark=mark))
        while together := list(islice(rows, ROWS)):
            text.write(csv_text(together, excel_safe, mark))


def _write_arrow(path: Path, columns: Mapping[str, Sequence[Any]], suffix: str) -> None:
    what = "a Parquet file" if suffix == ".parquet" else "an Arrow file"
    table = optional("pyarrow", what).table(dict(columns))
    from pyarrow.feather import write_feather
    from pyarrow.parquet import write_table as write_parquet

    write = write_parquet if suffix == ".parquet" else write_feather
    with replacing_bytes(path) as stream, write_errors(path):
        write(table, stream)


def csv_text(rows: Iterable[Sequence[Any]], excel_safe: bool = False, mark: str = ",") -> str:
    """Return rows as CSV: lists of ids with bars between them, other values as they are."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n", delimiter=mark)
    writer.writerows([_cell(value, excel_safe) for value in row] for row in rows)
    return stream.getvalue()


def _cell(value: Any, excel_safe: bool) -> Any:
    if isinstance(value, list):
        value = SEPARATOR.join(map(str, value))
    return without_formula(value) if excel_safe and isinstance(value, str) else value


def without_formula(text: str) -> str:
    """Return text for a cell of CSV that no spreadsheet runs."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text
