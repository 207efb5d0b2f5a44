from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.partitions import partitions
from partita.errors import InputError
from partita.evaluation.splits import (
    Excluded,
    allowed_bits,
    estimated_share,
    excluded_bits,
    log2_bell,
    log2_rest,
)


@pytest.mark.parametrize("n", range(9))
def test_bell_numbers(n: int) -> None:
    assert log2_bell(n) == pytest.approx(math.log2(sum(1 for _ in partitions(n))), abs=1e-12)


def test_bell_of_fifty() -> None:
    assert 2 ** log2_bell(50) == pytest.approx(185724268771078270438257767181908917499221852770)


@given(st.floats(0.001, 0.999), st.floats(-30, 0))
def test_allowed_and_excluded_configurations_share_one_unit(mass: float, log_p: float) -> None:
    """Four templates, 7 of the 15 configurations allowed, as in the paper's example."""
    one = 2 ** -excluded_bits(4, math.log2(7), mass)
    assert 8 * one == pytest.approx(mass)
    assert 2 ** -allowed_bits(log_p, mass) == pytest.approx((1 - mass) * math.exp(log_p))


def test_the_learned_mass_is_never_nothing_and_never_all() -> None:
    assert estimated_share(0, 0) == 0.5
    assert 0 < estimated_share(0, 1000) < 0.001
    assert 0.999 < estimated_share(1000, 1000) < 1
    with pytest.raises(InputError, match="documents is 0"):
        Excluded(0.5, 0)


def test_a_count_that_is_estimated_too_high_leaves_something() -> None:
    assert log2_rest(10, 10.1) == 0
    assert log2_rest(10, 9) == pytest.approx(9)
    assert math.isfinite(log2_rest(1e5, 3))
