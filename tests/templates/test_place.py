from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import laws
from partita.errors import InputError
from partita.templates.entity_types import Hierarchy
from partita.templates.name import NamedPlace, PlaceType
from partita.templates.slots import Aliases, compare

GAZETTEER = Hierarchy.of(
    {
        "United States": None,
        "Minnesota": "United States",
        "North Carolina": "United States",
        "Minneapolis": "Minnesota",
        "Saint Paul": "Minnesota",
        "Great Lakes": "United States",
        "Duluth": ["Minnesota", "Great Lakes"],
        "El Salvador": None,
    }
)
SLOT = PlaceType(GAZETTEER, Aliases.of([["United States", "USA"]]))
POOL = [*GAZETTEER.parents, "usa", "Kinston", "Fairview"]


@settings(deadline=None, max_examples=120)
@given(*[st.sampled_from(POOL)] * 3)
def test_laws(a: str, b: str, c: str) -> None:
    laws.check(SLOT, SLOT.read(a), SLOT.read(b), SLOT.read(c))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("Minneapolis", "MINNESOTA", "more specific"),
        ("USA", "Minneapolis", "more general"),
        ("usa", "United States", "identical"),
        ("Minneapolis", "Saint Paul", "distinct"),
        ("Minneapolis", "North Carolina", "distinct"),
        ("Minnesota", "Great Lakes", "compatible"),
        ("Minneapolis", "Great Lakes", "distinct"),
        ("Kinston", "Fairview", "distinct"),
        ("Kinston", "Kinston", "identical"),
        ("Kinston", "USA", "compatible"),
        ("Kinston", "Minneapolis", "distinct"),
        ("Kinston", "El Salvador", "distinct"),
    ],
)
def test_comparisons(left: str, right: str, expected: str) -> None:
    assert compare(SLOT, SLOT.read(left), SLOT.read(right)) == expected


def test_the_innermost_is_kept() -> None:
    within = SLOT.unify(SLOT.read("Minneapolis"), SLOT.read("USA"))
    assert within == SLOT.read(["Minnesota", "Minneapolis"])
    assert within.json() == "MINNEAPOLIS"


def test_an_unlisted_place_keeps_what_contains_it() -> None:
    both = SLOT.unify(SLOT.read("Kinston"), SLOT.read("Minnesota"))
    assert both == NamedPlace(frozenset({"KINSTON", "MINNESOTA"}))
    assert str(both) == "KINSTON & MINNESOTA"
    assert SLOT.unify(both, SLOT.read("USA")) == both
    assert SLOT.unify(both, SLOT.read("North Carolina")) is None


def test_mistakes_are_named() -> None:
    for given_ in (7, None, ["Kinston", "Fairview"]):
        with pytest.raises(InputError, match="is not a place or a list of places"):
            SLOT.read(given_)
