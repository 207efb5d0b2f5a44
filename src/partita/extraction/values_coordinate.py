"""Coordinates: 35-14N 077-34W, 35°14'N, 351400N0773400W → 35.23333N 77.56667W; military grids.

degrees = d + m / 60 + s / 3600, written with five decimals (about a metre).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from partita.extraction.values_text import spelled

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
