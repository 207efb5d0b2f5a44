"""Parse values: numbers, dates, measures and coordinates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from fractions import Fraction

from partita.rules.numbers import measure, number, spelled

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
_BEHIND = re.compile(rf"({_ANGLE}) ?([NS])(?:[ ,/;-]*({_ANGLE}) ?([EW]))?")
_BEFORE = re.compile(rf"([NS]) ?({_ANGLE})(?:[ ,/;-]*([EW]) ?({_ANGLE}))?")
_ALONE = re.compile(rf"({_ANGLE}) ?([EW])|([EW]) ?({_ANGLE})")
_FIGURES = re.compile(r"\d+(?:\.\d+)?")


def coordinate(text: str) -> str | None:
    """The place on the earth that a text gives, in decimal degrees or as a grid, or None."""
    said = spelled(text.replace("´", "'"))
    return _grid(said) or _degrees(said)


def _grid(said: str) -> str | None:
    """A military grid: zone, band, square of 100 km, and two numbers of equal length."""
    found = _GRID.fullmatch(said)
    if found is None or not 1 <= int(found[1]) <= 60:
        return None
    halves = found[4].split()
    digits = "".join(halves)
    if len(digits) % 2 or len(digits) > 10 or (halves[1:] and len(halves[0]) != len(halves[1])):
        return None
    return f"{int(found[1])}{found[2]}{found[3]}{digits}"


def _degrees(said: str) -> str | None:
    for pattern, plain in _WORDS:
        said = pattern.sub(plain, said)
    said = _SPACED.sub(r"\1", said)
    angles = [(_decimal(angle, side), side) for angle, side in _sides(said.strip())]
    if not angles or any(value is None for value, _ in angles):
        return None
    return " ".join(f"{value}{side}" for value, side in angles)


def _sides(said: str) -> list[tuple[str, str]]:
    """Each angle with its side of the equator or of Greenwich."""
    if found := _BEHIND.fullmatch(said):
        pairs = [(found[1], found[2]), (found[3], found[4])]
    elif found := _BEFORE.fullmatch(said):
        pairs = [(found[2], found[1]), (found[4], found[3])]
    elif found := _ALONE.fullmatch(said):
        pairs = [(found[1] or found[4], found[2] or found[3])]
    else:
        return []
    return [(angle, side) for angle, side in pairs if angle]


def _decimal(angle: str, side: str) -> str | None:
    """Degrees with five decimals, or None where there is no such angle."""
    parts = _unpacked(_FIGURES.findall(angle), side)
    if any(part >= 60 for part in parts[1:]):
        return None
    degrees = sum((part / 60**n for n, part in enumerate(parts)), Fraction(0))
    if degrees > (90 if side in "NS" else 180):
        return None
    return f"{float(round(degrees, 5)):.5f}"


def _unpacked(figures: Sequence[str], side: str) -> list[Fraction]:
    """One long number holds minutes and seconds in its last figures: 351400 is 35 14 00."""
    whole, dot, rest = figures[0].partition(".")
    width = 2 if side in "NS" else 3
    if len(figures) > 1 or len(whole) <= width:
        return [Fraction(part) for part in figures]
    cut = len(whole) % 2 + 2
    ends = [whole[:cut], *(whole[n : n + 2] for n in range(cut, len(whole), 2))]
    ends[-1] += dot + rest
    return [Fraction(part) for part in ends[:4]]


__all__ = ["coordinate", "date", "measure", "number"]
