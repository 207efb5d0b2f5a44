"""Log-weights and normalisers of every subset."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from partita.configurations.dense.subsets import LOG_SUM, SMALL, log_cell_weights, recursion
from partita.records import FloatArray

POSITIVE = 17  # templates up to which 3^n additions beat the ranked transform
TOLERANCE = 1e-10  # of the check on the ranked transform
LARGEST = 28


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """For every subset as a bit mask: log weight as a cell, log-normaliser as a set."""

    log_w: FloatArray
    log_z: FloatArray
    way: str
    cells: FloatArray | None = None  # their probabilities, where they are known already

    def cell_probabilities(self) -> FloatArray:
        """P(C) = w(C)·Z(N∖C)/Z(N); the complement of a mask is its mirror image."""
        if self.cells is not None:
            return self.cells
        p: FloatArray = self.log_w + self.log_z[::-1]
        p -= self.log_z[-1]
        return np.exp(p, out=p)


def tables(theta: FloatArray) -> Tables:
    """Return the tables of a set that fits the memory (see `predicted_bytes`)."""
    log_w = log_cell_weights(theta)
    if len(theta) <= SMALL:
        return Tables(log_w, recursion(log_w, LOG_SUM), "subset recursion")
    if len(theta) > POSITIVE:
        from partita.configurations.dense.ranked import ranked_log_normalisers

        ranked = Tables(log_w, ranked_log_normalisers(theta, log_w), "ranked subset transform")
        cells = ranked.cell_probabilities()
        if covers(cells):
            return replace(ranked, cells=cells)
    return Tables(log_w, positive_log_normalisers(log_w), "subset recursion")


def positive_log_normalisers(log_w: FloatArray) -> FloatArray:
    """Return log Z of every subset by additions alone, on all cores."""
    from partita.configurations.dense.kernels import extend

    log_z = np.zeros(len(log_w))
    workers = os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as pool:
        for i in range(len(log_w).bit_length() - 1):
            edges = np.linspace(0, 1 << i, min(8 * workers, 1 << i) + 1).astype(int).tolist()
            list(pool.map(lambda a, b, i=i: extend(log_w, log_z, i, a, b), edges, edges[1:]))
    return log_z


def covers(cells: FloatArray) -> bool:
    """Return whether every template is in exactly one cell, in expectation."""
    return bool(np.all(np.abs(singles(cells) - 1.0) <= TOLERANCE))


def singles(values: FloatArray) -> FloatArray:
    """Return, for every bit, the sum of the values of the masks that hold it."""
    sums = np.empty(len(values).bit_length() - 1)
    for i in reversed(range(len(sums))):
        low, high = values[: 1 << i], values[1 << i :]
        sums[i] = high.sum()
        values = low + high
    return sums


def doubles(values: FloatArray) -> FloatArray:
    """Return, for every two bits, the sum of the values of the masks with both; diagonal 1."""
    n = len(values).bit_length() - 1
    sums = np.eye(n)
    for i in reversed(range(n)):
        low, high = values[: 1 << i], values[1 << i :]
        sums[i, :i] = sums[:i, i] = singles(high)
        values = low + high
    return sums


def predicted_bytes(n: int) -> int:
    """Return an upper bound on what the tables of n templates take while they are made.

    A ranked transform has two tables and rows of its factors, 5.5 tables in all, and its arenas.
    """
    if n > POSITIVE:
        return (8 << n) * 6 + (100 << 20)
    return (8 << n) * 8 + (1 << 20) + (3**n if n <= SMALL else 0) * 32


def predicted_seconds(n: int) -> float:
    """Estimate the seconds on one core: 3^n steps, or n²·2^n for the ranked transform."""
    if n <= POSITIVE:
        return 3.0**n * 5e-9
    return n * n * 2.0**n * 8e-10
