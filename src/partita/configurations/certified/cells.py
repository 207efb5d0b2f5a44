"""Cells that begin with one template, and a bound on all that are left out, in compiled loops.

With prices b, v(C) = w(C)·exp(−b(C)). Prices are such that Σ_{C: min C = u} v(C) ≤ 1 for every u;
then Z(R) ≤ exp(b(R)) for every set R of templates, because the first of R chooses a cell:
Z(R) = Σ_C w(C)·Z(R∖C) ≤ exp(b(R))·Σ_C v(C).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.records import FloatArray, IntArray

Masks = NDArray[np.uint64]


@kernel()
def plus(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    high, low = max(a, b), min(a, b)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


@kernel()
def subtree(x: FloatArray, b: FloatArray, half: FloatArray, u: int) -> float:
    """A bound on log Σ_T v(T)·exp(x(T)) over subsets T from u on, by w(T) ≤ exp(half(T))."""
    total = 0.0
    for w in range(u, len(b)):
        z = x[w] - b[w] + half[w]
        if z > -40.0:
            total += max(z, 0.0) + math.log1p(math.exp(-abs(z)))
        elif z > -np.inf:
            total += 1e-17
    return total


@kernel()
def step(theta: FloatArray, x: FloatArray, rest: FloatArray, depth: int, u: int) -> None:
    """Add u to the cell at this depth: its log-odds to all later ones, and their positive sums."""
    total = 0.0
    n = len(theta)
    rest[depth + 1, n] = 0.0
    for w in range(n - 1, u, -1):
        x[depth + 1, w] = x[depth, w] + theta[u, w]
        total += max(x[depth + 1, w], 0.0)
        rest[depth + 1, w] = total


@kernel()
def cells_from(
    theta: FloatArray,
    b: FloatArray,
    half: FloatArray,
    first: int,
    least: float,
    masks: Masks,
    logs: FloatArray,
    nodes: int,
) -> tuple[int, float, int]:
    """Cells C with min C = first and log v(C) + b_first ≥ least; what is left out; nodes visited.

    All T with min T = u have Σ v(T) ≤ 1, hence together with the cell C so far at most
    v(C)·exp(x_u + Σ_{w>u} max(0, x_w)); `subtree` bounds the same in another way. A branch whose
    bound is below `least` is left out and its bound kept; so is every branch once the nodes are
    used up or the arrays are full.
    """
    n = len(b)
    x, rest = np.empty((n + 1, n)), np.empty((n + 1, n + 1))  # rows are written when reached
    x[0] = 0.0
    value, following = np.zeros(n + 1), np.zeros(n + 1, dtype=np.int64)
    step(theta, x, rest, 0, first)
    masks[0] = np.uint64(0)
    masks[0, first >> 6] = np.uint64(1) << np.uint64(first & 63)
    stack = np.empty((n + 1, masks.shape[1]), dtype=np.uint64)
    stack[1] = masks[0]
    logs[0], count, visited, left_out = 0.0, 1, 0, -np.inf
    depth, following[1] = 1, first + 1
    while depth > 0:
        u = following[depth]
        if u >= n:
            depth -= 1
            continue
        following[depth] = u + 1
        visited += 1
        if x[depth, u] == -np.inf:
            continue
        bound = value[depth] + x[depth, u] + rest[depth, u + 1]
        child = value[depth] + x[depth, u] - b[u]
        if bound >= least and visited <= nodes:
            step(theta, x, rest, depth, u)
            if u + 1 < n:
                bound = min(bound, child + subtree(x[depth + 1], b, half[u + 1], u + 1))
            else:
                bound = min(bound, child)
        if bound < least or visited > nodes or count >= len(logs):
            left_out = plus(left_out, bound)
            continue
        depth += 1
        value[depth], following[depth] = child, u + 1
        stack[depth] = stack[depth - 1]
        stack[depth, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
        masks[count], logs[count] = stack[depth], child
        count += 1
    return count, left_out, visited


@kernel()
def members(cell: Masks, n: int, room: IntArray) -> int:
    """Write the templates of a cell; returns their number."""
    size = 0
    for i in range(n):
        if (cell[i >> 6] >> np.uint64(i & 63)) & np.uint64(1):
            room[size] = i
            size += 1
    return size
