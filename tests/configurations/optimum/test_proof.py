"""The most probable configuration and its certificate."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import partita
from oracles.instances import log_odds, planted_pairs, uniform_pairs, with_holes
from oracles.partitions import log_weights
from partita.configurations.meters import SearchMeter
from partita.configurations.odds import ScaledParameters
from partita.configurations.optimality import optimum, prove, relaxations
from partita.configurations.optimum import score
from partita.configurations.solve import solve_set
from partita.core import Budget, CoreferenceSet, PairProbabilities
from partita.errors import InputError


def test_equals_brute_force() -> None:
    for number in range(40):
        rng = np.random.default_rng(number)
        p = uniform_pairs(3 + number % 6, 0.05, 0.95, rng)
        theta = log_odds(with_holes(p, [0.0, 0.3, 0.7][number % 3], rng))
        found = optimum(theta, Budget(seconds=np.inf))
        assert found.proved
        assert found.log_weight == pytest.approx(max(log_weights(theta).values()), abs=1e-9)
        assert score(theta, found.labels) == pytest.approx(found.log_weight, abs=1e-9)


def test_planted_clusters_of_a_hundred_are_proved() -> None:
    p = planted_pairs(100, np.random.default_rng(0))
    found = optimum(log_odds(p), Budget(work=10**6))
    assert found.proved
    together = found.labels[:, None] == found.labels[None, :]
    assert np.array_equal(together | np.eye(100, dtype=bool), (p > 0.5) | np.eye(100, dtype=bool))


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.7), (0.05, 0.95)])
def test_contradictory_sets_of_25_are_proved(low: float, high: float) -> None:
    theta = log_odds(uniform_pairs(25, low, high, np.random.default_rng(1)))
    assert optimum(theta, Budget(work=10**7)).proved


def test_an_open_gap_is_told() -> None:
    theta = log_odds(uniform_pairs(45, 0.3, 0.7, np.random.default_rng(2)))
    found = optimum(theta, Budget(work=20_000))
    assert not found.proved
    assert 0.0 < found.gap < np.inf
    assert found.upper < 0.5 * np.maximum(theta, 0.0).sum()


def test_the_relaxation_bounds_every_configuration() -> None:
    for number in range(15):
        rng = np.random.default_rng(number)
        theta = log_odds(with_holes(uniform_pairs(8, 0.05, 0.95, rng), 0.3, rng))
        best = max(log_weights(theta).values())
        uppers = [
            relaxed.upper for relaxed in relaxations(theta, SearchMeter(Budget(seconds=np.inf)))
        ]
        assert all(upper >= best - 1e-9 for upper in uppers)
        assert all(upper <= np.triu(np.maximum(theta, 0.0)).sum() + 1e-9 for upper in uppers)


def test_the_relaxation_proves_planted_clusters_with_a_broken_triangle() -> None:
    theta = log_odds(planted_pairs(30, np.random.default_rng(5), size=5))
    best = optimum(theta, Budget(work=10**6))
    cell = np.flatnonzero(best.labels == best.labels[0])
    theta[cell[0], cell[1]] = theta[cell[1], cell[0]] = -0.5
    *_, last = relaxations(theta, SearchMeter(Budget(seconds=np.inf)))
    assert last.upper == pytest.approx(score(theta, best.labels), abs=1e-6)


def test_the_relaxation_takes_over_where_prices_find_no_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theta = log_odds(planted_pairs(30, np.random.default_rng(5), size=5))
    theta[0, :] = theta[:, 0] = 0.5
    theta[0, 0] = 0.0
    proved = optimum(theta, Budget(work=10**7))
    monkeypatch.setattr("partita.configurations.search.best.prices", lambda *_: None)
    relaxed = optimum(theta, Budget(work=10**7))
    assert relaxed.upper >= proved.log_weight - 1e-6
    assert relaxed.log_weight == pytest.approx(proved.log_weight)


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
    best = optimum(log_odds(pairs.matrix), Budget(work=10**8))
    first = found.posterior.log_weight(found.configurations.rows[0])
    assert best.log_weight <= first + found.gap + 1e-9


def test_only_models_of_pair_products_are_proved() -> None:
    triples = [("A", "B", 0.6), ("B", "C", 0.7), ("A", "C", 0.5)]
    with pytest.raises(InputError, match="no proof of an optimum in the merging model"):
        partita.solve(triples, "merging", prove=True)
    assert partita.solve(triples, prove=True).gap == 0.0
