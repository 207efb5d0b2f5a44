"""Parse values: numbers, dates, measures and coordinates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from fractions import Fraction

from partita.rules.numbers import measure, money, normalise, number

MONTHS = "JANUARY FEBRUARY MARCH APRIL MAY JUNE JULY AUGUST SEPTEMBER OCTOBER NOVEMBER DECEMBER"
_MONTH = {
    **{month: n for n, month in enumerate(MONTHS.split(), 1)},
    **{month[:3]: n for n, month in enumerate(MONTHS.split(), 1)},
    "SEPT": 9,
}
_PART = re.compile(r"\d+|[A-Z]+")
_GROUP = re.compile(r"(\d{2})\d{4}[A-Z]? ?([A-Z]{3}) ?(\d{4}|\d{2})")
_DECADE = re.compile(r"(?:THE )?(?:(EARLY|MID|LATE)[ -])?(\d{3})0'?S")
_ALLOWED = re.compile(r"[A-Z0-9 ,./'’-]*")
_IGNORED = re.compile(
    r"THE|O[FN]|IN|AT|BY|ST|ND|RD|TH|EARLY|MID|LATE|SINCE|DURING|FROM|BETWEEN|TO|AND|AD"
    r"|(?:MON|TUES?|WED(?:NES)?|THU(?:RS?)?|FRI|SAT(?:UR)?|SUN)(?:DAY)?"
)
# Patterns of two dates: the pattern of each, with the positions of its parts.
_RANGES = {
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
# Two-digit years from 50 on are 19.., the others 20...
_CENTURY_TURN = 50


def date(text: str) -> str | None:
    """Return the date in a text, in the form of date slots, or None."""
    normalised = normalise(text)
    if match := _GROUP.fullmatch(normalised):
        month = _MONTH.get(match[2])
        return _day(_year(match[3]), month, int(match[1])) if month else None
    if match := _DECADE.fullmatch(normalised):
        return None if match[2] < "100" else f"{match[2]}0..{match[2]}9"
    if not _ALLOWED.fullmatch(normalised):
        return None
    parts = [part for part in _PART.findall(normalised) if not _IGNORED.fullmatch(part)]
    row = "".join(map(_part_kind, parts))
    return _read(row, parts, normalised)


def _part_kind(part: str) -> str:
    if part in _MONTH:
        return "m"
    if part.isdigit() and part.isascii():
        return {1: "n", 2: "n", 4: "y"}.get(len(part), "?")
    return "?"


def _read(row: str, parts: Sequence[str], normalised: str) -> str | None:
    if row in ("nmy", "nmn", "mny", "mnn", "ynn", "nny", "nnn", "ymn"):
        return _full_date(row, parts, normalised)
    if row in ("my", "yn", "y"):
        return _month_or_year(row, parts)
    if row == "mn" and int(parts[1]) > 31:
        return _month_of(_year(parts[1]), _MONTH[parts[0]])
    return _span(row, parts)


def _full_date(row: str, parts: Sequence[str], normalised: str) -> str | None:
    """Return a day with month and year."""
    first, second, third = parts
    if row in ("nmy", "nmn"):
        return _day(_year(third), _MONTH[second], int(first))
    if row in ("mny", "mnn"):
        return _day(_year(third), _MONTH[first], int(second))
    if row == "ymn":
        return _day(int(first), _MONTH[second], int(third))
    if row == "ynn":
        return _day(int(first), int(second), int(third))
    if not re.search(r"\d[/.-]\d{1,2}[/.-]\d", normalised):
        return None
    return _by_figures(int(first), int(second), _year(third))


def _by_figures(first: int, second: int, year: int) -> str | None:
    """Return month before day, as in American English, unless only the reverse is a date."""
    return _day(year, first, second) or _day(year, second, first)


def _month_or_year(row: str, parts: Sequence[str]) -> str | None:
    if row == "y":
        return parts[0] if int(parts[0]) >= 1000 else None
    if row == "my":
        return _month_of(int(parts[1]), _MONTH[parts[0]])
    return _month_of(int(parts[0]), int(parts[1]))


def _span(row: str, parts: Sequence[str]) -> str | None:
    """Return ranges such as 10-15 March 1996, March to May 1996, 10 March to 3 May 1996."""
    orders = _RANGES.get(row)
    if orders is None:
        return None
    first, last = (_read(kind, [parts[n] for n in places], "") for kind, places in orders)
    return f"{first}..{last}" if first and last and first < last else None


def _year(figures: str) -> int:
    if len(figures) == 4:
        return int(figures)
    return int(figures) + (1900 if int(figures) >= _CENTURY_TURN else 2000)


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def _month_of(year: int, month: int) -> str | None:
    day = _day(year, month, 1)
    return day[:7] if day else None


_GRID = re.compile(r"(?:MGRS |GRID |UTM )?(\d{1,2})([C-HJ-NP-X]) ?([A-HJ-NP-Z]{2}) ?(\d+(?: \d+)?)")
_WORDS = (
    (re.compile(r" ?(?:DEGREES?|DEG|[º˚])\.?,? ?"), "°"),
    (re.compile(r" ?(?:MINUTES?|MIN)\.?,? ?|[’′´`]"), "'"),
    (re.compile(r" ?(?:SECONDS?|SEC)\.? ?|[”″“]|''"), '"'),
    (re.compile(r"\b(NORTH|SOUTH|EAST|WEST)\b"), lambda found: found[1][0]),
    (re.compile(r"\b(?:LATITUDE|LONGITUDE|LAT|LONG?)\b[.:]? ?"), ""),
)
_SPACED = re.compile(r" ?([°'\"-]) ?")
_ANGLE = r"\d{1,7}(?:\.\d{1,8})?(?:[ °'\":-]{1,2}\d{1,2}(?:\.\d{1,8})?){0,2}[°'\"]?"
_SIDE_AFTER = re.compile(rf"({_ANGLE}) ?([NS])(?:[ ,/;-]*({_ANGLE}) ?([EW]))?")
_SIDE_BEFORE = re.compile(rf"([NS]) ?({_ANGLE})(?:[ ,/;-]*([EW]) ?({_ANGLE}))?")
_ALONE = re.compile(rf"({_ANGLE}) ?([EW])|([EW]) ?({_ANGLE})")
_FIGURES = re.compile(r"\d+(?:\.\d+)?")


def coordinate(text: str) -> str | None:
    """Return the coordinate in a text, in decimal degrees or as a grid, or None."""
    normalised = normalise(text.replace("´", "'"))
    return _grid(normalised) or _degrees(normalised)


def _grid(normalised: str) -> str | None:
    """Return a military grid: zone, band, 100 km square, and two numbers of equal length."""
    match = _GRID.fullmatch(normalised)
    if match is None or not 1 <= int(match[1]) <= 60:
        return None
    halves = match[4].split()
    digits = "".join(halves)
    if len(digits) % 2 or len(digits) > 10 or (halves[1:] and len(halves[0]) != len(halves[1])):
        return None
    return f"{int(match[1])}{match[2]}{match[3]}{digits}"


def _degrees(normalised: str) -> str | None:
    for pattern, plain in _WORDS:
        normalised = pattern.sub(plain, normalised)
    normalised = _SPACED.sub(r"\1", normalised)
    angles = [(_decimal(angle, side), side) for angle, side in _sides(normalised.strip())]
    if not angles or any(value is None for value, _ in angles):
        return None
    return " ".join(f"{value}{side}" for value, side in angles)


def _sides(normalised: str) -> list[tuple[str, str]]:
    """Return each angle with its hemisphere."""
    if match := _SIDE_AFTER.fullmatch(normalised):
        pairs = [(match[1], match[2]), (match[3], match[4])]
    elif match := _SIDE_BEFORE.fullmatch(normalised):
        pairs = [(match[2], match[1]), (match[4], match[3])]
    elif match := _ALONE.fullmatch(normalised):
        pairs = [(match[1] or match[4], match[2] or match[3])]
    else:
        return []
    return [(angle, side) for angle, side in pairs if angle]


def _decimal(angle: str, side: str) -> str | None:
    """Return degrees with five decimals, or None for an impossible angle."""
    parts = _unpack(_FIGURES.findall(angle), side)
    if any(part >= 60 for part in parts[1:]):
        return None
    degrees = sum((part / 60**n for n, part in enumerate(parts)), Fraction(0))
    if degrees > (90 if side in "NS" else 180):
        return None
    return f"{float(round(degrees, 5)):.5f}"


def _unpack(figures: Sequence[str], side: str) -> list[Fraction]:
    """Split one long number into degrees, minutes and seconds: 351400 is 35 14 00."""
    whole, dot, rest = figures[0].partition(".")
    width = 2 if side in "NS" else 3
    if len(figures) > 1 or len(whole) <= width:
        return [Fraction(part) for part in figures]
    cut = len(whole) % 2 + 2
    ends = [whole[:cut], *(whole[n : n + 2] for n in range(cut, len(whole), 2))]
    ends[-1] += dot + rest
    return [Fraction(part) for part in ends[:4]]


__all__ = ["coordinate", "date", "measure", "money", "number"]
