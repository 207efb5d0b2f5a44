from __future__ import annotations

from functools import reduce
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.depots import SCHEMA, A, B, C, D
from oracles.laws import compatible
from partita.core import Template
from partita.errors import Incompatible, InputError
from partita.templates.schema import Merged, merge, plain_slots, relation, unify

SLOTS = {
    "FACILITY": ["FACILITY", "DEPOT", "BRIDGE"],
    "NUMBER": [1, 2, "PLURAL", "1..3"],
    "LOCATION": ["KINSTON", "FAIRVIEW"],
    "TYPE": ["KIND", "RAIL"],
    "NAME": ["Kinston", "Kinston Depot", "KD", "Fairview"],
}


@st.composite
def some(draw: st.DrawFn, count: int) -> list[Template]:
    """Templates of which many are compatible: each slot is filled half of the time or less."""

    def one(n: int) -> Template:
        slots = {
            name: value
            for name, values in SLOTS.items()
            if (value := draw(st.sampled_from([None, *values]) | st.none())) is not None
        }
        entity_type = draw(st.sampled_from(["", "", "FACILITY", "DEPOT"]))
        return Template(f"T{n}", start=draw(st.integers(0, 3)), type=entity_type, slots=slots)

    return [one(n) for n in range(count)]


def attempt(s: Template | Merged | None, t: Template | Merged | None) -> Merged | None:
    if s is None or t is None:
        return None
    try:
        return unify(s, t, SCHEMA)
    except Incompatible:
        return None


def subsumed(s: Template | Merged, t: Template | Merged) -> bool:
    return compatible(s, t, SCHEMA) and relation(s, t, SCHEMA) in (
        "identical",
        "properly subsumed by",
    )


MIRROR = {
    "identical": "identical",
    "properly subsumed by": "properly subsumes",
    "properly subsumes": "properly subsumed by",
    "otherwise consistent": "otherwise consistent",
}


@settings(deadline=None, max_examples=120)
@given(some(2))
def test_laws_of_two(templates: list[Template]) -> None:
    s, t = templates
    both = attempt(s, t)
    assert both == attempt(t, s)
    assert compatible(s, t, SCHEMA) == compatible(t, s, SCHEMA) == (both is not None)
    assert attempt(s, s) == merge([s], SCHEMA)
    assert relation(s, s, SCHEMA) == "identical"
    if both is not None:
        assert subsumed(both, s)
        assert subsumed(both, t)
        assert attempt(both, s) == attempt(both, both) == both
        assert relation(t, s, SCHEMA) == MIRROR[relation(s, t, SCHEMA)]
        assert (relation(s, t, SCHEMA) == "identical") == (SCHEMA.values(s) == SCHEMA.values(t))


@settings(deadline=None, max_examples=120)
@given(some(3))
def test_laws_of_three(templates: list[Template]) -> None:
    s, t, u = templates
    everything = attempt(attempt(s, t), u)
    assert everything == attempt(s, attempt(t, u))
    pairs = [compatible(*two, SCHEMA) for two in ((s, t), (t, u), (s, u))]
    assert (everything is not None) == all(pairs)
    if subsumed(s, t) and subsumed(t, u):
        assert subsumed(s, u)
    if subsumed(u, s) and subsumed(u, t):
        assert subsumed(u, unify(s, t, SCHEMA))


@settings(deadline=None, max_examples=25)
@given(some(4))
def test_the_order_of_merging_does_not_matter(templates: list[Template]) -> None:
    results = [reduce(attempt, order) for order in permutations(templates)]
    assert all(result == results[0] for result in results)


@settings(deadline=None, max_examples=120)
@given(some(2))
def test_no_slot_and_no_member_is_forgotten(templates: list[Template]) -> None:
    s, t = templates
    if (both := attempt(s, t)) is not None:
        assert set(both.slots) == set(s.slots) | set(t.slots)
        assert sorted(both.ids) == ["T0", "T1"]
        assert [m.start for m in both.members] == sorted(m.start for m in both.members)
        assert SCHEMA.read(plain_slots(both.values)) == both.slots


def test_the_papers_templates() -> None:
    assert relation(A, B, SCHEMA) == "properly subsumed by"
    assert {relation(S, D, SCHEMA) for S in (A, B, C)} == {"properly subsumed by"}
    assert relation(D, A, SCHEMA) == "properly subsumes"
    assert not compatible(A, C, SCHEMA)
    assert not compatible(B, C, SCHEMA)
    assert compatible(C, D, SCHEMA)


def test_otherwise_consistent() -> None:
    named = Template("N", slots={"FACILITY": "FACILITY", "NAME": "Kinston Depot"})
    assert relation(A, named, SCHEMA) == "otherwise consistent"
    assert relation(Template("X"), Template("Y"), SCHEMA) == "identical"


def test_incompatible_names_templates_slot_and_values() -> None:
    message = r"templates A\+B and C \(slot TYPE\) do not unify: RAIL and AMMUNITION"
    with pytest.raises(Incompatible, match=message):
        unify(unify(B, Template("A"), SCHEMA), C, SCHEMA)
    with pytest.raises(Incompatible, match=r"templates C and B \(slot TYPE\)"):
        relation(C, B, SCHEMA)
    rail, bridge = Template("R", type="RAIL"), Template("S", type="BRIDGE")
    with pytest.raises(Incompatible, match=r"templates R and S \(sort\).*RAIL and BRIDGE"):
        unify(rail, bridge, SCHEMA)


def test_a_merged_template_keeps_its_members() -> None:
    merged = merge([D, A, B], SCHEMA)
    assert merged.members == (A, B, D)
    assert plain_slots(merged.values) == A.slots
    assert merged.type == ""
    assert merge([Template("X", type="depot"), D], SCHEMA).type == "DEPOT"


def test_two_templates_of_one_name() -> None:
    with pytest.raises(InputError, match="duplicate template id A"):
        unify(A, Template("A"), SCHEMA)
