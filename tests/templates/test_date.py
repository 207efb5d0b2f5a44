from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import laws
from partita.errors import InputError
from partita.templates.quantities import Date, DateType
from partita.templates.slots import compare

SLOT = DateType()
START = date(1995, 12, 1)


@st.composite
def dates(draw: st.DrawFn) -> Date:
    """Days, months, years and ranges that often meet."""
    if draw(st.booleans()):
        month = draw(st.sampled_from(["1995-12", "1996-01", "1996-02", "1996-03"]))
        day = draw(st.sampled_from(["", "-01", "-15", "-29"])) if month != "1995-12" else ""
        return SLOT.read(
            draw(st.sampled_from([month + day, month[:4], f"{month}..", f"..{month}"]))
        )
    first = draw(st.integers(0, 120))
    last = draw(st.integers(first, 130))
    return Date(START + timedelta(first), START + timedelta(last))


@settings(deadline=None, max_examples=120)
@given(dates(), dates(), dates())
def test_laws(a: Date, b: Date, c: Date) -> None:
    laws.check(SLOT, a, b, c)


def days(value: Date | None) -> set[date]:
    if value is None:
        return set()
    window = [date(1995, 1, 1) + timedelta(n) for n in range(730)]
    first, last = value.first or date.min, value.last or date.max
    return {day for day in window if first <= day <= last}


@settings(deadline=None, max_examples=100)
@given(dates(), dates())
def test_unification_is_intersection(a: Date, b: Date) -> None:
    assert days(SLOT.unify(a, b)) == days(a) & days(b)


@pytest.mark.parametrize(
    ("given_", "first", "last", "precision", "text"),
    [
        ("1996-03-15", date(1996, 3, 15), date(1996, 3, 15), "day", "1996-03-15"),
        ("1996-02", date(1996, 2, 1), date(1996, 2, 29), "month", "1996-02"),
        (" 1996 ", date(1996, 1, 1), date(1996, 12, 31), "year", "1996"),
        (1996, date(1996, 1, 1), date(1996, 12, 31), "year", "1996"),
        (
            "1996-03..1996-04",
            date(1996, 3, 1),
            date(1996, 4, 30),
            "range",
            "1996-03-01..1996-04-30",
        ),
        ("1996-03..", date(1996, 3, 1), None, "range", "1996-03-01.."),
        ("..1996", None, date(1996, 12, 31), "range", "..1996-12-31"),
        (date(1996, 3, 15), date(1996, 3, 15), date(1996, 3, 15), "day", "1996-03-15"),
        (
            datetime(1996, 3, 15, 12, tzinfo=UTC),
            date(1996, 3, 15),
            date(1996, 3, 15),
            "day",
            "1996-03-15",
        ),
        ("0099", date(99, 1, 1), date(99, 12, 31), "year", "0099"),
    ],
)
def test_read(given_: object, first: date, last: date, precision: str, text: str) -> None:
    value = SLOT.read(given_)
    assert value == Date(first, last)
    assert (value.precision, str(value)) == (precision, text)


def test_a_day_is_more_specific_than_its_month() -> None:
    day, month, year = (SLOT.read(text) for text in ("1996-03-15", "1996-03", "1996"))
    assert compare(SLOT, day, month) == compare(SLOT, month, year) == "more specific"
    assert SLOT.unify(day, year) == day
    assert compare(SLOT, SLOT.read("1996-02"), day) == "distinct"


@pytest.mark.parametrize(
    "given_", ["yesterday", "15 March", "96", None, True, 3.5, "..", "1996/03"]
)
def test_no_date(given_: object) -> None:
    with pytest.raises(InputError, match="is not a date"):
        SLOT.read(given_)


@pytest.mark.parametrize("given_", ["1996-02-30", "1995-02-29", "1996-13", "0000"])
def test_not_in_the_calendar(given_: str) -> None:
    with pytest.raises(InputError, match=f"'{given_}' is not in the calendar"):
        SLOT.read(given_)


def test_backwards() -> None:
    with pytest.raises(InputError, match="backwards"):
        SLOT.read("1996..1995")
