"""Find the most probable configuration.

The kernels change `labels` (n, the cell of each template) and `gains` (n × cells) in place:
gains[i, c] = Σ_{j in c} θ_ij with θ_ii = 0, which every move keeps; `theta` (n × n) are log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from partita.compilation import kernel, plain
from partita.core import FloatArray, IntArray, restricted_growth


@kernel(entry="f8[:,:], i8[:], i8[:], f8[:,:], f8")
def single_moves(
    theta: FloatArray, order: IntArray, labels: IntArray, gains: FloatArray, tolerance: float
) -> bool:
    """Move templates in this `order` to their best cell (an empty one counts) until none gains."""
    changed = False
    for _ in range(100):
        moved = False
        for i in order:
            here = labels[i]
            there = np.argmax(gains[i])
            if gains[i, there] > gains[i, here] + tolerance:
                gains[:, here] -= theta[i]
                gains[:, there] += theta[i]
                labels[i] = there
                moved = True
        if not moved:
            break
        changed = True
    return changed


@kernel(entry="f8[:,:], i8[:], f8[:,:], f8, i8, i8")
def chain_moves(
    theta: FloatArray, labels: IntArray, gains: FloatArray, tolerance: float, a: int, b: int
) -> bool:
    """Move templates between cells a and b, each once, best first (Kernighan and Lin).

    The prefix of moves with the largest sum is kept. A merge is the chain that empties a cell, a
    split one that fills an empty cell.
    """
    members = np.flatnonzero((labels == a) | (labels == b))
    m = len(members)
    gain = np.empty(m)
    for k in range(m):
        u = members[k]
        gain[k] = gains[u, b] - gains[u, a] if labels[u] == a else gains[u, a] - gains[u, b]
    side = labels[members] == a
    first, free = side.copy(), np.ones(m, dtype=np.bool_)
    moved = np.empty(m, dtype=np.int64)
    total, best, kept = 0.0, tolerance, 0
    for step in range(m):
        k = int(np.argmax(np.where(free, gain, -np.inf)))
        total += gain[k]
        moved[step], free[k] = k, False
        for other in range(m):
            step_gain = 2.0 * theta[members[k], members[other]]
            gain[other] += step_gain if side[other] == side[k] else -step_gain
        side[k] = not side[k]
        if total > best:
            best, kept = total, step + 1
    for k in moved[:kept]:
        u = members[k]
        here, there = (a, b) if first[k] else (b, a)
        gains[:, here] -= theta[u]
        gains[:, there] += theta[u]
        labels[u] = there
    return kept > 0


SMALL = 12  # up to here plain Python is quicker than loading the compiled code
CHAINS = 400  # the most cells between which chains of moves are tried


class _Moves(NamedTuple):
    single: Callable[[FloatArray, IntArray, IntArray, FloatArray, float], bool]
    chain: Callable[[FloatArray, IntArray, FloatArray, float, int, int], bool]


def local_search(theta: FloatArray, starts: int = 1) -> IntArray:
    """Return a configuration that no single move and no chain between two cells improves.

    Each start begins with every template alone and visits them in another order.
    """
    finite, tolerance = _finite(theta)
    n = len(theta)
    moves = _Moves(single_moves, chain_moves)
    if n <= SMALL:
        moves = _Moves(plain(single_moves), plain(chain_moves))
    configurations = [
        _climb(finite, _visit(n, start), tolerance, moves) for start in range(max(1, starts))
    ]
    scores = [score(theta, labels) for labels in configurations]
    return restricted_growth(configurations[int(np.argmax(scores))])


def single_move_search(theta: FloatArray) -> IntArray:
    """Return the labels of a configuration that hardly any single move improves."""
    finite, tolerance = _finite(theta)
    labels = np.arange(len(theta))
    single_moves(finite, labels.copy(), labels, finite.copy(), tolerance)
    return labels


def score(theta: FloatArray, labels: IntArray) -> float:
    """Return the log-weight of a configuration."""
    together = np.triu(labels[:, None] == labels[None, :], 1)
    return float(theta[together].sum())


def _finite(theta: FloatArray) -> tuple[FloatArray, float]:
    """Replace −∞ (incompatible) by a loss that no gain can outweigh, above the rounding."""
    possible = np.isfinite(theta)
    loss = 1.0 + np.abs(theta[possible]).sum()
    return np.where(possible, theta, -loss), 1e-14 * len(theta) * loss


def _visit(n: int, start: int) -> IntArray:
    """Return the start-th order of visits: every s-th template in turn, s prime to n."""
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
    """Try chains between all cells of two or more, and from each of them to an empty one."""
    sizes = np.bincount(labels, minlength=len(labels))
    cells = np.flatnonzero(sizes > 1)[:CHAINS]
    changed = False
    for n, a in enumerate(cells):
        for b in (*_empty(labels), *cells[:n]):
            changed |= moves.chain(theta, labels, gains, tolerance, int(a), int(b))
    return changed


def _empty(labels: IntArray) -> IntArray:
    """Return one label that no template has, if there is one."""
    return np.flatnonzero(np.bincount(labels, minlength=len(labels)) == 0)[:1]
