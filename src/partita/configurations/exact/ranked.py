"""The normaliser of every subset by ranked transforms."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from partita.configurations.exact.ranked_kernels import (
    PADDING,
    add_results,
    level_places,
    scratch_size,
    subtree,
    sum_rows,
)
from partita.configurations.exact.subsets import SUM, cell_values, members, recursion, subset_sums
from partita.configurations.exact.tables import BLOCK_BITS, rows
from partita.configurations.optimum import local_search
from partita.core import FloatArray, IntArray

SLACK = 1.0  # by how much a constraint may be violated: a factor e in a weight is harmless
ALMOST = 0.9  # of the slack, which is left where a constraint was violated by more
ENOUGH = 8.0  # above the best known configuration by so much: worth a linear program
SAFE = 600.0  # nats by which a product of weights may grow
BLOCKS = 64  # where the worst violations are looked for, one in each


def near_dual(theta: FloatArray, log_w: FloatArray, precise: bool) -> FloatArray:
    """Return a: half of each template's log-odds to its cell in a good configuration, repaired.

    Where that is not enough, or a precise answer is wanted, a linear program is solved.
    """
    labels = local_search(theta)
    together = labels[:, None] == labels[None, :]
    start = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    a = _raise_duals(start, log_w)
    enough = a.sum() - start.sum() <= ENOUGH and not precise
    return a if enough else _solve_program(log_w, a)


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
    low, high = _block_sums(a)
    table, difference = rows(log_w), np.empty_like(low)
    places, excess = np.empty(len(blocks), dtype=np.int64), np.empty(len(blocks))
    for number, block in enumerate(blocks):
        np.subtract(table[block], low, out=difference)
        places[number] = place = difference.argmax()
        excess[number] = difference[place] - high[block]
    return places + blocks * len(low), excess


def _block_sums(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of a over subsets of the low bits, for a row, and of the high bits."""
    return subset_sums(a[:BLOCK_BITS]), subset_sums(a[BLOCK_BITS:])


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
    cells, excess = _worst_cells(log_w, a, np.arange(len(rows(log_w))))
    blocks = min(BLOCKS, len(cells))
    cells, excess = cells.reshape(blocks, -1), excess.reshape(blocks, -1)
    each, worst = np.arange(blocks), excess.argmax(axis=1)
    violated: IntArray = cells[each, worst][excess[each, worst] > SLACK]
    return violated


FIRST = 10  # templates whose subsets numpy sums up; a product needs at least as many
TOGETHER = 7  # of the highest templates, whose subsets are the parts of a product
LARGEST = 17  # open templates of a part that is not divided, an odd number
LANES = np.uint64(8)  # of the kernel
LINE = 8  # numbers of a cache line
THREADS = 14  # open templates from which two threads are worth their start


