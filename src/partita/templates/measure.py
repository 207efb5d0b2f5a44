"""Slot type: intervals of magnitudes with a unit."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from partita.errors import InputError
from partita.templates.number import check_order, intersect
from partita.templates.slots import Json


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
