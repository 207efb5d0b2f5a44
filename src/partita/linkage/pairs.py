"""Read pair scores from CSV, JSONL, Parquet or standard input."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.files.rows import Fields, Rows, csv_rows, jsonl_rows
from partita.files.strict import LONGEST_ID, first_too_long, shortened
from partita.files.text import MARK, STANDARD_INPUT, Lines, as_utf8, opened
from partita.linkage.pair_table import (
    UNKNOWN,
    Chosen,
    Naming,
    PairTable,
    Problem,
    Unit,
    located,
    naming,
)

SEPARATOR = "-__-"  # Splink's separator of dataset and id


def gather(
    blocks: Iterable[Rows], file: str, unit: Unit = "line", chosen: Chosen = (None, None, None)
) -> PairTable:
    """Collect all rows into one table; an invalid row affects only its sets."""
    builder: _TableBuilder | None = None
    for rows in blocks:
        if builder is None:
            first = _first_naming(rows, file, unit, chosen)
            builder = _TableBuilder(file, unit, first, chosen)
        builder.add(rows)
    if builder is None or not builder.rows:
        raise InputError("has no rows; expected at least one pair", file=file)
    return builder.table()


def _first_naming(rows: Rows, file: str, unit: Unit, chosen: Chosen) -> Naming:
    """Return the naming of the first rows; wrong columns are an error for the whole file."""
    names = naming(rows.columns, chosen)
    if not isinstance(names, str):
        return names
    if 0 in rows.problems:
        raise located(file, unit, rows.lines[0], rows.problems[0])
    raise InputError(names, file=file, line=1 if unit == "line" else None)


class _Codes(dict[str, int]):
    """A number for each name, by first appearance; surrounding blanks are ignored."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._distinct: Any = None  # the texts of blocks that compiled code has read
        self._of_distinct: IntArray = np.empty(0, np.int64)

    def __missing__(self, raw: str) -> int:
        if (name := raw.strip()) != raw:
            self[raw] = self[name]
        elif name and _writable(name):
            self.names.append(name)
            self[raw] = len(self.names) - 1
        else:
            self[raw] = UNKNOWN
        return self[raw]

    def of(self, *columns: Sequence[str]) -> IntArray:
        """Return the numbers of the names in columns, row by row."""
        if _compiled(*columns):
            return self._of_fields([column for column in columns if isinstance(column, Fields)])
        return self._of_texts(list(chain.from_iterable(zip(*columns, strict=True))))

    def _of_fields(self, columns: Sequence[Fields]) -> IntArray:
        """Return the numbers of fields; a text is made only of the first with each name."""
        from partita.files.field_kernels import DistinctTexts

        self._distinct = self._distinct or DistinctTexts()
        places = np.array([column.places for column in columns])
        starts, ends = places.transpose(1, 2, 0).reshape(2, -1)
        numbers, new = self._distinct.numbers(columns[0].block.data, starts, ends)
        if self or not _regular(new):
            added = self._of_texts(new)
        else:
            added = np.arange(len(self.names), len(self.names) + len(new))
            self.names += new
        self._of_distinct = np.concatenate([self._of_distinct, added])
        codes: IntArray = self._of_distinct[numbers]
        return codes

    def _of_texts(self, column: Sequence[str]) -> IntArray:
        """Return the numbers of names; those that are new and regular are added at once."""
        if not self:  # compiled code has read all names so far
            self.update(zip(self.names, range(len(self.names)), strict=True))
        new = [name for name in dict.fromkeys(column) if name not in self]
        if _regular(new):
            self.update(zip(new, range(len(self.names), len(self.names) + len(new)), strict=True))
            self.names += new
        return np.fromiter(map(self.__getitem__, column), np.int64, len(column))


def _compiled(*columns: Sequence[Any]) -> bool:
    """Return whether compiled code reads these columns: fields of a large file, none long."""
    return all(
        isinstance(column, Fields) and column.block.large and column.longest <= LONGEST_ID
        for column in columns
    )


def _regular(names: Sequence[str]) -> bool:
    """Return whether all names are in ASCII, not empty and without blanks."""
    text = "".join(names)
    return not names or (text.isascii() and text.split() == [text] and all(names))


