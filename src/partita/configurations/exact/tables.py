"""Probabilities of cells and normalisers of every subset, by the quickest of three ways.

All three compute the recursion of `subsets` on plain numbers: by numpy, by compiled additions and
multiplications, or by ranked transforms. `predicted_seconds` has what each takes, as measured, and
is the only rule by which one is chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from partita.configurations.exact.scaling import block_sums, moderate, near_dual, scaled_weights
from partita.configurations.exact.subsets import (
    SUM,
    log_cell_weights,
    pair_sums,
    recursion,
    row_pair_sums,
    rows,
)
from partita.core import BoolArray, FloatArray

TOLERANCE = 1e-10  # of the check on the ranked transform
LARGEST = 28

# Seconds on one core: 3^n steps by numpy, or the same compiled, after loading the compiled code;
# the ranked transform takes n²·2^n. Lines cross at 12 | 13 and at 17 | 18 templates.
STEP, COMPILED_STEP, LOADED, RANKED_STEP = 1.2e-9, 1.6e-10, 8e-4, 6.4e-10
PLAIN, POSITIVE, RANKED, LOGARITHMS = "plain", "positive", "ranked", "logarithms"


def way(n: int) -> str:
    """Return the quickest way for n templates."""
    seconds = _seconds(n)
    return min(seconds, key=seconds.__getitem__)


def _seconds(n: int) -> dict[str, float]:
    return {
        PLAIN: 3.0**n * STEP,
        POSITIVE: 3.0**n * COMPILED_STEP + LOADED,
        RANKED: n * n * 2.0**n * RANKED_STEP + LOADED,
    }


def predicted_seconds(n: int) -> float:
    """Return the seconds that the tables of n templates take on one core."""
    return min(_seconds(n).values())


def predicted_bytes(n: int) -> int:
    """Return an upper bound on what the tables of n templates take while they are made.

    There are three tables, draws need a fourth, and a ranked transform has arenas.
    """
    if way(n) == RANKED:
        return (8 << n) * 5 + (100 << 20)
    return (8 << n) * 8 + (2 << 20)


class CellWeights(Protocol):
    """The model of a set of n templates that the recursion needs: weights of cells."""

    @property
    def compatible(self) -> BoolArray:
        """Which pairs may share a cell (n × n)."""

    @property
    def theta(self) -> FloatArray | None:
        """The log-odds of pairs, if the weight of a cell is their product."""

    def log_table(self) -> FloatArray:
        """Return log w of every subset as a cell; −∞ for those that cannot be one."""


@dataclass(frozen=True, slots=True, eq=False)
class PairWeights:
    """w(C) = Π_{i<j in C} exp(θ_ij): the evidential, scaled and uniform models."""

    theta: FloatArray

    @property
    def compatible(self) -> BoolArray:
        return np.isfinite(self.theta)

    def log_table(self) -> FloatArray:
        return log_cell_weights(self.theta)


class SubsetTables:
    """What the recursion says about every subset, as tables over bit masks.

    Weights are divided by exp(Σ_{i∈C} a_i), so that none is too large for a number. `log_w` has
    their logarithms (not divided), `cells` the probability of every cell, `z` the normalisers of
    divided weights, and `pairs` the probabilities of pairs and, on the diagonal, that of a template
    to be in a cell.
    """

    def __init__(self, weights: CellWeights) -> None:
        self.log_w = weights.log_table()
        self.way = way(len(self.log_w).bit_length() - 1)
        for by, a in self._attempts(weights.theta):
            self.way, self.a = by, a
            with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
                self._fill(weights.theta)
            if self.covers():
                return

    def _attempts(self, theta: FloatArray | None) -> Iterator[tuple[str, FloatArray]]:
        """Yield ways with scales: the quickest, with better scales, without subtraction, with
        logarithms, which nothing is too large or too small for."""
        none = np.zeros(len(self.log_w).bit_length() - 1)
        if self.way != RANKED and moderate(self.log_w, theta):
            yield self.way, none
        for precise in (False, True):
            yield self.way, near_dual(self.log_w, precise)
        if self.way == RANKED:
            yield POSITIVE, self.a
        yield LOGARITHMS, none

    def _fill(self, theta: FloatArray | None) -> None:
        if self.way == LOGARITHMS:
            self.log_z = logarithmic_normalisers(self.log_w)
            self.cells = np.exp(self.log_w + self.log_z[::-1] - self.log_z[-1])
            self.pairs = pair_sums(self.cells)
            return
        self.cells = scaled_weights(self.log_w, theta, self.a)
        self.z = normalisers(self.cells, self.way)
        self.pairs = row_pair_sums(self._finished_rows(), rows(self.cells).shape)

    def _finished_rows(self) -> Iterator[FloatArray]:
        """Yield rows of cells that are made probabilities: P(C) = w(C)·Z(N∖C)/Z(N).

        The complement of a mask is its mirror image; what rounding loses is impossible.
        """
        for cells, mirrored in zip(rows(self.cells), rows(self.z)[::-1], strict=True):
            np.maximum(mirrored, 0.0, out=mirrored)
            cells *= mirrored[::-1]
            cells /= self.z[-1]
            np.minimum(cells, 1.0, out=cells)
            yield cells

    @property
    def name(self) -> str:
        """The way in words."""
        return "ranked subset transform" if self.way == RANKED else "subset recursion"

    @property
    def log_total(self) -> float:
        """The log-normaliser of the whole set."""
        if self.way == LOGARITHMS:
            return float(self.log_z[-1])
        return float(np.log(self.z[-1]) + self.a.sum())

    @cached_property
    def log_z(self) -> FloatArray:
        """The log-normaliser of every subset: log Z[S] = log Z'[S] + Σ_{i∈S} a_i."""
        log_z, (low, high) = np.empty_like(self.z), block_sums(self.a)
        with np.errstate(divide="ignore"):
            for row, scaled, sum_ in zip(rows(log_z), rows(self.z), high, strict=True):
                np.log(scaled, out=row)
                row += low
                row += sum_
        return log_z

    def covers(self) -> bool:
        """Return whether every template is in exactly one cell, in expectation."""
        return bool(np.all(np.abs(np.diagonal(self.pairs) - 1.0) <= TOLERANCE))


def normalisers(w: FloatArray, by: str) -> FloatArray:
    """Return Z of every subset, from the weight of every cell."""
    if by == PLAIN:
        return recursion(w, SUM)
    if by == RANKED:
        from partita.configurations.exact.ranked import ranked_normalisers

        return ranked_normalisers(w)
    from partita.configurations.exact.kernels import fill_normalisers

    z = np.empty_like(w)
    fill_normalisers(w, z)
    return z


def logarithmic_normalisers(log_w: FloatArray) -> FloatArray:
    """Return log Z of every subset without leaving logarithms, ten times as slowly."""
    from partita.configurations.exact.kernels import fill_log_normalisers

    fill_log_normalisers(log_w, log_z := np.empty_like(log_w))
    return log_z
