"""Tables of records: read them, and what an engine that compares them offers."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from partita.core import FloatArray, Id, IntArray
from partita.errors import InputError
from partita.linkage.column_alignment import aligned_names
from partita.linkage.record_columns import (
    IDS,
    Column,
    cell_text,
    date_orders,
    guess_columns,
    guess_kind,
    is_label,
    iso,
)
from partita.tables import Note, Table, read_table
from partita.tables.columns import ids_of

NEAREST = "nearest"  # the engine of ours, as its settings name it

Progress = Callable[[str], None]
Settings = dict[str, Any]

WHOLE = "whole record"  # the column of all values of a record, where tables share no column
SEPARATOR = "-__-"  # Splink's separator of source and id
ID_HEADER = re.compile(  # of a first column that may hold ids
    r"(^|[^a-z])(id|ids|no|num|number|key|code|sku|ref)\W*$|(id|nr|nummer)\W*$", re.IGNORECASE
).search


@dataclass(frozen=True, slots=True)
class RecordTable:
    """The records of one or several sources: the id and the source of each, and its values.

    `month_first` are the sources and columns whose dates were written so, as 03/25/1994.
    """

    ids: Sequence[Id]
    sources: Sequence[str]
    columns: Mapping[str, Sequence[str | None]]
    to_compare: Sequence[Column]
    text_only: Sequence[str] = ()
    month_first: Set[tuple[str, str]] = frozenset()

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def source_names(self) -> list[str]:
        return list(dict.fromkeys(self.sources))

    def reordered(self, order: IntArray) -> RecordTable:
        """Return the table with its records in another order."""
        rows = order.tolist()
        columns = {name: [values[n] for n in rows] for name, values in self.columns.items()}
        ids, sources = ([values[n] for n in rows] for values in (self.ids, self.sources))
        return replace(self, ids=ids, sources=sources, columns=columns)

    def for_splink(self) -> dict[str, Sequence[Any]]:
        """Return the table as Splink reads it: numbered records, and values."""
        return {**self.columns, "record": range(len(self)), "source": self.sources}


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scored pairs by the numbers of their records, with log₂ of their odds.

    `compared` counts all pairs that were compared; the scored ones are those within connected sets.
    """

    left: IntArray
    right: IntArray
    weight: FloatArray
    compared: int

    @property
    def probability(self) -> FloatArray:
        return np.asarray(1.0 / (1.0 + np.exp2(-np.clip(self.weight, -1000.0, 1000.0))))


class LinkageEngine(Protocol):
    """A table of records, and a way to compare them."""

    table: RecordTable

    def fit(self, settings: Settings | None, progress: Progress, note: Note) -> Settings:
        """Return a trained model as JSON holds it: `settings` if they are trained already."""

    def score(self, model: Settings, link_above: float) -> Scored:
        """Return the scores of all pairs within sets that scores above `link_above` connect."""

    def weights(self, model: Settings, left: int, right: int) -> list[tuple[str, float]]:
        """Return what each column says about two records as log-odds, after the prior."""

    def unmatched(self) -> FloatArray:
        """Return for every record P(no match beyond the pairs that were scored last)."""

    def apart(self, model: Settings) -> Sequence[str] | None:
        """Return a label of every record such that equal ones are never the same, or None."""


@dataclass(frozen=True, slots=True)
class _Source:
    """One table as it was read."""

    name: str
    columns: dict[str, list[str | None]]
    ids: list[Any]


