"""Read rows and pairs from data frames, other Python objects and Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from partita.core import Id
from partita.core.tables import optional
from partita.errors import InputError
from partita.files.rows import CHUNK, Rows
from partita.linkage.pair_table import DATASETS, OTHERS, PLAIN, SET, SPLINK, WEIGHT, naming

INDEX = "__index_level_"  # pandas' name of an unnamed index


def object_rows(value: Any, names: Sequence[str], what: str) -> Iterator[Rows]:
    """Return the rows of a data frame, of dicts, or of tuples whose values are called `names`."""
    if is_frame(value):
        yield from frame_rows(value)
        return
    rows = list(value)
    if rows and isinstance(rows[0], Mapping):
        names = tuple(dict.fromkeys(name for row in rows for name in row))
        rows = [tuple(row.get(name) for name in names) for row in rows]
    elif odd := next((row for row in rows if not _fits(row, names)), None):
        raise InputError(f"{odd!r} is not {what} (expected {', '.join(names)})")
    columns = [[_plain(one) for one in column] for column in zip(*rows, strict=True)]
    yield Rows(tuple(names), columns or [[] for _ in names], range(1, len(rows) + 1), {})


def is_frame(value: Any) -> bool:
    """Return whether a value is a data frame (pandas, Polars, Arrow or compatible)."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__dataframe__")


def frame_rows(frame: Any) -> Iterator[Rows]:
    """Return the rows of a data frame."""
    arrow = optional("pyarrow", "a data frame")
    if hasattr(frame, "__arrow_c_stream__"):
        return _rows(arrow.RecordBatchReader.from_stream(frame).read_all())
    from pyarrow.interchange import from_dataframe

    return _rows(from_dataframe(frame))


def _fits(row: Any, names: Sequence[str]) -> bool:
    return isinstance(row, Sequence) and not isinstance(row, str) and len(row) == len(names)


def _plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value that it stands for."""
    return value.item() if isinstance(value, np.generic) else value


class IntegerIds:
    """The integer ids of a table, so that results can name records as the user does."""

    def __init__(self) -> None:
        self._integers: dict[str, int] = {}
        self._others = False

    def joined(self, other: IntegerIds) -> IntegerIds:
        """Return the ids of both tables."""
        both = IntegerIds()
        both._integers = self._integers | other._integers
        both._others = self._others or other._others
        return both

    def noted(self, blocks: Iterable[Rows], *columns: str) -> Iterator[Rows]:
        """Pass rows on and remember the ids in the named columns."""
        for rows in blocks:
            for name in columns:
                if name in rows.columns:
                    self.note(rows.column(name))
            yield rows

    def note(self, ids: Iterable[Any]) -> None:
        """Remember ids; any that is not an integer makes all of them texts."""
        for value in set(ids):
            whole = isinstance(value, int | float) and value == value and int(value) == value
            if whole and not isinstance(value, bool):
                self._integers[str(int(value))] = int(value)
            else:
                self._others = True

    def original(self, name: str) -> Id:
        """Return an id as it was given."""
        return name if self._others else self._integers.get(name, name)

    def originals(self, names: Sequence[str]) -> Sequence[Id]:
        """Return ids as they were given."""
        return names if self._others or not self._integers else [*map(self.original, names)]


def parquet_rows(
    stream: BinaryIO, file: str, wanted: Callable[[list[str]], list[str]] | None = None
) -> Iterator[Rows]:
    """Return the rows of a Parquet file: all columns, or those that are wanted."""
    arrow = optional("pyarrow", "a Parquet file")
    from pyarrow.parquet import ParquetFile

    try:
        parquet = ParquetFile(BytesIO(stream.read()))
        names = parquet.schema_arrow.names
        table = parquet.read(columns=wanted(names) if wanted else names)
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"is not Parquet: {_one_line(error)}", file=file) from error
    return _rows(table)


def pair_columns(names: list[str]) -> list[str]:
    """Return the columns of pairs to read: of Splink's dozens only a few, of other files all."""
    splink = {*SPLINK, *DATASETS, SET, WEIGHT, *(name for three in OTHERS for name in three)}
    return names if isinstance(naming(names), str) else [n for n in names if n in splink | {*PLAIN}]


def _rows(table: Any) -> Iterator[Rows]:
    names = [name for name in table.column_names if not name.startswith(INDEX)]
    columns = tuple(names)
    for start in range(0, max(table.num_rows, 1), CHUNK):
        part = table.slice(start, CHUNK)
        values = [part.column(name).to_pylist() for name in names]
        yield Rows(columns, values, range(start + 1, start + 1 + part.num_rows), {})


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]
