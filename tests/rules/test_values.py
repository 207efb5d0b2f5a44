from __future__ import annotations

import datetime
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.rules.values import parse_coordinate, parse_date, parse_measure, parse_number
from partita.templates.quantities import DateType, MeasureType, NumberType, decimal, standard_units

READERS: tuple[Callable[[str], int | str | None], ...] = (
    parse_number,
    parse_date,
    parse_measure,
    parse_coordinate,
)
WORDS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
fifteen sixteen seventeen eighteen nineteen"""
TENFOLD = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES, TENS = WORDS.split(), TENFOLD.split()


def in_words(n: int) -> str:
    """An independent speller, from the largest part down."""
    for size, name in (
        (10**9, "billion"),
        (10**6, "million"),
        (1000, "thousand"),
        (100, "hundred"),
    ):
        if n >= size:
            rest = f" and {in_words(n % size)}" if n % size else ""
            return f"{in_words(n // size)} {name}{rest}"
    if n < 20:
        return ONES[n]
    return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("twenty three", 23), ("twenty-three", 23), ("1,200", 1200), ("2.5 million", 2_500_000),
        ("a dozen", 12), ("half a dozen", 6), ("two dozen", 24), ("several", "PLURAL"),
        ("approximately 20", 20), ("10-15", "10..15"), ("ten to fifteen", "10..15"), ("3rd", 3),
        ("twenty-first", 21), ("dozens of", "24.."), ("more than 20", "21.."), ("up to 5", "..5"),
        ("fewer than 5", "..4"), ("2 to 3 million", "2000000..3000000"), ("15–20", "15..20"),
        ("1.5", None), ("twenty twelve", None), ("15-10", None), ("the", None), ("12 tanks", None),
        ("1,20", None), ("", None), ("and", None), ("٣", None), ("１２", 12),
    ],
)  # fmt: skip
def test_numbers(text: str, value: int | str | None) -> None:
    assert parse_number(text) == value
    assert parse_number(text.upper()) == value


@given(st.integers(0, 10**12 - 1))
def test_every_number_is_read_from_words_and_figures(n: int) -> None:
    assert parse_number(in_words(n)) == n
    assert parse_number(str(n)) == n
    assert parse_number(f"{n:,}") == n


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("15 March 1996", "1996-03-15"), ("15 MAR 96", "1996-03-15"), ("15MAR96", "1996-03-15"),
        ("150430ZMAR96", "1996-03-15"), ("150430Z MAR 96", "1996-03-15"),
        ("1996-03-15", "1996-03-15"),
        ("March 15th, 1996", "1996-03-15"), ("Tuesday, 15 March 1996", "1996-03-15"),
        ("3/15/96", "1996-03-15"), ("15/3/1996", "1996-03-15"), ("March 1996", "1996-03"),
        ("in late 1996", "1996"), ("MAR 96", "1996-03"), ("the 1990s", "1990..1999"),
        ("10-15 March 1996", "1996-03-10..1996-03-15"), ("March to May 1996", "1996-03..1996-05"),
        ("10 March to 3 May 1996", "1996-03-10..1996-05-03"), ("1 JAN 05", "2005-01-01"),
        ("March 15", None), ("last Tuesday", None), ("31 February 1996", None), ("0430", None),
        ("12 30 96", None), ("310430ZFEB96", None), ("1996 tanks", None), ("", None),
    ],
)  # fmt: skip
def test_dates(text: str, value: str | None) -> None:
    assert parse_date(text) == value
    assert parse_date(text.upper()) == value


FORMS = ("%d %B %Y", "%B %d, %Y", "%Y-%m-%d", "%d%b%Y", "%d1230Z%b%Y", "%A, %d %b %Y", "%m/%d/%Y")


@given(
    st.dates(datetime.date(1950, 1, 1), datetime.date(2049, 12, 31)),
    st.sampled_from([*FORMS, "%d %b %y"]),
)
def test_every_day_is_read_in_every_form(day: datetime.date, form: str) -> None:
    assert parse_date(day.strftime(form)) == day.isoformat()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("100 km", "100 km"), ("100 KILOMETERS", "100 km"), ("105mm", "105 mm"), ("3-ton", "3 ton"),
        ("2,000-foot", "2000 ft"), ("two miles", "2 mi"), ("half a mile", "0.5 mi"),
        ("1/2 ton", "0.5 ton"),
        ("10-15 km", "10..15 km"), ("5 x 10 meters", "50 m2"), ("5 m by 10 m", "50 m2"),
        ("2 x 3 x 4 m", "24 m3"), ("10 square km", "10 km2"), ("20 nautical miles", "20 nm"),
        ("5 metric tons", "5 t"), ("50 km per hour", "50 km/h"), ("more than 5 km", "5.. km"),
        ("approximately 2.5 million gallons", "2500000 gal"), ("up to 3 days", "..3 d"),
        ("100", None), ("km", None), ("five km2 more", None), ("10 parsecs", None), ("", None),
    ],
)  # fmt: skip
def test_measures(text: str, value: str | None) -> None:
    assert parse_measure(text) == value
    assert parse_measure(text.upper()) == value


@given(st.fractions(0, 10**6, max_denominator=1000), st.sampled_from(sorted(standard_units())))
def test_a_measure_is_what_its_slot_reads(size: Fraction, unit: str) -> None:
    written = f"{decimal(Fraction(round(size * 1000), 1000))} {unit}"
    kind = MeasureType(unit)
    value = parse_measure(written)
    assert value is not None
    assert kind.read(value) == kind.read(written)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("35-14N 077-34W", "35.23333N 77.56667W"), ("351400N0773400W", "35.23333N 77.56667W"),
        ("3514N 07734W", "35.23333N 77.56667W"), ("35°14'N", "35.23333N"),
        ("35°14'30\"N, 77°34'20\"W", "35.24167N 77.57222W"),
        ("35.2333N 77.5667W", "35.23330N 77.56670W"),
        ("N35-14 W077-34", "35.23333N 77.56667W"), ("35 degrees 14 minutes north", "35.23333N"),
        ("18S UJ 23371 06519", "18SUJ2337106519"), ("18SUJ2337106519", "18SUJ2337106519"),
        ("77°34’W", "77.56667W"), ("95-14N", None), ("35-74N", None), ("18SUJ233", None),
        ("61SUJ2306", None), ("35-14", None), ("181-00W", None), ("18IUJ2306", None), ("", None),
    ],
)  # fmt: skip
def test_coordinates(text: str, value: str | None) -> None:
    assert parse_coordinate(text) == value
    assert parse_coordinate(text.upper()) == value


@given(st.integers(0, 89), st.integers(0, 59), st.integers(0, 59), st.integers(0, 179))
def test_every_angle_is_read_in_every_form(d: int, m: int, s: int, e: int) -> None:
    value = parse_coordinate(f"{d:02}-{m:02}-{s:02}S {e:03}-{m:02}-{s:02}E")
    assert value is not None
    south, east = (float(half[:-1]) for half in value.split())
    assert abs(south - (d + m / 60 + s / 3600)) < 1e-5
    assert abs(east - (e + m / 60 + s / 3600)) < 1e-5
    assert parse_coordinate(f"{d:02}{m:02}{s:02}S{e:03}{m:02}{s:02}E") == value
    assert parse_coordinate(f"{d}°{m}'{s}\"S {e}°{m}'{s}\"E") == value


PARTS = """twenty three hundred thousand dozen a and to - .. 10 1,200 2.5 0 km m x by ton square
more than March MAR 15 1996 96 150430Z Z / , ° ' " N S W E 35 077 18S UJ several up of the half"""
PIECES = st.sampled_from(PARTS.split())
NOISE = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=8).map(" ".join),
                  st.lists(PIECES, max_size=6).map("".join))  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(NOISE)
def test_any_text_gives_a_value_that_its_slot_reads_or_nothing(text: str) -> None:
    if (n := parse_number(text)) is not None:
        NumberType().read(n)
        assert parse_number(str(n)) == n
    if (day := parse_date(text)) is not None:
        DateType().read(day)
        assert parse_date(day) == day
    if (size := parse_measure(text)) is not None:
        MeasureType(size.split()[-1]).read(size)
        assert parse_measure(size) == size
    if (place := parse_coordinate(text)) is not None:
        assert parse_coordinate(place) == place


@pytest.mark.parametrize(
    "piece", ["9", "a ", "ten ", "10-", "35-", "((", "1.", "million ", "N", "m x "]
)
def test_long_texts_are_refused_without_being_read(piece: str) -> None:
    assert [read(piece * 200_000) for read in READERS] == [None] * 4


@pytest.mark.parametrize(
    "piece", ["9", "a ", "ten ", "10-", "35-", "1.", "5 x ", "-", " ", "'", "1,111"]
)
def test_texts_of_the_greatest_length_give_a_value_or_nothing(piece: str) -> None:
    for read in READERS:
        assert isinstance(read((piece * 200)[:200]), int | str | None)
