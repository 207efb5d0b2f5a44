"""Columns of tables as numbers: ids by first appearance, and probabilities.

Compiled reading of the fields of a block of text: numbers for names, and decimals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain, pairwise
from typing import Any

import numpy as np

from partita.compilation import kernel
from partita.core import FloatArray, Id, IntArray
from partita.files.strict import LONGEST_ID, shortened
from partita.tables.rows import Fields
from partita.tables.table import Table

FIRST_SLOTS = 1 << 16
EMPTY = -1
HASH, NUMBER, START, LENGTH = range(4)  # columns of slots
OFFSET, PRIME = 0xCBF29CE484222325 - (1 << 64), 0x100000001B3  # of the hash FNV-1a, signed


class DistinctTexts:
    """Numbers for texts by first appearance, over all blocks of a file.

    A text is found by its hash in `slots`, at most half of which are in use: a slot has the hash
    of a text, its number, and where it starts in `text` and how long it is.
    """

    def __init__(self) -> None:
        self.count = self.used = 0
        self.text = np.empty(0, np.uint8)
        self.slots = np.full((FIRST_SLOTS, 4), EMPTY)

    def numbers(self, data: bytes, starts: IntArray, ends: IntArray) -> tuple[IntArray, list[str]]:
        """Return the number of each text of a block, and the new texts."""
        self._make_room(len(starts), len(data))
        numbers, lengths = np.empty((2, len(starts)), np.int64)
        places = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
        given = np.frombuffer(data, np.uint8), *places, self.count, self.used
        new = int(_number_texts(*given, self.slots, self.text, numbers, lengths))
        edges = [0, *np.cumsum(lengths[:new]).tolist()]
        text = self.text[self.used : self.used + edges[-1]].tobytes()
        self.count, self.used = self.count + new, self.used + edges[-1]
        if text.isascii():
            whole = text.decode()
            return numbers, [whole[a:b] for a, b in pairwise(edges)]
        return numbers, [text[a:b].decode() for a, b in pairwise(edges)]

    def _make_room(self, texts: int, letters: int) -> None:
        if self.used + letters > len(self.text):
            text = np.empty(2 * (self.used + letters), np.uint8)
            text[: self.used] = self.text[: self.used]
            self.text = text
        if (most := 2 * (self.count + texts)) > len(self.slots):
            slots = np.full((1 << most.bit_length(), 4), EMPTY)
            _move_slots(self.slots, slots)
            self.slots = slots


@kernel(entry="i8[:,:], i8[:,:]")
def _move_slots(old, new):  # type: ignore[no-untyped-def]
    """Move the slots in use to a larger table."""
    last = new.shape[0] - 1
    for slot in range(old.shape[0]):
        if old[slot, NUMBER] != EMPTY:
            place = (old[slot, HASH] ^ old[slot, HASH] >> 32) & last
            while new[place, NUMBER] != EMPTY:
                place = (place + 1) & last
            for column in range(4):
                new[place, column] = old[slot, column]


@kernel(entry="u1[:], i8[:], i8[:], i8, i8, i8[:,:], u1[:], i8[:], i8[:]")
def _number_texts(  # type: ignore[no-untyped-def]
    data, starts, ends, count, used, slots, text, numbers, lengths
):
    """Number texts, of which so many are known; return how many are new, with their lengths."""
    last, first = slots.shape[0] - 1, count
    for field in range(starts.shape[0]):
        start, length = starts[field], ends[field] - starts[field]
        code = OFFSET
        for k in range(length):
            code = (code ^ data[start + k]) * PRIME
        place = (code ^ code >> 32) & last
        while slots[place, NUMBER] != EMPTY:
            if slots[place, HASH] == code and slots[place, LENGTH] == length:
                k, known = 0, slots[place, START]
                while k < length and text[known + k] == data[start + k]:
                    k += 1
                if k == length:
                    break
            place = (place + 1) & last
        if slots[place, NUMBER] == EMPTY:
            slots[place, HASH], slots[place, NUMBER] = code, count
            slots[place, START], slots[place, LENGTH] = used, length
            text[used : used + length] = data[start : start + length]
            lengths[count - first] = length
            count, used = count + 1, used + length
        numbers[field] = slots[place, NUMBER]
    return count - first


MINUS, POINT, ZERO, LETTER_E = b"-.0e"
LOWER = 0x20  # the bit by which small letters differ
DIGITS = 18  # that an integer of 64 bits holds
LEAST_POWER = -128
SPLIT = 2.0**27 + 1.0
ERROR = 2.0**-98  # relative, more than that of a product of two doubles


def decimals(data: bytes, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return decimals as `float` reads them, NaN for what is left to it."""
    values = np.empty(len(starts))
    places = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
    _read_decimals(np.frombuffer(data, np.uint8), *places, _powers(), values)
    return values


