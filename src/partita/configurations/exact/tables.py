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

from partita.configurations.exact.kernels import fill_log_normalisers, fill_normalisers
from partita.configurations.exact.subsets import (
    BLOCK_BITS,
    SUM,
    cell_values,
    log_cell_weights,
    members,
    pair_sums,
    recursion,
    row_pair_sums,
    rows,
    subset_sums,
)
from partita.configurations.optimum import local_search
from partita.core import BoolArray, FloatArray, IntArray

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
    n = min(n, 500)  # 3^n of larger sets is no float; they are far beyond any limit
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
            # ten times as slow, but nothing is too large or too small
            fill_log_normalisers(self.log_w, log_z := np.empty_like(self.log_w))
            self.log_z = log_z
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
    z = np.empty_like(w)
    fill_normalisers(w, z)
    return z


SLACK = 1.0  # by how much a constraint may be violated: a factor e in a weight is harmless
ALMOST = 0.9  # of the slack, which is left where a constraint was violated by more
ENOUGH = 8.0  # above the best known configuration by so much: worth a linear program
SAFE = 600.0  # nats by which a product of weights may grow
BLOCKS = 64  # where the worst violations are looked for, one in each


def moderate(log_w: FloatArray, theta: FloatArray | None) -> bool:
    """Return whether no sum over configurations is too large for a number."""
    if theta is not None:
        return bool(np.maximum(theta, 0.0).sum() / 2.0 <= SAFE)
    n = len(log_w).bit_length() - 1
    return bool(n * log_w.max() <= SAFE)


def near_dual(log_w: FloatArray, precise: bool) -> FloatArray:
    """Return a: half of each template's log-odds to its cell in a good configuration, repaired.

    Where that is not enough, or a precise answer is wanted, a linear program is solved.
    """
    own, theta = _pair_log_odds(log_w)
    labels = local_search(theta)
    together = labels[:, None] == labels[None, :]
    start = own + 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    a = _raise_duals(start, log_w)
    enough = a.sum() - start.sum() <= ENOUGH and not precise
    return a if enough else _solve_program(log_w, a)


def _pair_log_odds(log_w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return log w of single templates, and what it is to join two of them (−∞: impossible)."""
    bits = 1 << np.arange(len(log_w).bit_length() - 1)
    own = log_w[bits]
    theta = log_w[bits[:, None] | bits] - own[:, None] - own
    np.fill_diagonal(theta, 0.0)
    return own, theta


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
    low, high = block_sums(a)
    table, difference = rows(log_w), np.empty_like(low)
    places, excess = np.empty(len(blocks), dtype=np.int64), np.empty(len(blocks))
    for number, block in enumerate(blocks):
        np.subtract(table[block], low, out=difference)
        places[number] = place = difference.argmax()
        excess[number] = difference[place] - high[block]
    return places + blocks * len(low), excess


def block_sums(a: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of a over subsets of the low bits, for a row, and of the high bits."""
    return subset_sums(a[:BLOCK_BITS]), subset_sums(a[BLOCK_BITS:])


def _solve_program(log_w: FloatArray, fallback: FloatArray) -> FloatArray:
    """Solve the linear program, adding constraints as they are violated."""
    from scipy.optimize import linprog

    n = len(fallback)
    a, rows, bounds = _pair_log_odds(log_w)[0], np.zeros((0, n)), np.zeros(0)
    least = [(value, None) for value in a.tolist()]
    while len(cells := _violated_cells(log_w, a)):
        rows = np.vstack([rows, cells[:, None] >> np.arange(n) & 1])
        bounds = np.concatenate([bounds, log_w[cells]])
        solution = linprog(np.ones(n), A_ub=-rows, b_ub=-bounds, bounds=least, method="highs")
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


def scaled_weights(log_w: FloatArray, theta: FloatArray | None, a: FloatArray) -> FloatArray:
    """Return w' of every cell; by multiplications alone where weights are products over pairs.

    These are used where none overflows: a product that is too small for a number cannot become one
    that matters there.
    """
    if theta is not None and np.maximum(theta, 0.0).sum() / 2.0 + np.abs(a).sum() <= SAFE:
        w = cell_values(np.exp(theta), np.exp(-a), SUM)
        w[0] = 0.0
        return w
    w, (low, high) = np.empty_like(log_w), block_sums(a)
    for row, log_weights, sum_ in zip(rows(w), rows(log_w), high, strict=True):
        np.subtract(log_weights, low, out=row)
        row -= sum_
        np.exp(row, out=row)
    return w
