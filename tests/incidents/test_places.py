"""Places of a story, and how the exam writes them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from partita.domains.incidents.cases import Case, case
from partita.domains.incidents.drafts import Draft
from partita.domains.incidents.pipeline import extractor
from partita.domains.incidents.places import gazetteer, written
from partita.domains.incidents.readings import Event, Reading
from partita.domains.incidents.slot_choice import places
from partita.domains.incidents.stories import stories
from partita.rules.extractor import Extractor
from partita.text.layout import analysed


@cache
def reader() -> Extractor:
    return extractor()


def case_of(text: str, dateline: str = "LIMA") -> Case:
    whole = f"DEV-MUC3-0001 (OURS)\n\n   {dateline}, 9 JAN 90 -- [TEXT] {text}\n"
    story = next(stories([analysed("DEV-MUC3-0001", whole)], reader()))
    return case(Reading(story, (), np.zeros((0, 6)), np.zeros((len(story.sentences), 7)), 0.5))


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("A BOMB EXPLODED IN AYACUCHO.", "PERU: AYACUCHO (CITY)"),
        ("A BOMB EXPLODED IN AYACUCHO DEPARTMENT.", "PERU: AYACUCHO (DEPARTMENT)"),
        ("A BOMB EXPLODED IN MEDELLIN.", "COLOMBIA: MEDELLIN (CITY)"),
        ("TWO PEASANTS WERE KILLED IN HONDURAS.", "HONDURAS"),
        (
            "A BOMB EXPLODED IN ITAGUI, ANTIOQUIA DEPARTMENT.",
            "COLOMBIA: ANTIOQUIA (DEPARTMENT): ITAGUI (MUNICIPALITY)",
        ),
    ],
)
def test_candidates(text: str, chain: str) -> None:
    found = places(case_of(text), Draft((Event(0, 1.0, {"ATTACK": 1.0}, ()),)))
    assert chain in [one.fill for one in found]


def test_the_country_of_the_dateline_counts() -> None:
    assert case_of("THE MAYOR WAS KILLED.").country == "PERU"
    assert case_of("THE MAYOR WAS KILLED.", "SAN SALVADOR").country == "EL SALVADOR"


def test_a_name_in_several_countries_is_taken_for_one_of_the_story() -> None:
    here = case_of("A BOMB EXPLODED IN SAN MIGUEL.", "SAN SALVADOR").places[0]
    assert next(written([place]) for place in here).startswith("EL SALVADOR: SAN MIGUEL")


def test_nations() -> None:
    known = gazetteer()
    assert known.nation(["THE", "SALVADORAN", "ARMY"]) == "EL SALVADOR"
    assert known.nation(["THE", "ARMY"]) is None


def test_every_place_has_a_country() -> None:
    for name, where in gazetteer().places.items():
        assert name
        assert all(country and kind for country, kind in where)
