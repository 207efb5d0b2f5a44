"""The sampled method on n = 200 made of ten blocks of 20, ten seeds: agreement, coverage, speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest

from oracles.instances import log_odds, planted_pairs, uniform_pairs
from partita.configurations.exact.posterior import exact
from partita.configurations.sampled.posterior import SampledPosterior, sampled
from partita.core import Budget, FloatArray

SEEDS, WORK = 10, 120_000
WEAK = np.log(1e-9)  # log-odds of the links that make one component of the blocks


class Blocks(NamedTuple):
    theta: FloatArray
    log_normaliser: float
    pairs: FloatArray


def _block(kind: str, rng: np.random.Generator) -> FloatArray:
    if kind == "sharp":
        return log_odds(planted_pairs(20, rng))
    low, high = (0.3, 0.7) if kind == "flat" else (0.05, 0.95)
    return log_odds(uniform_pairs(20, low, high, rng))


@cache
def blocks(kind: str) -> Blocks:
    """Ten blocks in one component, and the exact truth."""
    rng, log_z = np.random.default_rng(0), 0.0
    theta, truth = np.full((200, 200), WEAK), np.zeros((200, 200))
    for start in range(0, 200, 20):
        here = slice(start, start + 20)
        theta[here, here] = _block(kind, rng)
        posterior = exact(theta[here, here])
        log_z += posterior.log_normaliser.value
        truth[here, here] = posterior.pairs().value
    np.fill_diagonal(theta, 0.0)
    return Blocks(theta, log_z, truth)


@cache
def answers(kind: str) -> tuple[list[SampledPosterior], float]:
    theta, start = blocks(kind).theta, time.perf_counter()
    found = [sampled(theta, Budget(work=WORK), seed) for seed in range(SEEDS)]
    return found, time.perf_counter() - start


@pytest.mark.parametrize("kind", ["sharp", "flat", "mid"])
def test_ten_blocks_of_twenty(kind: str, ratio: Callable[..., None]) -> None:
    truth, (found, seconds) = blocks(kind), answers(kind)
    errors = [float(np.abs(one.pairs().value - truth.pairs).max()) for one in found]
    off = [abs(one.log_normaliser.value - truth.log_normaliser) for one in found]
    said = [one.log_normaliser.high - one.log_normaliser.value for one in found]
    name = f"sampled, {kind} blocks"
    ratio(f"{name}: seconds a seed", seconds / SEEDS / 30, "the default budget", 1.0)
    ratio(f"{name}: largest pair error, ninth of ten", sorted(errors)[8] / 0.02, ".02", 1.0)
    ratio(f"{name}: off in log Z", float(np.median(off)), "1 nat")
    ratio(f"{name}: standard error said", float(np.median(said)), "1 nat")
    assert sum(one.converged for one in found) >= 9
    assert sorted(errors)[8] <= 0.02
    assert sum(a <= 2 * b for a, b in zip(off, said, strict=True)) >= 9
