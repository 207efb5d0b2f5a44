"""What a key would teach: against determinants and inverses written out, and the laws of both."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from partita.learning.choosing import (
    Told,
    held,
    information,
    nothing_held,
    saved,
    spread_of,
    told,
    total,
)
from partita.learning.choosing_greedy import choose
from partita.learning.maxent import contexts
from partita.records import FloatArray

FEATURES = 5
PRECISION = 0.7
seeds = st.integers(0, 10**6)


def some(rng: np.random.Generator, rows: int = 4) -> Told:
    return Told(rng.normal(size=(rows, FEATURES)), int(rng.integers(2, 9)))


def held_by(sets: list[Told]) -> FloatArray:
    """A, written out."""
    return PRECISION * np.eye(FEATURES) + total(sets, FEATURES)


def bits_of(sets: list[Told]) -> float:
    return float(np.linalg.slogdet(held_by(sets))[1]) / 2 / math.log(2)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_against_determinant_and_inverse(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = some(rng), some(rng, 7)
    target = some(rng).information
    inverse = held(nothing_held(FEATURES, PRECISION), first)
    np.testing.assert_allclose(inverse, np.linalg.inv(held_by([first])), atol=1e-10)
    gain = bits_of([first, second]) - bits_of([first])
    assert information(inverse, second) == pytest.approx(gain, abs=1e-9)
    after = np.linalg.inv(held_by([first, second]))
    less = np.trace((inverse - after) @ target) / 2 / math.log(2)
    found = saved(inverse, second, spread_of(inverse, target))
    assert found == pytest.approx(float(less), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_gains_are_never_negative_grow_with_the_set_and_diminish(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inverse, one, other = nothing_held(FEATURES, PRECISION), some(rng), some(rng)
    part = Told(one.rows[:2])
    assert 0 <= information(inverse, part) <= information(inverse, one) + 1e-12
    assert information(held(inverse, other), one) <= information(inverse, one) + 1e-12
    spread = spread_of(inverse, other.information)
    assert 0 <= saved(inverse, part, spread) <= saved(inverse, one, spread) + 1e-12


@settings(deadline=None, max_examples=25)
@given(seeds, st.booleans())
def test_the_queue_finds_what_a_full_search_finds(seed: int, by_template: bool) -> None:
    rng = np.random.default_rng(seed)
    sets = [some(rng, int(rng.integers(0, 4))) for _ in range(8)]
    left, inverse, expected = list(range(8)), nothing_held(FEATURES, PRECISION), []
    for _ in range(5):
        worth = {
            n: information(inverse, sets[n]) / (sets[n].templates if by_template else 1)
            for n in left
        }
        best = max(left, key=worth.__getitem__)
        if worth[best] <= 1e-9:
            break
        expected.append((best, information(inverse, sets[best])))
        inverse = held(inverse, sets[best])
        left.remove(best)
    found = choose(nothing_held(FEATURES, PRECISION), sets, 5, by_template)
    assert [place for place, _ in found] == [place for place, _ in expected]
    np.testing.assert_allclose([g for _, g in found], [g for _, g in expected], atol=1e-9)


@settings(deadline=None, max_examples=20)
@given(seeds)
def test_greed_is_within_its_share_of_the_best_choice(seed: int) -> None:
    """Of a monotone function with diminishing returns, 1 − 1/e of the best is certain."""
    rng = np.random.default_rng(seed)
    sets = [some(rng, 2) for _ in range(6)]
    nothing = bits_of([])
    best = max(bits_of([*chosen]) - nothing for chosen in itertools.combinations(sets, 3))
    found = sum(gain for _, gain in choose(nothing_held(FEATURES, PRECISION), sets, 3))
    assert found >= (1 - 1 / math.e) * best - 1e-9


def test_the_same_set_again_tells_less_and_a_certain_one_nothing() -> None:
    codes = np.array([[0, 1], [0, 1], [0, 0]], dtype=np.uint8)
    given = contexts(codes, np.zeros(3, dtype=np.bool_), (1, 2))
    sets = [told(given, np.array([0.5, 0.5]), 3)] * 2 + [told(given, np.zeros(2), 3)]
    found = choose(nothing_held(3, 1.0), sets, 3)
    assert [place for place, _ in found] == [0, 1]
    assert found[0][1] > found[1][1] > 0


def test_information_of_pairs_written_out() -> None:
    """Two equal pairs and another, at p = ½ and p = ¼."""
    codes = np.array([[0, 1], [0, 1], [0, 0]], dtype=np.uint8)
    given = contexts(codes, np.zeros(3, dtype=np.bool_), (1, 2))
    p = np.where(given.codes[:, 1] == 1, 0.5, 0.25)
    expected = 2 * 0.25 * np.outer([1, 0, 1], [1, 0, 1])
    expected = expected + 0.1875 * np.outer([1, 1, 0], [1, 1, 0])
    np.testing.assert_allclose(told(given, p).information, expected, atol=1e-12)


def test_many_pairs_are_kept_in_as_many_rows_as_features() -> None:
    rng = np.random.default_rng(3)
    codes = np.column_stack([rng.integers(0, 3, 90) for _ in range(3)]).astype(np.uint8)
    given = contexts(codes, np.zeros(90, dtype=np.bool_), (3, 3, 3))
    p = rng.random(len(given.codes))
    table = given.table(np.arange(9))
    whole = table.T @ (table * (given.count * p * (1 - p))[:, None])
    found = told(given, p)
    assert found.rows.shape == (9, 9)
    np.testing.assert_allclose(found.information, whole, atol=1e-9)
