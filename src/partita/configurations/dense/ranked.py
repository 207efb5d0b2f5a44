"""The normaliser of every subset by ranked transforms."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from partita.configurations.dense.subsets import SUM, members, recursion, subset_sums
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
    while (excess := _excess(log_w, a)).max() > SLACK:
        worst = int(excess.argmax())
        inside = list(members(worst))
        a[inside] += excess[worst] / len(inside)
    return a


def _excess(log_w: FloatArray, a: FloatArray) -> FloatArray:
    """Return by how much every cell violates its constraint."""
    sums = subset_sums(a)
    return np.subtract(log_w, sums, out=sums)


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
    excess = _excess(log_w, a).reshape(BLOCKS, -1)
    worst = excess.argmax(axis=1)
    violated = excess[np.arange(BLOCKS), worst] > SLACK
    cells: IntArray = (worst + np.arange(BLOCKS) * excess.shape[1])[violated]
    return cells


FIRST = 10  # templates whose subsets numpy sums up; a product needs at least as many
LARGEST = 19  # open templates of a subtree: more would take too much memory
LANES = np.uint64(8)  # of the kernel
THREADS = 14  # open templates from which two threads are worth their start


def ranked_log_normalisers(theta: FloatArray, log_w: FloatArray) -> FloatArray:
    """Return log Z[S] = log Z'[S] + Σ_{i∈S} a_i; what rounding loses is impossible."""
    a = subset_sums(near_dual(theta, log_w))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        weights = log_w - a
        z = normalisers(np.exp(weights, out=weights))
        np.log(np.maximum(z, 0.0, out=z), out=z)
    z += a
    return z


def normalisers(weights: FloatArray) -> FloatArray:
    """Return Z of every subset, from the weight of every cell."""
    n = len(weights).bit_length() - 1
    z = np.empty(len(weights))
    z[: 1 << FIRST] = recursion(weights[: 1 << FIRST], SUM)
    arenas = Arenas(n - 1)
    for i in range(FIRST, n):
        new, old = slice(1 << i, 2 << i), slice(1 << i)
        disjoint_product(weights[None, new], z[None, old], z[None, new], arenas)
    return z


class Arenas:
    """The memory of two threads for all products up to a number of templates."""

    def __init__(self, bits: int) -> None:
        from partita.configurations.dense.ranked_kernels import level_places

        splits = max(1, bits - LARGEST)
        size = int(level_places(bits - splits, splits, splits)[-1, 0])
        self.two = np.empty(size), np.empty(size)


def disjoint_product(
    f: FloatArray, g: FloatArray, h: FloatArray, arenas: Arenas, depth: int = 0
) -> None:
    """Fill h(S) = Σ_{C ⊆ S} f(C)·g(S∖C) for every subset S of at least ten templates.

    All are matrices of one row. Where templates are decided already (`depth`), there is a row for
    each number of them in a subset. One after another is decided until the halves are small enough
    for the memory; these have two cores.
    """
    half = f.shape[1] // 2
    factors = (f[:, :half], g[:, :half]), (_with_next(f), _with_next(g))
    if half <= 1 << LARGEST:
        work = [(*pair, depth + 1, arena) for pair, arena in zip(factors, arenas.two, strict=True)]
        if half >= 1 << THREADS and (os.cpu_count() or 1) > 1:
            with ThreadPoolExecutor(2) as pool:
                without, with_next = pool.map(lambda given: _undivided(*given), work)
        else:
            without, with_next = (_undivided(*given) for given in work)
    else:
        without, with_next = np.empty((len(h) + 1, half)), np.empty((len(h), half))
        for pair, results in zip(factors, (without, with_next), strict=True):
            disjoint_product(*pair, results, arenas, depth + 1)
    h[:, :half] = without[:-1]
    np.subtract(with_next, without[1:], out=h[:, half:])


def _with_next(rows: FloatArray) -> FloatArray:
    """Return the sums over the subsets with and without the highest open template."""
    count, half = len(rows), rows.shape[1] // 2
    sums = np.zeros((count + 1, half))
    sums[:count] = rows[:, :half]
    sums[1:] += rows[:, half:]
    return sums


def _undivided(f: FloatArray, g: FloatArray, depth: int, arena: FloatArray) -> FloatArray:
    from partita.configurations.dense.ranked_kernels import level_places, subtree

    count, bits = len(f) - 1, f.shape[1].bit_length() - 1
    first, second, results = level_places(bits, count, depth)[0]
    arena[first:second].reshape(count + 1, -1)[:] = f
    arena[second:results].reshape(count + 1, -1)[:] = g
    subtree(arena, bits, count, depth, LANES)
    return arena[results + (count << bits) : results + (depth + 1 << bits)].reshape(-1, 1 << bits)
