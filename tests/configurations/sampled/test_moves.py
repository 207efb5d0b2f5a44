"""Every move leaves the distribution as it is: started from exact draws it ends in exact draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import chi2

from oracles.instances import log_odds, uniform_pairs, with_holes
from oracles.partitions import Labels, distribution, log_weights
from partita.configurations.sampled.kernels import (
    ChainPairs,
    State,
    exchange,
    partner,
    redeal,
    renew,
    split_merge,
)
from partita.configurations.sampled.posterior import chain_pairs, state_of
from partita.core import FloatArray, restricted_growth

Move = Callable[[ChainPairs, State, np.random.Generator], object]
RUNS = 8_000
SELDOM = 1e-4  # a right move fails once in 10,000 seeds


def _single(p: ChainPairs, s: State, rng: np.random.Generator) -> object:
    return renew(p, s, int(rng.integers(len(p.theta))), rng)


def _split_merge(p: ChainPairs, s: State, rng: np.random.Generator) -> object:
    i = int(rng.integers(len(p.theta)))
    return split_merge(p, s, i, partner(p, i, rng), rng)


def _exchange(p: ChainPairs, s: State, rng: np.random.Generator) -> object:
    i = int(rng.integers(len(p.theta)))
    return exchange(p, s, i, partner(p, i, rng), rng)


def _redeal(p: ChainPairs, s: State, rng: np.random.Generator) -> object:
    i = int(rng.integers(len(p.theta)))
    return redeal(p, s, partner(p, i, rng), partner(p, i, rng), rng)


def _instance(n: int, share: float, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    return log_odds(with_holes(uniform_pairs(n, 0.1, 0.9, rng), share, rng))


def _after(theta: FloatArray, move: Move, seed: int) -> tuple[FloatArray, FloatArray, int]:
    """Frequencies of partitions after one move from exact draws, what was expected, and moved."""
    exact, rng = distribution(theta), np.random.default_rng(seed)
    states = list(exact)
    place = {labels: t for t, labels in enumerate(states)}
    chances = np.array(list(exact.values()))
    pairs, found, moved = chain_pairs(theta), np.zeros(len(states)), 0
    for start in rng.choice(len(states), RUNS, p=chances / chances.sum()):
        state = state_of(pairs, np.array(states[start]))
        move(pairs, state, rng)
        ended: Labels = tuple(restricted_growth(state.label[:-1]).tolist())
        assert state.score[0] == pytest.approx(log_weights_of(theta, ended))
        found[place[ended]] += 1
        moved += ended != states[start]
    return found, RUNS * chances, moved


def log_weights_of(theta: FloatArray, labels: Labels) -> float:
    row = np.array(labels)
    return float(theta[np.triu(row[:, None] == row[None, :], 1)].sum())


def _p_value(found: FloatArray, expected: FloatArray) -> float:
    """Chi-square; partitions that are expected fewer than ten times are taken together."""
    rare = expected < 10.0
    found = np.append(found[~rare], found[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    there = expected > 0.0
    statistic = float(((found - expected)[there] ** 2 / expected[there]).sum())
    return float(chi2.sf(statistic, int(there.sum()) - 1))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6])
@pytest.mark.parametrize("move", [_single, _split_merge, _exchange, _redeal])
def test_a_move_leaves_the_distribution_unchanged(move: Move, share: float) -> None:
    found, expected, moved = _after(_instance(5, share, 7), move, 1)
    assert moved > RUNS / 100
    assert _p_value(found, expected) > SELDOM


def test_the_test_would_notice_a_wrong_distribution() -> None:
    theta = _instance(5, 0.3, 7)
    found, _, _ = _after(theta, _split_merge, 1)
    warmer = np.array(list(distribution(0.9 * theta).values()))
    assert _p_value(found, RUNS * warmer) < SELDOM


def test_an_exchange_lets_two_exclusive_templates_swap_their_cells() -> None:
    theta = np.full((4, 4), 1.0)
    np.fill_diagonal(theta, 0.0)
    theta[0, 1] = theta[1, 0] = -np.inf
    pairs, rng = chain_pairs(theta), np.random.default_rng(0)
    state = state_of(pairs, np.array([0, 1, 0, 1]))  # (A C) (B D): A and B exclude each other
    assert exchange(pairs, state, 0, 3, rng)
    assert restricted_growth(state.label[:-1]).tolist() == [0, 1, 1, 0]
    assert set(log_weights(theta).values()) >= {float(state.score[0])}


def test_a_block_changes_its_cell_at_once() -> None:
    theta = np.full(
        (6, 6), 5.0
    )  # 0 and 1 belong to 2 and 3 or to 4 and 5, which exclude each other
    theta[2:4, 4:] = theta[4:, 2:4] = -np.inf
    np.fill_diagonal(theta, 0.0)
    pairs, rng = chain_pairs(theta), np.random.default_rng(0)
    state = state_of(pairs, np.array([0, 0, 0, 0, 1, 1]))
    moved = [
        redeal(pairs, state, 2, 4, rng) and state.label[0] == state.label[4] for _ in range(20)
    ]
    assert any(moved)
    assert state.label[0] == state.label[1]
