"""Columns of tables as numbers: ids by first appearance, and probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from partita.core import FloatArray, Id, IntArray
from partita.files.strict import shortened
from partita.tables.table import Table

UNKNOWN = -1


class Codes(dict[str, int]):
    """A number for each name, by first appearance; surrounding blanks are ignored."""

    def __init__(self) -> None:
        self.names: list[str] = []

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
        rows = chain.from_iterable(zip(*columns, strict=True))
        return np.fromiter(map(self.__getitem__, rows), np.int64, len(columns) * len(columns[0]))


def _writable(name: str) -> bool:
    """Return whether a name has no lone surrogates, which JSON can spell but files cannot hold."""
    return name.isascii() or not any("\ud800" <= c <= "\udfff" for c in name)


def id_texts(column: Sequence[Any]) -> Sequence[str]:
    """Return ids as text; JSON and tables may hold numbers."""
    if set(map(type, column)) <= {str}:
        return column
    return [id_text(value) for value in column]


def ids_of(table: Table, column: str, what: str = "") -> list[str]:
    """Return the ids of a column as texts without outer blanks, "" for those that are missing.

    Lists, objects and booleans are an error.
    """
    values = table.column(column)
    texts = [text.strip() for text in id_texts(values)]
    for row in [row for row, text in enumerate(texts) if not text] if table.typed else ():
        if not is_blank(values[row]):
            raise table.error(row, id_problem(values[row], what or column))
    return texts


def id_problem(value: Any, what: str) -> str:
    """Say why a value cannot be an id."""
    return f"{what} is {shortened(str(value))} (expected a text or a number)"


def id_text(value: Any) -> str:
    """Return an id as text, or "" if the value cannot be one."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # a data frame turns whole numbers with gaps into floats
    named = isinstance(value, str | int | float) and not isinstance(value, bool) and value == value
    return str(value) if named else ""


def decimal_values(column: Sequence[Any], separator: str = "") -> FloatArray:
    """Return probabilities, NaN for invalid ones; at once if all are regular.

    Between semicolons, as spreadsheets of many countries write them, 0,5 is a number.
    """
    if separator == ";" and any("," in value for value in column):
        column = [value.replace(",", ".", 1) for value in column]
    kinds = set(map(type, column))
    try:
        if kinds <= {int, float} or (kinds == {str} and "_" not in "".join(column)):
            return np.fromiter(map(float, column), np.float64, len(column))
    except (ValueError, OverflowError):
        pass
    return np.array([_number(value) for value in column], np.float64)


def _number(value: Any) -> float:
    """Return a float, or NaN; unlike Python, 1_0 and true are not numbers."""
    if isinstance(value, bool) or "_" in str(value):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or value != value


class IntegerIds:
    """The integer ids of a table, so that results can name records as the user does."""

    def __init__(self) -> None:
        self._integers: dict[str, int] = {}
        self._others = False

    def note(self, ids: Iterable[Any]) -> None:
        """Remember ids; any that is not an integer makes all of them texts."""
        for value in {None if isinstance(one, list | dict) else one for one in ids}:
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, int) and not isinstance(value, bool):
                self._integers[str(value)] = value
            else:
                self._others = True

    def original(self, name: str) -> Id:
        """Return an id as it was given."""
        return name if self._others else self._integers.get(name, name)

    def originals(self, names: Sequence[str]) -> Sequence[Id]:
        """Return ids as they were given."""
        return names if self._others or not self._integers else [*map(self.original, names)]
