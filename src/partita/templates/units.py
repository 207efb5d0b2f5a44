"""Units of measure: a dimension and a size, exact, in the dimension's first unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    dimension: str
    size: Fraction


# Sizes are decimals, so that a decimal in any unit is a decimal in the first of each dimension.
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
    """Metric units and the customary ones of messages in English, by every way of writing."""
    return {
        name: Unit(dimension, Fraction(size))
        for dimension, sizes in _SIZES.items()
        for names, size in sizes.items()
        for name in names.split()
    }
