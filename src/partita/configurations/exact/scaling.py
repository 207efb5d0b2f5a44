"""Divide the weights of cells so that none is too large: w'(C) = w(C)/exp(Σ_{i∈C} a_i).

With a near-feasible dual a of the set-partitioning program (minimise Σ a with Σ_{i∈C} a_i ≥
log w(C) for every cell) no weight is much above 1, and the sum over all configurations is not much
below.
"""

from __future__ import annotations

import numpy as np

from partita.configurations.exact.subsets import (
    BLOCK_BITS,
    SUM,
    cell_values,
    members,
    rows,
    subset_sums,
)
from partita.configurations.optimum import local_search
from partita.core import FloatArray, IntArray

SLACK = 1.0  # by how much a constraint may be violated: a factor e in a weight is harmless
ALMOST = 0.9  # of the slack, which is left where a constraint was violated by more
ENOUGH = 8.0  # above the best known configuration by so much: worth a linear program
SAFE = 600.0  # nats by which a product of weights may grow
BLOCKS = 64  # where the worst violations are looked for, one in each


def moderate(log_w: FloatArray, theta: FloatArray | None) -> bool:
    """Return whether no sum over configurations is too large for a number."""
    if theta is not None:
        return bool(np.maximum(theta, 0.0).sum() / 2.0 <= SAFE)
    n = len(log_w).bit_length() - 1
    return bool(n * log_w.max() <= SAFE)


def near_dual(log_w: FloatArray, precise: bool) -> FloatArray:
    """Return a: half of each template's log-odds to its cell in a good configuration, repaired.

    Where that is not enough, or a precise answer is wanted, a linear program is solved.
    """
    own, theta = _pair_log_odds(log_w)
    labels = local_search(theta)
    together = labels[:, None] == labels[None, :]
    start = own + 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    a = _raise_duals(start, log_w)
    enough = a.sum() - start.sum() <= ENOUGH and not precise
    return a if enough else _solve_program(log_w, a)


def _pair_log_odds(log_w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log w of single templates, and what it is to join two of them (−∞: impossible)."""
    bits = 1 << np.arange(len(log_w).bit_length() - 1)
    own = log_w[bits]
    theta = log_w[bits[:, None] | bits] - own[:, None] - own
    np.fill_diagonal(theta, 0.0)
    return own, theta


def _raise_duals(a: FloatArray, log_w: FloatArray) -> FloatArray:
    """Raise a until no cell is violated, the members of the worst cell sharing what is missing."""
    a, blocks = a.copy(), np.arange(len(rows(log_w)))
    while True:
        cells, excess = _worst_cells(log_w, a, blocks)
        blocks = blocks[excess > SLACK]  # a rises: what is not violated now never will be
        if not len(blocks):
            return a
        worst = int(excess.argmax())
        inside = list(members(int(cells[worst])))
        a[inside] += (excess[worst] - ALMOST * SLACK) / len(inside)


def _worst_cells(log_w: FloatArray, a: FloatArray, blocks: IntArray) -> tuple[IntArray, FloatArray]:
    """Return the cell of each block that violates its constraint most, and by how much."""
    low, high = block_sums(a)
    table, difference = rows(log_w), np.empty_like(low)
    places, excess = np.empty(len(blocks), dtype=np.int64), np.empty(len(blocks))
    for number, block in enumerate(blocks):
        np.subtract(table[block], low, out=difference)
        places[number] = place = difference.argmax()
        excess[number] = difference[place] - high[block]
    return places + blocks * len(low), excess


def block_sums(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of a over subsets of the low bits, for a row, and of the high bits."""
    return subset_sums(a[:BLOCK_BITS]), subset_sums(a[BLOCK_BITS:])


def _solve_program(log_w: FloatArray, fallback: FloatArray) -> FloatArray:
    """Solve the linear program, adding constraints as they are violated."""
    from scipy.optimize import linprog

    n = len(fallback)
    a, rows, bounds = _pair_log_odds(log_w)[0], np.zeros((0, n)), np.zeros(0)
    least = [(value, None) for value in a.tolist()]
    while len(cells := _violated_cells(log_w, a)):
        rows = np.vstack([rows, cells[:, None] >> np.arange(n) & 1])
        bounds = np.concatenate([bounds, log_w[cells]])
        solution = linprog(np.ones(n), A_ub=-rows, b_ub=-bounds, bounds=least, method="highs")
        if not solution.success:
            return fallback
        a = solution.x
    return a


def _violated_cells(log_w: FloatArray, a: FloatArray) -> IntArray:
    """Return the worst of the violated cells in each 64th of all."""
    cells, excess = _worst_cells(log_w, a, np.arange(len(rows(log_w))))
    blocks = min(BLOCKS, len(cells))
    cells, excess = cells.reshape(blocks, -1), excess.reshape(blocks, -1)
    each, worst = np.arange(blocks), excess.argmax(axis=1)
    violated: IntArray = cells[each, worst][excess[each, worst] > SLACK]
    return violated


def scaled_weights(log_w: FloatArray, theta: FloatArray | None, a: FloatArray) -> FloatArray:
    """Return w' of every cell; by multiplications alone where weights are products over pairs.

    These are used where none overflows: a product that is too small for a number cannot become one
    that matters there.
    """
    if theta is not None and np.maximum(theta, 0.0).sum() / 2.0 + np.abs(a).sum() <= SAFE:
        w = cell_values(np.exp(theta), np.exp(-a), SUM)
        w[0] = 0.0
        return w
    w, (low, high) = np.empty_like(log_w), block_sums(a)
    for row, log_weights, sum_ in zip(rows(w), rows(log_w), high, strict=True):
        np.subtract(log_weights, low, out=row)
        row -= sum_
        np.exp(row, out=row)
    return w
