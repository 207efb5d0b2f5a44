"""The normaliser of every subset by ranked transforms."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from partita.configurations.dense.subsets import SMALL, SUM, members, recursion, subset_sums
from partita.configurations.optimum import local_search
from partita.records import FloatArray, IntArray

SLACK = 1.0  # by how much a constraint may be violated: a factor e in a weight is harmless
ENOUGH = 5.0  # above the best known configuration by so much: worth a linear program
BLOCKS = 64  # where the worst violations are looked for, one in each


def near_dual(theta: FloatArray, log_w: FloatArray) -> FloatArray:
    """Return a: half of each template's log-odds to its cell in a good configuration, repaired."""
    labels = local_search(theta)
    together = labels[:, None] == labels[None, :]
    start = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    a = _raise_duals(start, log_w)
    return a if a.sum() - start.sum() <= ENOUGH else _solve_program(log_w, a)


def _raise_duals(a: FloatArray, log_w: FloatArray) -> FloatArray:
    """Raise a until no cell is violated, the members of the worst cell sharing what is missing."""
    a = a.copy()
    while (excess := log_w - subset_sums(a)).max() > SLACK:
        worst = int(excess.argmax())
        inside = list(members(worst))
        a[inside] += excess[worst] / len(inside)
    return a


def _solve_program(log_w: FloatArray, fallback: FloatArray) -> FloatArray:
    """Solve the linear program, adding constraints as they are violated."""
    from scipy.optimize import linprog

    n = len(fallback)
    a, rows, bounds = np.zeros(n), np.zeros((0, n)), np.zeros(0)
    while len(cells := _violated_cells(log_w, a)):
        rows = np.vstack([rows, cells[:, None] >> np.arange(n) & 1])
        bounds = np.concatenate([bounds, log_w[cells]])
        solution = linprog(np.ones(n), A_ub=-rows, b_ub=-bounds, method="highs")
        if not solution.success:
            return fallback
        a = solution.x
    return a


def _violated_cells(log_w: FloatArray, a: FloatArray) -> IntArray:
    """Return the worst violated cell of each block of subsets."""
    excess = (log_w - subset_sums(a)).reshape(BLOCKS, -1)
    worst = excess.argmax(axis=1)
    violated = excess[np.arange(BLOCKS), worst] > SLACK
    cells: IntArray = (worst + np.arange(BLOCKS) * excess.shape[1])[violated]
    return cells


LEAF_BITS = 9  # the last bits, transformed together in the cache


def ranked_log_normalisers(theta: FloatArray, log_w: FloatArray) -> FloatArray:
    """Return log Z[S] = log Z'[S] + Σ_{i∈S} a_i; what rounding loses is impossible."""
    a = subset_sums(near_dual(theta, log_w))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        z = normalisers(np.exp(log_w - a))
        np.log(np.maximum(z, 0.0, out=z), out=z)
    z += a
    return z


def normalisers(weights: FloatArray) -> FloatArray:
    """Return Z of every subset, from the weight of every cell."""
    z = np.empty(len(weights))
    z[: 1 << SMALL] = recursion(weights[: 1 << SMALL], SUM)
    for i in range(SMALL, len(weights).bit_length() - 1):
        z[1 << i : 2 << i] = disjoint_product(weights[1 << i : 2 << i], z[: 1 << i])
    return z


def disjoint_product(f: FloatArray, g: FloatArray) -> FloatArray:
    """Return h(S) = Σ_{C ⊆ S} f(C)·g(S∖C) for every subset S, the halves on two cores."""
    from partita.configurations.dense.kernels import ascend

    root = np.empty((3, len(f)))
    root[0], root[2] = f, g
    if (os.cpu_count() or 1) > 1:
        with ThreadPoolExecutor(2) as pool:
            halves = list(pool.map(_half, (root, root), (0, 1)))
    else:
        halves = [_half(root, 0), _half(root, 1)]
    for bit, half in enumerate(halves):
        ascend(root, half, 0, bit)
    product: FloatArray = root[1]
    return product


def _half(root: FloatArray, bit: int) -> FloatArray:
    """Return the results below the root's child without or with the highest template."""
    from partita.configurations.dense.kernels import descend, level_of, subtree

    n = root.shape[1].bit_length() - 1
    starts = _level_starts(n)
    arena = np.empty(starts[-1])
    level: FloatArray = level_of(arena, starts, n, 1)
    descend(root, level, 0, bit)
    subtree(arena, starts, n, 1, bit, _sizes())
    return level


def _level_starts(n: int) -> IntArray:
    """Return where each level begins in an arena that starts with level 1 (level 0 is shared)."""
    sizes = [(2 * d + 3) << (n - d) for d in range(1, n - LEAF_BITS + 1)]
    return np.concatenate([[0, 0], np.cumsum(sizes)]).astype(np.int64)


def _sizes() -> IntArray:
    """Return the number of members of every subset of the last bits."""
    return np.bitwise_count(np.arange(1 << LEAF_BITS)).astype(np.int64)
