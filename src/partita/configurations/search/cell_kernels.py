"""Compiled: cells of small reduced cost r(C) = Σ_{i∈C} a_i − Σ_{i<j∈C} θ_ij."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.core import FloatArray, IntArray

Masks = NDArray[np.uint64]

DONE, PAUSED, FULL = 0, 1, 2


@kernel(native=True)
def descend(theta: FloatArray, a: FloatArray, below: float, found: FloatArray) -> int:
    """Find distinct cells with r < below, as rows of 0 and 1, grown from every template.

    `theta` (n, n) are log-odds, 0 on the diagonal and very low, but finite, for incompatible pairs;
    `a` (n) are the prices of templates. Rows of `found` (n, n), the caller's, are written; their
    number is returned. `inside` is the cell at hand, r its reduced cost and x[u] = Σ_{i inside}
    θ_iu, so that adding u lowers r by x[u] − a[u]. The best single change is made until none lowers
    r; the seed stays.
    """
    n = len(a)
    count = 0
    for seed in range(n):
        x = theta[seed].copy()
        inside = np.zeros(n)
        inside[seed] = 1.0
        r = a[seed]
        for _ in range(4 * n):
            best, chosen = 1e-12, -1
            for u in range(n):
                gain = a[u] - x[u] if inside[u] else x[u] - a[u]
                if gain > best and (u != seed):
                    best, chosen = gain, u
            if chosen < 0:
                break
            r -= best
            sign = -1.0 if inside[chosen] else 1.0
            inside[chosen] += sign
            for u in range(n):
                x[u] += sign * theta[chosen, u]
        if r < below:
            known = False
            for k in range(count):
                known = known or bool(np.all(found[k] == inside))
            if not known:
                found[count] = inside
                count += 1
    return count


@kernel(native=True)
def project(
    rows: FloatArray, weights: FloatArray, a: FloatArray, total: float, tolerance: float
) -> bool:
    """Move a until rows·a ≥ weights, a ≥ 0 and Σa ≤ total, all within the tolerance.

    Projections on one half-space after another, a little too far (1.5) to arrive inside: the
    relaxation method of Agmon, and of Motzkin and Schoenberg (1954). `rows` (cells, n) are of 0 and
    1; `a` (n) is changed in place. False after 300 rounds: there may be no such a.
    """
    n = len(a)
    for _ in range(300):
        worst = 0.0
        for k in range(len(rows)):
            size, value = 0.0, 0.0
            for u in range(n):
                value += rows[k, u] * a[u]
                size += rows[k, u]
            lacking = weights[k] - value
            if lacking > 0.0:
                worst = max(worst, lacking)
                for u in range(n):
                    a[u] += rows[k, u] * 1.5 * lacking / size
        surplus = -total
        for u in range(n):
            a[u] = max(a[u], 0.0)
            surplus += a[u]
        if surplus > 0.0:
            worst = max(worst, surplus)
            for u in range(n):
                a[u] -= surplus / n
        if worst <= tolerance:
            return True
    return False


@kernel()
def most_off(x: FloatArray, a: FloatArray, half: FloatArray, u: int) -> float:
    """Return the most that templates from u on can take off the reduced cost of a cell."""
    alone, mixed = 0.0, 0.0
    for w in range(u, len(a)):
        alone += max(x[w], 0.0)
        mixed += max(x[w] - a[w] + half[w], 0.0)
    return min(alone, mixed)


@kernel(native=True)
def cheap_cells(
    theta: FloatArray,
    a: FloatArray,
    half: FloatArray,
    below: float,
    x: FloatArray,
    r: FloatArray,
    following: IntArray,
    place: IntArray,
    stack: Masks,
    masks: Masks,
    costs: FloatArray,
    nodes: int,
) -> int:
    """List all cells with r < below, depth first; can be paused and goes on from its arrays.

    With x_w = Σ_{i∈C} θ_iw, what templates from u on can still take off r(C) is at most Σ_w max(0,
    x_w), because a cell of them alone has r ≥ 0, and at most Σ_w max(0, x_w − a_w + half[u, w]),
    where half[u, w] = ½ Σ_{v ≥ u} max(0, θ_wv). `place` holds the depth, the number of cells found
    and the nodes of this call.

    At each depth d up to place[0], stack[d] is the mask of a cell of d templates, r[d] its reduced
    cost, x[d, w] its x_w for the templates w after its last one, and following[d] the next template
    to add. The first place[1] rows of `masks` and `costs` are the cells found. All of these belong
    to the caller, who makes more room when they are FULL.
    """
    n = len(a)
    depth, count = place[0], place[1]
    status = DONE
    while depth >= 0:
        u = following[depth]
        if u >= n:
            depth -= 1
            continue
        if place[2] >= nodes:
            status = PAUSED
            break
        if count >= len(costs):
            status = FULL
            break
        place[2] += 1
        if depth > 0 and r[depth] - most_off(x[depth], a, half[u], u) >= below:
            depth -= 1
            continue
        following[depth] = u + 1
        cost = r[depth] + a[u] - x[depth, u]
        if cost == np.inf:
            continue
        for w in range(u + 1, n):
            x[depth + 1, w] = x[depth, w] + theta[u, w]
        depth += 1
        r[depth] = cost
        stack[depth] = stack[depth - 1]
        stack[depth, u >> 6] |= np.uint64(1) << np.uint64(u & 63)
        following[depth] = u + 1
        if cost < below:
            masks[count] = stack[depth]
            costs[count] = cost
            count += 1
    place[0], place[1] = depth, count
    return status
