from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.evaluation.calibration import (
    brier,
    pair_reliability_error,
    reliability,
    reliability_error,
    undecided,
)

STATED = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.8])
SEEN = np.array([False, False, True, False, True, True])


def test_by_hand() -> None:
    first, second, third = reliability(STATED, SEEN, bins=3)
    assert (first.count, second.count, third.count) == (2, 2, 2)
    assert (first.stated, first.observed) == (pytest.approx(0.15), 0)
    assert (second.stated, second.observed) == (pytest.approx(0.35), 0.5)
    assert (third.stated, third.observed) == (pytest.approx(0.7), 1)
    assert reliability_error((first, second, third)) == pytest.approx((0.15 + 0.15 + 0.3) / 3)
    assert brier(STATED, SEEN) == pytest.approx((0.01 + 0.04 + 0.49 + 0.16 + 0.16 + 0.04) / 6)


def test_only_what_is_undecided_counts_for_pairs() -> None:
    stated = np.concatenate([STATED, np.full(100, 0.01), np.full(100, 0.999)])
    seen = np.concatenate([SEEN, np.ones(100, dtype=bool), np.zeros(100, dtype=bool)])
    assert len(undecided(stated, seen)[0]) == 6
    assert pair_reliability_error(stated, seen, bins=3) == pytest.approx(0.2)


def test_bins_of_equal_width() -> None:
    even = np.full(4, 0.25)
    one = np.array([True, False, False, False])
    [found] = reliability(even, one, equal_width=True)
    assert (found.count, found.stated, found.observed) == (4, 0.25, 0.25)
    apart = reliability(np.array([0.9, 0.1]), np.array([False, True]), equal_width=True)
    assert reliability_error(apart) == pytest.approx(0.9)
    edges = reliability(np.array([0.0, 0.1, 0.19, 0.95, 1.0]), np.ones(5, bool), equal_width=True)
    assert [each.count for each in edges] == [1, 2, 2]


def test_nothing_stated_is_no_error() -> None:
    nothing = np.empty(0)
    assert reliability(nothing, nothing.astype(bool)) == ()
    assert pair_reliability_error(nothing, nothing.astype(bool)) == 0
    assert brier(nothing, nothing.astype(bool)) == 0


def test_honest_statements_are_reliable_and_dishonest_ones_are_not() -> None:
    rng = np.random.default_rng(1)
    stated = rng.random(20_000)
    seen = rng.random(20_000) < stated
    assert pair_reliability_error(stated, seen) < 0.02
    assert pair_reliability_error(np.sqrt(stated), seen) > 0.1


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), max_size=40), st.integers(1, 12))
def test_bins_have_equal_count_and_hold_everything(
    drawn: list[tuple[float, bool]], bins: int
) -> None:
    stated = np.array([p for p, _ in drawn])
    seen = np.array([y for _, y in drawn], dtype=bool)
    found = reliability(stated, seen, bins)
    counts = [each.count for each in found]
    assert sum(counts) == len(drawn)
    assert max(counts, default=0) - min(counts, default=0) <= 1
    assert 0 <= reliability_error(found) <= 1
