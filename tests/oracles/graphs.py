"""Log-odds on graphs of known shape: bands, trees of cliques, sparse random graphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from oracles.instances import log_odds, symmetric, uniform_pairs, with_holes

Floats = NDArray[np.float64]


def on_graph(adjacent: NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """p from U(.05, .95) where adjacent, else incompatible."""
    return log_odds(np.where(adjacent, uniform_pairs(len(adjacent), 0.05, 0.95, rng), 0.0))


def chance(n: int, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """That share of all pairs."""
    return symmetric((rng.random((n, n)) < share).astype(float)) > 0


def band(n: int, reach: int, rng: np.random.Generator, share: float = 1.0) -> Floats:
    """Each template compatible with that share of the few before it, and with the last."""
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    return on_graph((apart == 1) | ((apart <= reach) & chance(n, share, rng)), rng)


def clique_tree(n: int, width: int, rng: np.random.Generator, share: float = 1.0) -> Floats:
    """A random tree of cliques of width + 1 templates, with that share of its pairs, shuffled."""
    adjacent = np.zeros((n, n), dtype=bool)
    adjacent[:width, :width] = True
    cliques = [tuple(range(width))]
    for v in range(width, n):
        clique = cliques[rng.integers(len(cliques))]
        adjacent[v, list(clique)] = adjacent[list(clique), v] = True
        cliques += [(*(u for u in clique if u != left), v) for left in clique]
    order = rng.permutation(n)
    return on_graph((adjacent & chance(n, share, rng))[np.ix_(order, order)], rng)


def sparse(n: int, degree: float, rng: np.random.Generator) -> Floats:
    """A path through all, and at random so many more neighbours each on average."""
    return log_odds(with_holes(uniform_pairs(n, 0.05, 0.95, rng), 1.0 - degree / n, rng))


def stretched(theta: Floats, size: float, rng: np.random.Generator) -> Floats:
    """The same graph with log-odds from U(-size, size)."""
    wide = np.where(np.isfinite(theta), symmetric(rng.uniform(-size, size, theta.shape)), theta)
    np.fill_diagonal(wide, 0.0)
    return wide