def read_records(
    tables: Sequence[Any],
    unique_id: str | None = None,
    ignore: Sequence[str] = (),
    note: Note = lambda text: None,
    columns: Sequence[Column] | None = None,
) -> RecordTable:
    """Read one or several tables of records and guess the types of their columns.

    The id column is `unique_id`, or a column with a usual name whose values are unique; else
    records are numbered. Columns that seem to hold the answer, and those in `ignore`, are not
    compared.
    """
    sources = [_read(table, n, unique_id, note) for n, table in enumerate(_named(tables), 1)]
    sources, text_only = _aligned(sources, note)
    names = list(dict.fromkeys(name for source in sources for name in source.columns))
    joined: dict[str, Sequence[str | None]] = {
        name: [v for source in sources for v in _values(source, name)] for name in names
    }
    if sum(len(source.ids) for source in sources) < 2:
        raise InputError("has one record (expected at least two)", file=sources[0].name)
    _check_names([*ignore], names, "to ignore")
    shown = [name for name in text_only if name not in ignore]
    if columns is None and shown and len(shown) == len([n for n in names if n not in ignore]):
        note("the tables have no column in common: whole records are compared as text")
        joined[WHOLE] = [_joined_text(row) for row in zip(*(joined[n] for n in shown), strict=True)]
        shown = []
    homes = [source.name for source in sources for _ in source.ids]
    joined, month_first = dated(joined, homes, note)
    if columns is None:
        columns = columns_to_compare(joined, {*ignore, *text_only}, note)
    ids = record_ids(homes, [one for source in sources for one in source.ids])
    return RecordTable(ids, homes, joined, columns, shown, month_first)


def _aligned(sources: Sequence[_Source], note: Note) -> tuple[list[_Source], list[str]]:
    """Return tables whose columns that hold the same have the same name, and columns of one table.

    The latter are compared within the text of the whole record only.
    """
    names = aligned_names([source.columns for source in sources])
    renamed = [
        replace(source, columns={given[name]: values for name, values in source.columns.items()})
        for source, given in zip(sources, names, strict=True)
    ]
    homes = Counter(name for source in renamed for name in source.columns)
    return renamed, [name for name in homes if 1 == homes[name] < len(sources)]


def dated(
    columns: Mapping[str, Sequence[str | None]], sources: Sequence[str], note: Note
) -> tuple[dict[str, Sequence[str | None]], Set[tuple[str, str]]]:
    """Return columns whose dates with the month first are YYYY-MM-DD, and of which source they are.

    In a column of a table a number above 12 decides, or else in that column of other tables.
    """
    rows: dict[str, list[int]] = {}
    for n, source in enumerate(sources):
        rows.setdefault(source, []).append(n)
    found = {
        (source, name)
        for name, values in columns.items()
        if date_orders(values) and guess_kind(name, values) == "date"
        for source in _month_first(name, {one: date_orders([values[n] for n in at])
                                          for one, at in rows.items()}, note)
    }  # fmt: skip
    return {name: iso_dates(name, values, sources, found)
            for name, values in columns.items()}, found  # fmt: skip


def _month_first(name: str, orders: Mapping[str, Counter[str]], note: Note) -> Iterator[str]:
    """Yield the tables in which the dates of a column have the month first."""
    every = sum(orders.values(), Counter[str]())
    for source, own in orders.items():
        known = own if own["day"] != own["month"] else every
        if known["month"] > known["day"]:
            note(f"{source}: dates in {name} are read with the month first")
            yield source
        elif own and known["month"] == known["day"]:
            note(f"{source}: dates in {name} may have day or month first; read with the day first")


def iso_dates(
    name: str,
    values: Sequence[str | None],
    sources: Sequence[str],
    month_first: Set[tuple[str, str]],
) -> Sequence[str | None]:
    """Return the values of a column, dates of sources with the month first as YYYY-MM-DD."""
    if all(column != name for _, column in month_first):
        return values
    return [iso(value, True) or value if value and (source, name) in month_first else value
            for value, source in zip(values, sources, strict=True)]  # fmt: skip


def _joined_text(values: Sequence[str | None]) -> str | None:
    return " ".join(value for value in values if value is not None) or None


def _values(source: _Source, name: str) -> list[str | None]:
    return source.columns.get(name) or [None] * len(source.ids)


