"""Moves that raise the log-weight of a configuration: one template, or a chain between two cells.

With gains[c, i] = Σ_{j in cell c} θ_ij, moving i from a to b changes the log-weight by
gains[b, i] − gains[a, i]. Plain loops over arrays: run as they are on a small set, compiled on a
large one.
"""

from __future__ import annotations

import numpy as np

from partita.records import FloatArray, IntArray


def single_moves(
    theta: FloatArray, order: IntArray, labels: IntArray, gains: FloatArray, tolerance: float
) -> bool:
    """Move single templates to their best cell (an empty one counts) until none gains."""
    changed = False
    for _ in range(100):
        moved = False
        for i in order:
            here = labels[i]
            there = np.argmax(gains[:, i])
            if gains[there, i] > gains[here, i] + tolerance:
                gains[here] -= theta[i]
                gains[there] += theta[i]
                labels[i] = there
                moved = True
        if not moved:
            break
        changed = True
    return changed


def chain_moves(
    theta: FloatArray, labels: IntArray, gains: FloatArray, tolerance: float, a: int, b: int
) -> bool:
    """Kernighan and Lin: move templates between cells a and b, each once, best first.

    The prefix of moves with the largest sum is kept. A merge is the chain that empties a cell, a
    split one that fills an empty cell.
    """
    members = np.flatnonzero((labels == a) | (labels == b))
    m = len(members)
    gain = np.empty(m)
    for k in range(m):
        u = members[k]
        gain[k] = gains[b, u] - gains[a, u] if labels[u] == a else gains[a, u] - gains[b, u]
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
        gains[here] -= theta[u]
        gains[there] += theta[u]
        labels[u] = there
    return kept > 0