def _writable(name: str) -> bool:
    """Return whether a name has no lone surrogates, which JSON can spell but files cannot hold."""
    return name.isascii() or not any("\ud800" <= c <= "\udfff" for c in name)


@dataclass(slots=True)
class _TableBuilder:
    """A table under construction."""

    file: str
    unit: Unit
    naming: Naming
    chosen: Chosen = (None, None, None)
    rows: int = 0
    names: _Codes = field(default_factory=_Codes)
    set_names: _Codes = field(default_factory=_Codes)
    parts: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, rows: Rows) -> None:
        count = len(rows.lines)
        left, right = self._ids(rows)
        self._refuse_long((left, right), rows)
        ends = self.names.of(left, right)
        sets = np.zeros(count, np.int64)
        if self.naming.set is not None:
            sets = self.set_names.of(_texts(_column(rows, self.naming.set)))
        given = _column(rows, self.naming.probability)
        numbers = _numbers(given)
        if self.naming.weight:
            numbers = 0.5 * (1.0 + np.tanh(0.5 * math.log(2.0) * numbers))
        part = (ends[0::2], ends[1::2], numbers, _line_numbers(rows.lines), sets)
        problems = self._problems(rows, part, given)
        self.rows += count
        self._add_part(part, problems)

    def _ids(self, rows: Rows) -> tuple[Sequence[str], Sequence[str]]:
        left, right = (_texts(_column(rows, n)) for n in (self.naming.left, self.naming.right))
        if self.naming.datasets is None:
            return left, right
        of_left, of_right = (_texts(_column(rows, name)) for name in self.naming.datasets)
        return _prefixed(of_left, left), _prefixed(of_right, right)

    def _refuse_long(self, ends: tuple[Sequence[str], Sequence[str]], rows: Rows) -> None:
        for ids in () if _compiled(*ends) else ends:
            if found := first_too_long(ids, "an id"):
                raise located(self.file, self.unit, int(rows.lines[found[0]]), found[1])

    def _problems(
        self, rows: Rows, part: tuple[NDArray[Any], ...], given: Sequence[Any]
    ) -> dict[int, str]:
        """Return the problem of every invalid row; "" for a blank row."""
        left, right, probability, _, sets = part
        bad = (left < 0) | (right < 0) | (left == right) | (sets < 0)
        bad |= ~((probability >= 0) & (probability <= 1))
        problems = dict(rows.problems)
        if (names := naming(rows.columns, self.chosen)) != self.naming:
            text = names if isinstance(names, str) else "has other columns than the rows before it"
            problems = dict.fromkeys(range(len(left)), text) | problems
        for n in np.flatnonzero(bad).tolist():
            row = (int(left[n]), int(right[n]), float(probability[n]), int(sets[n]))
            if n not in problems:
                blank = all(_blank(values[n]) for values in rows.values)
                problems[n] = "" if blank else self._problem_text(row, given[n])
        return problems

    def _problem_text(self, row: tuple[int, int, float, int], given: Any) -> str:
        left, right, probability, set_number = row
        names = self.names.names
        if left < 0 or right < 0:
            partner = names[max(left, right)] if max(left, right) >= 0 else "nothing"
            return f"pairs {partner} with nothing; expected two ids"
        if set_number < 0:
            return f"names no set for {names[left]} and {names[right]}"
        if left == right:
            return f"pairs {names[left]} with itself"
        value = "missing" if _blank(given) else shortened(str(given).strip())
        wrong = "not a number" if math.isnan(probability) else "outside 0 to 1"
        return (
            f"the probability of {names[left]} and {names[right]} is {value}"
            f"{'' if value == 'missing' else f', {wrong}'}; expected a number from 0 to 1"
        )

    def _add_part(self, part: tuple[NDArray[Any], ...], problems: dict[int, str]) -> None:
        left, right, _, lines, sets = part
        for n, text in problems.items():
            spoiled = (int(left[n]), int(right[n]), int(sets[n]) if self.naming.set else UNKNOWN)
            if text and max(spoiled) == UNKNOWN:
                raise located(self.file, self.unit, int(lines[n]), text)
            if text:
                self.problems.append(Problem(int(lines[n]), text, *spoiled))
        if problems:
            kept = np.ones(len(left), np.bool_)
            kept[list(problems)] = False
            part = tuple(column[kept] for column in part)
        self.parts.append(part)

    def table(self) -> PairTable:
        left, right, probability, lines, sets = map(np.concatenate, zip(*self.parts, strict=True))
        return PairTable(
            file=self.file,
            names=self.names.names,
            left=left,
            right=right,
            probability=probability,
            lines=lines,
            sets=sets if self.naming.set else None,
            set_names=self.set_names.names,
            problems=tuple(sorted(self.problems, key=lambda problem: problem.line)),
            unit=self.unit,
        )


