"""Conflict κ of claims against general combination by Dempster's rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.evidence import MassFunction, combine
from partita.fusion.claims import Claims
from partita.fusion.contradiction import conflict
from partita.fusion.fuse import Settings, by_object, fuse
from partita.fusion.kinds import Reading
from partita.templates.place import PlaceType
from partita.templates.sorts import Hierarchy
from partita.templates.strings import StringsType

GAZETTEER = Hierarchy.of({"OHIO": None, "IOWA": None, "TOLEDO": "OHIO", "AKRON": "OHIO"})
PLACES = PlaceType(GAZETTEER)
WORLDS = frozenset({"TOLEDO", "AKRON", "IOWA"})  # where a thing can be, to the end
MASS = st.floats(0.05, 0.95)
SAID = st.lists(st.tuples(st.sampled_from(sorted(GAZETTEER.parents)), MASS), min_size=1, max_size=4)


@settings(deadline=None, max_examples=40)
@given(SAID)
def test_conflict_is_that_of_general_combination(said):
    mine = conflict({str(n): (PLACES.read(p), m) for n, (p, m) in enumerate(said)}, PLACES)
    kept, whole = 1.0, None
    for place, mass in said:
        below = frozenset(GAZETTEER.below[place]) & WORLDS
        one = MassFunction.of(sorted(WORLDS), {below: mass, WORLDS: 1.0 - mass})
        if whole is not None:
            found = combine(whole, one)
            kept, one = kept * (1.0 - found.conflict), found.mass
        whole = one
    assert mine == pytest.approx(1.0 - kept, abs=1e-9)


def test_values_that_hold_together_do_not_contradict():
    slot = StringsType()
    said = {"a": (slot.read("new"), 1.0), "b": (slot.read("active"), 1.0)}
    assert conflict(said, slot) == 0.0


def test_slot_types_order_values_as_a_hierarchy_does():
    claims = Claims.of(
        [("a", "x", "AT", "Toledo"), ("b", "x", "AT", "Ohio"), ("c", "x", "AT", "Iowa")]
    )
    found = fuse(claims, Settings(reading=Reading(types={"AT": PLACES})))
    [answer] = by_object(found).values()
    assert [one.value for one in answer.values] == ["TOLEDO", "OHIO", "IOWA"]
    assert sum(one.probability for one in answer.values) + answer.unknown == pytest.approx(1)


def test_what_a_slot_type_cannot_read_is_an_error():
    from partita.errors import InputError
    from partita.templates.number import NumberType

    claims = Claims.of([("a", "x", "N", "many")])
    with pytest.raises(InputError, match="a on N of x: 'many' is not a number"):
        fuse(claims, Settings(reading=Reading(types={"N": NumberType()})))


def test_values_of_one_thing_that_unify_are_a_candidate_together():
    from partita.templates.name import NameType

    claims = Claims.of([("a", "x", "NAME", "Camp Elm"), ("b", "x", "NAME", "Elm")])
    found = fuse(claims, Settings(reading=Reading(types={"NAME": NameType()})))
    [answer] = by_object(found).values()
    assert answer.values[0].value == "CAMP ELM"
    assert answer.values[0].probability > 0.9
