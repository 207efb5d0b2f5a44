"""Everything about one dense set of every size from 2 to 26: no size is quicker than a smaller one.

Times are CPU seconds of all threads, medians over sets; what is asserted are ratios between sizes.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from oracles.instances import planted_pairs, uniform_pairs
from partita.configurations.solve import solve_set
from partita.core import CoreferenceSet, FloatArray, PairProbabilities

REGIMES: dict[str, Callable[[int, np.random.Generator], FloatArray]] = {
    "mid": lambda n, rng: uniform_pairs(n, 0.05, 0.95, rng),
    "planted": planted_pairs,
}
SMALLEST, LARGEST = 2, 26
STEEPEST, FLATTEST = 4.0, 0.8  # of a step from n to n + 1
ROUNDS = 3  # in which every size is measured, so that other work on the machine meets all of them
SECONDS = 0.2  # for which a size is measured in a round, at least once
COUNTED = 20  # measurements of a size in a round, at most


def pairs_of(p: FloatArray) -> PairProbabilities:
    np.fill_diagonal(p, 1.0)
    return PairProbabilities(CoreferenceSet.of(f"T{i}" for i in range(len(p))), p)


def measured(n: int, regime: str, rng: np.random.Generator) -> list[float]:
    """Return seconds for answers about different sets of n templates."""
    seconds: list[float] = []
    while not seconds or (sum(seconds) < SECONDS and len(seconds) < COUNTED):
        pairs = pairs_of(REGIMES[regime](n, rng))
        start = time.process_time()
        solve_set(pairs, method="exact")
        seconds.append(time.process_time() - start)
    return seconds


@pytest.mark.parametrize("regime", REGIMES)
def test_every_template_more_takes_longer(regime: str, ratio: Callable[..., None]) -> None:
    rng, sizes = np.random.default_rng(0), range(SMALLEST, LARGEST + 1)
    for n in (SMALLEST, 12, 13, 17, 18):
        measured(n, regime, rng)  # loads and compiles
    seconds: dict[int, list[float]] = {n: [] for n in sizes}
    for turn in range(ROUNDS):
        for n in sizes if turn == 0 else [n for n in sizes if n <= 22]:
            seconds[n] += measured(n, regime, rng)
    medians = [statistics.median(seconds[n]) for n in sizes]
    steps = [later / earlier for earlier, later in pairwise(medians)]
    for n, step in zip(sizes, steps, strict=False):
        ratio(f"everything, {regime}, n = {n + 1}", step, f"n = {n}", STEEPEST)
    assert max(steps) <= STEEPEST
    assert min(steps) >= FLATTEST
