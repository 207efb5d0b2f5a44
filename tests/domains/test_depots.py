"""The domain depots: the paper's message, and what its rules say of sentences of many kinds."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from oracles.extraction import Coins
from partita.antecedents.sets import BoolArray, coreference_sets
from partita.cli.demo import MESSAGE
from partita.configurations.count import count_configurations
from partita.configurations.solve_batch import solve_many
from partita.core import CoreferenceSet, Template, pair
from partita.pipeline import Stages, resolve
from partita.rules.domain_files import load_rule_set, read_domain
from partita.rules.extractor import Extractor
from partita.rules.lint import lint
from partita.text.layout import parse_layout
from partita.text.tagger_models import shipped_tagger

A = {"FACILITY": "DEPOT", "NUMBER": 1, "LOCATION": "KINSTON", "TYPE": "RAIL"}
B = {"FACILITY": "DEPOT", "NUMBER": 1, "TYPE": "RAIL"}
C = {"FACILITY": "DEPOT", "NUMBER": 1, "LOCATION": "FAIRVIEW", "TYPE": "AMMUNITION"}
D = {"FACILITY": "DEPOT", "NUMBER": 1}


@cache
def extractor() -> Extractor:
    return Extractor(read_domain("depots"), shipped_tagger())


def templates(text: str) -> tuple[Template, ...]:
    """The templates of things; test_events.py is about events."""
    found = extractor().templates(parse_layout("m", text))
    return tuple(one for one in found if one.context.get("KIND") != "event")


def slots(text: str) -> dict[str, dict[str, Any]]:
    """The slots of a text's templates by their words in lower case."""
    return {one.text.lower(): dict(one.slots) for one in templates(text)}


def test_the_domain_has_no_problem() -> None:
    assert not load_rule_set("depots").problems
    found = [p for p in lint(read_domain("depots")) if "/depots/" in str(p.at) and p.error]
    assert not found


@pytest.mark.parametrize("text", [MESSAGE, MESSAGE.upper()], ids=["mixed", "upper"])
def test_the_message_of_the_paper(text: str) -> None:
    schema = extractor().domain.schema
    found = resolve(
        parse_layout("m", text), Stages(extractor().templates, schema, Coins(), solve_many)
    ).templates
    depots = [one for one in found if one.type == "DEPOT"]
    assert [dict(one.slots) for one in depots] == [A, B, C, D]
    assert [one.form for one in depots] == ["bare", "indefinite", "definite", "definite"]
    assert [one.region for one in depots] == ["subject", "text", "text", "text"]
    a, b, c, d = (one.id for one in depots)
    assert [(one.id, one.preferred) for one in depots[3].antecedents] == [
        (b, True), (c, False), (a, False),
    ]  # fmt: skip
    (only,) = coreference_sets(found, schema)
    assert only.ids == (a, b, c, d)
    assert only.incompatible == {(a, c), (b, c)}
    assert count_configurations(may_corefer(only)) == 7


def test_the_other_facilities_of_the_paper() -> None:
    found = slots(MESSAGE)
    assert found["extensive admin and support areas"] == {
        "FACILITY": ["ADMIN AREA", "SUPPORT AREA"], "NUMBER": "PLURAL",
    }  # fmt: skip
    assert found["two material storage areas"] == {
        "FACILITY": "STORAGE AREA", "NUMBER": 2, "TYPE": "MATERIEL",
    }  # fmt: skip
    assert found["extensive transshipment facilities"] == {
        "FACILITY": "TRANSSHIPMENT FACILITY", "NUMBER": "PLURAL",
    }  # fmt: skip
    assert found["several training areas"] == {"FACILITY": "TRAINING AREA", "NUMBER": "PLURAL"}
    assert len(found) == 8


def may_corefer(found: CoreferenceSet) -> BoolArray:
    """Of every two members whether they are compatible."""
    return np.array([[pair(a, b) not in found.incompatible for b in found.ids] for a in found.ids])


