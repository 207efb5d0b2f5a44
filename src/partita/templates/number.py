"""Slot type: integer intervals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import ClassVar, TypeVar

from partita.errors import InputError
from partita.templates.slots import Json
from partita.templates.words import symbol

T = TypeVar("T", int, date, Fraction)


def intersect(
    left: tuple[T | None, T | None], right: tuple[T | None, T | None]
) -> tuple[T | None, T | None] | None:
    """Return the intersection of two intervals, or None if it is empty."""
    lows = [low for low in (left[0], right[0]) if low is not None]
    highs = [high for high in (left[1], right[1]) if high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return None if low is not None and high is not None and low > high else (low, high)


def check_order(low: T | None, high: T | None) -> None:
    """Raise InputError if an interval runs backwards."""
    if low is not None and high is not None and low > high:
        raise InputError(f"the range {low}..{high} runs backwards")


# Python refuses to parse much longer digit strings.
_RANGE = re.compile(r"([0-9]{1,99})? ?\.\. ?([0-9]{1,99})?")
_EXACT = re.compile(r"[0-9]{1,99}")


@dataclass(frozen=True, slots=True)
class Number:
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        check_order(self.low, self.high)

    def json(self) -> Json:
        return self.low if self.low == self.high else str(self)

    def __str__(self) -> str:
        if self.low == self.high:
            return str(self.low)
        if (self.low, self.high) == (2, None):
            return "PLURAL"
        return f"{self.low}..{'' if self.high is None else self.high}"


@dataclass(frozen=True, slots=True)
class NumberType:
    expects: ClassVar[str] = "a number (12), SINGULAR, PLURAL or a range (3..5, 3.., ..5)"

    def read(self, value: object) -> Number:
        if isinstance(value, Number):
            return value
        number = _from_text(symbol(value)) if isinstance(value, str) else _from_number(value)
        if number is None:
            raise InputError(f"{value!r} is not {self.expects}")
        return number

    def unify(self, left: Number, right: Number) -> Number | None:
        common = intersect((left.low, left.high), (right.low, right.high))
        return None if common is None else Number(common[0] or 0, common[1])


def _from_number(value: object) -> Number | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if value < 0 or (isinstance(value, float) and not value.is_integer()):
        return None
    return Number(int(value), int(value))


def _from_text(text: str) -> Number | None:
    if text in ("SINGULAR", "PLURAL"):
        return Number(1, 1) if text == "SINGULAR" else Number(2)
    if _EXACT.fullmatch(text):
        return Number(int(text), int(text))
    if (match := _RANGE.fullmatch(text)) and any(match.groups()):
        low, high = match.groups()
        return Number(int(low or 0), int(high) if high else None)
    return None
