"""A good configuration quickly, by moves that raise Σ_{i<j together} θ_ij."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from partita.configurations.optimum import moves as optimum_moves
from partita.records import FloatArray, IntArray, restricted_growth

SMALL = 14  # up to here plain Python is quicker than loading the compiler
CHAINS = 400  # the most cells between which chains of moves are tried


class _Moves(NamedTuple):
    single: Callable[[FloatArray, IntArray, IntArray, FloatArray, float], bool]
    chain: Callable[[FloatArray, IntArray, FloatArray, float, int, int], bool]


def local_search(theta: FloatArray, starts: int = 1) -> IntArray:
    """A configuration that no single move and no chain between two cells improves.

    Each start begins with every template alone and visits them in another order.
    """
    finite, tolerance = _finite(theta)
    n = len(theta)
    moves = _compiled() if n > SMALL else _Moves(optimum_moves.single_moves, _chain)
    found = [_climb(finite, _visit(n, start), tolerance, moves) for start in range(max(1, starts))]
    scores = [score(theta, labels) for labels in found]
    return restricted_growth(found[int(np.argmax(scores))])


def score(theta: FloatArray, labels: IntArray) -> float:
    """The log-weight of a configuration."""
    together = np.triu(labels[:, None] == labels[None, :], 1)
    return float(theta[together].sum())


def _finite(theta: FloatArray) -> tuple[FloatArray, float]:
    """Incompatible as a loss that no gain can outweigh; below the tolerance all is rounding."""
    possible = np.isfinite(theta)
    loss = 1.0 + np.abs(theta[possible]).sum()
    return np.where(possible, theta, -loss), 1e-14 * len(theta) * loss


def _visit(n: int, start: int) -> IntArray:
    """The start-th order of visits: every s-th template in turn, s prime to n."""
    strides = [s for s in range(1, n + 1) if math.gcd(s, n) == 1] or [1]
    stride = strides[(start * 7) % len(strides)]
    return (np.arange(n) * stride + start) % max(n, 1)


def _climb(theta: FloatArray, order: IntArray, tolerance: float, moves: _Moves) -> IntArray:
    labels = np.arange(len(theta))
    gains = theta.copy()
    changed = True
    while changed:
        moves.single(theta, order, labels, gains, tolerance)
        changed = _chains(theta, labels, gains, tolerance, moves)
    return labels


def _chains(
    theta: FloatArray, labels: IntArray, gains: FloatArray, tolerance: float, moves: _Moves
) -> bool:
    """Chains between all cells that hold two or more, and from each of them to an empty one."""
    sizes = np.bincount(labels, minlength=len(labels))
    cells = np.flatnonzero(sizes > 1)[:CHAINS]
    changed = False
    for n, a in enumerate(cells):
        for b in (*_empty(labels), *cells[:n]):
            changed |= moves.chain(theta, labels, gains, tolerance, int(a), int(b))
    return changed


def _empty(labels: IntArray) -> IntArray:
    """One label that no template has, if there is one."""
    return np.flatnonzero(np.bincount(labels, minlength=len(labels)) == 0)[:1]


def _chain(
    theta: FloatArray, labels: IntArray, gains: FloatArray, tolerance: float, a: int, b: int
) -> bool:
    return bool(optimum_moves.chain_moves(theta, labels, gains, tolerance, a, b))


@cache
def _compiled() -> _Moves:
    from partita.compilation import kernel

    compile_ = kernel()
    return _Moves(compile_(optimum_moves.single_moves), compile_(optimum_moves.chain_moves))
