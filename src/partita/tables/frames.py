"""Tables of data frames and other Python objects, and of Parquet and Arrow files."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from partita.core.tabular import optional
from partita.errors import InputError
from partita.tables.rows import CHUNK
from partita.tables.table import Table

INDEX = "__index_level_"  # pandas' name of an unnamed index
LAZY = ("as_pandas_dataframe", "collect")  # of Splink and of lazy frames
PLAIN = {str, int, bool, type(None), list, dict}
MISSING = ("NAType", "NaTType")  # of pandas
AS_TEXT = (datetime.date, datetime.time, datetime.timedelta, Decimal)


def object_blocks(value: Any, name: str, tuples: Sequence[Sequence[str]]) -> Iterator[Table]:
    """Yield the rows of a data frame, of dicts, of tuples or of a mapping from keys to values.

    `tuples` gives the names of the values of tuples, by their number.
    """
    value = _materialised(value)
    if is_frame(value):
        yield from _arrow_blocks(_arrow_table(value), name)
        return
    if isinstance(value, Mapping):
        value = [(*_parts(key), one) for key, one in value.items()]
    elif not isinstance(value, Iterable):
        expected = "a file, a data frame, or a list of dicts or tuples"
        raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")
    rows = list(value)
    if rows and isinstance(rows[0], Mapping):
        names, rows = _dict_rows(rows, name)
    else:
        names, rows = _tuple_rows(rows, name, [tuple(names) for names in tuples if names])
    columns = [_plain_values(column) for column in zip(*rows, strict=True)]
    places = range(1, len(rows) + 1)
    yield Table(name, names, columns or [[] for _ in names], places, "row", source=name)


def _materialised(value: Any) -> Any:
    """Return Splink's data frame as a pandas one, and a lazy Polars frame collected."""
    for name in LAZY:
        if hasattr(value, name) and not hasattr(value, "__arrow_c_stream__"):
            return getattr(value, name)()
    return value


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame (pandas, Polars, Arrow, DuckDB or compatible)."""
    return any(hasattr(value, name) for name in ("__arrow_c_stream__", "__dataframe__", *LAZY))


def _parts(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _dict_rows(rows: list[Any], name: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the names of all columns, and the values of dicts in this order."""
    for n, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise InputError(f"{row!r} is not a dict", file=f"{name}, row {n}")
    names = tuple(dict.fromkeys(key for row in rows for key in row))
    return tuple(map(str, names)), [tuple(row.get(key) for key in names) for row in rows]


def _tuple_rows(
    rows: list[Any], name: str, tuples: Sequence[tuple[str, ...]]
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return names for the values of tuples; where one name will do, rows may be values."""
    named = {len(names): names for names in reversed(tuples)}
    if 1 in named:
        rows = [row if isinstance(row, tuple) else (row,) for row in rows]
    first = next(iter(tuples), ())
    names = named.get(len(rows[0]), first) if rows and isinstance(rows[0], Sequence) else first
    for n, row in enumerate(rows, 1):
        if not isinstance(row, Sequence) or isinstance(row, str) or len(row) != len(names):
            expected = ", ".join(names) or "a dict"
            raise InputError(f"{row!r} is not a row (expected {expected})", file=f"{name}, row {n}")
    return names, rows


def _plain_values(values: Sequence[Any]) -> Sequence[Any]:
    """Return values as JSON could hold them: missing ones as None, dates as texts."""
    kinds = set(map(type, values))
    if kinds <= PLAIN:
        return values
    if kinds <= {*PLAIN, float}:
        return [None if value != value else value for value in values]
    return [_plain(value) for value in values]


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if type(value).__name__ in MISSING or (isinstance(value, float) and value != value):
        return None
    return str(value) if isinstance(value, AS_TEXT) else value


def parquet_blocks(
    stream: BinaryIO, file: str, wanted: Callable[[list[str]], list[str]] | None = None
) -> Iterator[Table]:
    """Yield the rows of a Parquet file: all columns, or those that are wanted."""
    arrow = optional("pyarrow", "a Parquet file")
    from pyarrow.parquet import ParquetFile

    try:
        parquet = ParquetFile(BytesIO(stream.read()))
        names = parquet.schema_arrow.names
        table = parquet.read(columns=wanted(names) if wanted else names)
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"is not Parquet: {_one_line(error)}", file=file) from error
    return _arrow_blocks(table, file)


def arrow_file_blocks(data: bytes, file: str) -> Iterator[Table]:
    """Yield the rows of an Arrow or Feather file, or of an Arrow stream."""
    arrow = optional("pyarrow", "an Arrow file")
    from pyarrow import feather

    try:
        if data.startswith(b"\xff\xff\xff\xff"):
            table = arrow.ipc.open_stream(data).read_all()
        else:
            table = feather.read_table(BytesIO(data))
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"is not Arrow: {_one_line(error)}", file=file) from error
    return _arrow_blocks(table, file)


def _arrow_table(frame: Any) -> Any:
    arrow = optional("pyarrow", "a data frame")
    if hasattr(frame, "__arrow_c_stream__"):
        return arrow.RecordBatchReader.from_stream(frame).read_all()
    from pyarrow.interchange import from_dataframe

    return from_dataframe(frame)


def _arrow_blocks(table: Any, name: str) -> Iterator[Table]:
    names = tuple(column for column in table.column_names if not column.startswith(INDEX))
    if twice := [column for n, column in enumerate(names) if column in names[:n]]:
        raise InputError(f"column {twice[0]!r} appears twice", file=name)
    for start in range(0, max(table.num_rows, 1), CHUNK):
        part = table.slice(start, CHUNK)
        values = [_plain_values(part.column(column).to_pylist()) for column in names]
        places = range(start + 1, start + 1 + part.num_rows)
        yield Table(name, names, values, places, "row", source=name)


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]
