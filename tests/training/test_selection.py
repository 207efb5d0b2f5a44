"""Selection by approximate gain, against full refits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from partita.errors import InputError
from partita.training.maxent import Contexts, bits, contexts, loss, newton
from partita.training.selection import gains, select, selected_indices

SIZES = (1, 3, 2, 4)
NAMES = [f"f{n}" for n in range(sum(SIZES))]


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
    return bits(given, newton(given, np.array(active)))


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.5]))
def test_approximate_gains_against_a_search_in_one_dimension(seed: int, precision: float) -> None:
    given = sample(seed, pairs=80)
    weights = np.random.default_rng(seed).normal(size=given.features) * 0.3
    scores = given.scores(weights)
    alphas, gained = gains(given, weights, precision)
    table = given.table(np.arange(given.features))
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
    found = select(given, NAMES, negligible=1e-6)
    active: list[int] = []
    for step in found.steps:
        before = refit(given, active)
        active.append(NAMES.index(step.feature))
        assert step.bits == pytest.approx(refit(given, active), abs=1e-9)
        assert step.gain == pytest.approx(before - step.bits, abs=1e-9)
        assert 0 < step.approximate <= step.gain + 1e-9
    assert refit(given, list(range(given.features))) == pytest.approx(
        refit(given, active), abs=1e-4
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_first_feature_is_the_one_that_a_full_refit_prefers(seed: int) -> None:
    """With nothing active yet the approximate gain is the gain."""
    given = sample(seed)
    found = select(given, NAMES, most=1)
    refits = [1.0 - refit(given, [n]) for n in range(given.features)]
    assert found.steps[0].feature == NAMES[int(np.argmax(refits))]
    assert found.steps[0].approximate == pytest.approx(max(refits), abs=1e-9)
    assert "1 features were requested" in found.stopped


def test_a_feature_without_information_is_never_selected() -> None:
    codes = np.array([[a, b] for a in (0, 1) for b in (0, 1) for _ in range(10)], dtype=np.uint8)
    yes = np.array([(n % 10) < (8 if row[0] else 2) for n, row in enumerate(codes)])
    found = select(contexts(codes, yes, (2, 2)), ["a0", "a1", "b0", "b1"])
    assert {step.feature for step in found.steps} == {"a0", "a1"}
    weight = {step.feature: step.weight for step in found.steps}
    assert weight["a0"] < 0 < weight["a1"]
    assert "every remaining gain" in found.stopped


def test_an_infinite_weight_is_guarded() -> None:
    codes = np.array([[0]] * 6 + [[1]] * 6, dtype=np.uint8)
    yes = np.array([True] * 6 + [True, False] * 3)
    given = contexts(codes, yes, (2,))
    assert not select(given, ["always", "sometimes"]).steps
    found = select(given, ["always", "sometimes"], precision=1.0)
    assert found.steps[0].feature == "always"
    assert 0 < found.steps[0].weight < 10


def test_held_out_likelihood_stops_what_only_fits_noise() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (200, 30)).astype(np.uint8)
    yes = rng.random(200) < np.where(codes[:, 0] == 1, 0.8, 0.2)
    sizes = (2,) * 30
    names = [f"{c}{v}" for c in range(30) for v in (0, 1)]
    held = rng.integers(0, 2, (5000, 30)).astype(np.uint8)
    answers = rng.random(5000) < np.where(held[:, 0] == 1, 0.8, 0.2)
    found = select(
        contexts(codes, yes, sizes),
        names,
        held_out=contexts(held, answers, sizes),
        negligible=0.0,
        patience=3,
    )
    assert "held-out likelihood" in found.stopped
    assert {step.feature for step in found.steps} >= {"01"} or found.steps[0].feature == "00"
    costs = [step.held_out for step in found.steps]
    assert costs[-1] == min(costs)
    assert len(found.steps) < 10


def test_the_final_weights_are_those_of_the_kept_features() -> None:
    given = sample(4)
    found = select(given, NAMES, precision=0.5)
    active = selected_indices(found, NAMES)
    assert set(np.flatnonzero(found.weights)) <= set(active.tolist())
    assert [step.weight for step in found.steps] == found.weights[active].tolist()
    assert found.weights == pytest.approx(newton(given, active, 0.5), abs=1e-6)


def test_progress_is_told_and_may_stop_everything() -> None:
    told: list[str] = []
    found = select(sample(5), NAMES, most=3, progress=told.append)
    assert [line.split()[1].rstrip(":") for line in told] == [s.feature for s in found.steps]

    def stop(_: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        select(sample(5), NAMES, progress=stop)


def test_what_does_not_fit_together_is_refused() -> None:
    given = sample(0)
    with pytest.raises(InputError, match="as many names"):
        select(given, NAMES[:-1])
    with pytest.raises(InputError, match="other characteristics"):
        select(given, NAMES, held_out=sample(0, sizes=(1, 3, 2)))
    with pytest.raises(InputError, match="one class only"):
        select(contexts(given.codes, np.ones(len(given.codes), dtype=bool), SIZES), NAMES)