def depot(**slots: Any) -> dict[str, Any]:
    return {"FACILITY": "DEPOT", "NUMBER": 1, **slots}


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("A depot was found in Kinston.", "a depot", depot(LOCATION="KINSTON")),
        ("A depot near Ostervik burned down.", "a depot",
         depot(LOCATION="OSTERVIK", STATUS=["DESTROYED"])),
        ("RAIL DEPOT LOC 5 KM N OF TARBORO.", "rail depot", depot(TYPE="RAIL")),
        ("The depot lies north of Tarboro.", "the depot", depot()),
        ("Kinston's fuel depot is empty.", "fuel depot",
         depot(LOCATION="KINSTON", TYPE="FUEL", STATUS=["UNOCCUPIED"])),
        ("In Smallville, a supply depot was destroyed.", "a supply depot",
         depot(LOCATION="SMALLVILLE", TYPE="SUPPLY", STATUS=["DESTROYED"])),
        ("Subj: Fuel Depot, Kinston", "fuel depot", depot(LOCATION="KINSTON", TYPE="FUEL")),
        ("The ammunition dump is not operational.", "the ammunition dump",
         depot(TYPE="AMMUNITION", STATUS=["NOT OPERATIONAL"])),
        ("The depot, located 3 km north of Basra, is under construction.", "the depot",
         depot(STATUS=["UNDER CONSTRUCTION"])),
        ("Bombs destroyed the depot.", "the depot", depot(STATUS=["DESTROYED"])),
        ("The depot was not damaged.", "the depot", depot()),
        ("The roof of the depot was damaged.", "the depot", depot()),
        ("The depot belongs to the 5th Division.", "the depot",
         depot(ASSOCIATION=["5TH DIVISION"])),
        ("A depot was seen on 15 March 1996.", "a depot", depot(SEEN="1996-03-15")),
        ("The depot covers 40 hectares.", "the depot", depot(SIZE="40 ha")),
        ("The depot is at 35-14N 077-34W.", "the depot",
         depot(COORDINATES=["35.23333N 77.56667W"])),
        ("Depots in Wilson and Goldsboro burned.", "depots",
         {"FACILITY": "DEPOT", "NUMBER": "PLURAL"}),
        ("Rail and ammunition depots were seen.", "rail and ammunition depots",
         {"FACILITY": "DEPOT", "NUMBER": "PLURAL"}),
        ("The port of Wilmington is open.", "the port",
         {"FACILITY": "PORT", "NUMBER": 1, "LOCATION": "WILMINGTON", "STATUS": ["OPEN"]}),
        ("Troops left Camp Adams.", "camp adams",
         {"FACILITY": "CAMP", "NUMBER": 1, "NAME": "CAMP ADAMS"}),
        ("They came from Seymour AFB.", "seymour afb",
         {"FACILITY": "AIR BASE", "NUMBER": 1, "NAME": "SEYMOUR AFB"}),
        ("An Iraqi armored brigade moved.", "an iraqi armored brigade",
         {"UNIT": "BRIGADE", "NUMBER": 1, "TYPE": "ARMOR", "NATIONALITY": "IRAQ"}),
        ("The 3rd Tank Battalion left.", "the 3rd tank battalion",
         {"UNIT": "BATTALION", "NUMBER": 1, "TYPE": "ARMOR", "DESIGNATION": ["3"]}),
        ("4TH CORPS HEADQUARTERS WAS MOVED.", "4th corps headquarters",
         {"FACILITY": "HEADQUARTERS", "NUMBER": 1, "ASSOCIATION": ["4TH CORPS"]}),
        ("24 T-72 tanks left the depot.", "24 t-72 tanks",
         {"EQUIPMENT": "TANK", "NUMBER": 24, "MODEL": ["T-72"]}),
        ("Six T-72s were seen.", "six t-72s",
         {"EQUIPMENT": "TANK", "NUMBER": 6, "MODEL": ["T-72"]}),
    ],
)  # fmt: skip
def test_slots(text: str, words: str, expected: dict[str, Any]) -> None:
    assert slots(text)[words] == expected


def test_two_heads_are_two_templates() -> None:
    found = slots("A rail depot and an ammunition depot were seen in Kinston.")
    assert found == {
        "a rail depot": depot(LOCATION="KINSTON", TYPE="RAIL"),
        "an ammunition depot": depot(LOCATION="KINSTON", TYPE="AMMUNITION"),
    }


