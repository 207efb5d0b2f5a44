"""Conflict κ of claims against general combination by Dempster's rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.evidence import MassFunction, combine
from oracles.fusion import simple_nesting
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, answers_by_object, fuse_slots
from partita.fusion.kinds import Reading
from partita.fusion.warnings import conflict, conflicts
from partita.templates.entity_types import Hierarchy
from partita.templates.name import PlaceType
from partita.templates.slots import StringsType

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
    found = fuse_slots(claims, FusionSettings(reading=Reading(types={"AT": PLACES})))
    [answer] = answers_by_object(found).values()
    assert [one.value for one in answer.values] == ["TOLEDO", "OHIO", "IOWA"]
    assert sum(one.probability for one in answer.values) + answer.unknown == pytest.approx(1)


def test_what_a_slot_type_cannot_read_is_an_error():
    from partita.errors import InputError
    from partita.templates.quantities import NumberType

    claims = Claims.of([("a", "x", "N", "many")])
    with pytest.raises(InputError, match="a on N of x: 'many' is not a number"):
        fuse_slots(claims, FusionSettings(reading=Reading(types={"N": NumberType()})))


def test_values_of_one_thing_that_unify_are_a_candidate_together():
    from partita.templates.name import NameType

    claims = Claims.of([("a", "x", "NAME", "Camp Elm"), ("b", "x", "NAME", "Elm")])
    found = fuse_slots(claims, FusionSettings(reading=Reading(types={"NAME": NameType()})))
    [answer] = answers_by_object(found).values()
    assert answer.values[0].value == "CAMP ELM"
    assert answer.values[0].probability > 0.9


NESTED = simple_nesting({"TOLEDO": "OHIO", "AKRON": "OHIO", "DAYTON": "OHIO", "AMES": "IOWA"})
ENDS = frozenset({"TOLEDO", "AKRON", "DAYTON", "AMES", "ELSEWHERE"})
CLAIMED = st.lists(
    st.tuples(st.sampled_from([*sorted(NESTED.above), "ELSEWHERE"]), MASS, st.floats(0.1, 1.0)),
    min_size=1,
    max_size=5,
)


def combined_conflict(said, worlds):
    """κ of simple support functions by general combination, one after another."""
    kept, whole = 1.0, MassFunction.of(sorted(worlds), {worlds: 1.0})
    for focus, mass in said:
        found = combine(whole, MassFunction.of(sorted(worlds), {focus: mass, worlds: 1.0 - mass}))
        kept, whole = kept * (1.0 - found.conflict), found.mass
    return 1.0 - kept


@settings(deadline=None, max_examples=30)
@given(CLAIMED, st.booleans())
def test_conflict_of_claims_is_that_of_general_combination(said, nested):
    rows = [(f"s{n}", "x", "at", place, sure) for n, (place, _, sure) in enumerate(said)]
    trusted = {f"s{n}": mass for n, (_, mass, _) in enumerate(said)}
    other = [("s0", "y", "at", "TOLEDO")]  # another object does not matter
    reading = Reading(nesting=NESTED if nested else None)
    found = fuse_slots(Claims.of([*other, *rows]), FusionSettings({"": "open"}, reading, trusted))
    here = found.slots[0].parsed.statements.objects.index("x")
    places = {*ENDS, *NESTED.above}
    focal = {
        place: frozenset({place, *(NESTED.below.get(place, ()) if nested else ())})
        for place in places
    }
    wanted = [(focal[place], mass * sure) for place, mass, sure in said]
    expected = combined_conflict(wanted, frozenset(places))
    assert conflicts(found.slots[0])[here] == pytest.approx(expected, abs=1e-9)


def claimed(kind, values, **options):
    rows = [(f"s{n}", "x", "is", value) for n, value in enumerate(values)]
    given = {f"s{n}": 0.8 for n in range(len(values))}
    (found,) = fuse_slots(
        Claims.of(rows), FusionSettings({"": kind}, Reading(**options), given)
    ).slots
    return conflicts(found)[0]


def test_conflict_of_claims_follows_the_kind_of_the_slot():
    assert claimed("open", ["a", "a"]) == 0.0
    assert claimed("open", ["a", "b"]) == pytest.approx(0.64)
    assert claimed("closed", ["yes", "no"]) == pytest.approx(0.64)
    assert claimed("number", ["100", "101"]) == pytest.approx(0.64)
    assert claimed("number", ["100", "101"], tolerance=0.02) == 0.0
    assert claimed("date", ["1996", "1996-03"]) == 0.0
    assert claimed("date", ["1996-04", "1996-03"]) == pytest.approx(0.64)
    assert claimed("several", ["a; b", "c"]) == 0.0


def test_who_is_right_by_luck_contradicts_nobody():
    rows = [(f"s{n}", f"o{o}", "same", "yes" if (n + o) % 2 else "no")
            for n in range(2) for o in range(40)]  # fmt: skip
    (belief,) = fuse_slots(Claims.of(rows), FusionSettings({"": "closed"})).slots
    knows = [max(0.0, 2 * one.reliability - 1) for one in belief.trust]
    assert conflicts(belief) == [pytest.approx(knows[0] * knows[1])] * 40


def test_known_truths_contradict_who_says_otherwise():
    known = FusionSettings({"": "open"}, reliabilities={"ann": 0.7}, truths={("x", "is"): "b"})
    (belief,) = fuse_slots(Claims.of([("ann", "x", "is", "a")]), known).slots
    assert conflicts(belief) == [pytest.approx(0.7)]
