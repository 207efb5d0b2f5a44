"""Mentions that are one participant, and the strings that stand for it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from partita.rules.extractor import Extractor
from partita.text.layout import parse_layout
from partita_incidents.domain import domain
from partita_incidents.entities import Entity, entities, without_title
from partita_incidents.mentions import find_mentions, is_denied
from partita_incidents.models import NONE, Classifier
from partita_incidents.readings import Reading, ReadingModels, RolePart, find_events
from partita_incidents.stories import stories


@cache
def reader() -> Extractor:
    return domain.extractor


def found(text: str, role: str, *heads: str) -> list[Entity]:
    """The entities of all mentions whose lemma ends in one of the heads."""
    story = next(stories([parse_layout("M1", text)], reader()))
    all_ = tuple(find_mentions(story))
    none = np.zeros((0, 0))
    parts = [
        RolePart(n, role, 0.9)
        for n, one in enumerate(all_)
        if one.lemma.rsplit(" ", 1)[-1] in heads
    ]
    assert parts
    return entities(Reading(story, all_, none, none, 0.5), parts, role)


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("Carlos Rivas was not kidnapped.", True),
        ("Carlos Rivas, the mayor of Lima, was not attacked.", True),
        ("Guerrillas did not attack Carlos Rivas.", True),
        ("Carlos Rivas was kidnapped.", False),
        ("Carlos Rivas was not injured in the attack.", False),
        ("Carlos Rivas said the bridge was not attacked.", False),
    ],
)
def test_denied_attacks(text: str, denied: bool) -> None:
    story = next(stories([parse_layout("M1", text)], reader()))
    (rivas,) = [one for one in find_mentions(story) if one.lemma.endswith("rivas")]
    assert is_denied(story.sentences[rivas.sentence], rivas.place) == denied


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Trucks were burned near the mine. The mine was not attacked.", []),
        ("Trucks were burned near the mine. The road was not attacked.", [0]),
        ("Guerrillas attacked the mine. The second mine was not attacked.", [0]),
    ],
)
def test_what_was_not_attacked_is_no_target_elsewhere(text: str, kept: list[int]) -> None:
    """Only a clause that says the opposite makes it one."""
    story = next(stories([parse_layout("M1", text)], reader()))
    all_ = tuple(find_mentions(story))
    roles = Classifier((NONE, "TARGET"), {}, np.zeros((0, 2)))
    types = Classifier(("BOMBING", NONE), {}, np.zeros((0, 2)))
    halves = np.full((len(all_), 2), 0.5), np.full((len(story.sentences), 2), 0.5)
    events = find_events(Reading(story, all_, *halves, 0.5), ReadingModels(roles, types, types))
    parts = [all_[part.place] for event in events for part in event.parts]
    assert [one.sentence for one in parts if one.lemma == "mine"] == kept


def test_a_short_name_is_the_long_one() -> None:
    text = "Terrorists killed Hector Oqueli in Lima. Oqueli was shot by terrorists."
    assert [one.name for one in found(text, "VICTIM", "oqueli")] == ["HECTOR OQUELI"]


def test_a_title_describes_the_one_who_is_named() -> None:
    text = "Terrorists killed Mayor Ricardo Castellar. The mayor died in Lima."
    (one,) = found(text, "VICTIM", "castellar", "mayor")
    assert (one.name, one.description) == ("RICARDO CASTELLAR", "MAYOR")


def test_an_apposition_describes() -> None:
    text = "Ricardo Castellar, mayor of Achi, was killed."
    (one,) = found(text, "VICTIM", "castellar")
    assert (one.name, one.description) == ("RICARDO CASTELLAR", "MAYOR OF ACHI")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            "Terrorists killed Oqueli. Hector Oqueli Colindres lived in Lima.",
            "HECTOR OQUELI COLINDRES",
        ),
        ("Terrorists killed Oqueli. Hector Oqueli and Gilda Oqueli lived in Lima.", "OQUELI"),
    ],
)
def test_a_full_name_elsewhere_in_the_message_is_used_if_only_one_fits(
    text: str, name: str
) -> None:
    story = next(stories([parse_layout("M1", text)], reader()))
    all_, none = tuple(find_mentions(story)), np.zeros((0, 0))
    first = next(n for n, one in enumerate(all_) if one.lemma == "oqueli")
    reading = Reading(story, all_, none, none, 0.5)
    (one,) = entities(reading, [RolePart(first, "VICTIM", 0.9)], "VICTIM")
    assert one.name == name


@pytest.mark.parametrize(
    ("text", "head", "description"),
    [
        ("Terrorists killed six priests.", "priest", "PRIESTS"),
        ("Terrorists killed at least 10 peasants.", "peasant", "PEASANTS"),
        ("Terrorists killed twenty-eight policemen.", "policeman", "POLICEMEN"),
        ("Terrorists killed the priests.", "priest", "PRIESTS"),
    ],
)
def test_numbers_are_no_part_of_a_description(text: str, head: str, description: str) -> None:
    (one,) = found(text, "VICTIM", head)
    assert one.description == description


def test_titles_are_no_part_of_a_name() -> None:
    assert without_title("PRESIDENCY MINISTER ANTONIO RIVAS") == "ANTONIO RIVAS"
    assert without_title("ANTONIO MAYOR") == "ANTONIO MAYOR"


def test_two_names_are_two() -> None:
    text = "Terrorists killed Hector Oqueli and Gilda Flores."
    assert len(found(text, "VICTIM", "oqueli", "flores")) == 2


def test_an_organisation_and_its_letters() -> None:
    text = (
        "The Farabundo Marti National Liberation Front [FMLN] attacked a bridge. "
        "The FMLN destroyed it."
    )
    (one,) = found(text, "ORGANISATION", "front", "fmln")
    assert "FARABUNDO MARTI NATIONAL LIBERATION FRONT" in one.names


def test_a_group_of_men_are_the_men() -> None:
    text = "A group of armed men killed the priest. The armed men escaped."
    assert len(found(text, "PERPETRATOR", "group", "man")) == 1