@cache
def _powers() -> FloatArray:
    """Return powers of ten from the least to 1, each as the sum of two doubles."""
    exact = [Fraction(10) ** n for n in range(LEAST_POWER, 1)]
    high = np.array([float(power) for power in exact])
    low = [float(power - Fraction(first)) for power, first in zip(exact, high, strict=True)]
    return np.array([high, low])


@kernel(entry="u1[:], i8[:], i8[:], f8[:,:], f8[:]")
def _read_decimals(data, starts, ends, powers, values):  # type: ignore[no-untyped-def]
    """Read digits with a point and an exponent, whose product with a power of ten is certain."""
    for field in range(starts.shape[0]):
        start, end = starts[field], ends[field]
        place = start + (start < end and data[start] == MINUS)
        mantissa, digits, power, any_digit, after_point = 0, 0, 0, False, False
        while place < end:
            digit = int(data[place]) - ZERO
            if 0 <= digit <= 9:
                mantissa = 10 * mantissa + digit
                digits += mantissa > 0
                power -= after_point
                any_digit = True
                if digits > DIGITS:
                    break
            elif data[place] == POINT and not after_point:
                after_point = True
            else:
                break
            place += 1
        if any_digit and place + 1 < end and data[place] | LOWER == LETTER_E:
            exponent, end_of_sign = 0, place + 1 + (data[place + 1] == MINUS)
            place = end_of_sign
            while place < end and 0 <= int(data[place]) - ZERO <= 9 and exponent < 1000:
                exponent = 10 * exponent + int(data[place]) - ZERO
                place += 1
            any_digit = place > end_of_sign
            power += -exponent if data[end_of_sign - 1] == MINUS else exponent
        if any_digit and place == end and LEAST_POWER <= power <= 0:
            value = _scaled(
                mantissa, powers[0, power - LEAST_POWER], powers[1, power - LEAST_POWER]
            )
            values[field] = -value if data[start] == MINUS else value
        else:
            values[field] = np.nan


@kernel()
def _scaled(mantissa, high, low):  # type: ignore[no-untyped-def]
    """Return mantissa · (high + low), correctly rounded; NaN where that is not certain."""
    first = np.float64(mantissa)
    rest = np.float64(mantissa - np.int64(first))
    a = SPLIT * first - (SPLIT * first - first)
    b = SPLIT * high - (SPLIT * high - high)
    product = first * high
    error = a * b - product + a * (high - b) + (first - a) * b + (first - a) * (high - b)
    error += first * low + rest * high
    total = product + error
    left = error - (total - product)
    bound = ERROR * total
    upper, lower = total + (left + bound), total + (left - bound)
    return upper if upper == lower else np.nan


UNKNOWN = -1


class Codes(dict[str, int]):
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
        if is_compiled(*columns):
            return self._of_fields([column for column in columns if isinstance(column, Fields)])
        return self._of_texts(list(chain.from_iterable(zip(*columns, strict=True))))

    def _of_fields(self, columns: Sequence[Fields]) -> IntArray:
        """Return the numbers of fields; a text is made only of the first with each name."""
        self._distinct = self._distinct or DistinctTexts()
        places = np.array([column.places for column in columns])
        starts, ends = np.ascontiguousarray(places.transpose(1, 2, 0)).reshape(2, -1)
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


def is_compiled(*columns: Sequence[Any]) -> bool:
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


def id_texts(column: Sequence[Any]) -> Sequence[str]:
    """Return ids as text; JSON and tables may hold numbers."""
    if isinstance(column, Fields) or set(map(type, column)) <= {str}:
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
    if isinstance(column, Fields) and is_compiled(column):
        return _decimals(column)
    kinds = set(map(type, column))
    try:
        if kinds <= {int, float} or (kinds == {str} and "_" not in "".join(column)):
            return np.fromiter(map(float, column), np.float64, len(column))
    except (ValueError, OverflowError):
        pass
    return np.array([_number(value) for value in column], np.float64)


def _decimals(column: Fields) -> FloatArray:
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


def is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip()) or value != value


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
