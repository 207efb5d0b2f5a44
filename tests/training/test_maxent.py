"""Against iterative scaling, and a method without derivatives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from oracles.scaling import indicators, iterative_scaling
from partita.core import FloatArray
from partita.errors import InputError
from partita.training.maxent import (
    Contexts,
    bits,
    contexts,
    expected,
    fit_maxent,
)

SIZES = (1, 4, 2, 2, 3, 4)


def sample(seed: int, pairs: int = 578, sizes: tuple[int, ...] = SIZES) -> Contexts:
    """Answers drawn from a model with weights of moderate size: nothing is separable."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, pairs) for size in sizes]).astype(np.uint8)
    true = rng.normal(size=sum(sizes))
    every = Contexts(codes, sizes, np.ones(pairs), np.zeros(pairs))
    yes = rng.random(pairs) < 1 / (1 + np.exp(-every.scores(true)))
    yes[:2] = True, False
    return contexts(codes, yes, sizes)


def free(sizes: tuple[int, ...] = SIZES) -> np.ndarray:
    """The first feature, and of every further characteristic all but one: nothing is implied."""
    starts = np.cumsum([0, *sizes])
    kept = [np.arange(a + (n > 0), b) for n, (a, b) in enumerate(itertools.pairwise(starts))]
    return np.concatenate(kept)


def by_scipy(given: Contexts, active: np.ndarray, precision: float) -> float:
    """The least bits per pair, by a method that knows nothing but the objective."""
    table = indicators(given, active)

    def objective(w: FloatArray) -> float:
        z = table @ w
        return float(given.count @ np.logaddexp(0, z) - given.yes @ z + precision * w @ w / 2)

    found = minimize(
        objective,
        np.zeros(len(active)),
        method="Powell",
        options={"xtol": 1e-10, "ftol": 1e-14, "maxiter": 10**5, "maxfev": 10**6},
    )
    return float(found.fun)


@pytest.mark.parametrize("seed", range(4))
def test_iterative_scaling_finds_the_same(seed: int) -> None:
    given, active = sample(seed), free()
    scaled = iterative_scaling(given, active, enough=1e-12)
    weights = fit_maxent(given, 0.0, active)
    assert weights == pytest.approx(scaled, abs=1e-6)
    assert bits(given, weights) == pytest.approx(bits(given, scaled), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_with_features_that_imply_each_other_they_agree_on_the_likelihood(seed: int) -> None:
    given = sample(seed)
    every = np.arange(given.features)
    scaled, weights = iterative_scaling(given, every, enough=1e-12), fit_maxent(given, 0.0)
    assert bits(given, weights) == pytest.approx(bits(given, scaled), abs=1e-9)
    assert given.scores(weights) == pytest.approx(given.scores(scaled), abs=1e-6)


@pytest.mark.parametrize("precision", [0.0, 0.5])
def test_against_a_method_without_derivatives(precision: float) -> None:
    given, active = sample(7, pairs=120, sizes=(1, 2, 3)), free((1, 2, 3))
    weights = fit_maxent(given, precision, active)
    z = given.scores(weights)
    mine = given.count @ np.logaddexp(0, z) - given.yes @ z + precision * weights @ weights / 2
    assert mine == pytest.approx(by_scipy(given, active, precision), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 10.0]))
def test_under_a_prior_both_methods_agree(seed: int, precision: float) -> None:
    given = sample(seed, pairs=60)
    every = np.arange(given.features)
    one = fit_maxent(given, precision)
    assert one == pytest.approx(iterative_scaling(given, every, precision, enough=1e-10), abs=1e-6)


def test_scaling_from_a_start_far_away_does_not_overflow() -> None:
    given = sample(2)
    every, start = np.arange(given.features), np.full(given.features, -40.0)
    found = iterative_scaling(given, every, 1.0, start, enough=1e-10)
    assert found == pytest.approx(fit_maxent(given, 1.0), abs=1e-6)


def test_the_constraints_hold_at_the_optimum() -> None:
    """The model expects of every feature what the training pairs show."""
    given = sample(1)
    weights = fit_maxent(given, 0.0)
    observed = given.totals(given.yes)
    assert given.totals(expected(given, given.scores(weights))) == pytest.approx(observed, abs=1e-5)


def test_inactive_features_weigh_nothing_whatever_the_start() -> None:
    given = sample(2)
    active = np.array([0, 3])
    start = np.ones(given.features)
    found = fit_maxent(given, 1.0, active, start)
    assert np.flatnonzero(found).tolist() == [0, 3]


def test_separable_data_stay_finite_under_a_prior() -> None:
    codes = np.array([[0], [0], [1], [1]], dtype=np.uint8)
    given = contexts(codes, np.array([True, True, False, False]), (2,))
    weights = fit_maxent(given, 1.0)
    assert np.all(np.isfinite(weights))
    assert weights[0] > 0 > weights[1]


def test_scaling_refuses_an_infinite_weight() -> None:
    codes = np.array([[0], [0], [1], [1]], dtype=np.uint8)
    given = contexts(codes, np.array([True, True, False, True]), (2,))
    with pytest.raises(InputError, match="one answer only"):
        iterative_scaling(given, np.arange(2))


@pytest.mark.parametrize("answer", [True, False])
def test_one_class_only_is_refused(answer: bool) -> None:
    given = contexts(np.zeros((5, 1), dtype=np.uint8), np.full(5, answer), (1,))
    with pytest.raises(InputError, match="one class only"):
        fit_maxent(given, 1.0)
    with pytest.raises(InputError, match="one class only"):
        iterative_scaling(given, np.arange(1))


def test_equal_contexts_are_counted() -> None:
    codes = np.array([[0, 1], [1, 1], [0, 1], [0, 0]], dtype=np.uint8)
    given = contexts(codes, np.array([True, True, False, False]), (2, 2))
    seen = sorted(zip(given.codes.tolist(), given.count.tolist(), given.yes.tolist(), strict=True))
    assert seen == [([0, 0], 1.0, 0.0), ([0, 1], 2.0, 1.0), ([1, 1], 1.0, 1.0)]
    with pytest.raises(InputError, match="rows of 3 codes"):
        contexts(codes, np.array([True, True, False, False]), (2, 2, 2))


def test_contexts_with_more_codes_than_one_number_holds() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 200, (50, 20)).astype(np.uint8)
    codes[25:] = codes[:25]
    codes[49, 19] ^= 1
    given = contexts(codes, rng.random(50) < 0.5, (256,) * 20)
    assert len(given.count) == 26
    assert sorted(given.count.tolist()) == [1.0, 1.0, *[2.0] * 24]
