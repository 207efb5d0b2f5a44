"""Log-weights and normalisers of every subset."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partita.configurations.exact.subsets import LOG_SUM, SMALL, log_cell_weights, recursion
from partita.core import FloatArray

POSITIVE = 17  # templates up to which 3^n additions beat the ranked transform
TOLERANCE = 1e-10  # of the check on the ranked transform
LARGEST = 28
BLOCK_BITS = 14  # of a part of a table that fits the cache


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """For every subset as a bit mask: log weight as a cell, log-normaliser as a set."""

    log_w: FloatArray
    log_z: FloatArray
    way: str

    @property
    def log_total(self) -> float:
        """The log-normaliser of the whole set."""
        return float(self.log_z[-1])

    def cell_probabilities(self) -> FloatArray:
        """P(C) = w(C)·Z(N∖C)/Z(N); the complement of a mask is its mirror image."""
        p: FloatArray = self.log_w + self.log_z[::-1]
        p -= self.log_z[-1]
        return np.minimum(np.exp(p, out=p), 1.0, out=p)


class ScaledTables:
    """The same by a ranked transform, with weights that are divided by exp(Σ a_i).

    `z` has the normalisers of scaled weights; logarithms are computed where draws need them.
    `pairs` are the probabilities of pairs and, on the diagonal, that of a template to be in a cell.
    """

    way = "ranked subset transform"

    def __init__(self, theta: FloatArray, log_w: FloatArray, precise: bool = False) -> None:
        from partita.configurations.exact.ranked import scaled_tables

        self.log_w = log_w
        self.a, self.cells, self.z = scaled_tables(theta, log_w, precise)
        self.pairs = _pair_sums(self._finished_rows(), rows(self.cells).shape)

    def _finished_rows(self) -> Iterator[FloatArray]:
        """Yield rows of cells that are made probabilities; what rounding loses is impossible."""
        for cells, mirrored in zip(rows(self.cells), rows(self.z)[::-1], strict=True):
            np.maximum(mirrored, 0.0, out=mirrored)
            cells *= mirrored[::-1]
            cells /= self.z[-1]
            np.minimum(cells, 1.0, out=cells)
            yield cells

    @property
    def log_total(self) -> float:
        return float(np.log(self.z[-1]) + self.a.sum())

    @cached_property
    def log_z(self) -> FloatArray:
        from partita.configurations.exact.ranked import log_normalisers

        return log_normalisers(self.a, self.z)

    def cell_probabilities(self) -> FloatArray:
        return self.cells

    def covers(self) -> bool:
        """Return whether every template is in exactly one cell, in expectation."""
        return bool(np.all(np.abs(np.diagonal(self.pairs) - 1.0) <= TOLERANCE))


AnyTables = Tables | ScaledTables


def tables(theta: FloatArray) -> AnyTables:
    """Return the tables of a set that fits the memory (see `predicted_bytes`)."""
    log_w = log_cell_weights(theta)
    if len(theta) <= SMALL:
        return Tables(log_w, recursion(log_w, LOG_SUM), "subset recursion")
    for precise in (False, True) if len(theta) > POSITIVE else ():
        if (scaled := ScaledTables(theta, log_w, precise)).covers():
            return scaled
    return Tables(log_w, positive_log_normalisers(log_w), "subset recursion")


def positive_log_normalisers(log_w: FloatArray) -> FloatArray:
    """Return log Z of every subset by additions alone, on all cores."""
    from partita.configurations.exact.kernels import extend

    log_z = np.zeros(len(log_w))
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for i in range(len(log_w).bit_length() - 1):
            edges = np.linspace(0, 1 << i, min(8 * workers, 1 << i) + 1).astype(int).tolist()
            list(pool.map(lambda a, b, i=i: extend(log_w, log_z, i, a, b), edges, edges[1:]))
    return log_z


def rows(table: FloatArray) -> FloatArray:
    """Return a table over subsets as rows that fit a core's own cache."""
    return table.reshape(-1, min(len(table), 1 << BLOCK_BITS))


def doubles(values: FloatArray) -> FloatArray:
    """Return, for every two bits, the sum of the values of the masks with both.

    The diagonal has the sums of the masks with one bit.
    """
    return _pair_sums(rows(values), rows(values).shape)


def _pair_sums(blocks: Iterable[FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Return the same from the rows of a table, each of which is used when it is made."""
    count, width = shape
    bits, low = width.bit_length() - 1, np.zeros(width)
    first, second = np.empty((count, 1 << bits // 2)), np.empty((count, 1 << -(-bits // 2)))
    for n, row in enumerate(blocks):
        low += row
        row.reshape(second.shape[1], -1).sum(axis=0, out=first[n])
        row.reshape(second.shape[1], -1).sum(axis=1, out=second[n])
    across = singles(np.concatenate([singles(first.T), singles(second.T)]).T)
    return np.block([[_inside(low), across.T], [across, _inside(first.sum(axis=1))]])


def _inside(values: FloatArray) -> FloatArray:
    """Return the sums for every two bits by halving."""
    sums = np.diag(singles(values))
    for i in reversed(range(len(sums))):
        low, high = values[: 1 << i], values[1 << i :]
        sums[i, :i] = sums[:i, i] = singles(high)
        values = low + high
    return sums


def singles(values: FloatArray) -> FloatArray:
    """Return, for every bit, the sum of the values of the masks that hold it."""
    sums = np.empty((len(values).bit_length() - 1, *values.shape[1:]))
    for i in reversed(range(len(sums))):
        low, high = values[: 1 << i], values[1 << i :]
        sums[i] = high.sum(axis=0)
        values = low + high
    return sums


def predicted_bytes(n: int) -> int:
    """Return an upper bound on what the tables of n templates take while they are made.

    A ranked transform has three tables and its arenas; draws need a fourth.
    """
    if n > POSITIVE:
        return (8 << n) * 5 + (100 << 20)
    return (8 << n) * 8 + (1 << 20) + (3**n if n <= SMALL else 0) * 32


def predicted_seconds(n: int) -> float:
    """Estimate the seconds on one core: 3^n steps, or n²·2^n for the ranked transform."""
    if n <= POSITIVE:
        return 3.0**n * 5e-9
    return n * n * 2.0**n * 8e-10
