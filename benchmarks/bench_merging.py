"""Merging decisions beside the naive way: dense sets, exclusions, long chains, large sets."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from naive import naive_seconds
from oracles.instances import uniform_pairs, with_holes
from partita.configurations.merging.decisions import merging
from partita.core import Budget, FloatArray, Posterior


def answered(p: FloatArray, method: str = "auto") -> Posterior:
    compatible = (p > 0) | np.eye(len(p), dtype=bool)
    found = merging(p, compatible, np.eye(len(p), dtype=bool), Budget(), 0, method)
    found.pairs()
    found.entropy()
    return found


def pairs(n: int, holes: float) -> FloatArray:
    rng = np.random.default_rng(n)
    return with_holes(uniform_pairs(n, 0.05, 0.95, rng), holes, rng)


def band(n: int, reach: int) -> FloatArray:
    far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > reach
    return np.where(far, 0.0, pairs(n, 0.0))


def five_types() -> FloatArray:
    whole = np.zeros((200, 200))
    for kind in range(5):
        members = np.arange(kind, 200, 5)
        whole[np.ix_(members, members)] = with_holes(
            uniform_pairs(40, 0.05, 0.95, np.random.default_rng(kind)),
            0.3,
            np.random.default_rng(kind + 5),
        )
    return whole


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Compilation is not what is measured."""
    for p in (pairs(18, 0.0), pairs(15, 0.3)):
        answered(p)
    answered(pairs(15, 0.3), "sampled")


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("n = 24, nothing bites", lambda: pairs(24, 0.0)),
        ("n = 14, 30 % incompatible", lambda: pairs(14, 0.3)),
        ("n = 18, 30 % incompatible", lambda: pairs(18, 0.3)),
        ("n = 20, 30 % incompatible", lambda: pairs(20, 0.3)),
        ("n = 2,000, band 6", lambda: band(2000, 6)),
        ("five types of 40, 30 % incompatible", five_types),
        ("n = 1,000, nothing bites", lambda: pairs(1000, 0.0)),
    ],
)
def test_pairs_and_entropy(
    name: str, make: Callable[[], FloatArray], ratio: Callable[..., None]
) -> None:
    p = make()
    start = time.perf_counter()
    found = answered(p)
    taken = time.perf_counter() - start
    ratio(f"merging, {name}: {found.method}", taken / naive_seconds(11), "naive 11")
