"""Weighted draws and the beam of beginnings, against exact answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from oracles.merging import knowledge, replayed
from partita.configurations.count import log2_bell
from partita.configurations.merging.decisions import merging
from partita.configurations.merging.listed import beam, enumerate_configurations
from partita.configurations.merging.model import merger
from partita.configurations.merging.particles import island, plan_beam
from partita.configurations.merging.sampled import CLOSE, ENOUGH, sampled_merging
from partita.core import Budget
from partita.errors import TooLarge, Unavailable

CASES = [(0.0, 0), (0.3, 0), (0.2, 2), (0.8, 0)]
WORK = Budget(work=20_000_000)


@pytest.mark.parametrize(("holes", "links"), CASES)
def test_agrees_with_exact(holes: float, links: int) -> None:
    """Six standard errors for each of 36 pairs, as islands of 16 estimate them; fixed seeds."""
    model = merger(*knowledge(9, np.random.default_rng(1), holes, links))
    exact = enumerate_configurations(model)
    found = sampled_merging(model, WORK, 0, beam(model, plan_beam(model), 50), "a test")
    assert found.converged
    assert found.method == "sampled"
    pairs = found.pairs()
    error = np.maximum(pairs.high - pairs.value, pairs.value - pairs.low)
    assert (np.abs(pairs.value - exact.pairs().value) <= 6 * error + 1e-9).all()
    assert found.error <= 0.02
    spread = found.log_normaliser.high - found.log_normaliser.value
    assert abs(found.log_normaliser.value - exact.log_normaliser.value) <= 5 * spread + 1e-9
    bits = found.entropy()
    assert abs(bits.value - exact.entropy().value) <= 6 * (bits.high - bits.value) + 1e-9


def test_where_nothing_bites_draws_are_exact() -> None:
    model = merger(*knowledge(12, np.random.default_rng(2)))
    found = sampled_merging(model, WORK, 0, beam(model, plan_beam(model), 50), "a test")
    assert found.log_normaliser.kind == "exact"
    assert found.effective == pytest.approx(found.draws_made)
    _, logs, total = island(plan_beam(model), 100, np.random.default_rng(0))
    assert logs == pytest.approx(np.zeros(100), abs=1e-12)
    assert total == pytest.approx(0.0, abs=1e-12)


def test_draws_are_possible_and_follow_the_pairs() -> None:
    given_set = knowledge(7, np.random.default_rng(3), 0.3, 1)
    model = merger(*given_set)
    found = sampled_merging(model, WORK, 0, beam(model, plan_beam(model), 50), "a test")
    drawn = found.draws(4000, np.random.default_rng(1))
    assert {tuple(row) for row in drawn.tolist()} <= set(replayed(*given_set))
    met = (drawn[:, :, None] == drawn[:, None, :]).mean(axis=0)
    assert np.abs(met - enumerate_configurations(model).pairs().value).max() < 0.05
    with pytest.raises(Unavailable):
        found.cells()


@pytest.mark.parametrize(("holes", "links"), CASES)
@pytest.mark.parametrize("width", [1, 20, 100_000])
def test_the_beam_is_certified(holes: float, links: int, width: int) -> None:
    model = merger(*knowledge(8, np.random.default_rng(4), holes, links))
    exact, found = enumerate_configurations(model), beam(model, plan_beam(model), width)
    truth = exact.log_normaliser.value
    assert found.log_normaliser.low - 1e-9 <= truth <= found.log_normaliser.high + 1e-9
    assert found.log2_count().value == pytest.approx(exact.log2_count().value)
    pairs = found.pairs()
    assert (pairs.low <= exact.pairs().value + 1e-9).all()
    assert (exact.pairs().value <= pairs.high + 1e-9).all()
    for row, weight in zip(found.listed.rows, found.listed.logs, strict=True):
        assert weight == pytest.approx(model.log_weight(row), abs=1e-9)
    best = found.best(3)
    assert (
        exact.best(1).log_weights[0]
        <= max(best.log_weights[0], best.log_weights[-1] + best.gap) + 1e-9
    )
    if width == 100_000:
        assert math.exp(found.mass.dropped - truth) < 1e-9


def test_extreme_probabilities_survive() -> None:
    """A pair that must be together against a probability of 1e-300."""
    p, compatible, must = knowledge(6, np.random.default_rng(5), 0.3)
    p[0, 5] = p[5, 0] = 1e-300
    p[4, 5] = p[5, 4] = 1 - 1e-16
    compatible[0, 5] = compatible[5, 0] = compatible[4, 5] = compatible[5, 4] = True
    compatible[0, 4] = compatible[4, 0] = False
    p[0, 4] = p[4, 0] = 0.0
    must[0, 5] = must[5, 0] = True
    model = merger(p, compatible, must)
    total = island(plan_beam(model), 20_000, np.random.default_rng(6))[2]
    assert total == pytest.approx(enumerate_configurations(model).log_normaliser.value, abs=0.3)


def test_what_does_not_converge_says_so() -> None:
    posterior = merging(*knowledge(60, np.random.default_rng(7), 0.3), Budget(work=200_000))
    assert posterior.method == "sampled"
    assert posterior.converged is False


def test_thousands_of_templates() -> None:
    rng = np.random.default_rng(8)
    n = 1000
    home = rng.integers(0, 250, n)
    inside = home[:, None] == home[None, :]
    p = np.triu(np.where(inside, 0.9, 0.002), 1)
    must = np.eye(n, dtype=bool)
    compatible = np.triu(rng.random((n, n)) < 0.9, 1)
    compatible = compatible | compatible.T | must
    p = np.where(compatible, p + p.T, 0.0)
    posterior = merging(p, compatible, must, Budget(work=20_000_000))
    pairs = posterior.pairs().value
    assert posterior.method == "sampled"
    assert posterior.log_weight(posterior.best(1).labels[0]) > -math.inf
    assert pairs[inside & compatible].mean() > 10 * pairs[~inside].mean()


def test_too_little_memory_is_refused() -> None:
    model = merger(*knowledge(200, np.random.default_rng(9), 0.3))
    with pytest.raises(TooLarge, match="200 templates"):
        sampled_merging(
            model, Budget(memory=1 << 20, work=1), 0, beam(model, plan_beam(model), 2), "a test"
        )


def test_the_number_of_configurations_is_bounded_where_it_is_not_counted() -> None:
    model = merger(*knowledge(40, np.random.default_rng(10), 0.3, 1))
    found = beam(model, plan_beam(model), 5).log2_count()
    assert found.kind == "interval"
    assert found.low < found.high <= log2_bell(40)


def test_time_that_is_left_is_used_until_the_pairs_are_close() -> None:
    model = merger(*knowledge(8, np.random.default_rng(5), 0.3))
    found = sampled_merging(
        model, Budget(seconds=600.0), 0, beam(model, plan_beam(model), 2), "a test"
    )
    assert found.error <= CLOSE
    assert found.effective >= ENOUGH
