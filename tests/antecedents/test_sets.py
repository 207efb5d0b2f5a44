from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.depots import SCHEMA, A, B, C, D
from oracles.laws import compatible
from partita.antecedents.sets import coreference_sets, unlinked
from partita.core import Template, pair
from partita.core.templates import ASSERTIONS, EVENT, KIND, ROLES, Assertion
from partita.errors import InputError

AREA = Template("E", start=200, slots={"FACILITY": "BRIDGE", "NUMBER": "PLURAL"})


def test_the_papers_set() -> None:
    (found,) = coreference_sets([D, AREA, B, A, C], SCHEMA)
    assert found.templates == (A, B, C, D)
    assert found.incompatible == {("A", "C"), ("B", "C")}
    assert found.must == frozenset()
    assert unlinked([D, AREA, B, A, C], [found]) == (AREA,)


def test_events_that_happened_are_apart_from_those_that_did_not_and_from_things() -> None:
    denied = {KIND: EVENT, ASSERTIONS: [Assertion("denied").plain()]}
    first, second = (Template(name, start=n, context={KIND: EVENT}) for n, name in enumerate("VW"))
    (found,) = coreference_sets([first, second, Template("X", start=8, context=denied)], SCHEMA)
    assert found.ids == ("V", "W")
    assert coreference_sets([first, Template("A", start=9)], SCHEMA) == ()


def test_events_are_apart_if_their_participants_are() -> None:
    def event(name: str, **roles: list[str]) -> Template:
        return Template(name, start=400, context={KIND: EVENT, ROLES: roles})

    events = [event("V", PLACE=["A"]), event("W", PLACE=["C"]), event("X", PLACE=["B"], TIME=["C"])]
    (_, found) = coreference_sets([A, B, C, D, *events], SCHEMA)
    assert (found.ids, found.incompatible) == (("V", "X"), frozenset())
    events[1] = event("W", TIME=["C"])  # no role of V
    (_, found) = coreference_sets([A, B, C, D, *events], SCHEMA)
    assert (found.ids, found.incompatible) == (("V", "W", "X"), frozenset())


def test_given_order_decides_where_starts_are_the_same() -> None:
    templates = [Template(name) for name in "zab"]
    (found,) = coreference_sets(templates, SCHEMA)
    assert found.ids == ("z", "a", "b")


def test_several_sets_in_text_order() -> None:
    places = ["KINSTON", "FAIRVIEW", "RALEIGH", "FAIRVIEW", "KINSTON"]
    templates = [Template(f"T{n}", start=n, slots={"LOCATION": p}) for n, p in enumerate(places)]
    found = coreference_sets(templates, SCHEMA)
    assert [one.ids for one in found] == [("T0", "T4"), ("T1", "T3")]
    assert [one.id for one in unlinked(templates, found)] == ["T2"]


def test_nothing_to_find() -> None:
    assert coreference_sets([], SCHEMA) == ()
    assert coreference_sets([A], SCHEMA) == ()
    assert unlinked([B, A], []) == (A, B)


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="duplicate template id A"):
        coreference_sets([A, B, A], SCHEMA)
    with pytest.raises(InputError, match="duplicate template id B"):
        coreference_sets([A, B, B], SCHEMA)
    with pytest.raises(InputError, match="template T, slot NUMBER: 'x' is not a number"):
        coreference_sets([Template("T", slots={"NUMBER": "x"})], SCHEMA)


SLOTS = {
    "FACILITY": ["FACILITY", "DEPOT", "BRIDGE"],
    "NUMBER": [1, 2, "PLURAL"],
    "LOCATION": ["KINSTON", "FAIRVIEW"],
    "TYPE": ["RAIL", "AMMUNITION"],
    "NAME": ["Kinston", "Kinston Depot", "Fairview"],
}


@st.composite
def some(draw: st.DrawFn) -> list[Template]:
    def one(n: int) -> Template:
        slots = {name: draw(st.sampled_from([None, *values])) for name, values in SLOTS.items()}
        return Template(f"T{n}", start=draw(st.integers(0, 4)), slots=slots)

    return [one(n) for n in range(draw(st.integers(1, 9)))]


def grown(names: list[str], linked: set[tuple[str, str]]) -> list[set[str]]:
    """Components, by joining until nothing more joins."""
    groups = [{name} for name in names]
    for a, b in linked:
        joined = set().union(*(g for g in groups if a in g or b in g))
        groups = [g for g in groups if a not in g and b not in g] + [joined]
    return groups


def by_definition(templates: list[Template]) -> tuple[list[set[str]], set[tuple[str, str]]]:
    """The components, and all incompatible pairs, pair by pair."""
    names = [t.id for t in templates]
    apart = {
        pair(s.id, t.id) for s, t in combinations(templates, 2) if not compatible(s, t, SCHEMA)
    }
    linked = {pair(*two) for two in combinations(names, 2)} - apart
    return grown(names, linked), apart


@settings(deadline=None, max_examples=120)
@given(some())
def test_sets_are_as_defined(templates: list[Template]) -> None:
    components, apart = by_definition(templates)
    found = coreference_sets(templates, SCHEMA)
    assert {frozenset(one.ids) for one in found} == {
        frozenset(group) for group in components if len(group) > 1
    }
    for one in found:
        inside = {pair(*two) for two in combinations(one.ids, 2)}
        assert one.incompatible == apart & inside
        starts = [t.start for t in one.templates]
        assert starts == sorted(starts)
    singles = {name for group in components if len(group) == 1 for name in group}
    assert {t.id for t in unlinked(templates, found)} == singles
