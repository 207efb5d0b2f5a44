from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import laws
from partita.errors import InputError
from partita.templates.quantities import Number, NumberType

SLOT = NumberType()


@st.composite
def numbers(draw: st.DrawFn) -> Number:
    low = draw(st.integers(0, 6))
    return Number(low, draw(st.none() | st.integers(low, 8)))


@settings(deadline=None, max_examples=120)
@given(numbers(), numbers(), numbers())
def test_laws(a: Number, b: Number, c: Number) -> None:
    laws.check(SLOT, a, b, c)


def members(value: Number | None) -> set[int]:
    if value is None:
        return set()
    return set(range(value.low, 20 if value.high is None else value.high + 1))


@given(numbers(), numbers())
def test_unification_is_intersection(a: Number, b: Number) -> None:
    assert members(SLOT.unify(a, b)) == members(a) & members(b)


@pytest.mark.parametrize(
    ("given_", "value", "text"),
    [
        (1, Number(1, 1), "1"),
        (12.0, Number(12, 12), "12"),
        (" 12 ", Number(12, 12), "12"),
        ("singular", Number(1, 1), "1"),
        ("Plural", Number(2), "PLURAL"),
        ("2..", Number(2), "PLURAL"),
        ("3..5", Number(3, 5), "3..5"),
        ("3 .. 5", Number(3, 5), "3..5"),
        ("..5", Number(0, 5), "0..5"),
        ("4..4", Number(4, 4), "4"),
        (0, Number(0, 0), "0"),
    ],
)
def test_read(given_: object, value: Number, text: str) -> None:
    assert SLOT.read(given_) == value
    assert str(value) == text


def test_plain_form() -> None:
    assert Number(1, 1).json() == 1
    assert Number(2).json() == "PLURAL"
    assert Number(3, 5).json() == "3..5"


def test_a_number_is_plural() -> None:
    assert SLOT.unify(SLOT.read(12), SLOT.read("PLURAL")) == Number(12, 12)
    assert SLOT.unify(SLOT.read("SINGULAR"), SLOT.read("PLURAL")) is None


@pytest.mark.parametrize(
    "given_",
    ["many", -1, 1.5, True, None, "..", "-3", "1e3", float("nan"), float("inf"), "9" * 5000],
)
def test_no_number(given_: object) -> None:
    with pytest.raises(InputError, match="is not a number"):
        SLOT.read(given_)


def test_backwards() -> None:
    with pytest.raises(InputError, match="backwards"):
        SLOT.read("5..3")
