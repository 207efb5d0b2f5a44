"""Selection by approximate gain, against full refits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from oracles.scaling import indicators
from partita.errors import InputError
from partita.training.maxent import Contexts, bits, contexts, fit_maxent, loss
from partita.training.selection import gains, select

SIZES = (1, 3, 2, 4)


def sample(seed: int, pairs: int = 300, sizes: tuple[int, ...] = SIZES) -> Contexts:
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, pairs) for size in sizes]).astype(np.uint8)
    weights = rng.normal(size=sum(sizes))
    scores = Contexts(codes, sizes, np.ones(pairs), np.zeros(pairs)).scores(weights)
    yes = rng.random(pairs) < 1 / (1 + np.exp(-scores))
    yes[:2] = True, False
    return contexts(codes, yes, sizes)


def refit(given: Contexts, active: list[int]) -> float:
    if not active:
        return 1.0
    return bits(given, fit_maxent(given, 0.0, np.array(active)))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5]))
def test_approximate_gains_against_a_search_in_one_dimension(seed: int, precision: float) -> None:
    given = sample(seed, pairs=80)
    weights = np.random.default_rng(seed).normal(size=given.features) * 0.3
    scores = given.scores(weights)
    alphas, gained = gains(given, weights, precision)
    table = indicators(given, np.arange(given.features))
    for n in range(given.features):
        yes, seen = table[:, n] @ given.yes, table[:, n] @ given.count
        if precision == 0.0 and not 0 < yes < seen:
            assert gained[n] == 0.0
            continue
        best = minimize_scalar(
            lambda a, n=n: loss(given, scores + a * table[:, n]) + precision * a * a / 2,
            bracket=(-1, 1),
            tol=1e-12,
        )
        expected = (loss(given, scores) - best.fun) / given.pairs / math.log(2)
        assert gained[n] == pytest.approx(expected, abs=1e-9)
        assert alphas[n] == pytest.approx(best.x, abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_every_gain_against_a_full_refit(seed: int) -> None:
    """The reported gain is that of the refit, and the approximate gain is a lower bound of it."""
    given = sample(seed)
    found = select(given, least=1e-6)
    active: list[int] = []
    weights = np.zeros(given.features)
    for chosen, cost in zip(found.active, found.bits, strict=True):
        before, gained = refit(given, active), float(gains(given, weights)[1][chosen])
        active.append(chosen)
        assert cost == pytest.approx(refit(given, active), abs=1e-9)
        assert 0 < gained <= before - cost + 1e-9
        weights = fit_maxent(given, 0.0, np.array(active))
    assert refit(given, list(range(given.features))) == pytest.approx(
        refit(given, active), abs=1e-4
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_first_feature_is_the_one_that_a_full_refit_prefers(seed: int) -> None:
    """With nothing active yet the approximate gain is the gain."""
    given = sample(seed)
    found = select(given)
    refits = [1.0 - refit(given, [n]) for n in range(given.features)]
    assert found.active[0] == int(np.argmax(refits))
    assert gains(given, np.zeros(given.features))[1].max() == pytest.approx(max(refits), abs=1e-9)


def test_a_feature_without_information_is_never_selected() -> None:
    codes = np.array([[a, b] for a in (0, 1) for b in (0, 1) for _ in range(10)], dtype=np.uint8)
    yes = np.array([(n % 10) < (8 if row[0] else 2) for n, row in enumerate(codes)])
    found = select(contexts(codes, yes, (2, 2)))
    assert {*found.active} == {0, 1}
    assert found.weights[0] < 0 < found.weights[1]


def test_an_infinite_weight_is_guarded() -> None:
    codes = np.array([[0]] * 6 + [[1]] * 6, dtype=np.uint8)
    yes = np.array([True] * 6 + [True, False] * 3)
    given = contexts(codes, yes, (2,))
    assert not select(given).active
    found = select(given, precision=1.0)
    assert found.active[0] == 0
    assert 0 < found.weights[0] < 10


def test_skipped_features_are_never_selected() -> None:
    given = sample(6)
    first = select(given).active[0]
    assert first not in select(given, skipped=[first]).active


def test_the_final_weights_are_those_of_the_selected_features() -> None:
    given = sample(4)
    found = select(given, precision=0.5)
    assert set(np.flatnonzero(found.weights)) <= {*found.active}
    again = fit_maxent(given, 0.5, np.array(found.active))
    assert found.weights == pytest.approx(again, abs=1e-6)


def test_one_class_only_is_refused() -> None:
    given = sample(0)
    with pytest.raises(InputError, match="one class only"):
        select(contexts(given.codes, np.ones(len(given.codes), dtype=bool), SIZES))
