from __future__ import annotations

import numpy as np

from partita.evaluation.calibration import bootstrap


def mean(values: list[float]) -> float:
    return float(np.mean(values))


def test_the_interval_holds_the_mean_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(60):
        found = bootstrap(list(rng.normal(5, 1, 40)), mean, rng, times=200)  # type: ignore[arg-type]
        inside += found.low <= 5 <= found.high
    assert 50 <= inside <= 60


def test_the_same_generator_gives_the_same_interval() -> None:
    values = [1.0, 4.0, 2.0, 8.0]
    first, second = (bootstrap(values, mean, np.random.default_rng(3)) for _ in range(2))  # type: ignore[arg-type]
    assert first == second
    assert 1 <= first.low < first.high <= 8


def test_documents_without_spread_have_an_interval_of_one_point() -> None:
    found = bootstrap([2.0] * 5, mean, np.random.default_rng(0), times=50)  # type: ignore[arg-type]
    assert (found.low, found.high) == (2, 2)
