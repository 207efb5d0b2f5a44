"""Measures: 100 kilometers → 100 km, 3-ton → 3 ton, 10-15 km → 10..15 km, 5 x 10 m → 50 m2."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from math import prod

from partita.extraction.values_number import amount
from partita.extraction.values_text import spelled
from partita.templates.measure import decimal
from partita.templates.units import standard_units

_PHRASES = (
    (re.compile(r"\b(?:SQUARE|SQ\.?) (?:KILOMET(?:ER|RE)S?|KMS?)$"), "km2"),
    (re.compile(r"\b(?:SQUARE|SQ\.?) (?:MET(?:ER|RE)S?|M)$"), "m2"),
    (re.compile(r"\bCUBIC (?:MET(?:ER|RE)S?|M)$"), "m3"),
    (re.compile(r"\bNAUTICAL MILES?$"), "nm"),
    (re.compile(r"\bMETRIC TONS?$"), "t"),
    (re.compile(r"(?:\bKILOMET(?:ER|RE)S?|KM) (?:PER|AN) HOUR$"), "km/h"),
    (re.compile(r"\bMILES (?:PER|AN) HOUR$"), "mph"),
    (re.compile(r"(?:\bMET(?:ER|RE)S?|\bM) PER SECOND$"), "m/s"),
)
_UNIT = re.compile(r"(?<=[\d .-])([A-Z/]{1,12}[23²³]?)\.?$")
_BY = re.compile(r" ?[X×] ?| BY ")
_BETWEEN = re.compile(r"(?:BETWEEN |FROM )?(.+?)(?: ?- ?| TO | OR | AND |\.\.)(.+)")
_OPEN = (
    (re.compile(r"(?=[0-9./]+\.\.$)"), "{}.."),
    (re.compile(r"(?=\.\.[0-9./]+$)"), "..{}"),
    (re.compile(r"(?:AT LEAST|NO LESS THAN|MORE THAN|OVER|IN EXCESS OF|ABOVE) "), "{}.."),
    (re.compile(r"(?:AT MOST|UP TO|NO MORE THAN|LESS THAN|UNDER|BELOW|WITHIN) "), "..{}"),
)
_PART = re.compile(r"([0-9]{1,4}) ?/ ?([0-9]{1,4})")
_ONE = {"A": Fraction(1), "AN": Fraction(1), "HALF A": Fraction(1, 2), "HALF AN": Fraction(1, 2)}
_ODD = {"KMS": "km", "MTRS": "m", "MTR": "m", "KLICKS": "km", "KLICK": "km", "KGS": "kg"}


def measure(text: str) -> str | None:
    """The measure that a text gives, as slots of type measure read it, or None."""
    said = spelled(text)
    read = _unit(said)
    if read is None:
        return None
    unit, rest = read
    for pattern, bound in _OPEN:
        if found := pattern.match(rest):
            value = _size(rest[found.end() :].strip("."))
            return None if value is None else f"{bound.format(value)} {unit}"
    if (value := _size(rest)) is not None:
        return f"{value} {unit}"
    return _area(rest, unit) or _between(rest, unit)


def _unit(said: str) -> tuple[str, str] | None:
    """The unit at the end, in one spelling, and what stands before it."""
    for pattern, unit in _PHRASES:
        if found := pattern.search(said):
            return unit, said[: found.start()].rstrip(" -")
    found = _UNIT.search(said)
    if found is None or found[1] not in _spellings():
        return None
    return _spellings()[found[1]], said[: found.start()].rstrip(" -")


@cache
def _spellings() -> dict[str, str]:
    """Each way of writing a unit with the first one; upper case, as messages have it."""
    first: dict[tuple[str, Fraction], str] = {}
    for name, unit in standard_units().items():
        first.setdefault((unit.dimension, unit.size), name)
    units = standard_units().items()
    return {name.upper(): first[unit.dimension, unit.size] for name, unit in units} | _ODD


def _size(said: str) -> str | None:
    value = _ONE.get(said) or _fraction(said) or amount(said)
    return None if value is None else decimal(value)


def _fraction(said: str) -> Fraction | None:
    found = _PART.fullmatch(said)
    return Fraction(int(found[1]), int(found[2])) if found and int(found[2]) else None


def _area(said: str, unit: str) -> str | None:
    """Two lengths by each other are an area, three a volume; only metres have both."""
    sides = [amount(_bare(side, unit)) for side in _BY.split(said)]
    if unit not in ("m", "km") or len(sides) not in (2, 3):
        return None
    known = [side for side in sides if side is not None]
    power = f"{unit}{len(sides)}"
    if len(known) < len(sides) or power == "km3":
        return None
    return f"{decimal(prod(known, start=Fraction(1)))} {power}"


def _bare(said: str, unit: str) -> str:
    """A side without its unit, where that is the same: 5 m x 10 m."""
    read = _unit(said)
    return read[1] if read and read[0] == unit else said


def _between(said: str, unit: str) -> str | None:
    found = _BETWEEN.fullmatch(said)
    ends = [amount(_bare(end, unit)) for end in found.groups()] if found else []
    low, high = ends or (None, None)
    if low is None or high is None or not low < high:
        return None
    return f"{decimal(low)}..{decimal(high)} {unit}"
