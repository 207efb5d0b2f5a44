"""Verdicts on fills: the examples of the scoring guidelines, and laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partita_incidents import exam_templates as dates
from partita_incidents import fills as locations
from partita_incidents import fills as numbers
from partita_incidents import fills as strings
from partita_incidents.exam_templates import CORRECT, INCORRECT, PARTIAL, SLOTS, Fill
from partita_incidents.fills import compare

BY_NAME = {slot.name: slot for slot in SLOTS}


@pytest.mark.parametrize(
    ("response", "key", "verdict"),
    [
        ("26 AUG 89", "26 AUG 89", CORRECT),
        ("26 AUG 1989", "26 AUG 89", CORRECT),
        ("26 AUG 89", "25 AUG 89 - 26 AUG 89", PARTIAL),
        ("26 AUG 89", "- 26 AUG 89", PARTIAL),
        ("25 AUG 89", "- 26 AUG 89", PARTIAL),
        ("- 26 AUG 89", "25 AUG 89 - 26 AUG 89", PARTIAL),
        ("- 26 AUG 89", "26 AUG 89", PARTIAL),
        ("- 26 AUG 89", "16 AUG 89", INCORRECT),
        ("- 26 AUG 89", "24 AUG 89 - 25 AUG 89", INCORRECT),
        ("27 AUG 89", "- 26 AUG 89", INCORRECT),
        ("31 FEB 89", "28 FEB 89", INCORRECT),
    ],
)
def test_dates(response: str, key: str, verdict: float) -> None:
    assert dates.compare_dates(response, key) == verdict


@pytest.mark.parametrize(
    ("response", "key", "verdict"),
    [
        ("COLOMBIA: CALI (CITY)", "COLOMBIA: CALI (DEPARTMENT)", CORRECT),
        ("COLOMBIA: MEDELLIN (CITY)", "COLOMBIA: MEDELLIN (CITY) - CALI (CITY)", PARTIAL),
        ("BOLIVIA: MEDELLIN (CITY)", "COLOMBIA: MEDELLIN (CITY)", PARTIAL),
        ("COLOMBIA", "COLOMBIA: MEDELLIN (CITY)", PARTIAL),
        ("COLOMBIA: CALI (CITY)", "COLOMBIA", PARTIAL),
        ("PERU", "COLOMBIA", INCORRECT),
        ("PERU: LIMA (CITY)", "COLOMBIA: CALI (CITY)", INCORRECT),
    ],
)
def test_locations(response: str, key: str, verdict: float) -> None:
    assert locations.compare_locations(response, key) == verdict


@pytest.mark.parametrize(
    ("response", "key", "verdict"),
    [
        ("7", "07", CORRECT),
        ("7", "5 - 7", PARTIAL),
        ("7", "~7", PARTIAL),
        ("6", "5 - 7", INCORRECT),
        ("PLURAL", "7", INCORRECT),
        ("PLURAL", "PLURAL", CORRECT),
    ],
)
def test_numbers(response: str, key: str, verdict: float) -> None:
    assert numbers.compare_numbers(response, key) == verdict


@pytest.mark.parametrize(
    ("response", "key", "verdict"),
    [
        ("THE 3 PEASANTS", "PEASANTS", CORRECT),
        ("OLD PEASANTS WHO WERE WITNESSES", "PEASANTS", CORRECT),
        ("TORRES", "ALBERTO ROBERTO TORRES", PARTIAL),
        ("BRIGADE", "6TH INFANTRY BRIGADE", PARTIAL),
        ("OIL", "OIL PIPELINE", PARTIAL),
        ("ARMY OF NATIONAL LIBERATION (ELN)", "ARMY OF NATIONAL LIBERATION", CORRECT),
        ("MR. XYZ", "XYZ", CORRECT),
        ("SANCHEZ", "TORRES", INCORRECT),
        ("", "TORRES", INCORRECT),
    ],
)
def test_strings(response: str, key: str, verdict: float) -> None:
    assert strings.compare_strings(response, key) == verdict


def fill(value: str, *tags: str) -> Fill:
    return Fill((value,), tags)


@pytest.mark.parametrize(
    ("slot", "response", "key", "verdict"),
    [
        ("inc-type", fill("ATTACK"), fill("BOMBING"), PARTIAL),
        ("inc-type", fill("BOMBING"), fill("ATTACK"), INCORRECT),
        ("inc-instr-type", fill("GUN", "AK-47"), fill("MACHINE GUN", "AK-47"), PARTIAL),
        ("inc-instr-type", fill("GUN", "BULLET"), fill("MACHINE GUN"), PARTIAL),
        ("inc-instr-type", fill("EXPLOSIVE"), fill("DYNAMITE"), PARTIAL),
        ("inc-instr-type", fill("DYNAMITE"), fill("EXPLOSIVE"), INCORRECT),
        ("phys-tgt-effect", fill("DESTROYED", "A"), fill("SOME DAMAGE", "A"), PARTIAL),
        ("phys-tgt-effect", fill("SOME DAMAGE", "A"), fill("DESTROYED", "A"), INCORRECT),
        ("hum-tgt-type", fill("CIVILIAN", "X"), fill("CIVILIAN", "X"), CORRECT),
        ("hum-tgt-type", fill("CIVILIAN", "Y"), fill("CIVILIAN", "X"), PARTIAL),
        ("hum-tgt-type", fill("POLITICAL FIGURE", "X"), fill("GOVERNMENT OFFICIAL", "X"), PARTIAL),
        ("hum-tgt-effect", fill("NO INJURY"), fill("NO INJURY OR DEATH"), PARTIAL),
        ("hum-tgt-num", fill("7", "PEOPLE"), fill("7", "JUDGES"), PARTIAL),
        ("hum-tgt-desc", fill("MAYOR", "SANCHEZ"), fill("MAYOR", "TORRES"), PARTIAL),
        ("hum-tgt-desc", fill("PRIEST", "TORRES"), fill("MAYOR", "TORRES"), INCORRECT),
    ],
)
def test_fills_with_and_without_tags(slot: str, response: Fill, key: Fill, verdict: float) -> None:
    assert compare(BY_NAME[slot], response, key) == verdict


TEXTS = st.text("ABC '-,()[]12 ", max_size=12)


@given(TEXTS, TEXTS)
def test_any_two_texts_have_a_verdict_and_equal_ones_are_correct(left: str, right: str) -> None:
    for judge in (
        strings.compare_strings,
        dates.compare_dates,
        locations.compare_locations,
        numbers.compare_numbers,
    ):
        assert judge(left, right) in (CORRECT, PARTIAL, INCORRECT)
        assert judge(left, left) == CORRECT
