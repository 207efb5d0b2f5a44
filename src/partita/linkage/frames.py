"""Convert data frames to pairs and results to Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from partita.errors import InputError, Unavailable
from partita.files.rows import CHUNK, Rows
from partita.linkage.pair_table import DATASETS, PLAIN, SET, SPLINK, PairTable, naming
from partita.linkage.pairs import gather
from partita.records import Distribution

INDEX = "__index_level_"  # what pandas calls an index without a name


def frame_pairs(frame: Any, name: str = "the data frame") -> PairTable:
    """The pairs of a pandas, Polars or Arrow table, or of anything that speaks either protocol."""
    arrow = _pyarrow("a data frame")
    if hasattr(frame, "__arrow_c_stream__"):
        table = arrow.RecordBatchReader.from_stream(frame).read_all()
    else:
        from pyarrow.interchange import from_dataframe

        table = from_dataframe(frame)
    return gather(_rows(table), name, unit="row")


def parquet_rows(stream: BinaryIO, file: str) -> Iterator[Rows]:
    """The rows of a Parquet file."""
    arrow = _pyarrow("a Parquet file")
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


def pair_table(distribution: Distribution) -> Any:
    """Every two templates with the probability given and the one that respects transitivity."""
    arrow = _pyarrow("an Arrow table")
    ids = np.array(distribution.set.ids, dtype=object)
    at = np.triu_indices(len(ids), 1)
    marginals = distribution.marginals
    return arrow.table(
        {
            "left": arrow.array(ids[at[0]], arrow.string()),
            "right": arrow.array(ids[at[1]], arrow.string()),
            "probability": distribution.probabilities[at],
            "marginal": marginals.value[at],
            "low": marginals.low[at],
            "high": marginals.high[at],
        }
    )


def configuration_table(distribution: Distribution) -> Any:
    """The listed configurations, most probable first."""
    arrow = _pyarrow("an Arrow table")
    listed = distribution.configurations
    bounds = [one.interval or (one.probability, one.probability) for one in listed]
    cells = [[list(cell) for cell in one.configuration] for one in listed]
    return arrow.table(
        {
            "rank": np.arange(1, len(listed) + 1),
            "configuration": arrow.array([str(one.configuration) for one in listed]),
            "cells": arrow.array(cells, arrow.list_(arrow.list_(arrow.string()))),
            "probability": np.array([one.probability for one in listed]),
            "low": np.array([low for low, _ in bounds]),
            "high": np.array([high for _, high in bounds]),
        }
    )


def _pyarrow(what: str) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise Unavailable(f"{what} needs pyarrow; install partita[frames]") from error
    return pyarrow


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120]