def test_a_table_gives_a_template_a_row() -> None:
    table = """\
LOCATION      OBJECT         STATUS
ERLAU         RAIL BRIDGE    INTACT
MOOSDORF      ROAD BRIDGE    DAMAGED
"""
    assert [dict(one.slots) for one in templates(table)] == [
        {"FACILITY": "BRIDGE", "NUMBER": 1, "LOCATION": place, "TYPE": kind, "STATUS": [state]}
        for place, kind, state in [("ERLAU", "RAIL", "INTACT"), ("MOOSDORF", "HIGHWAY", "DAMAGED")]
    ]


def test_it_refers_only_where_it_can() -> None:
    found = templates("The depot is new. It has six bunkers. It is likely that it is guarded.")
    assert [one.text for one in found] == ["The depot", "It", "six bunkers", "it"]
    assert [one.form for one in found] == ["definite", "pronoun", "indefinite", "pronoun"]
    assert not templates("It rained. It is believed that they left.")


def test_what_looks_like_a_facility_and_is_none() -> None:
    assert not slots("They went by road to the base of the hill. The depot commander spoke.")


def test_ties_between_templates() -> None:
    facility, depot_ = templates("The facility is an ammunition depot.")
    assert depot_.context["COPULA_OF"] == facility.id
    assert facility.context["ROLE"] == "subject"
    owner, owned = templates("The depot's storage areas are empty.")
    assert (owner.context["ROLE"], owned.context["DETERMINER"]) == ("possessive", "'s")
    assert owned.form == "definite"


def test_many_messages_give_what_each_gives_alone() -> None:
    messages = [parse_layout(str(n), text) for n, text in enumerate((MESSAGE, "", "The depot."))]
    together = list(extractor().templates_of(messages))
    assert together == [extractor().templates(message) for message in messages]
    assert together[1] == ()


def test_spans_are_of_the_text() -> None:
    for one in templates(MESSAGE):
        assert " ".join(MESSAGE[one.start : one.end].split()) == one.text


def test_what_follows_a_thing_in_one_word_is_its_state() -> None:
    assert slots("Imagery shows the plant intact.")["the plant"]["STATUS"] == ["INTACT"]
    doubted = slots("There is no doubt that the depot at Kesten is intact.")["the depot"]
    assert doubted["STATUS"] == ["INTACT"]


@pytest.mark.parametrize(
    ("text", "what", "expected"),
    [
        ("The fuel depot was found. It holds about 4,000 tonnes.", "it", {"CAPACITY": "4000 t"}),
        ("The camp is associated with the 4th Division.", "the camp",
         {"ASSOCIATION": ["4TH DIVISION"]}),
        ("A training camp was seen.", "a training camp", {"TYPE": "TRAINING"}),
        ("Ten barracks were seen.", "ten barracks", {"NUMBER": 10}),
        ("Both depots are empty.", "both depots", {"NUMBER": 2}),
        ("Kesten's bridge was closed.", "bridge", {"LOCATION": "KESTEN"}),
        ("A DEPOT WAS FOUND NEAR ROSTA. THE ROSTA DEPOT IS EMPTY.", "the rosta depot",
         {"LOCATION": "ROSTA"}),
    ],
)  # fmt: skip
def test_slots_of_odd_constructions(text: str, what: str, expected: dict[str, Any]) -> None:
    found = slots(text)[what]
    assert {name: found.get(name) for name in expected} == expected


def test_what_is_behind_a_preposition_is_not_the_subject() -> None:
    found = slots("The depot is closed. A warehouse south of it was rebuilt.")
    assert "STATUS" not in found["it"]
    assert found["a warehouse"]["STATUS"] == ["REBUILT"]


def test_a_column_of_numbers_counts_things() -> None:
    table = (
        "Type              Location  Number\n"
        "fuel depot        Dorna     1\n"
        "ammunition depot  Velm      2\n"
    )
    assert slots(f"Subj: Depots\n\n{table}")["ammunition depot"]["NUMBER"] == 2


def test_a_group_with_the_same_head_is_an_apposition() -> None:
    first, second = templates("The other bridge, a road bridge, collapsed.")
    assert second.context["APPOSITION_OF"] == first.id
