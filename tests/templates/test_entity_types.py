from __future__ import annotations

from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import laws
from oracles.depots import TYPES
from partita.errors import InputError
from partita.templates.entity_types import EntityType, Hierarchy, HierarchyType
from partita.templates.slots import compare

MIXED = Hierarchy.of(
    {
        "THING": None,
        "MILITARY": "THING",
        "MEDICAL": "THING",
        "MOBILE": "THING",
        "CLINIC": "MEDICAL",
        "BARRACKS": "MILITARY",
        "HOSPITAL": ["MILITARY", "MEDICAL"],
        "TENT": ["MOBILE", "MEDICAL"],
        "CONVOY": ["MOBILE", "MILITARY"],
    }
)


def test_laws_on_all_types_of_a_hierarchy() -> None:
    slot = HierarchyType(MIXED)
    values = [slot.read(name) for name in MIXED.parents]
    for a, b, c in combinations_with_replacement(values, 3):
        laws.check(slot, a, b, c)


@st.composite
def hierarchies(draw: st.DrawFn) -> Hierarchy:
    names = [f"S{n}" for n in range(draw(st.integers(3, 8)))]
    parents = {
        name: draw(st.lists(st.sampled_from(names[:n]), max_size=2)) if n else []
        for n, name in enumerate(names)
    }
    plain = Hierarchy.of(parents)
    pairs = [(a, b) for a in names for b in names if a < b and plain.parents[a] == plain.parents[b]]
    return Hierarchy.of(parents, (), draw(st.lists(st.sampled_from(pairs))) if pairs else ())


@settings(deadline=None, max_examples=120)
@given(st.data(), hierarchies())
def test_laws_on_any_hierarchy(data: st.DataObject, hierarchy: Hierarchy) -> None:
    slot = HierarchyType(hierarchy)
    names = st.sampled_from(sorted(hierarchy.parents))
    a, b, c = (slot.read(data.draw(names)) for _ in range(3))
    laws.check(slot, a, b, c)


def test_one_subsumes_the_other() -> None:
    slot = HierarchyType(TYPES)
    depot, facility = slot.read("depot"), slot.read("Facility")
    assert compare(slot, depot, facility) == "more specific"
    assert slot.unify(depot, facility) == depot
    assert compare(slot, slot.read("RAIL"), slot.read("AMMUNITION")) == "distinct"


def test_a_conjunction_keeps_both() -> None:
    slot = HierarchyType(MIXED)
    both = slot.unify(slot.read("MILITARY"), slot.read("MEDICAL"))
    assert both == EntityType(frozenset({"MEDICAL", "MILITARY"}))
    assert str(both) == "MEDICAL & MILITARY"
    assert both.json() == ["MEDICAL", "MILITARY"]
    assert compare(slot, slot.read("HOSPITAL"), both) == "more specific"
    assert slot.unify(both, slot.read("CLINIC")) is None


def test_only_types_under_the_given_one() -> None:
    slot = HierarchyType(TYPES, under="kind")
    assert slot.read("rail") == EntityType(frozenset({"RAIL"}))
    with pytest.raises(InputError, match="'DEPOT' is not a sort under KIND"):
        slot.read("DEPOT")
    with pytest.raises(InputError, match="unknown sort KINDS"):
        HierarchyType(TYPES, under="KINDS")


def test_mistakes_are_named() -> None:
    slot = HierarchyType(TYPES)
    with pytest.raises(InputError, match="'depott' is not a sort of the hierarchy"):
        slot.read("depott")
    with pytest.raises(InputError, match="7 is not a sort of the hierarchy"):
        slot.read(7)
    with pytest.raises(InputError, match="'AMMUNITION' & 'RAIL' are mutually exclusive sorts"):
        slot.read(["RAIL", "AMMUNITION"])
    assert slot.read(["FACILITY", "DEPOT"]) == slot.read("DEPOT")
