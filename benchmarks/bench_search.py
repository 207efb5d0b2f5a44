"""Search beside the naive way: the 1,000 best, certified bounds, the most probable with a proof."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from naive import naive_seconds
from oracles.instances import log_odds, planted_pairs, uniform_pairs
from oracles.posteriors import certified
from partita.configurations.search.best import best
from partita.core import Budget, FloatArray


def _set(regime: str, n: int) -> FloatArray:
    rng = np.random.default_rng(n)
    if regime == "planted":
        return log_odds(planted_pairs(n, rng))
    low, high = {"flat": (0.3, 0.7), "mid": (0.05, 0.95)}[regime]
    return log_odds(uniform_pairs(n, low, high, rng))


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compilation is not what is measured."""
    best(_set("flat", 15), 10, Budget())
    certified(_set("planted", 15), Budget(work=10**6))


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


@pytest.mark.parametrize("n", [25, 30, 35])
@pytest.mark.parametrize("regime", ["flat", "mid", "planted"])
def test_the_thousand_best(regime: str, n: int, ratio: Callable[..., None]) -> None:
    theta = _set(regime, n)
    assert best(theta, 1000, Budget()).gap == 0.0
    value = seconds(lambda: best(theta, 1000, Budget())) / naive_seconds(11)
    ratio(f"the 1,000 best, {regime}, n = {n}", value, "naive 11", 0.25 if n == 25 else None)


@pytest.mark.parametrize(("n", "width"), [(40, 0.01), (50, 0.5), (100, None)])
def test_certified_bounds(n: int, width: float | None, ratio: Callable[..., None]) -> None:
    figure = certified(_set("planted", n), Budget()).log_normaliser
    assert figure.high - figure.low <= (width or np.inf)
    ratio(f"width of log Z in 30 s, planted, n = {n}", figure.high - figure.low, "1", width)


@pytest.mark.parametrize(
    ("regime", "n"), [("planted", 100), ("planted", 300), ("flat", 25), ("mid", 25), ("mid", 35)]
)
def test_the_most_probable(regime: str, n: int, ratio: Callable[..., None]) -> None:
    theta = _set(regime, n)
    assert best(theta, 1, Budget()).gap == 0.0
    value = seconds(lambda: best(theta, 1, Budget())) / naive_seconds(11)
    ratio(f"the most probable, proved, {regime}, n = {n}", value, "naive 11")
