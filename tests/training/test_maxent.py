"""Three ways to one optimum."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from oracles.scaling import iterative_scaling
from partita.core import FloatArray
from partita.errors import InputError
from partita.training import maxent
from partita.training.maxent import (
    Contexts,
    bits,
    choose_prior,
    contexts,
    expected,
    fit_maxent,
    lbfgs,
    newton,
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
    table = given.table(active)

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
def test_scaling_newton_and_lbfgs_agree(seed: int) -> None:
    given, active = sample(seed), free()
    found = [
        iterative_scaling(given, active, enough=1e-12),
        newton(given, active),
        lbfgs(given, active, enough=1e-10),
    ]
    for weights in found[1:]:
        assert weights == pytest.approx(found[0], abs=1e-6)
        assert bits(given, weights) == pytest.approx(bits(given, found[0]), abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_with_features_that_imply_each_other_they_agree_on_the_likelihood(seed: int) -> None:
    given = sample(seed)
    every = np.arange(given.features)
    found = [
        iterative_scaling(given, every, enough=1e-12),
        newton(given, every),
        lbfgs(given, every, enough=1e-10),
    ]
    costs = [bits(given, weights) for weights in found]
    assert costs == pytest.approx([costs[0]] * 3, abs=1e-9)
    scores = [given.scores(weights) for weights in found]
    assert scores[1] == pytest.approx(scores[0], abs=1e-6)
    assert scores[2] == pytest.approx(scores[0], abs=1e-6)


@pytest.mark.parametrize("precision", [0.0, 0.5])
def test_newton_against_a_method_without_derivatives(precision: float) -> None:
    given, active = sample(7, pairs=120, sizes=(1, 2, 3)), free((1, 2, 3))
    weights = newton(given, active, precision)
    z = given.scores(weights)
    mine = given.count @ np.logaddexp(0, z) - given.yes @ z + precision * weights @ weights / 2
    assert mine == pytest.approx(by_scipy(given, active, precision), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.1, 1.0, 10.0]))
def test_under_a_prior_all_methods_agree(seed: int, precision: float) -> None:
    given = sample(seed, pairs=60)
    every = np.arange(given.features)
    one = newton(given, every, precision)
    assert one == pytest.approx(lbfgs(given, every, precision, enough=1e-10), abs=1e-6)
    assert one == pytest.approx(iterative_scaling(given, every, precision, enough=1e-10), abs=1e-6)


def test_small_problems_go_to_newton() -> None:
    given = sample(1)
    every = np.arange(given.features)
    assert fit_maxent(given, 1.0).tolist() == newton(given, every, 1.0).tolist()


def test_scaling_from_a_start_far_away_does_not_overflow() -> None:
    given = sample(2)
    every, start = np.arange(given.features), np.full(given.features, -40.0)
    found = iterative_scaling(given, every, 1.0, start, enough=1e-10)
    assert found == pytest.approx(newton(given, every, 1.0), abs=1e-6)


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
    for found in (newton(given, active, 1.0, start), lbfgs(given, active, 1.0, start)):
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
    for method in (newton, lbfgs, iterative_scaling):
        with pytest.raises(InputError, match="one class only"):
            method(given, np.arange(1))


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


def test_large_problems_go_to_lbfgs(monkeypatch: pytest.MonkeyPatch) -> None:
    given = sample(3)
    by_newton = fit_maxent(given, 1.0)
    monkeypatch.setattr(maxent, "LARGE", 10)
    by_lbfgs = fit_maxent(given, 1.0)
    assert not np.array_equal(by_newton, by_lbfgs)
    assert bits(given, by_lbfgs) == pytest.approx(bits(given, by_newton), abs=1e-5)


def test_the_prior_is_chosen_over_documents() -> None:
    """A characteristic that tells documents apart teaches nothing about others."""
    rng = np.random.default_rng(0)
    documents = np.repeat(np.arange(12), 40)
    told = rng.random(12) < 0.5
    yes = rng.random(480) < np.where(told[documents], 0.9, 0.1)
    codes = documents[:, None].astype(np.uint8)
    found = choose_prior(codes, yes, documents, (12,), rng, (0.01, 1000.0))
    spent = dict(found.tried)
    assert found.precision in spent
    assert spent[1000.0] == pytest.approx(1.0, abs=1e-3)
    assert spent[0.01] == pytest.approx(1.0, abs=1e-3)
    with pytest.raises(InputError, match="two documents"):
        choose_prior(codes, yes, np.zeros(480, dtype=np.int64), (12,), rng)


def test_the_prior_with_fewest_bits_is_taken() -> None:
    rng = np.random.default_rng(5)
    documents = np.repeat(np.arange(10), 60)
    codes = rng.integers(0, 2, (600, 1)).astype(np.uint8)
    yes = rng.random(600) < np.where(codes[:, 0] == 1, 0.9, 0.1)
    found = choose_prior(codes, yes, documents, (2,), rng, (1.0, 1e5))
    spent = dict(found.tried)
    assert found.precision == 1.0
    assert spent[1.0] < 0.55 < 0.9 < spent[1e5]
