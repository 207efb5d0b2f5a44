"""Discounting: a source of reliability 0 says nothing, one of reliability 1 says what it says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles.evidence import MassFunction, belief, combine, discount
from partita.errors import InputError

FRAME = ("a", "b", "c")
SAID = MassFunction(FRAME, {0b001: 0.6, 0b011: 0.3, 0b111: 0.1}, ("ann",))
reliabilities = st.floats(0, 1)


def test_the_ends():
    assert discount(SAID, 1.0) == SAID
    assert discount(SAID, 0.0) == MassFunction.ignorant(FRAME, "ann")


def test_what_is_taken_away_goes_to_the_frame():
    assert discount(SAID, 0.5).masses == pytest.approx({0b001: 0.3, 0b011: 0.15, 0b111: 0.55})


@given(reliabilities, reliabilities)
@settings(deadline=None, max_examples=60)
def test_two_discounts_multiply(first, second):
    twice, once = discount(discount(SAID, first), second), discount(SAID, first * second)
    for subset in range(1, 8):
        assert twice.masses.get(subset, 0) == pytest.approx(once.masses.get(subset, 0), abs=1e-12)


@given(reliabilities)
@settings(deadline=None, max_examples=60)
def test_belief_shrinks_by_the_reliability(reliability):
    assert belief(discount(SAID, reliability), {"a", "b"}) == pytest.approx(
        reliability * belief(SAID, {"a", "b"}), abs=1e-12
    )


def test_a_source_of_reliability_0_changes_nothing():
    other = MassFunction(FRAME, {0b100: 1.0}, ("bob",))
    result = combine(SAID, discount(other, 0.0))
    assert result.mass.masses == pytest.approx(SAID.masses)
    assert result.conflict == 0


def test_a_doubt_resolves_zadehs_example():
    first = MassFunction(FRAME, {0b001: 0.99, 0b100: 0.01})
    second = MassFunction(FRAME, {0b010: 0.99, 0b100: 0.01})
    doubted = combine(discount(first, 0.9), discount(second, 0.9)).mass
    assert belief(doubted, {"a"}) == pytest.approx(belief(doubted, {"b"}))
    assert belief(doubted, {"c"}) < 0.02 < 0.4 < belief(doubted, {"a"})


@pytest.mark.parametrize("reliability", [-0.1, 1.1, float("nan")])
def test_a_reliability_outside_0_to_1_is_refused(reliability):
    with pytest.raises(InputError, match="of ann is not a number from 0 to 1"):
        discount(SAID, reliability)
