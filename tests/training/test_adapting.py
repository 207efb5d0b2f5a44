"""Weights around others: against a plain minimiser, and where the two ways to learn meet."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from partita.training.maxent import Contexts, contexts, fit_maxent, loss
from research.label_study import adapt

SIZES = (1, 3, 2)


def sample(seed: int, pairs: int = 60) -> Contexts:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, pairs) for size in SIZES]).astype(np.uint8)
    return contexts(codes, rng.random(pairs) < 0.3, SIZES)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.05, 50))
def test_minimum_is_that_of_a_minimiser_that_knows_the_objective_only(
    seed: int, precision: float
) -> None:
    given, around = sample(seed), np.random.default_rng(seed).normal(size=6)

    def objective(weights: np.ndarray) -> float:
        away = weights - around
        return loss(given, given.scores(weights)) + precision * float(away @ away) / 2

    found = adapt(given, around, precision)
    assert objective(found) == pytest.approx(minimize(objective, around).fun, abs=1e-6)


def test_around_nothing_it_is_the_usual_fit() -> None:
    given = sample(1)
    np.testing.assert_allclose(adapt(given, np.zeros(6), 2.0), fit_maxent(given, 2.0), atol=1e-6)


def test_what_was_not_seen_keeps_its_weight() -> None:
    codes = np.array([[0, 1, 0], [0, 1, 0]], dtype=np.uint8)
    around = np.arange(6.0)
    found = adapt(contexts(codes, np.array([True, False]), SIZES), around, 1.0)
    moved = np.flatnonzero(found != around)
    assert moved.tolist() == [0, 2, 4]


def test_answers_of_one_kind_move_weights_a_finite_way() -> None:
    codes = np.zeros((40, 3), dtype=np.uint8)
    found = adapt(contexts(codes, np.ones(40, dtype=np.bool_), SIZES), np.zeros(6), 0.5)
    assert found[0] > 0.5
    assert np.abs(found).max() < 10


def test_no_pairs_change_nothing() -> None:
    nothing = contexts(np.zeros((0, 3), dtype=np.uint8), np.zeros(0, dtype=np.bool_), SIZES)
    assert adapt(nothing, np.ones(6), 1.0).tolist() == [1.0] * 6