def scaled_tables(
    theta: FloatArray, log_w: FloatArray, precise: bool
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return a, w'(C) = w(C)/exp(Σ_{i∈C} a_i) of every cell, and Z' of every subset.

    Rounding may leave a Z' below 0 where there is none.
    """
    a = near_dual(theta, log_w, precise)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        w = _scaled_weights(theta, log_w, a)
        return a, w, normalisers(w)


def _scaled_weights(theta: FloatArray, log_w: FloatArray, a: FloatArray) -> FloatArray:
    """Return the scaled weight of every cell; by multiplications alone where none overflows.

    A product that is too small for a number cannot become one that matters there.
    """
    if np.maximum(theta, 0.0).sum() / 2.0 + np.abs(a).sum() <= SAFE:
        w = cell_values(np.exp(theta), np.exp(-a), SUM)
        w[0] = 0.0
        return w
    w, (low, high) = np.empty_like(log_w), _block_sums(a)
    for row, log_weights, sum_ in zip(rows(w), rows(log_w), high, strict=True):
        np.subtract(log_weights, low, out=row)
        row -= sum_
        np.exp(row, out=row)
    return w


def log_normalisers(a: FloatArray, z: FloatArray) -> FloatArray:
    """Return log Z[S] = log Z'[S] + Σ_{i∈S} a_i."""
    log_z = np.empty_like(z)
    low, high = _block_sums(a)
    with np.errstate(divide="ignore"):
        for row, scaled, sum_ in zip(rows(log_z), rows(z), high, strict=True):
            np.log(scaled, out=row)
            row += low
            row += sum_
    return log_z


def normalisers(w: FloatArray) -> FloatArray:
    """Return Z of every subset, from the weight of every cell."""
    n, z = len(w).bit_length() - 1, np.empty_like(w)
    z[: 1 << FIRST] = recursion(w[: 1 << FIRST], SUM)
    arenas = Arenas(n - 1)
    with ThreadPoolExecutor(2) as pool:
        for i in range(FIRST, n):
            new = slice(1 << i, 2 << i)
            disjoint_product(w[new], z[: 1 << i], z[new], arenas, pool)
    return z


class _Arena(NamedTuple):
    """The memory of one thread: what parts of a product take, and the scratch of their blocks."""

    parts: FloatArray
    scratch: FloatArray


class Arenas:
    """The memory for all products up to a number of templates, so that it is touched only once.

    Two threads have one arena each.
    """

    def __init__(self, bits: int) -> None:
        size = max(_arena_size(smaller, 0) for smaller in range(FIRST, bits + 1))
        self.two = _arena(size, scratch_size(bits)), _arena(size, scratch_size(bits))


def _arena(size: int, scratch: int) -> _Arena:
    """Return memory that begins where a cache line does, as all rows in it then do."""
    memory = np.empty(size + scratch + LINE)
    first = -memory.__array_interface__["data"][0] // memory.itemsize % LINE
    memory[first + size :] = 0.0
    return _Arena(memory[first : first + size], memory[first + size : first + size + scratch])


def _arena_size(bits: int, depth: int) -> int:
    """Return the numbers that the largest part of a product takes, with all parts inside it."""
    decided = _decided(bits)
    bits, depth = bits - decided, depth + decided
    if bits <= LARGEST:
        return int(level_places(bits, depth, depth)[-1, 0])
    return 3 * (depth + 1) * ((1 << bits) + PADDING) + _arena_size(bits, depth)


def _decided(bits: int) -> int:
    """Return how many of the open templates are decided next: an odd number stays open at last."""
    return min(TOGETHER, bits - LARGEST) if bits > LARGEST else 2 - (bits + 1) % 2


class _Rows(NamedTuple):
    """Rows `apart` for subsets of the open templates, by the number of decided ones.

    Factors have rows for the numbers from 0 to `held`, and results from `held` to `depth`.
    """

    f: FloatArray
    g: FloatArray
    h: FloatArray
    bits: int
    held: int = 0
    depth: int = 0

    @property
    def apart(self) -> int:
        return (1 << self.bits) + PADDING


def disjoint_product(
    f: FloatArray, g: FloatArray, h: FloatArray, arenas: Arenas, pool: Executor
) -> None:
    """Fill h(S) = Σ_{C ⊆ S} f(C)·g(S∖C) for every subset S of at least ten templates."""
    rows = _Rows(f, g, h, len(f).bit_length() - 1)
    chosen = range(1 << _decided(rows.bits))
    if rows.bits <= THREADS:
        for part in chosen:
            _add_part(rows, part, _part(rows, part, arenas.two[0]))
        return
    for two in zip(chosen[::2], chosen[1::2], strict=True):
        for part, results in zip(two, pool.map(partial(_part, rows), two, arenas.two), strict=True):
            _add_part(rows, part, results)


def _part(rows: _Rows, chosen: int, arena: _Arena) -> FloatArray:
    """Return the results for one choice of the templates that are decided next."""
    decided, size = _decided(rows.bits), chosen.bit_count()
    bits, count, depth = rows.bits - decided, rows.held + size, rows.depth + decided
    ends = np.cumsum([0, count + 1, count + 1, depth + 1]) * ((1 << bits) + PADDING)
    f, g, h = (arena.parts[start:end] for start, end in pairwise(ends.tolist()))
    sum_rows(rows.f, rows.held, rows.apart, chosen, f, 1 << bits)
    sum_rows(rows.g, rows.held, rows.apart, chosen, g, 1 << bits)
    if bits <= LARGEST:
        subtree(*arena, bits, count, depth, LANES)
        return h
    inner, left = _Rows(f, g, h, bits, count, depth), arena._replace(parts=arena.parts[ends[-1] :])
    for part in range(1 << _decided(bits)):
        _add_part(inner, part, _part(inner, part, left))
    return h


def _add_part(rows: _Rows, chosen: int, results: FloatArray) -> None:
    """Add the results of one part to those of all choices that hold it, with their signs."""
    decided, sizes = _decided(rows.bits), (rows.held, rows.depth)
    width = 1 << rows.bits >> decided
    add_results(results, width, chosen, decided, *sizes, rows.h, rows.apart)
