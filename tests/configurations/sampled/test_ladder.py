"""Two ways to the normaliser, each by itself against brute force: the ladder and the census."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from oracles.instances import log_odds, uniform_pairs, with_holes
from oracles.partitions import log_weights
from partita.configurations.count import bell
from partita.configurations.meters import SweepMeter
from partita.configurations.sampled.posterior import (
    LENGTH,
    Chain,
    Ladder,
    census,
    chain_pairs,
    chains,
    explore,
    log_normaliser,
    merge_visited,
    rungs,
)
from partita.core import Budget, Figure, FloatArray

FAR = 5.0  # standard errors


def _instance(n: int, share: float) -> FloatArray:
    rng = np.random.default_rng(n + round(10 * share))
    return log_odds(with_holes(uniform_pairs(n, 0.05, 0.95, rng), share, rng))


def _truth(theta: FloatArray) -> float:
    return float(np.logaddexp.reduce(list(log_weights(theta).values())))


def _ladder(theta: FloatArray, work: int = 60_000) -> Figure:
    pairs, n = chain_pairs(theta), len(theta)
    order = rungs(pairs, np.where(theta > -np.inf, 0.5, 0.0))
    begin = np.arange(n)[None, :]
    ladder = Ladder(pairs, begin, order, 20, np.random.SeedSequence(1))
    return log_normaliser(ladder, SweepMeter.of(Budget(work=work)))


def _chains(theta: FloatArray) -> list[Chain]:
    every = chains(chain_pairs(theta), np.random.SeedSequence(2))
    explore(every, SweepMeter.of(Budget(work=2000)))
    return every


def _error(figure: Figure) -> float:
    return figure.high - figure.value


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_the_ladder_ends_at_the_normaliser(share: float) -> None:
    theta = _instance(8, share)
    figure = _ladder(theta)
    assert abs(figure.value - _truth(theta)) <= FAR * _error(figure) + 1e-9
    assert _error(figure) <= 0.05


def test_without_evidence_the_ladder_counts_partitions() -> None:
    figure = _ladder(np.zeros((30, 30)))
    assert abs(figure.value - math.log(bell(30))) <= FAR * _error(figure)
    assert _error(figure) <= 0.2


def test_rungs_that_do_not_know_of_each_other_make_the_error_large() -> None:
    """B and C would be apart but for A: without A the chain hardly meets what is sure with it."""
    theta = np.array([[0.0, 350.0, 350.0], [350.0, 0.0, -30.0], [350.0, -30.0, 0.0]])
    pairs = chain_pairs(theta)
    order = np.array([1, 2, 0])
    ladder = Ladder(pairs, np.zeros((1, 3), dtype=np.int64), order, 5, np.random.SeedSequence(0))
    figure = log_normaliser(ladder, SweepMeter.of(Budget(work=5000)))
    assert abs(figure.value - _truth(theta)) <= FAR * _error(figure)
    assert _error(figure) > 10.0


def test_the_order_of_the_rungs_gives_support_first() -> None:
    theta = np.array([[0.0, -30.0, 350.0], [-30.0, 0.0, 350.0], [350.0, 350.0, 0.0]])
    order = rungs(chain_pairs(theta), np.ones((3, 3)))
    assert order.tolist() == [0, 2, 1]


def test_the_order_of_the_rungs_follows_the_marginals_before_the_log_odds() -> None:
    theta = np.array([[0.0, 5.0, -5.0], [5.0, 0.0, 0.0], [-5.0, 0.0, 0.0]])
    marginal = np.array([[1.0, 0.1, 0.4], [0.1, 1.0, 0.1], [0.4, 0.1, 1.0]])
    assert rungs(chain_pairs(theta), marginal).tolist() == [0, 2, 1]
    marginal[0, 2] = marginal[2, 0] = 0.1
    assert rungs(chain_pairs(theta), marginal).tolist() == [0, 1, 2]


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_the_census_finds_the_normaliser(share: float) -> None:
    theta = _instance(9, share)
    every = _chains(theta)
    visited = merge_visited([chain.elite for chain in every])
    figure = census(every, visited, SweepMeter.of(Budget(work=200_000)))
    assert figure is not None
    assert abs(figure.value - _truth(theta)) <= FAR * _error(figure) + 1e-9
    assert _error(figure) <= 0.01


def test_the_census_gives_up_where_nothing_is_visited_twice() -> None:
    every = _chains(np.zeros((40, 40)))
    visited = merge_visited([chain.elite for chain in every])
    assert census(every, visited, SweepMeter.of(Budget(work=10_000))) is None


@pytest.mark.parametrize("work", [3000, 12_000])
def test_chains_make_the_sweeps_that_they_are_charged_for(
    monkeypatch: pytest.MonkeyPatch, work: int
) -> None:
    made: list[int] = []
    run = Chain.run

    def counted(chain: Chain, sweeps: int) -> None:
        made.append(sweeps)
        run(chain, sweeps)

    monkeypatch.setattr(Chain, "run", counted)
    every = chains(chain_pairs(_instance(40, 0.0)), np.random.SeedSequence(0))
    meter = SweepMeter(0.0, float(work))
    explore(every, meter)
    assert sum(made) + meter.sweeps() == work
    assert sum(made) > work / 2


@pytest.mark.parametrize("work", [0, 20_000])
def test_a_census_makes_the_sweeps_that_it_is_charged_for(
    monkeypatch: pytest.MonkeyPatch, work: int
) -> None:
    every = _chains(_instance(8, 0.0))
    visited = merge_visited([chain.elite for chain in every])
    made: list[int] = []
    look = Chain.census

    def counted(chain: Chain, marks: NDArray[np.uint64], sweeps: int) -> FloatArray:
        made.append(sweeps)
        return look(chain, marks, sweeps)

    monkeypatch.setattr(Chain, "census", counted)
    meter = SweepMeter(0.0, float(work))
    assert census(every, visited, meter) is not None
    assert len(made) >= len(every)
    assert sum(made) + meter.sweeps() == work or not work
    assert min(made) >= 2 * LENGTH  # batches of which an error can be told


def test_without_work_the_ladder_makes_six_passes_after_its_bridges_are_placed() -> None:
    theta = _instance(8, 0.3)
    pairs = chain_pairs(theta)
    order = rungs(pairs, np.where(theta > -np.inf, 0.5, 0.0))
    ladder = Ladder(pairs, np.arange(8)[None, :], order, 20, np.random.SeedSequence(1))
    figure = log_normaliser(ladder, SweepMeter(0.0, 0.0))
    assert ladder.made == 2 + 6
    assert ladder.fresh == 1
    assert np.isfinite(figure.value)


@pytest.mark.parametrize("work", [2000, 10_000])
def test_a_ladder_uses_its_work_and_hardly_more(work: int) -> None:
    pairs = chain_pairs(np.zeros((30, 30)))
    ladder = Ladder(pairs, np.arange(30)[None, :], np.arange(30), 20, np.random.SeedSequence(1))
    meter = SweepMeter(0.0, float(work))
    log_normaliser(ladder, meter)
    assert meter.work is not None
    assert 0.7 * work < work - meter.work < 1.1 * work
