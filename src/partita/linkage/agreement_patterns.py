"""Fit the Fellegi–Sunter model to counted patterns of agreement by expectation maximisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core import FloatArray, IntArray
from partita.linkage.engines import Settings

ITERATIONS = 500
CONVERGED = 1e-5
PRIOR = 0.3  # weight of the starting values, in matches per record
EQUAL = 0.85  # of pairs that match, the share that agree in a column, to start with
BETTER = 1.0  # by which the log-likelihood of the second fit must be higher
MIN_LEVEL_PROBABILITY = 1e-6  # probability of a level that no random pair has


@dataclass(frozen=True, slots=True)
class Patterns:
    """Distinct patterns of agreement of the compared pairs, and how many pairs have each.

    `levels` has a row for each pattern and a column for each comparison, −1 where a value is
    missing; `adjustment` is the natural log of what the frequencies of equal values add.
    """

    levels: IntArray
    adjustment: FloatArray
    count: FloatArray

    @property
    def pairs(self) -> float:
        return float(self.count.sum())


@dataclass(frozen=True, slots=True)
class PatternFit:
    """Fitted probabilities: of a match, and of each level given a match."""

    match: float
    m: list[FloatArray]
    iterations: int
    converged: bool


def fit_patterns(
    patterns: Patterns, u: Sequence[FloatArray], records: int, total_pairs: float
) -> PatternFit:
    """Fit the share of matches among all pairs and the probabilities of levels given a match.

    Pairs that blocking did not compare count as different, and `u` is that of random pairs, so
    the share is not inflated by the agreement that blocking selects. The starting values weigh as
    much as `PRIOR` matches per record: without them, the class of matches drifts to whatever
    columns agree together, such as city and trade, where matches are few. A second fit starts from
    many matches that are similar in most columns; it holds if it is clearly more likely.
    """
    start = [_start(len(one)) for one in u]
    few, many = max(10.0, 0.1 * records), 0.3 * records
    best = _climb(patterns, u, start, start, few, records, total_pairs)
    other = _climb(patterns, u, start, [_graded(len(m)) for m in u], many, records, total_pairs)
    unlike = total_pairs - patterns.pairs
    gain = _likelihood(patterns, other, u, start, records, unlike)
    gain -= _likelihood(patterns, best, u, start, records, unlike)
    return other if gain > BETTER else best


def _climb(
    patterns: Patterns,
    u: Sequence[FloatArray],
    prior: Sequence[FloatArray],
    m: Sequence[FloatArray],
    matches: float,
    records: int,
    total_pairs: float,
) -> PatternFit:
    """Raise the likelihood from given values on until nothing changes."""
    match = min(0.1, matches / total_pairs)
    for iteration in range(1, ITERATIONS + 1):
        weights = patterns.count * _posterior(patterns, match, m, u)
        before, match = match, float(np.clip(weights.sum() / total_pairs, 0.1 / total_pairs, 0.5))
        fitted = [
            _shares(patterns, n, weights, PRIOR * records * one) for n, one in enumerate(prior)
        ]
        change = max(float(np.abs(a - b).max()) for a, b in zip(m, fitted, strict=True))
        m = fitted
        if max(change, abs(match - before) / before) < CONVERGED:
            return PatternFit(match, list(m), iteration, True)
    return PatternFit(match, list(m), ITERATIONS, False)


def _likelihood(
    patterns: Patterns,
    fit: PatternFit,
    u: Sequence[FloatArray],
    prior: Sequence[FloatArray],
    records: int,
    unlike: float,
) -> float:
    """Return the log-likelihood with the prior, up to a constant that `u` decides.

    `unlike` counts the pairs that were not compared.
    """
    odds = _log_odds(patterns, fit.match, fit.m, u)
    pairs = float((patterns.count * np.logaddexp(0.0, odds)).sum())
    pairs += (patterns.pairs + unlike) * float(np.log1p(-fit.match))
    return pairs + sum(
        PRIOR * records * float((one * np.log(m)).sum())
        for one, m in zip(prior, fit.m, strict=True)
    )


def _start(levels: int) -> FloatArray:
    """Return starting values from the lowest level to the highest."""
    values = np.full(levels, (1.0 - EQUAL) / (levels - 1))
    values[-1] = EQUAL
    return values


def _graded(levels: int) -> FloatArray:
    """Return other starting values, for matches that are often similar and not equal."""
    values = np.linspace(0.3, 1.0, levels) ** 3
    return np.asarray(values / values.sum())


def _log_odds(
    patterns: Patterns, match: float, m: Sequence[FloatArray], u: Sequence[FloatArray]
) -> FloatArray:
    odds = np.log(match) - np.log1p(-match) + patterns.adjustment
    for n, (same, different) in enumerate(zip(m, u, strict=True)):
        level = patterns.levels[:, n]
        odds += np.where(level >= 0, np.log(same / different)[level], 0.0)
    return np.asarray(np.clip(odds, -700.0, 700.0))


def _posterior(
    patterns: Patterns, match: float, m: Sequence[FloatArray], u: Sequence[FloatArray]
) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-_log_odds(patterns, match, m, u))))


def _shares(patterns: Patterns, n: int, weights: FloatArray, prior: FloatArray) -> FloatArray:
    level = patterns.levels[:, n]
    known = level >= 0
    counted = np.bincount(level[known], weights[known], len(prior)) + prior
    return np.asarray(counted / counted.sum())


def levels_of(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the levels of a comparison that are not for missing values, the lowest first."""
    levels = [one for one in comparison["comparison_levels"] if not one.get("is_null_level")]
    return levels[::-1]


def random_shares(model: Settings) -> list[FloatArray]:
    """Return the probabilities of levels for random pairs, for every comparison of a model."""
    shares = []
    for comparison in model["comparisons"]:
        known = [one.get("u_probability") or 0.0 for one in levels_of(comparison)]
        values = np.maximum(np.array(known, dtype=np.float64), MIN_LEVEL_PROBABILITY)
        shares.append(values / values.sum())
    return shares


def with_fit(model: Settings, fit: PatternFit, u: Sequence[FloatArray]) -> Settings:
    """Return a model with fitted probabilities."""
    for comparison, m, other in zip(model["comparisons"], fit.m, u, strict=True):
        for level, same, different in zip(levels_of(comparison), m, other, strict=True):
            level["m_probability"], level["u_probability"] = float(same), float(different)
    return model | {"probability_two_random_records_match": fit.match}
