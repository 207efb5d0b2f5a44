"""Reliability: in bins of equal count, stated probability against observed frequency.

error = Σ_b (n_b/n)·|mean stated − mean observed|;  Brier = mean (p − y)².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.records import FloatArray

LOW, HIGH = 0.05, 0.95  # below and above, what is stated is next to certain and hides the rest
BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Some statements of about the same probability."""

    count: int
    stated: float
    observed: float


def brier(stated: FloatArray, observed: NDArray[np.bool_]) -> float:
    """0 is perfect; 0 also where nothing was stated."""
    return float(np.mean((stated - observed) ** 2)) if len(stated) else 0.0


def reliability(
    stated: FloatArray, observed: NDArray[np.bool_], bins: int = BINS
) -> tuple[Bin, ...]:
    """As many bins of equal count as there are statements for; equal statements in text order."""
    order = np.argsort(stated, kind="stable")
    chosen = (part for part in np.array_split(order, bins) if len(part))
    return tuple(
        Bin(len(part), float(stated[part].mean()), float(observed[part].mean())) for part in chosen
    )


def reliability_error(bins: tuple[Bin, ...]) -> float:
    """The mean distance of stated from observed, bins weighted by their count."""
    total = sum(each.count for each in bins)
    return sum(b.count * abs(b.stated - b.observed) for b in bins) / total if total else 0.0


def undecided(
    stated: FloatArray, observed: NDArray[np.bool_], low: float = LOW, high: float = HIGH
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The statements between low and high, these included."""
    between = (stated >= low) & (stated <= high)
    return stated[between], observed[between]


def pair_reliability_error(
    stated: FloatArray, observed: NDArray[np.bool_], bins: int = BINS
) -> float:
    """The reliability error of marginals between .05 and .95."""
    return reliability_error(reliability(*undecided(stated, observed), bins))
