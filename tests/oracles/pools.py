"""Other ways to put opinions together, for comparison.

linear: P(c) = Σ_s w_s P_s(c);  logarithmic: P(c) ∝ Π_s P_s(c)^w_s, which for pair probabilities
means that log-odds are averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

from partita.core import PairProbabilities
from partita.errors import InputError, TotalConflict

T = TypeVar("T")


def linear_pool(
    opinions: Sequence[Mapping[T, float]], weights: Sequence[float] | None = None
) -> dict[T, float]:
    """The weighted mean: what one source thinks possible stays possible."""
    shares = _weights(len(opinions), weights)
    outcomes = dict.fromkeys(outcome for opinion in opinions for outcome in opinion)
    return {
        outcome: sum(w * o.get(outcome, 0.0) for w, o in zip(shares, opinions, strict=True))
        for outcome in outcomes
    }


def log_pool(
    opinions: Sequence[Mapping[T, float]], weights: Sequence[float] | None = None
) -> dict[T, float]:
    """The weighted geometric mean: what one source excludes is excluded."""
    shares = _weights(len(opinions), weights)
    outcomes = dict.fromkeys(outcome for opinion in opinions for outcome in opinion)
    raw = {
        outcome: float(
            np.prod([o.get(outcome, 0.0) ** w for w, o in zip(shares, opinions, strict=True) if w])
        )
        for outcome in outcomes
    }
    total = sum(raw.values())
    if total == 0.0:
        raise TotalConflict([f"opinion {n}" for n in range(1, len(opinions) + 1)])
    return {outcome: mass / total for outcome, mass in raw.items()}


def log_pooled_pairs(
    opinions: Sequence[PairProbabilities], weights: Sequence[float] | None = None
) -> PairProbabilities:
    """Log-odds averaged pair by pair: the logarithmic pool of the evidential distributions."""
    shares = _weights(len(opinions), weights)
    templates = opinions[0].set
    if any(one.set.ids != templates.ids for one in opinions):
        raise InputError("opinions on different templates cannot be pooled")
    together, apart = (
        np.prod(
            [side(one.matrix) ** w for w, one in zip(shares, opinions, strict=True) if w], axis=0
        )
        for side in (np.asarray, lambda p: 1.0 - p)
    )
    if np.any(together + apart == 0.0):
        raise TotalConflict([f"opinion {n}" for n in range(1, len(opinions) + 1)])
    matrix = together / (together + apart)
    return PairProbabilities(templates, matrix)


def _weights(count: int, weights: Sequence[float] | None) -> list[float]:
    """Weights that add up to 1; the same for all if none are given."""
    if not count:
        raise InputError("there is no opinion to pool")
    given = [1.0] * count if weights is None else list(weights)
    if len(given) != count or not all(w >= 0 for w in given) or not sum(given) > 0:
        raise InputError(f"{count} opinions need as many weights from 0 on, not {given}")
    return [w / sum(given) for w in given]
