"""The slot type of dates: an interval of days, from a day, a month, a year or a range."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, datetime
from typing import ClassVar, Literal

from partita.errors import InputError
from partita.templates.number import forward, meet
from partita.templates.slots import Json

Precision = Literal["day", "month", "year", "range"]

_POINT = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")


@dataclass(frozen=True, slots=True)
class Date:
    """Some day from the first to the last, both included; None where an end is open."""

    first: date | None
    last: date | None

    def __post_init__(self) -> None:
        forward(self.first, self.last)

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

    def read(self, given: object) -> Date:
        if isinstance(given, Date):
            return given
        if isinstance(given, date):
            day = given.date() if isinstance(given, datetime) else given
            return Date(day, day)
        if isinstance(given, str | int) and not isinstance(given, bool):
            return self._from_text(str(given).strip())
        raise InputError(f"{given!r} is not {self.expects}")

    def unify(self, left: Date, right: Date) -> Date | None:
        both = meet((left.first, left.last), (right.first, right.last))
        return None if both is None else Date(*both)

    def _from_text(self, text: str) -> Date:
        first, dots, last = (part.strip() for part in text.partition(".."))
        if not dots:
            return Date(*self._span(text))
        if not first and not last:
            raise InputError(f"{text!r} is not {self.expects}")
        return Date(self._span(first)[0] if first else None, self._span(last)[1] if last else None)

    def _span(self, text: str) -> tuple[date, date]:
        if found := _POINT.fullmatch(text):
            try:
                return _days(*(int(part) for part in found.groups() if part))
            except ValueError:
                raise InputError(f"{text!r} is not in the calendar") from None
        raise InputError(f"{text!r} is not {self.expects}")


def _days(year: int, month: int | None = None, day: int | None = None) -> tuple[date, date]:
    """The first and the last day of a year, a month or a day."""
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    if day is None:
        return date(year, month, 1), date(year, month, monthrange(year, month)[1])
    return date(year, month, day), date(year, month, day)
