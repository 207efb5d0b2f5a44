"""Beam search: the most probable beginnings of configurations, extended mention by mention.

A configuration is never more probable than its beginnings, so nothing that was dropped comes above
the best beginning that was dropped.
"""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel
from partita.configurations.joint.cells_kernels import CELL_COLUMNS, Mentions, State, place
from partita.configurations.joint.network_kernels import Network, choices, scratch
from partita.records import FloatArray, IntArray


@kernel()
def beam(
    mentions: Mentions, network: Network, n: int, width: int
) -> tuple[IntArray, FloatArray, float]:
    """Return rows of labels, their log P from the highest down, and the highest log P dropped."""
    old, new = _states(n, width), _states(n, width)
    counts, fresh = np.zeros(width, np.int64), np.zeros(width, np.int64)
    scores, kept, dropped = np.zeros(width), 1, -np.inf
    room, logs = scratch(n, network[0].shape[1]), np.zeros(n + 1)
    for j in range(n):
        pool = np.full(kept * (j + 1), -np.inf)
        for b in range(kept):
            choices(mentions, network, _of(old, b), j, counts[b], room, logs)
            for c in range(counts[b] + 1):
                pool[b * (j + 1) + c] = scores[b] + logs[c]
        chosen, best_dropped = _strongest(pool, width)
        dropped = max(dropped, best_dropped)
        kept = len(chosen)
        for b in range(kept):
            parent, c = chosen[b] // (j + 1), chosen[b] % (j + 1)
            _copy(_of(old, parent), _of(new, b), j, counts[parent])
            fresh[b] = place(mentions, _of(new, b), j, c, counts[parent])
            scores[b] = pool[chosen[b]]
        old, new = new, old
        counts, fresh = fresh, counts
    return old[0][:kept].copy(), scores[:kept].copy(), dropped


@kernel()
def _states(n: int, width: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    return (
        np.zeros((width, n), np.int64),
        np.zeros((width, n), np.int64),
        np.zeros((width, n, CELL_COLUMNS), np.int64),
        np.zeros((width, n), np.int64),
    )


@kernel()
def _of(states: tuple[IntArray, IntArray, IntArray, IntArray], b: int) -> State:
    return states[0][b], states[1][b], states[2][b], states[3][b]


@kernel()
def _copy(source: State, target: State, j: int, count: int) -> None:
    target[0][:j], target[1][:j] = source[0][:j], source[1][:j]
    target[2][:count], target[3][:count] = source[2][:count], source[3][:count]


@kernel()
def _strongest(pool: FloatArray, width: int) -> tuple[IntArray, float]:
    """Return the places of the highest values, highest first, and the highest one left out."""
    possible = np.flatnonzero(pool > -np.inf)
    values = pool[possible]
    if len(values) > width:
        edge = np.partition(values, len(values) - width)[len(values) - width]
        possible = possible[values >= edge]
    order = np.argsort(-pool[possible], kind="mergesort")
    chosen = possible[order[:width]]
    left = -np.inf
    if len(values) > len(chosen):
        lowest = pool[chosen[-1]]
        below = values[values < lowest]
        tied = len(possible) > len(chosen)
        left = lowest if tied else (below.max() if len(below) else -np.inf)
    return chosen, left
