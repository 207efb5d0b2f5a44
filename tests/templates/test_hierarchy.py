from __future__ import annotations

from contextlib import suppress
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.errors import InputError
from partita.templates.entity_types import Hierarchy

Declared = tuple[dict[str, list[str]], list[tuple[str, str]], list[tuple[str, str]]]


@st.composite
def declared(draw: st.DrawFn) -> Declared:
    """Parents of up to nine types, and pairs to declare."""
    names = [f"S{n}" for n in range(draw(st.integers(1, 9)))]
    parents = {
        name: draw(st.lists(st.sampled_from(names[:n]), max_size=3)) if n else []
        for n, name in enumerate(names)
    }
    pairs = st.lists(st.tuples(st.sampled_from(names), st.sampled_from(names)), max_size=3)
    return parents, draw(pairs), draw(pairs)


def made(given_: Declared) -> Hierarchy:
    """The hierarchy, without the pairs that cannot be declared."""
    parents, disjoint, overlapping = given_
    plain = Hierarchy.of(parents)
    loose = [(a, b) for a, b in overlapping if a != b and _siblings(plain, a, b)]
    apart = []
    for two in disjoint:  # those that nothing below contradicts
        with suppress(InputError):
            Hierarchy.of(parents, [two], loose)
            apart.append(two)
    return Hierarchy.of(parents, apart, loose)


def _siblings(h: Hierarchy, a: str, b: str) -> bool:
    roots = not h.parents[a] and not h.parents[b]
    return a != b and (roots or bool(h.parents[a] & h.parents[b]))


def paths(parents: dict[str, list[str]], name: str) -> set[str]:
    return {name}.union(*(paths(parents, p) for p in parents[name]))


def by_definition(h: Hierarchy, x: str, y: str) -> bool:
    """The sentence at the head of types.py, read slowly over all types."""
    names = list(h.parents)

    def under(a: str, b: str) -> bool:
        return b in h.above[a]

    if under(x, y) or under(y, x):
        return True
    for a, b in product(names, names):
        if b in h.disjoint.get(a, ()) and under(x, a) and under(y, b):
            return False
    common = any(under(z, x) and under(z, y) for z in names)
    tied = any(
        b in h.overlapping.get(a, ()) and under(a, x) and under(b, y)
        for a, b in product(names, names)
    )
    parted = [
        (a, b)
        for a, b in product(names, names)
        if under(x, a) and under(y, b) and _siblings(h, a, b)
    ]
    assert parted  # lines to two types always part somewhere
    return common or tied or all(b in h.overlapping.get(a, ()) for a, b in parted)


@settings(deadline=None, max_examples=120)
@given(declared())
def test_above_and_below_are_the_paths(given_: Declared) -> None:
    parents = given_[0]
    h = Hierarchy.of(parents)
    for x, y in product(parents, parents):
        assert (y in h.above[x]) == (x in h.below[y]) == (y in paths(parents, x))
        assert h.subsumes(y, x) == (y in paths(parents, x))


@settings(deadline=None, max_examples=120)
@given(declared())
def test_compatibility_is_as_defined(given_: Declared) -> None:
    h = made(given_)
    for x, y in product(h.parents, h.parents):
        assert h.compatible(x, y) == by_definition(h, x, y) == h.compatible(y, x)


@settings(deadline=None, max_examples=120)
@given(declared())
def test_compatibility_is_inherited_upwards(given_: Declared) -> None:
    h = made(given_)
    for x, y in product(h.parents, h.parents):
        if h.compatible(x, y):
            assert all(h.compatible(a, b) for a, b in product(h.above[x], h.above[y]))


@settings(deadline=None, max_examples=120)
@given(declared())
def test_declared_pairs_hold(given_: Declared) -> None:
    h = made(given_)
    assert not any(h.compatible(a, b) for a, others in h.disjoint.items() for b in others)
    assert all(h.compatible(a, b) for a, others in h.overlapping.items() for b in others)


MIXED = {
    "thing": None,
    "military": "thing",
    "medical": "thing",
    "vehicle": "thing",
    "barracks": "military",
    "clinic": "medical",
    "military hospital": ["military", "medical"],
    "person": None,
}


def test_siblings_are_disjoint_unless_something_is_both() -> None:
    h = Hierarchy.of(MIXED)
    assert h.compatible("MILITARY", "MEDICAL")
    assert h.compatible("THING", "CLINIC")
    assert not h.compatible("MILITARY", "VEHICLE")
    assert not h.compatible("BARRACKS", "CLINIC")
    assert not h.compatible("BARRACKS", "MEDICAL")
    assert not h.compatible("PERSON", "CLINIC")


def test_overlapping_siblings_and_their_descendants() -> None:
    h = Hierarchy.of(MIXED, overlapping=[("Vehicle", "military")])
    assert h.compatible("VEHICLE", "MILITARY")
    assert h.compatible("VEHICLE", "BARRACKS")
    assert not h.compatible("VEHICLE", "CLINIC")


def test_disjointness_is_inherited() -> None:
    h = Hierarchy.of(
        {"A": None, "B": None, "C": "A", "D": "B", "E": ["A", "B"]},
        disjoint=[("C", "E")],
        overlapping=[("A", "B")],
    )
    assert h.compatible("C", "D")
    assert not h.compatible("C", "E")


def test_a_redundant_link_makes_no_sibling() -> None:
    h = Hierarchy.of({"A": None, "B": "A", "C": ["A", "B"]})
    assert h.parents["C"] == {"B"}
    with pytest.raises(InputError, match="not siblings"):
        Hierarchy.of({"A": None, "B": "A", "C": ["A", "B"]}, overlapping=[("B", "C")])


@pytest.mark.parametrize(
    ("parents", "more", "message"),
    [
        ({"A": "B", "B": "A"}, {}, "circular sorts: (A > B > A|B > A > B)"),
        ({"A": "A"}, {}, "circular sorts: A > A"),
        ({"A": "B"}, {}, "sort A has an unknown parent B"),
        ({"rail": None, "RAIL": None}, {}, "sort RAIL is declared twice"),
        ([("A", None), ("A", None)], {}, "sort A is declared twice"),
        ({" ": None}, {}, "a sort has no name"),
        ({"A": None}, {"disjoint": [("A", "X")]}, "unknown sort X in the pair A, X"),
        ({"A": None}, {"disjoint": [("A", "A")]}, "A and A cannot be disjoint"),
        ({"A": None}, {"overlapping": [("A", "A")]}, "A and A cannot overlap"),
        ({"A": None, "B": "A"}, {"overlapping": [("A", "B")]}, "they are not siblings"),
        (
            {"A": None, "B": None, "C": ["A", "B"]},
            {"disjoint": [("A", "B")]},
            "sorts A and B cannot be disjoint: C is in both",
        ),
        (
            {"A": None, "B": None},
            {"disjoint": [("A", "B")], "overlapping": [("A", "B")]},
            "cannot be disjoint: an overlap is in both",
        ),
    ],
)
def test_mistakes_are_named(parents: dict[str, str], more: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Hierarchy.of(parents, **more)
