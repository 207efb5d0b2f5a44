"""What is told downstream: the best configurations, and one count and one mass for the rest.

Listed mass + remainder = 1; the remainder is spread uniformly over what is not listed.
"""

from __future__ import annotations

import math

import numpy as np

from partita.configurations.exact import log2_of
from partita.records import Best, Configuration, Figure, Listed, Posterior, Remainder

MOST = 100_000  # configurations listed by a threshold alone


def listed(posterior: Posterior, ids: tuple[str, ...], best: Best) -> tuple[Listed, ...]:
    """Configurations with their probabilities, and intervals where they are not exact."""
    total = posterior.log_normaliser
    configurations = Configuration.from_rows(ids, best.labels.tolist())
    return tuple(
        Listed(configuration, *_probability(weight, total))
        for configuration, weight in zip(configurations, best.log_weights.tolist(), strict=True)
    )


def _probability(weight: float, total: Figure) -> tuple[float, tuple[float, float] | None]:
    """exp(log-weight − log-normaliser), never above 1."""
    value, low, high = (
        math.exp(min(0.0, weight - bound)) for bound in (total.value, total.high, total.low)
    )
    return value, None if total.kind == "exact" else (low, high)


def best_or_above(posterior: Posterior, top: int | None, threshold: float | None) -> Best:
    """The `top` best, or all with at least the probability `threshold`, or what satisfies both."""
    if threshold is None:
        return posterior.best(top or 10)
    most = min(top or MOST, MOST)
    k = min(16, most)
    while True:
        best = posterior.best(k)
        enough = best.log_weights - posterior.log_normaliser.value >= math.log(threshold)
        if len(best.labels) < k or not enough.all() or k == most:
            kept = max(1, int(enough.sum()))
            return Best(best.labels[:kept], best.log_weights[:kept], best.gap)
        k = min(4 * k, most)


def remainder(posterior: Posterior, found: tuple[Listed, ...]) -> Remainder:
    """The number and the mass of everything that is not listed."""
    count, bits = posterior.count(), posterior.log2_count().value
    left = None if count is None else count - len(found)
    if left is not None:
        bits = log2_of(left) if left else -math.inf
    mass = 0.0 if left == 0 else max(0.0, 1.0 - math.fsum(item.probability for item in found))
    return Remainder(left, bits, mass, _interval(found) if left else None)


def _interval(found: tuple[Listed, ...]) -> tuple[float, float] | None:
    bounds = [item.interval for item in found if item.interval]
    if len(bounds) < len(found) or not bounds:
        return None
    low, high = np.array(bounds).sum(axis=0)
    return max(0.0, 1.0 - float(high)), max(0.0, 1.0 - float(low))
