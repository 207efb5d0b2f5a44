"""Resolve expressions of time."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from datetime import date, timedelta

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_MONTH = r"(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[A-Z]*\.?"
_DAY = re.compile(
    rf"\b([0-3]?[0-9])(?:ST|ND|RD|TH|D)?\s+(?:OF\s+)?{_MONTH}(?:,?\s+((?:19)?[0-9]{{2}})\b)?"
)
_MONTH_FIRST = re.compile(rf"\b{_MONTH}\s+([0-3]?[0-9])\b(?:,?\s+((?:19)?[0-9]{{2}})\b)?")
_MONTH_ONLY = re.compile(rf"\b{_MONTH}(?:,?\s+((?:19)?[0-9]{{2}})\b)?")
_AGO = re.compile(r"\b([0-9]{1,2}|A|TWO|THREE|FOUR|FIVE|SIX)\s+(DAY|WEEK)S?\s+AGO")
_NUMBERS = {"A": 1, "TWO": 2, "THREE": 3, "FOUR": 4, "FIVE": 5, "SIX": 6}
_MAX_AHEAD = timedelta(days=7)  # a date without a year that lies further ahead is last year's

_TODAY = re.compile(
    r"\b(TODAY|TONIGHT|THIS (?:MORNING|AFTERNOON|EVENING|DAWN|NOON)|(?:MINUTES|HOURS) AGO)\b"
)
_YESTERDAY = re.compile(r"\b(YESTERDAY|LAST NIGHT|LAST EVENING)\b")
_WEEK = re.compile(r"\b(?:THIS|LAST|PAST) (?:WEEK|WEEKEND)\b")


def format_date(day: date) -> str:
    return f"{day.day:02d} {MONTHS[day.month - 1]} {day.year % 100:02d}"


def parse_dateline(text: str) -> date | None:
    """The date of the message; a year that is not said is not guessed."""
    found = _DAY.search(text.upper()) or None
    if found is not None and found[3]:
        return _date(int(found[1]), found[2], int(found[3]))
    first = _MONTH_FIRST.search(text.upper())
    if first is not None and first[3]:
        return _date(int(first[2]), first[1], int(first[3]))
    return None


def resolve_date(text: str, anchor: date | None) -> tuple[str, str] | None:
    """The fill and the way in which it was found, or nothing if the text tells no day."""
    for kind, reader in _READERS:
        if (fill := reader(text.upper(), anchor)) is not None:
            return fill, kind
    return None


def _date(day: int, month: str, year: int) -> date | None:
    try:
        return date(year + 1900 if year < 100 else year, MONTHS.index(month[:3]) + 1, day)
    except ValueError:
        return None


def _year(day: int, month: str, said: str | None, anchor: date | None) -> date | None:
    """With the year that is said, or the last one in which the day was not to come."""
    if said:
        return _date(day, month, int(said))
    if anchor is None:
        return None
    found = _date(day, month, anchor.year)
    if found is not None and found > anchor + _MAX_AHEAD:
        return _date(day, month, anchor.year - 1)
    return found


def _explicit(text: str, anchor: date | None) -> str | None:
    if found := _DAY.search(text):
        day = _year(int(found[1]), found[2], found[3], anchor)
    elif found := _MONTH_FIRST.search(text):
        day = _year(int(found[2]), found[1], found[3], anchor)
    else:
        return None
    return None if day is None else format_date(day)


def _before(pattern: re.Pattern[str], days: int) -> Callable[[str, date | None], str | None]:
    def reader(text: str, anchor: date | None) -> str | None:
        if anchor is None or not pattern.search(text):
            return None
        return format_date(anchor - timedelta(days=days))

    return reader


def _ago(text: str, anchor: date | None) -> str | None:
    found = _AGO.search(text)
    if found is None or anchor is None:
        return None
    count = _NUMBERS.get(found[1]) or int(found[1])
    return format_date(anchor - timedelta(days=count * (7 if found[2] == "WEEK" else 1)))


def _week(text: str, anchor: date | None) -> str | None:
    """Some day of the days before: the exam's third form."""
    return f"- {format_date(anchor)}" if anchor is not None and _WEEK.search(text) else None


def _month(text: str, anchor: date | None) -> str | None:
    """A range from the first of the month to its last day, or to the dateline."""
    found = _MONTH_ONLY.search(text)
    first = _year(1, found[1], found[2], anchor) if found else None
    if first is None:
        return None
    last = first.replace(day=monthrange(first.year, first.month)[1])
    return f"{format_date(first)} - {format_date(last)}"


_READERS: tuple[tuple[str, Callable[[str, date | None], str | None]], ...] = (
    ("day", _explicit),
    ("today", _before(_TODAY, 0)),
    ("yesterday", _before(_YESTERDAY, 1)),
    ("ago", _ago),
    ("week", _week),
    ("month", _month),
)
