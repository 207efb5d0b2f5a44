"""Dates: 15 March 1996, 15 MAR 96, 150430ZMAR96, 3/15/96 → 1996-03-15; March 1996 → 1996-03.

A text is read as a row of n (a number), y (a year of four digits) and m (a month); the row says
which is which. A date without a year is none: its text is all that is known.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from partita.extraction.values_text import spelled

MONTHS = "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER"
_MONTH = {
    **{month: n for n, month in enumerate(MONTHS.split(), 1)},
    **{month[:3]: n for n, month in enumerate(MONTHS.split(), 1)},
    "SEPT": 9,
}
_PART = re.compile(r"\d+|[A-Z]+")
_GROUP = re.compile(r"(\d{2})\d{4}[A-Z]? ?([A-Z]{3}) ?(\d{4}|\d{2})")
_DECADE = re.compile(r"(?:THE )?(?:(EARLY|MID|LATE)[ -])?(\d{3})0'?S")
_KEPT = re.compile(r"[A-Z0-9 ,./'’-]*")
_SILENT = re.compile(
    r"THE|O[FN]|IN|AT|BY|ST|ND|RD|TH|EARLY|MID|LATE|SINCE|DURING|FROM|BETWEEN|TO|AND|AD"
    r"|(?:MON|TUES?|WED(?:NES)?|THU(?:RS?)?|FRI|SAT(?:UR)?|SUN)(?:DAY)?"
)
# Rows of two dates: each as a row of its own, with the places of its parts.
_SPANS = {
    "nnmy": (("nmy", (0, 2, 3)), ("nmy", (1, 2, 3))),
    "mnny": (("mny", (0, 1, 3)), ("mny", (0, 2, 3))),
    "mmy": (("my", (0, 2)), ("my", (1, 2))),
    "nmnmy": (("nmy", (0, 1, 4)), ("nmy", (2, 3, 4))),
    "mnmny": (("mny", (0, 1, 4)), ("mny", (2, 3, 4))),
    "nmynmy": (("nmy", (0, 1, 2)), ("nmy", (3, 4, 5))),
    "mymy": (("my", (0, 1)), ("my", (2, 3))),
    "ynnynn": (("ynn", (0, 1, 2)), ("ynn", (3, 4, 5))),
    "ynyn": (("yn", (0, 1)), ("yn", (2, 3))),
    "yy": (("y", (0,)), ("y", (1,))),
}
# Two figures of a year: 50 to 99 are 19.., the rest 20...
_TURN = 50


def date(text: str) -> str | None:
    """The date that a text gives, as slots of type date read it, or None."""
    said = spelled(text)
    if found := _GROUP.fullmatch(said):
        month = _MONTH.get(found[2])
        return _day(_year(found[3]), month, int(found[1])) if month else None
    if found := _DECADE.fullmatch(said):
        return None if found[2] < "100" else f"{found[2]}0..{found[2]}9"
    if not _KEPT.fullmatch(said):
        return None
    parts = [part for part in _PART.findall(said) if not _SILENT.fullmatch(part)]
    row = "".join(map(_letter, parts))
    return _read(row, parts, said)


def _letter(part: str) -> str:
    if part in _MONTH:
        return "m"
    if part.isdigit() and part.isascii():
        return {1: "n", 2: "n", 4: "y"}.get(len(part), "?")
    return "?"


def _read(row: str, parts: Sequence[str], said: str) -> str | None:
    if row in ("nmy", "nmn", "mny", "mnn", "ynn", "nny", "nnn", "ymn"):
        return _whole(row, parts, said)
    if row in ("my", "yn", "y"):
        return _coarse(row, parts)
    if row == "mn" and int(parts[1]) > 31:
        return _month_of(_year(parts[1]), _MONTH[parts[0]])
    return _span(row, parts)


def _whole(row: str, parts: Sequence[str], said: str) -> str | None:
    """A day, with month and year."""
    first, second, third = parts
    if row in ("nmy", "nmn"):
        return _day(_year(third), _MONTH[second], int(first))
    if row in ("mny", "mnn"):
        return _day(_year(third), _MONTH[first], int(second))
    if row == "ymn":
        return _day(int(first), _MONTH[second], int(third))
    if row == "ynn":
        return _day(int(first), int(second), int(third))
    if not re.search(r"\d[/.-]\d{1,2}[/.-]\d", said):
        return None
    return _by_figures(int(first), int(second), _year(third))


def _by_figures(first: int, second: int, year: int) -> str | None:
    """Month before day, as Americans write, unless only the other order is in the calendar."""
    return _day(year, first, second) or _day(year, second, first)


def _coarse(row: str, parts: Sequence[str]) -> str | None:
    if row == "y":
        return parts[0] if int(parts[0]) >= 1000 else None
    if row == "my":
        return _month_of(int(parts[1]), _MONTH[parts[0]])
    return _month_of(int(parts[0]), int(parts[1]))


def _span(row: str, parts: Sequence[str]) -> str | None:
    """10-15 March 1996, March 10-15 1996, March to May 1996, 10 March to 3 May 1996, 1995-1996."""
    orders = _SPANS.get(row)
    if orders is None:
        return None
    first, last = (_read(kind, [parts[n] for n in places], "") for kind, places in orders)
    return f"{first}..{last}" if first and last and first < last else None


def _year(figures: str) -> int:
    if len(figures) == 4:
        return int(figures)
    return int(figures) + (1900 if int(figures) >= _TURN else 2000)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def _month_of(year: int, month: int) -> str | None:
    found = _day(year, month, 1)
    return found[:7] if found else None
