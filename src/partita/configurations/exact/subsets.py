"""Sums over all subsets of a small set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core import BoolArray, FloatArray

Values = NDArray[Any]
SMALL = 14  # templates up to which numpy answers at once


@dataclass(frozen=True, slots=True)
class Semiring:
    """How to combine (times) and how to choose between (plus); `one` is neutral for times."""

    times: np.ufunc
    plus: np.ufunc
    one: float


LOG_SUM = Semiring(np.add, np.logaddexp, 0.0)
LOG_MAX = Semiring(np.add, np.maximum, 0.0)
SUM = Semiring(np.multiply, np.add, 1)


def recursion(cells: Values, semiring: Semiring) -> Values:
    """Return Z of every subset, from the weight of every cell."""
    z = np.full(1, semiring.one, dtype=cells.dtype)
    while len(z) < len(cells):
        z = np.concatenate([z, _disjoint(cells[len(z) : 2 * len(z)], z, semiring)])
    return z


def _disjoint(left: Values, right: Values, semiring: Semiring) -> Values:
    """Return ⊕ over all ways to split a subset in two, of left ⊗ right.

    Each bit is in neither, in the right or in the left part: 3^n products in one array.
    """
    shape = (2,) * (len(left).bit_length() - 1)
    left, right = left.reshape(shape), right.reshape(shape)
    for bit in range(len(shape)):
        left = np.take(left, (0, 0, 1), axis=bit)
        right = np.take(right, (0, 1, 0), axis=bit)
    products: Values = semiring.times(left, right)
    for bit in range(len(shape)):
        neither, right_only, left_only = np.split(products, 3, axis=bit)
        products = np.concatenate([neither, semiring.plus(right_only, left_only)], axis=bit)
    return products.reshape(-1)


def log_cell_weights(theta: FloatArray) -> FloatArray:
    """Return log w of every cell: the sum of θ over its pairs; −∞ for the empty cell."""
    weights = cell_values(theta, np.zeros(len(theta)), LOG_SUM)
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


def parts(mask: int) -> NDArray[np.int64]:
    """Return every subset of a mask that holds its highest member."""
    top = 1 << (mask.bit_length() - 1)
    masks = np.array([top], dtype=np.int64)
    for i in members(mask ^ top):
        masks = np.concatenate([masks, masks | (1 << i)])
    return masks
