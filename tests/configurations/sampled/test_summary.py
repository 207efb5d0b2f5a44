"""The error is right for independent draws, and chains that stick are found out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from partita.configurations.sampled.posterior import (
    DRIFT,
    ERROR,
    MIXING,
    SCALE,
    ChainCounts,
    ChainSummary,
    _spread,
    summarise_chains,
)

LENGTH, BATCHES, CHAINS = 100, 40, 4


def _counted(drawn: NDArray[np.bool_]) -> ChainCounts:
    """Chains × batches × sweeps × pairs, as the chains would have counted them."""
    counts = drawn.sum(axis=2).astype(np.float64)
    totals = [chain.sum(axis=0).astype(np.float32) for chain in counts]
    early = [chain[: BATCHES // 2].sum(axis=0).astype(np.float32) for chain in counts]
    squares = (counts**2).sum(axis=(0, 1))
    return ChainCounts(totals, early, squares, LENGTH, BATCHES, BATCHES // 2)


def _of(drawn: NDArray[np.bool_], scores: NDArray[np.float64]) -> ChainSummary:
    return summarise_chains(_counted(drawn), scores)


def _independent(chance: float, seed: int) -> ChainSummary:
    rng = np.random.default_rng(seed)
    drawn = rng.random((CHAINS, BATCHES, LENGTH, 50)) < chance
    return _of(drawn, rng.normal(size=(CHAINS, BATCHES * LENGTH)))


def test_independent_draws_have_the_binomial_error() -> None:
    result = _independent(0.3, 0)
    binomial = np.sqrt(0.3 * 0.7 / (CHAINS * BATCHES * LENGTH))
    assert np.median(result.error) == pytest.approx(binomial, rel=0.2)
    assert result.slowness < 2.0
    assert result.mixing
    assert result.converged


def test_the_variances_are_those_of_the_means_of_batches_and_of_chains() -> None:
    drawn = np.random.default_rng(3).random((CHAINS, BATCHES, LENGTH, 20)) < 0.3
    spread, means = _spread(_counted(drawn)), drawn.mean(axis=2)
    by_batches = means.var(axis=1, ddof=1).mean(axis=0) / (CHAINS * BATCHES)
    by_chains = means.mean(axis=1).var(axis=0, ddof=1) / CHAINS
    np.testing.assert_allclose(spread.within, by_batches, rtol=1e-6)
    np.testing.assert_allclose(spread.between, by_chains, rtol=1e-5)
    assert spread.drift == pytest.approx(by_chains.sum() / by_batches.sum(), rel=1e-5)


def test_the_error_covers_the_truth() -> None:
    result = _independent(0.3, 1)
    assert np.mean(np.abs(result.pairs - 0.3) <= 2 * result.error) >= 0.9


def test_slow_chains_have_the_error_of_their_differences() -> None:
    """Draws that stay the same for a hundred batches: no batch of a chain tells it."""
    rng = np.random.default_rng(5)
    drawn = np.repeat(rng.random((32, 4, 1, 500)) < 0.3, 10, axis=1)
    drawn = np.broadcast_to(drawn, (32, BATCHES, LENGTH, 500))
    result = _of(drawn, rng.normal(size=(32, BATCHES * LENGTH)))
    assert np.mean(np.abs(result.pairs - 0.3) <= 2 * result.error) >= 0.94


def test_what_was_never_seen_is_possible() -> None:
    rng = np.random.default_rng(6)
    drawn = rng.random((CHAINS, BATCHES, LENGTH, 500)) < 1e-4
    result = _of(drawn, rng.normal(size=(CHAINS, BATCHES * LENGTH)))
    assert np.mean(np.abs(result.pairs - 1e-4) <= 2 * result.error) >= 0.95


def test_a_chain_that_stays_elsewhere_is_no_answer() -> None:
    rng = np.random.default_rng(2)
    chance = np.full((CHAINS, 1, 1, 50), 0.3)
    chance[0, ..., 7] = 0.8
    drawn = rng.random((CHAINS, BATCHES, LENGTH, 50)) < chance
    result = _of(drawn, rng.normal(size=(CHAINS, BATCHES * LENGTH)))
    assert result.disagreement == pytest.approx(0.5, abs=0.05)
    assert result.pair_scale > SCALE
    assert not result.agreed
    assert not result.converged


def test_log_weights_that_differ_are_no_answer() -> None:
    rng = np.random.default_rng(3)
    drawn = rng.random((CHAINS, BATCHES, LENGTH, 50)) < 0.3
    scores = rng.normal(size=(CHAINS, BATCHES * LENGTH)) + np.arange(CHAINS)[:, None]
    result = _of(drawn, scores)
    assert result.scale > 1.2
    assert not result.converged


def test_chains_that_agree_with_a_large_error_are_no_answer() -> None:
    """One pair whose error is too large is enough."""
    few = _independent(0.3, 4)
    error = np.full(50, 0.001)
    error[7] = ERROR
    assert replace(few, error=error).converged
    error[7] = 1.001 * ERROR
    assert few.agreed
    assert not replace(few, error=error).converged


@pytest.mark.parametrize(
    ("sign", "limit"), [("pair_scale", SCALE), ("drift", DRIFT), ("scale", SCALE)]
)
def test_each_sign_alone_speaks_against_an_answer(sign: str, limit: float) -> None:
    good = replace(_independent(0.3, 4), pair_scale=1.0, drift=1.0, scale=1.0)
    assert good.agreed
    assert replace(good, **{sign: limit}).agreed
    assert not replace(good, **{sign: 1.001 * limit}).agreed
    assert replace(good, drift=MIXING, scale=SCALE).mixing
    assert not replace(good, drift=1.001 * MIXING).mixing
    assert not replace(good, scale=1.001 * SCALE).mixing


def test_nothing_that_moves_at_all_is_certain() -> None:
    drawn = np.ones((CHAINS, BATCHES, LENGTH, 3), dtype=bool)
    result = _of(drawn, np.full((CHAINS, BATCHES * LENGTH), 1e4))
    assert result.converged
    assert result.worst < 1e-4
    assert result.scale == 1.0


def test_slowness_tells_how_many_sweeps_are_worth_one_draw() -> None:
    rng = np.random.default_rng(4)
    fresh = rng.random((CHAINS, BATCHES, LENGTH // 10, 50)) < 0.3
    result = _of(np.repeat(fresh, 10, axis=2), rng.normal(size=(CHAINS, BATCHES * LENGTH)))
    assert 5.0 < result.slowness < 30.0  # each state stays for ten, and the slowest pair counts