def _named(tables: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return the tables with different names: those of the files, or table_1, table_2."""
    named: list[tuple[str, Any]] = []
    for n, table in enumerate(tables, 1):
        path = isinstance(table, str | os.PathLike)
        name = Path(table).stem if path else getattr(table, "source", "") or f"table_{n}"
        taken = {other for other, _ in named}
        named.append((f"{name}_{n}" if name in taken else name, table))
    return named


def _read(named: tuple[str, Any], number: int, unique_id: str | None, note: Note) -> _Source:
    name, records = named
    what = f"records {number}" if number > 1 else "records"
    table = read_table(records, what, note=note).filled("records")
    texts = {
        column: [cell_text(value) for value in values]
        for column, values in zip(table.columns, table.values, strict=True)
    }
    at = _id_column(texts, unique_id, table.name, note)
    if at is None:
        why = "no column of unique ids (--unique-id COL); records are numbered from 1"
        if repeated := next(iter(_usual_ids(texts)), None):
            why = f"the ids in {repeated} repeat; records are numbered from 1, with that id beside"
        note(f"{table.name}: {why}")
        return _Source(name, texts, list(range(1, len(table) + 1)))
    _check_ids(texts[at], table, at)
    ids = [_id(value) for value in table.column(at)]
    return _Source(name, {c: v for c, v in texts.items() if c != at}, ids)


def _id(value: Any) -> Id:
    """Return an id as it was given: an integer, or a text without outer blanks."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else str(value).strip()


def _id_column(
    columns: Mapping[str, Sequence[str | None]], unique_id: str | None, file: str, note: Note
) -> str | None:
    if unique_id is not None:
        _check_names([unique_id], list(columns), "of ids", file)
        return unique_id
    name = unique_id_column(columns)
    if name is not None and name.lower() not in IDS:
        note(f"{file}: records are called by {name}, whose values are unique")
    return name


def unique_id_column(columns: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the column of ids: called as ids usually are, or the first; its values are unique."""
    first = next(iter(columns), "")
    names = [*_usual_ids(columns), *([first] if ID_HEADER(first) else [])]
    return next((name for name in names if _are_unique([*map(cell_text, columns[name])])), None)


def repeated_ids(table: RecordTable) -> dict[str, Sequence[str | None]]:
    """Return the columns that are called as ids usually are, but whose values repeat."""
    return {name: values for name, values in table.columns.items()
            if name.lower() in IDS and is_label(name, values)}  # fmt: skip


def _are_unique(values: Sequence[str | None]) -> bool:
    return bool(values) and None not in values and len({*values}) == len(values)


def id_column(names: Sequence[str]) -> str | None:
    """Return the column that is called as ids usually are, if there is one."""
    return next(iter(_usual_ids(names)), None)


def _usual_ids(names: Iterable[str]) -> list[str]:
    by_name = {name.lower(): name for name in reversed([*names])}
    return [by_name[name] for name in IDS if name in by_name]


def _check_names(
    wanted: Sequence[str], names: Sequence[str], what: str, file: str | None = None
) -> None:
    for name in wanted:
        if name not in names:
            raise InputError(f"has no column {name} {what}; found {', '.join(names)}", file=file)


def _check_ids(values: Sequence[str | None], table: Table, name: str) -> None:
    first: dict[str, int] = {}
    ids_of(table, name)
    for row, value in enumerate(values):
        if value is None:
            raise table.error(row, f"has no {name} (expected a unique id)")
        if first.setdefault(value, row) != row:
            same = f"as in {table.unit} {table.lines[first[value]]} (expected a unique id)"
            raise table.error(row, f"the {name} is {value}, {same}")


def record_ids(sources: Sequence[str], ids: Sequence[Id]) -> list[Id]:
    """Return the ids of all records, with their source where two sources share an id."""
    if len({*map(str, ids)}) == len(ids):
        return list(ids)
    return [f"{source}{SEPARATOR}{one}" for source, one in zip(sources, ids, strict=True)]


def columns_to_compare(
    columns: Mapping[str, Sequence[str | None]], ignored: Set[str], note: Note
) -> list[Column]:
    """Return the columns to compare; those that seem to hold the answer are not."""
    answers = [name for name, values in columns.items() if is_label(name, values)]
    for name in answers:
        if name not in ignored:
            note(f"column {name} seems to hold clusters or ids that repeat: not compared")
    guessed = guess_columns(columns, {*ignored, *answers})
    compared = {column.name for column in guessed}
    for name in columns:
        if name not in compared and name not in ignored and name not in answers:
            note(f"column {name} has no or few different values: not compared")
    if not guessed:
        raise InputError(f"no column can be compared; found {', '.join(columns) or 'none'}")
    return guessed
