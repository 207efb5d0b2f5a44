"""The local search: never worse than what it starts from, often the best there is."""

from __future__ import annotations

import numpy as np
import pytest

from oracles.instances import log_odds, planted_pairs, uniform_pairs, with_holes
from oracles.partitions import log_weights
from partita.configurations.optimum import local_search, score


@pytest.mark.parametrize("n", [1, 2, 14, 15, 40])
def test_planted_clusters_are_found(n: int) -> None:
    p = planted_pairs(n, np.random.default_rng(n))
    labels = local_search(log_odds(p))
    together = labels[:, None] == labels[None, :]
    off = ~np.eye(n, dtype=bool)
    assert np.array_equal(together[off], (p > 0.5)[off])


def test_several_starts_reach_the_best_of_small_sets() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(40):
        theta = log_odds(with_holes(uniform_pairs(8, 0.05, 0.95, rng), 0.3, rng))
        found = score(theta, local_search(theta, starts=8))
        best = max(log_weights(theta).values())
        assert np.isfinite(found)
        assert found <= best + 1e-9
        hits += found > best - 1e-9
    assert hits >= 36


@pytest.mark.parametrize("n", [14, 30])
def test_no_single_move_improves(n: int) -> None:
    rng = np.random.default_rng(n)
    theta = log_odds(with_holes(uniform_pairs(n, 0.2, 0.8, rng), 0.2, rng))
    labels = local_search(theta)
    best = score(theta, labels)
    for i in range(n):
        for label in range(labels.max() + 2):
            moved = labels.copy()
            moved[i] = label
            assert score(theta, moved) <= best + 1e-9


def test_compiled_and_plain_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    theta = log_odds(uniform_pairs(14, 0.05, 0.95, np.random.default_rng(3)))
    plain = local_search(theta, starts=3)
    monkeypatch.setattr("partita.configurations.optimum.SMALL", 0)
    assert np.array_equal(plain, local_search(theta, starts=3))


def test_extreme_odds_and_incompatibilities() -> None:
    theta = np.full((20, 20), 690.0)
    theta[:10, 10:] = theta[10:, :10] = -690.0
    theta[0, 1] = theta[1, 0] = -np.inf
    np.fill_diagonal(theta, 0.0)
    labels = local_search(theta)
    assert labels[0] != labels[1]
    assert score(theta, labels) == pytest.approx(690.0 * (36 + 45), rel=1e-12)
