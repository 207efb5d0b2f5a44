"""Slot types of intervals: integers, dates as days, and magnitudes with a unit."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from fractions import Fraction
from typing import ClassVar, Literal, TypeVar

from partita.errors import InputError
from partita.templates.slots import Json, symbol

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


@dataclass(frozen=True, slots=True)
class Unit:
    dimension: str
    size: Fraction


# Sizes are decimals, so that conversion to the first unit of a dimension keeps decimals exact.
_SIZES = {
    "length": {
        "m metre metres meter meters": "1",
        "km kilometre kilometres kilometer kilometers": "1000",
        "cm centimetre centimetres centimeter centimeters": "0.01",
        "mm millimetre millimetres millimeter millimeters": "0.001",
        "in inch inches": "0.0254",
        "ft foot feet": "0.3048",
        "yd yard yards": "0.9144",
        "mi mile miles": "1609.344",
        "nm nmi": "1852",
    },
    "area": {
        "m2 m²": "1",
        "km2 km²": "1000000",
        "ha hectare hectares": "10000",
        "acre acres": "4046.8564224",
    },
    "mass": {
        "kg kilo kilos kilogram kilograms": "1",
        "g gram grams": "0.001",
        "t tonne tonnes": "1000",
        "lb lbs pound pounds": "0.45359237",
        "oz ounce ounces": "0.028349523125",
        "ton tons": "907.18474",
    },
    "volume": {
        "l litre litres liter liters": "1",
        "ml millilitre millilitres milliliter milliliters": "0.001",
        "m3 m³": "1000",
        "gal gallon gallons": "3.785411784",
        "bbl barrel barrels": "158.987294928",
    },
    "time": {
        "s sec second seconds": "1",
        "min minute minutes": "60",
        "h hr hrs hour hours": "3600",
        "d day days": "86400",
        "week weeks": "604800",
    },
    "speed": {
        "km/h kph": "1",
        "m/s": "3.6",
        "mph": "1.609344",
        "kt kts knot knots": "1.852",
    },
}


def standard_units() -> dict[str, Unit]:
    """Return metric and customary units by every spelling."""
    return {
        name: Unit(dimension, Fraction(size))
        for dimension, sizes in _SIZES.items()
        for names, size in sizes.items()
        for name in names.split()
    }


# No exponents: 1e999999999 would have a billion digits.
_NUMBER = r"[+-]?[0-9]{1,99}(?:\.[0-9]{1,99}|/[0-9]{1,99})?"
_MEASURE = re.compile(
    rf"(?:(?P<low>{_NUMBER})? ?(?P<dots>\.\.) ?(?P<high>{_NUMBER})?"
    rf"|(?P<value>{_NUMBER})(?: ?± ?(?P<error>{_NUMBER}) ?(?P<percent>%)?)?)"
    r"(?: ?(?P<unit>[^\d\s.±%+-].*))?"
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """A magnitude from low to high; None where an end is open."""

    low: Fraction | None
    high: Fraction | None
    unit: str

    def __post_init__(self) -> None:
        check_order(self.low, self.high)

    def json(self) -> Json:
        return str(self)

    def __str__(self) -> str:
        if self.low is not None and self.low == self.high:
            return f"{decimal(self.low)} {self.unit}"
        low, high = ("" if end is None else decimal(end) for end in (self.low, self.high))
        return f"{low}..{high} {self.unit}"


@dataclass(frozen=True, slots=True)
class MeasureType:
    """Measures in one unit; others of the same dimension are converted."""

    unit: str
    units: Mapping[str, Unit] = field(default_factory=standard_units)

    def __post_init__(self) -> None:
        if self.unit not in self.units:
            raise InputError(f"unknown unit {self.unit!r}")

    @property
    def expects(self) -> str:
        return (
            f"a measure (5 {self.unit}, 5..7 {self.unit}, 5 ± 1 {self.unit}, 5 ± 10% {self.unit})"
        )

    def read(self, value: object) -> Measurement:
        if isinstance(value, Measurement):
            return self._converted(value.low, value.high, value.unit)
        if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
            return self._point(value)
        if isinstance(value, str) and (match := _MEASURE.fullmatch(" ".join(value.split()))):
            return self._parsed(value, match)
        raise InputError(f"{value!r} is not {self.expects}")

    def unify(self, left: Measurement, right: Measurement) -> Measurement | None:
        common = intersect((left.low, left.high), (right.low, right.high))
        return None if common is None else Measurement(*common, self.unit)

    def _point(self, number: float | Fraction) -> Measurement:
        try:
            value = Fraction(str(number))  # the decimal as written, not its binary value
        except ValueError:
            raise InputError(f"{number!r} is not {self.expects}") from None
        return Measurement(value, value, self.unit)

    def _parsed(self, text: str, match: re.Match[str]) -> Measurement:
        try:
            low, high = _ends(match)
        except (ValueError, ZeroDivisionError):
            raise InputError(f"{text!r} is not {self.expects}") from None
        return self._converted(low, high, match["unit"] or self.unit)

    def _converted(self, low: Fraction | None, high: Fraction | None, unit: str) -> Measurement:
        source = self.units.get(unit) or self.units.get(unit.lower())
        target = self.units[self.unit]
        if source is None or source.dimension != target.dimension:
            raise InputError(f"{unit!r} is not a unit of {target.dimension}")
        rate = source.size / target.size
        low, high = (None if end is None else end * rate for end in (low, high))
        return Measurement(low, high, self.unit)


@dataclass(frozen=True, slots=True)
class MoneyType:
    """Amounts with their currency; amounts in different currencies are distinct."""

    @property
    def expects(self) -> str:
        return "an amount with its currency (40000000 USD, 5..7 EUR)"

    def read(self, value: object) -> Measurement:
        if isinstance(value, Measurement):
            return value
        match = _MEASURE.fullmatch(" ".join(value.split())) if isinstance(value, str) else None
        if match is None or not _CURRENCY.fullmatch(match["unit"] or ""):
            raise InputError(f"{value!r} is not {self.expects}")
        try:
            return Measurement(*_ends(match), match["unit"])
        except (ValueError, ZeroDivisionError):
            raise InputError(f"{value!r} is not {self.expects}") from None

    def unify(self, left: Measurement, right: Measurement) -> Measurement | None:
        common = intersect((left.low, left.high), (right.low, right.high))
        return Measurement(*common, left.unit) if common and left.unit == right.unit else None


_CURRENCY = re.compile(r"[A-Z]{3}")


def _ends(match: re.Match[str]) -> tuple[Fraction | None, Fraction | None]:
    if match["dots"]:
        if not match["low"] and not match["high"]:
            raise ValueError
        low, high = (Fraction(end) if end else None for end in (match["low"], match["high"]))
        return low, high
    value, error = Fraction(match["value"]), Fraction(match["error"] or 0)
    width = abs(error * value / 100 if match["percent"] else error)
    return value - width, value + width


def decimal(number: Fraction) -> str:
    """Return a terminating decimal, or else a fraction; both are exact."""
    rest, places = number.denominator, 0
    while rest % 10 == 0 or rest % 2 == 0 or rest % 5 == 0:
        rest //= 10 if rest % 10 == 0 else 2 if rest % 2 == 0 else 5
        places += 1
    if rest > 1:
        return str(number)
    digits = f"{abs(number) * 10**places}".rjust(places + 1, "0")
    whole = digits if not places else f"{digits[:-places]}.{digits[-places:]}"
    return f"-{whole}" if number < 0 else whole
