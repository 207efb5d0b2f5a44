"""Convert data frames and Parquet files to rows and pairs."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

from partita.errors import InputError
from partita.files.rows import CHUNK, Rows
from partita.linkage.pair_table import DATASETS, PLAIN, SET, SPLINK, PairTable, naming
from partita.linkage.pairs import gather
from partita.records.tables import optional

INDEX = "__index_level_"  # what pandas calls an index without a name


def frame_pairs(frame: Any, name: str = "the data frame") -> PairTable:
    """The pairs of a pandas, Polars or Arrow table, or of anything that speaks either protocol."""
    arrow = optional("pyarrow", "a data frame")
    if hasattr(frame, "__arrow_c_stream__"):
        table = arrow.RecordBatchReader.from_stream(frame).read_all()
    else:
        from pyarrow.interchange import from_dataframe

        table = from_dataframe(frame)
    return gather(_rows(table), name, unit="row")


def parquet_rows(stream: BinaryIO, file: str) -> Iterator[Rows]:
    """The rows of a Parquet file."""
    arrow = optional("pyarrow", "a Parquet file")
    from pyarrow.parquet import ParquetFile

    try:
        parquet = ParquetFile(BytesIO(stream.read()))
        table = parquet.read(columns=_wanted(parquet.schema_arrow.names))
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"is not Parquet: {_one_line(error)}", file=file) from error
    return _rows(table)


def _wanted(names: list[str]) -> list[str]:
    """Splink writes dozens of columns; only a few are read. Of other files all, to refuse them."""
    splink = {*SPLINK, *DATASETS, SET}
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
