"""The reported part of a distribution: the best configurations, one count and mass for the rest.

Listed mass + remainder = 1; the remainder is spread uniformly over what is not listed.
"""

from __future__ import annotations

import math

import numpy as np

from partita.configurations.count import log2_of
from partita.core import (
    Best,
    CoreferenceSet,
    Distribution,
    Figure,
    Figures,
    FloatArray,
    Listing,
    Posterior,
    Remainder,
)

MOST = 100_000  # configurations listed by a threshold alone


def distribution_of(
    posterior: Posterior,
    group: CoreferenceSet,
    probabilities: FloatArray,
    model: str,
    *,
    top: int | None,
    threshold: float | None,
    seed: int,
    conflict: float | None = None,
    log2_count: Figure | None = None,
) -> Distribution:
    """Return what a posterior says of a set; `log2_count` is for posteriors that know it."""
    best = best_or_above(posterior, top, threshold)
    listed = listing(posterior, group.ids, best)
    total, count, bits = posterior.log_normaliser, posterior.count(), log2_count
    if bits is None:
        bits = posterior.log2_count() if count is None else Figure.exact(log2_of(count))
    return Distribution(
        set=group,
        model=model,
        method=posterior.method,
        reason=posterior.reason,
        probabilities=probabilities,
        marginals=posterior.pairs(),
        configurations=listed,
        remainder=remainder(listed, count, bits.value),
        figures=Figures(posterior.entropy(), total, bits),
        conflict=conflict,
        count=count,
        seed=seed,
        posterior=posterior,
        converged=getattr(posterior, "converged", None),
        gap=best.gap,
        pruned=-math.expm1(total.low - total.high) if total.kind == "interval" else 0.0,
    )


def listing(posterior: Posterior, ids: tuple[str, ...], best: Best) -> Listing:
    """List configurations with their probabilities, and intervals where they are not exact."""
    total = posterior.log_normaliser
    value, low, high = (
        np.exp(np.minimum(0.0, best.log_weights - bound)).tolist()
        for bound in (total.value, total.high, total.low)
    )
    intervals = None if total.kind == "exact" else list(zip(low, high, strict=True))
    return Listing(ids, best.labels, value, intervals)


def best_or_above(posterior: Posterior, top: int | None, threshold: float | None) -> Best:
    """List the `top` best, those with at least `threshold` probability, or what satisfies both."""
    if threshold is None:
        return posterior.best(top or 10)
    most = min(top or MOST, MOST)
    k = min(16, most)
    while True:
        best = posterior.best(k)
        enough = best.log_weights - posterior.log_normaliser.value >= math.log(threshold)
        if len(best.labels) < k or not enough.all() or k == most:
            number = max(1, int(enough.sum()))
            return Best(best.labels[:number], best.log_weights[:number], best.gap)
        k = min(4 * k, most)


def remainder(listed: Listing, count: int | None, log2_count: float) -> Remainder:
    """Return the number and the mass of the unlisted configurations, of so many in all."""
    left = None if count is None else count - len(listed)
    bits = log2_count if left is None else log2_of(left)
    return Remainder(left, bits, unlisted(listed, left), _interval(listed) if left != 0 else None)


def unlisted(listed: Listing, left: int | None) -> float:
    """Return what is missing to 1; 0 if no configuration is left."""
    return 0.0 if left == 0 else max(0.0, 1.0 - math.fsum(listed.probabilities))


def _interval(listed: Listing) -> tuple[float, float] | None:
    if listed.intervals is None:
        return None
    low, high = np.array(listed.intervals).sum(axis=0).tolist()
    return max(0.0, 1.0 - high), max(0.0, 1.0 - low)
