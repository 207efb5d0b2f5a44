"""The most probable configuration and its certificate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import partita
from oracles.instances import log_odds, planted_pairs, uniform_pairs
from partita.configurations.odds import ScaledParameters
from partita.configurations.optimality import prove
from partita.configurations.search.best import best
from partita.configurations.solve import solve_set
from partita.core import Budget, CoreferenceSet, PairProbabilities
from partita.errors import InputError


def test_planted_clusters_of_a_hundred_are_proved() -> None:
    p = planted_pairs(100, np.random.default_rng(0))
    found = best(log_odds(p), 1, Budget(work=10**6))
    assert found.gap == 0.0
    together = found.labels[0][:, None] == found.labels[0]
    assert np.array_equal(together | np.eye(100, dtype=bool), (p > 0.5) | np.eye(100, dtype=bool))


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.7), (0.05, 0.95)])
def test_contradictory_sets_of_25_are_proved(low: float, high: float) -> None:
    theta = log_odds(uniform_pairs(25, low, high, np.random.default_rng(1)))
    assert best(theta, 1, Budget(work=10**7)).gap == 0.0


def test_an_open_gap_is_told() -> None:
    theta = log_odds(uniform_pairs(45, 0.3, 0.7, np.random.default_rng(2)))
    found = best(theta, 1, Budget(work=20_000))
    assert 0.0 < found.gap < np.inf
    assert found.log_weights[0] + found.gap <= 0.5 * np.maximum(theta, 0.0).sum() + 1e-9


def _pairs(n: int, seed: int) -> PairProbabilities:
    matrix = uniform_pairs(n, 0.05, 0.95, np.random.default_rng(seed))
    np.fill_diagonal(matrix, 1.0)
    return PairProbabilities(CoreferenceSet.of([f"t{k}" for k in range(n)]), matrix)


@pytest.mark.parametrize("scaled", [None, ScaledParameters(0.5, -0.4)])
def test_a_sampled_distribution_gets_a_certificate(scaled: ScaledParameters | None) -> None:
    pairs, budget = _pairs(7, 3), Budget(work=10**6)
    model = "evidential" if scaled is None else "scaled"
    drawn = solve_set(pairs, model, parameters=scaled, top=3, budget=budget, method="sampled")
    proved = prove(drawn, budget) if scaled is None else prove(drawn, budget, scaled)
    exact = solve_set(pairs, model, parameters=scaled, top=3)
    assert drawn.gap == np.inf
    assert proved.gap == 0.0
    assert proved.reason.endswith("; the first configuration is proved most probable")
    assert proved.most_probable == exact.most_probable
    assert prove(exact, budget) is exact


def test_a_better_configuration_becomes_the_first() -> None:
    pairs, budget = _pairs(7, 3), Budget(work=10**6)
    drawn = solve_set(pairs, top=3, budget=budget, method="sampled")
    worse = replace(drawn.configurations, rows=drawn.configurations.rows[[1, 2]])
    spoilt = replace(drawn, configurations=replace(worse, probabilities=[0.1, 0.05]))
    proved = prove(spoilt, budget)
    assert proved.gap == 0.0
    assert proved.most_probable == drawn.most_probable
    assert proved.configurations.rows[1].tolist() == worse.rows[0].tolist()
    listed = sum(proved.configurations.probabilities)
    assert listed + proved.remainder.probability == pytest.approx(1.0)


def test_without_enough_work_the_gap_bounds_every_configuration() -> None:
    pairs, budget = _pairs(24, 5), Budget(work=2_000)
    found = prove(solve_set(pairs, top=1, budget=budget, method="sampled"), budget)
    assert 0.0 < found.gap < np.inf
    most = best(log_odds(pairs.matrix), 1, Budget(work=10**8)).log_weights[0]
    first = found.posterior.log_weight(found.configurations.rows[0])
    assert most <= first + found.gap + 1e-9


def test_only_models_of_pair_products_are_proved() -> None:
    triples = [("A", "B", 0.6), ("B", "C", 0.7), ("A", "C", 0.5)]
    with pytest.raises(InputError, match="no proof of an optimum in the merging model"):
        partita.solve(triples, "merging", prove=True)
    assert partita.solve(triples, prove=True).gap == 0.0
