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


def meet(
    left: tuple[T | None, T | None], right: tuple[T | None, T | None]
) -> tuple[T | None, T | None] | None:
    """What both hold, or None if nothing does."""
    lows = [low for low in (left[0], right[0]) if low is not None]
    highs = [high for high in (left[1], right[1]) if high is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    return None if low is not None and high is not None and low > high else (low, high)


def forward(low: T | None, high: T | None) -> None:
    """Refuse an interval that runs backwards."""
    if low is not None and high is not None and low > high:
        raise InputError(f"the range {low}..{high} runs backwards")


# Longer digit strings are no numbers of things, and Python refuses to read them.
_RANGE = re.compile(r"([0-9]{1,99})? ?\.\. ?([0-9]{1,99})?")
_EXACT = re.compile(r"[0-9]{1,99}")


@dataclass(frozen=True, slots=True)
class Number:
    low: int = 0
    high: int | None = None

    def __post_init__(self) -> None:
        forward(self.low, self.high)

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

    def read(self, given: object) -> Number:
        if isinstance(given, Number):
            return given
        read = _from_text(symbol(given)) if isinstance(given, str) else _from_number(given)
        if read is None:
            raise InputError(f"{given!r} is not {self.expects}")
        return read

    def unify(self, left: Number, right: Number) -> Number | None:
        both = meet((left.low, left.high), (right.low, right.high))
        return None if both is None else Number(both[0] or 0, both[1])


def _from_number(given: object) -> Number | None:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    if given < 0 or (isinstance(given, float) and not given.is_integer()):
        return None
    return Number(int(given), int(given))


def _from_text(text: str) -> Number | None:
    if text in ("SINGULAR", "PLURAL"):
        return Number(1, 1) if text == "SINGULAR" else Number(2)
    if _EXACT.fullmatch(text):
        return Number(int(text), int(text))
    if (found := _RANGE.fullmatch(text)) and any(found.groups()):
        low, high = found.groups()
        return Number(int(low or 0), int(high) if high else None)
    return None
