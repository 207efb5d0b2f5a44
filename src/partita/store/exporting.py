"""Export tables of a run as CSV, JSONL or Parquet."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import JSON, Boolean, Double, Integer, select

from partita.errors import InputError, Unavailable
from partita.files.writing import replacing, replacing_bytes, write_errors
from partita.store import tables
from partita.tables.writing import csv_text

if TYPE_CHECKING:
    from sqlalchemy import Column, Connection, Select, Table

FORMS = ("csv", "jsonl", "parquet")
TABLES = tuple(table.name for table in tables.metadata.sorted_tables)
CHUNK = 1000  # rows at a time


def table_named(name: str) -> Table:
    if name not in TABLES:
        raise InputError(f"{name!r} is not a table; expected {', '.join(sorted(TABLES))}")
    return tables.metadata.tables[name]


def export_table(
    connection: Connection, run: str, name: str, form: str, out: Path, excel_safe: bool = False
) -> int:
    """Write a table to a file and return the number of rows."""
    table = table_named(name)
    if form == "parquet":
        return _parquet(table, _chunks(connection, run, table), out)
    count = 0
    with replacing(out) as stream:
        stream.write(_header(table) if form == "csv" else "")
        for rows in _chunks(connection, run, table):
            stream.write(_csv(rows, excel_safe) if form == "csv" else _jsonl(rows))
            count += len(rows)
    return count


def _chunks(connection: Connection, run: str, table: Table) -> Iterator[Sequence[Any]]:
    result = connection.execution_options(yield_per=CHUNK).execute(_query(run, table))
    yield from result.mappings().partitions()


def _query(run: str, table: Table) -> Select[Any]:
    """Return the query of a run's rows, ordered by key; messages by position."""
    order = [*table.primary_key.columns]
    if table.name == "messages":
        order = [table.c.position, table.c.message]
    query = select(table).order_by(*order)
    if table.name != "models":
        return query.where(table.c.run == run)
    used = select(tables.runs.c.model_id).where(tables.runs.c.run == run)
    return query.where(table.c.id.in_(used))


def _header(table: Table) -> str:
    return ",".join(column.name for column in table.columns) + "\n"


def _csv(rows: Sequence[Any], excel_safe: bool) -> str:
    """Return rows as CSV, with lists, objects and booleans as JSON."""
    nested = (bool, list, dict)
    cells = ([_json(v) if isinstance(v, nested) else v for v in row.values()] for row in rows)
    return csv_text(cells, excel_safe)


def _jsonl(rows: Sequence[Any]) -> str:
    return "".join(f"{_json(dict(row))}\n" for row in rows)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _parquet(table: Table, chunks: Iterator[Sequence[Any]], out: Path) -> int:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise Unavailable("a Parquet file needs pyarrow; install partita[frames]") from error
    schema = pyarrow.schema([(column.name, _type(column, pyarrow)) for column in table.columns])
    count = 0
    with replacing_bytes(out) as stream, write_errors(out), ParquetWriter(stream, schema) as writer:
        for rows in chunks:
            flat_rows = [{name: _flat(table.c[name], row[name]) for name in row} for row in rows]
            writer.write_table(pyarrow.Table.from_pylist(flat_rows, schema=schema))
            count += len(flat_rows)
    return count


def _type(column: Column[Any], pyarrow: Any) -> Any:
    kinds = ((Boolean, "bool_"), (Integer, "int64"), (Double, "float64"))
    name = next((name for kind, name in kinds if isinstance(column.type, kind)), "string")
    return getattr(pyarrow, name)()


def _flat(column: Column[Any], value: Any) -> Any:
    """Return nested values as JSON."""
    return _json(value) if isinstance(column.type, JSON) and value is not None else value
