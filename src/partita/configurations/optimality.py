"""Prove that a configuration is the most probable one, or bound how much better another can be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from partita.configurations.odds import UNSCALED, ScaledParameters, checked_knowledge, odds_of
from partita.configurations.report import listing, remainder
from partita.configurations.search.best import best
from partita.core import (
    Best,
    Budget,
    Distribution,
    IntArray,
    PairProbabilities,
    components,
    restricted_growth,
)

ENOUGH = 1e-7  # of each unit of log-weight: a difference or a gap that rounding may make


def prove(
    distribution: Distribution, budget: Budget, scaled: ScaledParameters = UNSCALED
) -> Distribution:
    """Return a distribution of the evidential or the scaled model whose gap is a certificate.

    Nothing has a probability above that of the first configuration times e^gap; 0 means that it
    is proved most probable. A better configuration than the listed ones becomes the first.
    """
    if distribution.gap == 0.0:
        return distribution
    found = best_of_set(distribution, budget, scaled)
    most = float(found.log_weights[0])
    weight = distribution.posterior.log_weight(distribution.configurations.rows[0])
    rounding = ENOUGH * (1.0 + abs(weight))
    if most > weight + rounding:
        distribution, weight = _with_first(distribution, found.labels[0]), most
    gap = max(0.0, most + found.gap - weight)
    gap = gap if gap > rounding else 0.0
    words = "the first configuration is proved most probable"
    if gap:
        words = f"no configuration exceeds the first by more than a factor of e^{gap:.3g}"
    return replace(distribution, gap=gap, reason=f"{distribution.reason}; {words}")


def best_of_set(distribution: Distribution, budget: Budget, scaled: ScaledParameters) -> Best:
    """Return the best configuration of all components together, and by how much one may be better.

    The budget is shared by the number of pairs.
    """
    odds = odds_of(
        checked_knowledge(PairProbabilities(distribution.set, distribution.probabilities)), scaled
    )
    home = components(np.isfinite(odds.theta))
    places = [np.flatnonzero(home == number) for number in range(home.max(initial=-1) + 1)]
    total = sum(len(place) ** 2 for place in places)
    labels, weight, gap = np.zeros(len(odds.theta), dtype=np.int64), 0.0, 0.0
    for place in places:
        share = len(place) ** 2 / total
        work = None if budget.work is None else int(share * budget.work)
        part = replace(budget, seconds=share * budget.seconds, work=work)
        found = best(odds.theta[np.ix_(place, place)], 1, part)
        labels[place] = found.labels[0] + labels.max() + 1
        weight, gap = weight + float(found.log_weights[0]), gap + found.gap
    return Best(restricted_growth(labels[odds.home])[None, :], np.array([weight]), gap)


def _with_first(distribution: Distribution, labels: IntArray) -> Distribution:
    """List a configuration before the others, in place of the last one."""
    rows = np.vstack([labels, distribution.configurations.rows[:-1]])
    weights = np.array([distribution.posterior.log_weight(row) for row in rows])
    listed = listing(distribution.posterior, distribution.configurations.ids, Best(rows, weights))
    rest = remainder(listed, distribution.count, distribution.figures.log2_count.value)
    return replace(distribution, configurations=listed, remainder=rest)
