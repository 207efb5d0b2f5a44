"""Random instances: flat, mid and sharp regimes, and incompatible pairs of any density."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def symmetric(upper: NDArray[np.float64]) -> NDArray[np.float64]:
    above = np.triu(upper, 1)
    return above + above.T


def log_odds(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """theta of pair probabilities, with a zero diagonal and minus infinity where p is 0."""
    with np.errstate(divide="ignore"):
        theta = np.log(p) - np.log1p(-p)
    np.fill_diagonal(theta, 0.0)
    return theta


def uniform_pairs(n: int, low: float, high: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """p from U(low, high), independent for every pair."""
    return symmetric(rng.uniform(low, high, (n, n)))


def planted_pairs(n: int, rng: np.random.Generator, size: int = 4) -> NDArray[np.float64]:
    """Planted clusters: .8 to .99 inside, .01 to .2 across."""
    home = rng.permutation(n) // size
    inside = home[:, None] == home[None, :]
    p = np.where(inside, rng.uniform(0.8, 0.99, (n, n)), rng.uniform(0.01, 0.2, (n, n)))
    return symmetric(p)


def with_holes(
    p: NDArray[np.float64], share: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """The same with that share of pairs incompatible, but with a path that keeps it connected."""
    n = len(p)
    holes = symmetric((rng.random((n, n)) < share).astype(float)) > 0
    holes[np.arange(n - 1), np.arange(1, n)] = holes[np.arange(1, n), np.arange(n - 1)] = False
    return np.where(holes, 0.0, p)
