from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import laws
from partita.errors import InputError
from partita.templates.quantities import Measurement, MeasureType, MoneyType, Unit, decimal
from partita.templates.slots import compare

SLOT = MeasureType("km")
ENDS = st.fractions(0, 5, max_denominator=6)


@st.composite
def measures(draw: st.DrawFn) -> Measurement:
    low = draw(st.none() | ENDS)
    high = draw(ENDS if low is None else st.none() | st.fractions(low, 6, max_denominator=6))
    return Measurement(low, high, "km")


@settings(deadline=None, max_examples=120)
@given(measures(), measures(), measures())
def test_laws(a: Measurement, b: Measurement, c: Measurement) -> None:
    laws.check(SLOT, a, b, c)


def holds(value: Measurement | None, point: Fraction) -> bool:
    if value is None:
        return False
    return (value.low is None or value.low <= point) and (value.high is None or point <= value.high)


@settings(deadline=None)
@given(measures(), measures())
def test_unification_is_intersection(a: Measurement, b: Measurement) -> None:
    both = SLOT.unify(a, b)
    for n in range(-60, 420):  # sixtieths: every end is one of these
        point = Fraction(n, 60)
        assert holds(both, point) == (holds(a, point) and holds(b, point))


@pytest.mark.parametrize(
    ("given_", "text"),
    [
        ("100 km", "100 km"),
        ("100KM", "100 km"),
        (100, "100 km"),
        (0.1, "0.1 km"),
        (Fraction(1, 3), "1/3 km"),
        ("1/3", "1/3 km"),
        ("5000 m", "5 km"),
        ("3 miles", "4.828032 km"),
        ("100 ± 5 km", "95..105 km"),
        ("100±5% km", "95..105 km"),
        ("-100 ± 5 % km", "-105..-95 km"),
        ("5..7 km", "5..7 km"),
        ("5 .. 7", "5..7 km"),
        ("5.5.. km", "5.5.. km"),
        ("..7000 m", "..7 km"),
        ("-0.25 km", "-0.25 km"),
        ("0.125..2.50 km", "0.125..2.5 km"),
        (Measurement(Fraction(500), None, "m"), "0.5.. km"),
    ],
)
def test_read(given_: object, text: str) -> None:
    value = SLOT.read(given_)
    assert str(value) == value.json() == text
    assert SLOT.read(text) == value


def test_units_of_one_dimension_are_compared() -> None:
    assert compare(SLOT, SLOT.read("1 mi"), SLOT.read("1609.344 m")) == "identical"
    assert compare(SLOT, SLOT.read("100 km"), SLOT.read("62 ± 1 mi")) == "more specific"
    assert compare(SLOT, SLOT.read("100 km"), SLOT.read("100 mi")) == "distinct"


def test_a_unit_of_ones_own() -> None:
    slot = MeasureType("vara", {"vara": Unit("length", Fraction("0.8"))})
    assert str(slot.read("2 VARA")) == "2 vara"


@settings(deadline=None)
@given(st.fractions())
def test_decimals_are_exact(number: Fraction) -> None:
    assert Fraction(decimal(number)) == number


@pytest.mark.parametrize(
    "given_",
    [
        "far",
        None,
        True,
        "km",
        ".. km",
        float("nan"),
        float("inf"),
        "5 6 km",
        "1/0 km",
        [5],
    ],
)
def test_no_measure(given_: object) -> None:
    with pytest.raises(InputError, match="is not a measure"):
        SLOT.read(given_)


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="'kg' is not a unit of length"):
        SLOT.read("5 kg")
    with pytest.raises(InputError, match="'leagues' is not a unit of length"):
        SLOT.read("20000 leagues")
    with pytest.raises(InputError, match="'e9 km' is not a unit of length"):
        SLOT.read("1e9 km")
    with pytest.raises(InputError, match="unknown unit 'furlong'"):
        MeasureType("furlong")
    with pytest.raises(InputError, match="backwards"):
        SLOT.read("7..5 km")


def test_amounts_of_money_unify_in_one_currency() -> None:
    slot = MoneyType()
    some, seven = slot.read("5..7 EUR"), slot.read("7 EUR")
    assert slot.unify(some, seven) == seven
    assert slot.unify(some, slot.read("8 EUR")) is None
    assert slot.unify(some, slot.read("6 USD")) is None
    for bad in ("7", "7 eur", "about 7 EUR", 7):
        with pytest.raises(InputError, match="is not an amount with its currency"):
            slot.read(bad)
