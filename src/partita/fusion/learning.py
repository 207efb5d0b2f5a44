"""Rates learned from agreement alone, in the manner of Dawid and Skene:
θ[s, g, o] = (n[s, g, o] + λ·θ̄[g, o]) / (n[s, g] + λ),  θ̄ the rates of all sources together,
λ of how many claims their word on a source is worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.fusion.expectation import Expected, Rates, expect
from partita.fusion.problem import Problem
from partita.records import FloatArray

ROUNDS = 200
CLOSE = 1e-4  # no probability moves by more


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What came out, by which rates, after how many rounds."""

    expected: Expected
    rates: Rates
    pooled: FloatArray
    rounds: int
    converged: bool


def learn(
    problem: Problem,
    given: FloatArray | None = None,
    rounds: int = ROUNDS,
) -> Learned:
    """Expectation and maximisation in turn; sources whose rates are `given` (not NaN) keep them."""
    theta = np.repeat(problem.start[None], problem.sources, axis=0)
    rates = Rates(_kept(theta, given), np.full(problem.kinds, 1.0 / problem.kinds))
    expected = expect(problem, rates)
    pooled = problem.start
    for done in range(1, rounds + 1):
        before = expected.probability
        pooled = _pooled(expected.counts, problem.start)
        theta = _shrunk(expected.counts, pooled, problem.shrinkage)
        rates = Rates(_kept(theta, given), _prior(problem, before))
        expected = expect(problem, rates)
        if np.max(np.abs(expected.probability - before), initial=0.0) < CLOSE:
            return Learned(expected, rates, pooled, done, True)
    return Learned(expected, rates, pooled, rounds, False)


def _pooled(counts: FloatArray, start: FloatArray) -> FloatArray:
    """All sources as one, with one claim's worth of the rates to start from."""
    sums = counts.sum(axis=0) + start
    pooled: FloatArray = sums / sums.sum(axis=1, keepdims=True)
    return pooled


def _shrunk(counts: FloatArray, pooled: FloatArray, shrinkage: float) -> FloatArray:
    sums = counts + shrinkage * pooled
    shrunk: FloatArray = sums / sums.sum(axis=2, keepdims=True)
    return shrunk


def _prior(problem: Problem, probability: FloatArray) -> FloatArray:
    counts = np.bincount(problem.candidates.kind, probability, minlength=problem.kinds) + 1.0
    prior: FloatArray = counts / counts.sum()
    return prior


def _kept(theta: FloatArray, given: FloatArray | None) -> FloatArray:
    return theta if given is None else np.where(np.isnan(given), theta, given)
