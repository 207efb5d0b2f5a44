"""Places of a story, and how the exam writes them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from partita.errors import InputError
from partita.rules.extractor import Extractor
from partita.text.gazetteer import read_gazetteer, shipped_gazetteer
from partita.text.layout import parse_layout
from partita_incidents.cases import MessageContext, message_context
from partita_incidents.domain import domain
from partita_incidents.places import format_place
from partita_incidents.readings import Draft, Event, Reading
from partita_incidents.slot_choice import place_candidates
from partita_incidents.stories import stories


@cache
def reader() -> Extractor:
    return domain.extractor


def case_of(text: str, dateline: str = "LIMA", lists: Path | None = None) -> MessageContext:
    whole = f"DEV-MUC3-0001 (OURS)\n\n   {dateline}, 9 JAN 90 -- [TEXT] {text}\n"
    known = read_gazetteer(lists) if lists else None
    story = next(stories([parse_layout("DEV-MUC3-0001", whole)], reader(), known))
    return message_context(
        Reading(story, (), np.zeros((0, 6)), np.zeros((len(story.sentences), 7)), 0.5)
    )


def names(case: MessageContext) -> list[str]:
    return [format_place([place]) for sentence in case.places for place in sentence]


@pytest.mark.parametrize(
    ("text", "chain"),
    [
        ("A BOMB EXPLODED IN AYACUCHO.", "PERU: AYACUCHO (CITY)"),
        ("A BOMB EXPLODED IN AYACUCHO DEPARTMENT.", "PERU: AYACUCHO (DEPARTMENT)"),
        ("A BOMB EXPLODED IN MEDELLIN.", "COLOMBIA: MEDELLIN (CITY)"),
        ("TWO PEASANTS WERE KILLED IN HONDURAS.", "HONDURAS"),
        (
            "A BOMB EXPLODED IN ITAGUI, ANTIOQUIA DEPARTMENT.",
            "COLOMBIA: ANTIOQUIA (DEPARTMENT): ITAGUI (CITY)",
        ),
    ],
)
def test_candidates(text: str, chain: str) -> None:
    found = place_candidates(case_of(text), Draft((Event(0, 1.0, {"ATTACK": 1.0}, ()),)))
    assert chain in [one.fill for one in found]


def test_the_country_of_the_dateline_counts() -> None:
    assert case_of("THE MAYOR WAS KILLED.").country == "PERU"
    assert case_of("THE MAYOR WAS KILLED.", "SAN SALVADOR").country == "EL SALVADOR"


def test_a_name_in_several_countries_is_taken_for_one_of_the_story() -> None:
    here = case_of("A BOMB EXPLODED IN SAN MIGUEL.", "SAN SALVADOR").places[0]
    assert next(format_place([place]) for place in here).startswith("EL SALVADOR: SAN MIGUEL")


def test_nations() -> None:
    known = shipped_gazetteer()
    assert known.nation(["THE", "SALVADORAN", "ARMY"]) == "EL SALVADOR"
    assert known.nation(["THE", "ARMY"]) is None


def test_every_place_has_a_country() -> None:
    for name, where in shipped_gazetteer().places.items():
        assert name
        assert all(country and kind for country, kind in where)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A BOMB EXPLODED IN GARCIA.", ["MEXICO: GARCIA (CITY)"]),
        ("GARCIA DENIED THE CHARGES.", []),
        ("COLONEL ANN GARCIA DENIED THE CHARGES.", []),
        ("THE PERUVIAN ARMY ARRESTED TWO MEN IN HUANCAYO AND TARMA.", ["HUANCAYO", "TARMA"]),
    ],
)
def test_names_of_people_are_no_places(text: str, expected: list[str]) -> None:
    found = [name for name in names(case_of(text)) if ":" in name]
    assert len(found) == len(expected)
    assert all(part in name for part, name in zip(expected, found, strict=True))


def test_places_that_are_not_listed_say_what_they_are() -> None:
    found = case_of("TWO MEN DIED IN YANAPUQUIO DISTRICT AND NEAR THE UNIVERSITY OF ATUNRUMI.")
    assert "PERU: YANAPUQUIO (DISTRICT)" in names(found)


def test_a_list_of_the_user_is_added(tmp_path: Path) -> None:
    lists = tmp_path / "places.txt"
    lists.write_text(
        "Our own places\n--------------\nPERU: MIRALTO (NEIGHBORHOOD?) ours\n"
        "PERU: LIMA (CITY): SOLMAR (DISTRICT)\nELSEWHERE\n",
        encoding="utf-8",
    )
    text = "BOMBS EXPLODED IN MIRALTO, IN SOLMAR, AND IN AYACUCHO."
    assert names(case_of(text, lists=lists)) == [
        "PERU: MIRALTO (NEIGHBORHOOD)",
        "PERU: SOLMAR (DISTRICT)",
        "PERU: AYACUCHO (CITY)",
    ]


@pytest.mark.parametrize(
    ("data", "problem"),
    [(b"", "no place"), (b"LIMA\n", "no place"), (b"\xff", "UTF-8"), (None, "cannot be read")],
)
def test_a_list_without_places_is_refused(data: bytes | None, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "places.txt"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError, match=rf"places\.txt.*{problem}"):
        read_gazetteer(path)


@pytest.mark.parametrize(
    "opening", ["Lima, 9 Jan. 1990 -- ", "LIMA, January 9, 1990 -- ", "Lima, 9 January 1990 – "]
)
def test_the_day_of_the_dateline_is_not_told_by_the_first_sentence(opening: str) -> None:
    story = next(
        stories([parse_layout("M1", f"{opening}Men attacked a bank last night.")], reader())
    )
    none = np.zeros((0, 6)), np.zeros((len(story.sentences), 7))
    case = message_context(Reading(story, (), *none, 0.5))
    assert case.default_day == "- 09 JAN 90"
    assert [day.fill for days in case.days for day in days] == ["08 JAN 90"]
