"""The normaliser of every subset by ranked transforms."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from partita.configurations.dense.subsets import SUM, members, recursion, subset_sums
from partita.configurations.optimum import local_search
from partita.records import FloatArray, IntArray

SLACK = 1.0  # by how much a constraint may be violated: a factor e in a weight is harmless
ENOUGH = 5.0  # above the best known configuration by so much: worth a linear program
BLOCKS = 64  # where the worst violations are looked for, one in each
BLOCK_BITS = 14  # of a part of a table that fits the cache


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
    while True:
        cells, excess = _worst_cells(log_w, a)
        worst = int(excess.argmax())
        if excess[worst] <= SLACK:
            return a
        inside = list(members(int(cells[worst])))
        a[inside] += excess[worst] / len(inside)


def _worst_cells(log_w: FloatArray, a: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the cell of each block that violates its constraint most, and by how much."""
    low, high, rows = _in_blocks(a, log_w)
    difference, places = np.empty_like(low), np.empty(len(high), dtype=np.int64)
    excess = np.empty(len(high))
    for number, row in enumerate(rows):
        np.subtract(row, low, out=difference)
        places[number] = place = difference.argmax()
        excess[number] = difference[place] - high[number]
    return places + np.arange(len(high)) * len(low), excess


def _in_blocks(a: FloatArray, table: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the sums of a over subsets of the low and of the high bits, and a table by high bits.

    A row of the table and the sums for it fit a core's own cache.
    """
    bits = min(BLOCK_BITS, len(a) - BLOCKS.bit_length() + 1)
    return subset_sums(a[:bits]), subset_sums(a[bits:]), table.reshape(-1, 1 << bits)


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
    """Return the worst of the violated cells in each 64th of all."""
    cells, excess = (values.reshape(BLOCKS, -1) for values in _worst_cells(log_w, a))
    each, worst = np.arange(BLOCKS), excess.argmax(axis=1)
    violated: IntArray = cells[each, worst][excess[each, worst] > SLACK]
    return violated


FIRST = 10  # templates whose subsets numpy sums up; a product needs at least as many
LARGEST = 17  # open templates of a subtree: more would take too much memory
LANES = np.uint64(8)  # of the kernel
THREADS = 14  # open templates from which two threads are worth their start


def ranked_log_normalisers(theta: FloatArray, log_w: FloatArray) -> FloatArray:
    """Return log Z[S] = log Z'[S] + Σ_{i∈S} a_i; what rounding loses is impossible."""
    a, z = near_dual(theta, log_w), np.empty_like(log_w)
    low, high, rows = _in_blocks(a, z)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for row, log_weights, sum_ in zip(rows, log_w.reshape(rows.shape), high, strict=True):
            np.subtract(log_weights, low, out=row)
            row -= sum_
            np.exp(row, out=row)
        normalise(z)
        for row, sum_ in zip(rows, high, strict=True):
            np.log(np.maximum(row, 0.0, out=row), out=row)
            row += low
            row += sum_
    return z


def normalise(z: FloatArray) -> None:
    """Replace the weight of every cell by Z of that subset."""
    n = len(z).bit_length() - 1
    z[: 1 << FIRST] = recursion(z[: 1 << FIRST], SUM)
    arenas = Arenas(n - 1)
    for i in range(FIRST, n):
        new, old = z[None, 1 << i : 2 << i], z[None, : 1 << i]
        disjoint_product(new, old, [new[0]], arenas)


class Arenas:
    """The memory for all products up to a number of templates, so that it is touched only once.

    Two threads have one arena each. For every template decided before them there are rows of both
    factors, and one of results.
    """

    def __init__(self, bits: int) -> None:
        from partita.configurations.dense.ranked_kernels import level_places

        splits = max(1, bits - LARGEST)
        size = int(level_places(bits - splits, splits, splits)[-1, 0])
        self.two = np.empty(size), np.empty(size)
        halves = [1 << (bits - 1 - depth) for depth in range(splits)]
        self.rows = [np.empty((2, (d + 2) * half)) for d, half in enumerate(halves)]
        self.extra = [np.empty(half) for half in halves]


_Product = tuple[FloatArray, FloatArray, Sequence[FloatArray]]  # both factors, and the results


def disjoint_product(
    f: FloatArray, g: FloatArray, h: Sequence[FloatArray], arenas: Arenas, depth: int = 0
) -> None:
    """Fill h(S) = Σ_{C ⊆ S} f(C)·g(S∖C) for every subset S of at least ten templates; h may be f.

    All have one row. Where templates are decided already (`depth`), there is a row for each number
    of them in a subset. One after another is decided until the halves are small enough for the
    memory; these have two cores. Results without the next template are written to their place,
    except those of the largest size, which only serve to be subtracted.
    """
    half = f.shape[1] // 2
    extra = arenas.extra[depth][:half]
    low, high = [*(row[:half] for row in h), extra], [row[half:] for row in h]
    room = arenas.rows[depth]
    with_next = _with_next(f, room[0]), _with_next(g, room[1]), high
    parts: tuple[_Product, _Product] = with_next, (f[:, :half], g[:, :half], low)
    if half > 1 << LARGEST:
        for part in parts:
            disjoint_product(*part, arenas, depth + 1)
    elif half >= 1 << THREADS and (os.cpu_count() or 1) > 1:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(_undivided, parts, (depth + 1, depth + 1), arenas.two))
    else:
        for part in parts:
            _undivided(part, depth + 1, arenas.two[0])
    for row, smaller in zip(high, low[1:], strict=True):
        row -= smaller


def _with_next(rows: FloatArray, room: FloatArray) -> FloatArray:
    """Return the sums over the subsets with and without the highest open template."""
    count, half = len(rows), rows.shape[1] // 2
    sums = room[: (count + 1) * half].reshape(-1, half)
    sums[:count] = rows[:, :half]
    sums[count] = 0.0
    sums[1:] += rows[:, half:]
    return sums


def _undivided(product: _Product, depth: int, arena: FloatArray) -> None:
    from partita.configurations.dense.ranked_kernels import level_places, subtree

    f, g, h = product
    count, bits = len(f) - 1, f.shape[1].bit_length() - 1
    first, second, results = level_places(bits, count, depth)[0]
    arena[first:second].reshape(count + 1, -1)[:] = f
    arena[second:results].reshape(count + 1, -1)[:] = g
    subtree(arena, bits, count, depth, LANES)
    for size, row in enumerate(h, count):
        row[:] = arena[results + (size << bits) : results + (size + 1 << bits)]
