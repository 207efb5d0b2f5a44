"""Days are resolved against the dateline, in the exam's forms."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita_incidents.cases import format_date, parse_dateline, resolve_date
from partita_incidents.exam_templates import days

ANCHOR = date(1990, 1, 3)


@pytest.mark.parametrize(
    ("text", "fill"),
    [
        ("ON 30 DECEMBER", "30 DEC 89"),
        ("ON 2 JANUARY", "02 JAN 90"),
        ("TODAY", "03 JAN 90"),
        ("EARLY THIS MORNING", "03 JAN 90"),
        ("YESTERDAY AFTERNOON", "02 JAN 90"),
        ("LAST NIGHT", "02 JAN 90"),
        ("TWO DAYS AGO", "01 JAN 90"),
        ("3 WEEKS AGO", "13 DEC 89"),
        ("LAST WEEK", "- 03 JAN 90"),
        ("ON TUESDAY", "02 JAN 90"),
        ("ON WEDNESDAY MORNING", "03 JAN 90"),
        ("LAST THURSDAY", "28 DEC 89"),
        ("IN NOVEMBER", "01 NOV 89 - 30 NOV 89"),
        ("ON 16 MARCH 1988", "16 MAR 88"),
        ("NOVEMBER 5", "05 NOV 89"),
        ("31 FEBRUARY", "01 FEB 89 - 28 FEB 89"),
    ],
)
def test_against_the_dateline(text: str, fill: str) -> None:
    found = resolve_date(text, ANCHOR)
    assert found is not None
    assert found[0] == fill


@pytest.mark.parametrize("text", ["SOON", "NEXT TUESDAY", "AT 1430 GMT"])
def test_what_tells_no_day(text: str) -> None:
    assert resolve_date(text, ANCHOR) is None


@pytest.mark.parametrize(
    ("dateline", "day", "fill"),
    [
        ("14 MAR 2021", "ON 12 MARCH", "12 MAR 21"),
        ("14 MAR 21", "ON 12 MARCH 2021", "12 MAR 21"),
        ("March 14, 2021", "YESTERDAY", "13 MAR 21"),
        ("2 JAN 2000", "ON 31 DECEMBER 99", "31 DEC 99"),
        ("2 JAN 1871", "ON 30 DECEMBER", "30 DEC 70"),
    ],
)
def test_dates_of_any_century(dateline: str, day: str, fill: str) -> None:
    anchor = parse_dateline(dateline)
    found = resolve_date(day, anchor)
    assert found is not None
    assert found[0] == fill


def test_a_year_of_two_digits_is_near_the_dateline() -> None:
    assert parse_dateline("14 MAR 21") == date(2021, 3, 14)
    assert parse_dateline("14 MAR 90") == date(1990, 3, 14)


def test_without_a_dateline_only_whole_dates_count() -> None:
    assert resolve_date("TODAY", None) is None
    assert resolve_date("ON 5 MAY", None) is None
    assert resolve_date("ON 5 MAY 1989", None) == ("05 MAY 89", "day")


def test_datelines() -> None:
    assert parse_dateline("9 JAN 90") == date(1990, 1, 9)
    assert parse_dateline("JUNE 12 89") == date(1989, 6, 12)
    assert parse_dateline("NO DATE") is None
    assert parse_dateline("24 NOV") is None


@given(st.dates(date(1980, 1, 1), date(1999, 12, 31)), st.integers(0, 300))
@settings(deadline=None, max_examples=60)
def test_a_day_without_its_year_is_the_last_one(day: date, later: int) -> None:
    anchor = day + timedelta(days=later)
    month = f"{day:%B}".upper()
    found = resolve_date(f"ON {day.day} {month}", anchor)
    if (day.month, day.day) == (2, 29) and anchor.year != day.year:
        return  # that year has no such day
    assert found is not None
    read = days(found[0])
    assert read is not None
    assert read.single
    assert read.last == day
    assert found[0] == format_date(day)