def _column(rows: Rows, name: str) -> Sequence[Any]:
    return rows.column(name) if name in rows.columns else [""] * len(rows.lines)


def _line_numbers(lines: Sequence[int]) -> IntArray:
    if isinstance(lines, range):
        return np.arange(lines.start, lines.stop)
    return np.asarray(lines, np.int64)


def _prefixed(datasets: Sequence[str], ids: Sequence[str]) -> list[str]:
    return [
        f"{d.strip()}{SEPARATOR}{i.strip()}" if i.strip() else ""
        for d, i in zip(datasets, ids, strict=True)
    ]


def _texts(column: Sequence[Any]) -> Sequence[str]:
    """Return ids as text; JSON and tables may hold numbers."""
    if isinstance(column, Fields) or set(map(type, column)) <= {str}:
        return column
    return [id_text(value) for value in column]


def id_text(value: Any) -> str:
    """Return an id as text, or "" if the value cannot be one."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a data frame turns whole numbers with gaps into floats
    named = isinstance(value, str | int | float) and not isinstance(value, bool) and value == value
    return str(value) if named else ""


def _numbers(column: Sequence[Any]) -> FloatArray:
    """Return probabilities, NaN for invalid ones; at once if all are regular."""
    if isinstance(column, Fields) and _compiled(column):
        return _decimals(column)
    kinds = set(map(type, column))
    try:
        if kinds <= {int, float} or (kinds == {str} and "_" not in "".join(column)):
            return np.fromiter(map(float, column), np.float64, len(column))
    except (ValueError, OverflowError):
        pass
    return np.array([_number(value) for value in column], np.float64)


def _decimals(column: Fields) -> FloatArray:
    from partita.files.field_kernels import decimals

    values = decimals(column.block.data, *column.places)
    for n in np.flatnonzero(np.isnan(values)).tolist():
        values[n] = _number(column[n])
    return values


def _number(value: Any) -> float:
    """Return a float, or NaN; unlike Python, 1_0 and true are not numbers."""
    if isinstance(value, bool) or "_" in str(value):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or value != value


SUFFIXES = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def read_pairs(
    path: str | Path,
    form: str | None = None,
    stdin: BinaryIO | None = None,
    chosen: Chosen = (None, None, None),
    passed: Callable[[Iterable[Rows]], Iterable[Rows]] = iter,
    note: Callable[[str], None] | None = None,
) -> PairTable:
    """Read the pairs of a file, or of standard input for a dash.

    `chosen` names columns that are called otherwise; typed rows go through `passed`. Files in
    encodings of spreadsheets are read where `note` can say so.
    """
    file = "standard input" if str(path) == STANDARD_INPUT else str(path)
    with opened(path, stdin) as stream:
        form = form or SUFFIXES.get(Path(path).suffix.lower()) or _detect_format(stream)
        if form == "parquet":
            from partita.linkage.frames import pair_columns, parquet_rows

            rows = parquet_rows(stream, file, None if any(chosen) else pair_columns)
            return gather(passed(rows), file, "row", chosen)
        lines = Lines(as_utf8(stream, file, note), file)
        if form == "csv":
            return gather(csv_rows(lines), file, chosen=chosen)
        return gather(passed(jsonl_rows(lines)), file, chosen=chosen)


def _detect_format(stream: BinaryIO) -> str:
    """Return the format by the first bytes: Parquet's magic number, or a brace for JSONL."""
    start = stream.peek(64) if isinstance(stream, BufferedReader) else b""
    if start.startswith(b"PAR1"):
        return "parquet"
    return "jsonl" if start.removeprefix(MARK).lstrip().startswith(b"{") else "csv"
