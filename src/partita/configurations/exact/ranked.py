"""The normaliser of every subset by ranked transforms: n²·2^n steps, which subtract.

A. Björklund, T. Husfeldt, P. Kaski and M. Koivisto, Fourier meets Möbius: fast subset convolution
(STOC 2007).
"""

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
from partita.configurations.exact.subsets import SUM, recursion
from partita.core import FloatArray

FIRST = 10  # templates whose subsets numpy sums up; a product needs at least as many
TOGETHER = 7  # of the highest templates, whose subsets are the parts of a product
LARGEST = 17  # open templates of a part that is not divided, an odd number
LANES = np.uint64(8)  # of the kernel
LINE = 8  # numbers of a cache line
THREADS = 14  # open templates from which two threads are worth their start


def ranked_normalisers(w: FloatArray) -> FloatArray:
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


class _RankedRows(NamedTuple):
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
    rows = _RankedRows(f, g, h, len(f).bit_length() - 1)
    chosen = range(1 << _decided(rows.bits))
    if rows.bits <= THREADS:
        for part in chosen:
            _add_part(rows, part, _part(rows, part, arenas.two[0]))
        return
    for two in zip(chosen[::2], chosen[1::2], strict=True):
        for part, results in zip(two, pool.map(partial(_part, rows), two, arenas.two), strict=True):
            _add_part(rows, part, results)


def _part(rows: _RankedRows, chosen: int, arena: _Arena) -> FloatArray:
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
    inner, left = (
        _RankedRows(f, g, h, bits, count, depth),
        arena._replace(parts=arena.parts[ends[-1] :]),
    )
    for part in range(1 << _decided(bits)):
        _add_part(inner, part, _part(inner, part, left))
    return h


def _add_part(rows: _RankedRows, chosen: int, results: FloatArray) -> None:
    """Add the results of one part to those of all choices that hold it, with their signs."""
    decided, sizes = _decided(rows.bits), (rows.held, rows.depth)
    width = 1 << rows.bits >> decided
    add_results(results, width, chosen, decided, *sizes, rows.h, rows.apart)
