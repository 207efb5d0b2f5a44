"""The recursion over all subsets of a set, for any weight of cells and any semiring.

The weight of a configuration is the product of the weights of its cells. So the sum over all
configurations of a subset S satisfies, with t the last member of S,

    Z[∅] = one,    Z[S] = ⊕_{C ⊆ S, t ∈ C} w(C) ⊗ Z[S∖C],

and with (⊗, ⊕) = (×, +) it is the normaliser, with (+, max) the best log-weight, and with weights
of 0 and 1 the number of configurations. Subsets are bit masks: template i is bit i.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core import BoolArray, FloatArray, IntArray

Values = NDArray[Any]
SMALL = 14  # templates whose configurations are counted, and listed in the worst case, by numpy
LISTED_BITS = 9  # of a product whose terms are listed: 3⁹ terms fit a core's own cache
BLOCK_BITS = 14  # of a part of a table that fits the cache


@dataclass(frozen=True, slots=True)
class Semiring:
    """How to combine (times) and how to choose between (plus); `one` is neutral for times."""

    times: np.ufunc
    plus: np.ufunc
    one: float


MAX = Semiring(np.add, np.maximum, 0.0)
SUM = Semiring(np.multiply, np.add, 1)


def recursion(cells: Values, semiring: Semiring) -> Values:
    """Return Z of every subset, from the weight of every cell."""
    z = np.empty_like(cells)
    z[0] = semiring.one
    for i in range(len(cells).bit_length() - 1):
        z[1 << i : 2 << i] = _disjoint(cells[1 << i : 2 << i], z[: 1 << i], semiring)
    return z


def _disjoint(left: Values, right: Values, semiring: Semiring) -> Values:
    """Return ⊕ over all ways to split a subset in two, of left ⊗ right.

    The highest bit is in neither, in the left or in the right part, until few bits are left.
    """
    bits, half = len(left).bit_length() - 1, len(left) // 2
    if bits <= LISTED_BITS:
        first, second, starts = _splits(bits)
        products = semiring.times(left.take(first), right.take(second))
        sums: Values = semiring.plus.reduceat(products, starts)
        return sums
    result = np.empty_like(left)
    result[:half] = _disjoint(left[:half], right[:half], semiring)
    one = _disjoint(left[half:], right[:half], semiring)
    semiring.plus(one, _disjoint(left[:half], right[half:], semiring), out=result[half:])
    return result


@cache
def _splits(bits: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return both parts of every split of every subset, subset by subset, and where each begins."""
    first, counts = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.int64)
    whole = np.zeros(1, dtype=np.int64)
    for bit in range(bits):
        with_bit = np.column_stack([first, first | 1 << bit]).ravel()
        first = np.concatenate([first, with_bit])
        whole = np.concatenate([whole, np.repeat(whole | 1 << bit, 2)])
        counts = np.concatenate([counts, 2 * counts])
    return first, whole ^ first, np.cumsum(counts) - counts


def log_cell_weights(theta: FloatArray) -> FloatArray:
    """Return log w of every cell: the sum of θ over its pairs; −∞ for the empty cell."""
    weights = cell_values(theta, np.zeros(len(theta)), MAX)
    weights[0] = -np.inf
    return weights


def cell_values(of_pairs: FloatArray, own: FloatArray, semiring: Semiring) -> FloatArray:
    """Return for every subset the values of its pairs and the own values of its members, combined.

    They are combined as the semiring does (times).
    """
    table = np.empty(1 << len(own))
    table[0] = semiring.one
    for i, value in enumerate(own):
        with_next = table[1 << i : 2 << i]
        with_next[0] = value
        for j in range(i):
            semiring.times(with_next[: 1 << j], of_pairs[i, j], out=with_next[1 << j : 2 << j])
        semiring.times(with_next, table[: 1 << i], out=with_next)
    return table


def subset_sums(values: FloatArray) -> FloatArray:
    """Return the sum of the values over every subset."""
    sums = np.zeros(1 << len(values))
    for i, value in enumerate(values):
        np.add(sums[: 1 << i], value, out=sums[1 << i : 2 << i])
    return sums


def count_small(compatible: BoolArray) -> int:
    """Return the number of partitions into cells whose members are all compatible."""
    possible = log_cell_weights(np.where(compatible, 0.0, -np.inf)) == 0.0
    return int(recursion(possible.astype(np.int64), SUM)[-1])


def members(mask: int) -> tuple[int, ...]:
    """Return the positions of a subset."""
    return tuple(i for i in range(mask.bit_length()) if mask >> i & 1)


def parts(mask: int) -> IntArray:
    """Return every subset of a mask that holds its highest member."""
    top = 1 << (mask.bit_length() - 1)
    masks = np.array([top], dtype=np.int64)
    for i in members(mask ^ top):
        masks = np.concatenate([masks, masks | (1 << i)])
    return masks


def rows(table: FloatArray) -> FloatArray:
    """Return a table over subsets as rows that fit a core's own cache."""
    return table.reshape(-1, min(len(table), 1 << BLOCK_BITS))


def pair_sums(values: FloatArray) -> FloatArray:
    """Return, for every two bits, the sum of the values of the masks with both.

    The diagonal has the sums of the masks with one bit.
    """
    return row_pair_sums(rows(values), rows(values).shape)


def row_pair_sums(blocks: Iterable[FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Return the same from the rows of a table, each of which is used when it is made."""
    count, width = shape
    bits, low = width.bit_length() - 1, np.zeros(width)
    first, second = np.empty((count, 1 << bits // 2)), np.empty((count, 1 << -(-bits // 2)))
    for n, row in enumerate(blocks):
        low += row
        row.reshape(second.shape[1], -1).sum(axis=0, out=first[n])
        row.reshape(second.shape[1], -1).sum(axis=1, out=second[n])
    across = _single_sums(np.concatenate([_single_sums(first.T), _single_sums(second.T)]).T)
    return np.block([[_inside(low), across.T], [across, _inside(first.sum(axis=1))]])


def _inside(values: FloatArray) -> FloatArray:
    """Return the sums for every two bits by halving."""
    sums = np.diag(_single_sums(values))
    for i in reversed(range(len(sums))):
        low, high = values[: 1 << i], values[1 << i :]
        sums[i, :i] = sums[:i, i] = _single_sums(high)
        values = low + high
    return sums


def _single_sums(values: FloatArray) -> FloatArray:
    """Return, for every bit, the sum of the values of the masks that hold it."""
    sums = np.empty((len(values).bit_length() - 1, *values.shape[1:]))
    for i in reversed(range(len(sums))):
        low, high = values[: 1 << i], values[1 << i :]
        sums[i] = high.sum(axis=0)
        values = low + high
    return sums
