"""Mass functions refuse what is none, and keep what is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.evidence import MassFunction, belief, pignistic, plausibility
from partita.errors import InputError

FRAME = ("red", "green", "blue")


def test_focal_sets_written_as_sets_or_as_bit_masks_are_the_same():
    written = MassFunction.of(FRAME, {frozenset({"red"}): 0.25, frozenset(FRAME): 0.75}, "ann")
    assert written == MassFunction(FRAME, {0b001: 0.25, 0b111: 0.75}, ("ann",))
    assert dict(written.focal()) == {frozenset({"red"}): 0.25, frozenset(FRAME): 0.75}
    assert written.mass({"red"}) == 0.25
    assert written.mass({"green"}) == 0.0


def test_subsets_without_mass_are_not_kept_and_the_order_is_canonical():
    mass = MassFunction(FRAME, {0b110: 0.5, 0b001: 0.5, 0b010: 0.0, 0: 0.0})
    assert list(mass.masses) == [0b001, 0b110]


def test_a_later_change_of_the_callers_dictionary_changes_nothing():
    given_masses = {0b001: 1.0}
    mass = MassFunction(FRAME, given_masses)
    given_masses[0b001] = 0.0
    assert mass.masses == {0b001: 1.0}


@pytest.mark.parametrize(
    ("masses", "says"),
    [
        ({0b001: 0.5, 0b010: 0.4}, "sum to 0.9"),
        ({0b001: 1.5, 0b010: -0.5}, "mass -0.5 of ann"),
        ({0b001: float("nan"), 0b010: 1.0}, "mass nan of ann"),
        ({0b001: float("inf")}, "mass inf of ann"),
        ({0: 0.1, 0b001: 0.9}, "the empty set has mass 0.1 of ann"),
        ({0b1001: 1.0}, "does not lie in the frame"),
        ({-1: 1.0}, "does not lie in the frame"),
        ({}, "sum to 0"),
    ],
)
def test_what_is_no_mass_function_is_refused(masses, says):
    with pytest.raises(InputError, match=says):
        MassFunction(FRAME, masses, ("ann",))


def test_a_frame_has_outcomes_and_each_once():
    with pytest.raises(InputError, match="at least one"):
        MassFunction((), {})
    with pytest.raises(InputError, match="'red' appears twice"):
        MassFunction.of(("red", "green", "red"), {frozenset({"red"}): 1.0})
    with pytest.raises(InputError, match="'pink' is not an outcome"):
        MassFunction.of(FRAME, {frozenset({"pink"}): 1.0})


def test_ignorance_believes_nothing_and_finds_everything_plausible():
    mass = MassFunction.ignorant(FRAME, "ann")
    assert mass.sources == ("ann",)
    assert belief(mass, {"red"}) == 0.0
    assert plausibility(mass, {"red"}) == 1.0
    assert pignistic(mass) == pytest.approx({"red": 1 / 3, "green": 1 / 3, "blue": 1 / 3})


def test_belief_plausibility_and_bets_of_a_case_worked_by_hand():
    mass = MassFunction(FRAME, {0b001: 0.3, 0b011: 0.5, 0b111: 0.2})
    assert belief(mass, {"red", "green"}) == pytest.approx(0.8)
    assert plausibility(mass, {"green"}) == pytest.approx(0.7)
    assert pignistic(mass) == pytest.approx(
        {"red": 0.3 + 0.25 + 0.2 / 3, "green": 0.25 + 0.2 / 3, "blue": 0.2 / 3}
    )


@st.composite
def mass_functions(draw, size=4):
    subsets = draw(st.lists(st.integers(1, 2**size - 1), min_size=1, max_size=8, unique=True))
    parts = [draw(st.integers(1, 1000)) for _ in subsets]
    total = sum(parts)
    return MassFunction(
        tuple(range(size)), {s: p / total for s, p in zip(subsets, parts, strict=True)}
    )


@given(mass_functions(), st.integers(0, 15))
@settings(deadline=None, max_examples=80)
def test_belief_below_the_bet_below_plausibility_and_duality(mass, subset):
    chosen = mass.outcomes(subset)
    bets = pignistic(mass)
    bet = sum(bets[outcome] for outcome in chosen)
    assert sum(bets.values()) == pytest.approx(1)
    assert belief(mass, chosen) <= bet + 1e-12
    assert bet <= plausibility(mass, chosen) + 1e-12
    others = set(mass.frame) - chosen
    assert plausibility(mass, chosen) == pytest.approx(1 - belief(mass, others), abs=1e-12)
