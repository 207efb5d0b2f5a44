"""Slot type: dates as intervals of days, from a day, a month, a year or a range."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar, Literal

from partita.errors import InputError
from partita.templates.number import check_order, intersect
from partita.templates.slots import Json

Precision = Literal["day", "month", "year", "range"]

_POINT = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


@dataclass(frozen=True, slots=True)
class Date:
    """A day from the first to the last, both included; None where an end is open."""

    first: date | None
    last: date | None

    def __post_init__(self) -> None:
        check_order(self.first, self.last)

    @property
    def precision(self) -> Precision:
        first, last = self.first, self.last
        if first is None or last is None:
            return "range"
        if first == last:
            return "day"
        if (first, last) == _days(first.year, first.month):
            return "month"
        return "year" if (first, last) == _days(first.year) else "range"

    def json(self) -> Json:
        return str(self)

    def __str__(self) -> str:
        first = self.first.isoformat() if self.first else ""
        last = self.last.isoformat() if self.last else ""
        lengths: dict[Precision, int] = {"day": 10, "month": 7, "year": 4}
        return first[: lengths[p]] if (p := self.precision) in lengths else f"{first}..{last}"


@dataclass(frozen=True, slots=True)
class DateType:
    expects: ClassVar[str] = (
        "a date (1996-03-15, 1996-03, 1996) or a range (1996-03..1996-05, 1996-03.., ..1996)"
    )

    def read(self, value: object) -> Date:
        if isinstance(value, Date):
            return value
        if isinstance(value, date):
            day = value.date() if isinstance(value, datetime) else value
            return Date(day, day)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return self._from_text(str(value).strip())
        raise InputError(f"{value!r} is not {self.expects}")

    def unify(self, left: Date, right: Date) -> Date | None:
        common = intersect((left.first, left.last), (right.first, right.last))
        return None if common is None else Date(*common)

    def _from_text(self, text: str) -> Date:
        first, dots, last = (part.strip() for part in text.partition(".."))
        if not dots:
            return Date(*self._span(text))
        if not first and not last:
            raise InputError(f"{text!r} is not {self.expects}")
        return Date(self._span(first)[0] if first else None, self._span(last)[1] if last else None)

    def _span(self, text: str) -> tuple[date, date]:
        if match := _POINT.fullmatch(text):
            try:
                return _days(*(int(part) for part in match.groups() if part))
            except ValueError:
                raise InputError(f"{text!r} is not in the calendar") from None
        raise InputError(f"{text!r} is not {self.expects}")


def _days(year: int, month: int | None = None, day: int | None = None) -> tuple[date, date]:
    """Return the first and the last day of a year, a month or a day."""
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    if day is None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return date(year, month, day), date(year, month, day)
