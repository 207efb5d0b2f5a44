"""Exact answers for large sparse sets, with draws and the K best along an elimination.

Arrays of the kernels, the caller's. At the step of one template a state is the set of the templates
covered so far, as bits; from it one goes back either to the same state with the template COVERED
(`covered`, its values) or by an entry e, a cell that covers masks[e] and has weights[e], to the
rest, whose value is in the `table` of so many `bits`. `labels` (configurations × n) have a template
of its cell for each template, `theta` (n × n) the log-odds; `members` are the templates at the bits
of a mask, with the `vertex` of the step; `positions` say where each bit of a state goes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from partita.compilation import kernel
from partita.configurations.optimum import score, single_move_search
from partita.configurations.search.best import renumber
from partita.configurations.sparse.kernels import add_pairs, cells_from
from partita.configurations.sparse.order import (
    WIDEST,
    EliminationPlan,
    plan_elimination,
)
from partita.configurations.sparse.recursion import (
    LOG,
    LOG2,
    MAX,
    SUM,
    Operand,
    Recursion,
)
from partita.configurations.sparse.steps import EliminationStep, bit_count
from partita.core import Best, Figure, FloatArray, IntArray, Marginals, Method
from partita.errors import TooLarge

COVERED = -1  # the choice of no entry: the template was covered from below


@kernel(entry="b1, i8, i8[:], f8[:], f8[:], i8, f8[:], i8[:], f8[:]")
def ways(sums, state, masks, weights, table, bits, covered, found, values):  # type: ignore[no-untyped-def]
    """Write every choice from a state, an entry or COVERED, and its value; return their number.

    Values are products where `sums` (tables of sums), else logarithms. `found` and `values` have
    room for all entries and one more.
    """
    size = 0
    if state < len(covered):
        found[0], values[0] = COVERED, covered[state]
        size = 1
    for e in range(len(masks)):
        rest = state ^ masks[e]
        if masks[e] & ~state == 0 and rest >> bits == 0:
            found[size] = e
            values[size] = weights[e] * table[rest] if sums else weights[e] + table[rest]
            size += 1
    return size


@kernel()
def _accumulate(sums, values, size):  # type: ignore[no-untyped-def]
    """Replace the first `size` values by running sums; of logarithms up to a common factor."""
    top = -np.inf
    for k in range(size):
        top = max(top, values[k])
    total = 0.0
    for k in range(size):
        total += values[k] if sums else math.exp(values[k] - top)
        values[k] = total


@kernel()
def _first_above(values, size, mark):  # type: ignore[no-untyped-def]
    """Return the first of `size` rising values above the mark, or the last with any weight."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] > mark:
            high = middle
        else:
            low = middle + 1
    return low


@kernel(entry="i8, i8[:], i8[:], f8[:], i8[:], f8[:], f8[:], i8, f8[:]")
def draw_states(kind, states, order, uniforms, masks, weights, table, bits, covered):  # type: ignore[no-untyped-def]
    """Draw one choice for every one of `states`, by its share, with the `uniforms` from 0 to 1.

    `order` sorts the states, so that the choices of each are summed up once; `kind` is the algebra.
    """
    sums = kind == SUM
    picks = np.empty(len(states), np.int64)
    found, values = np.empty(len(masks) + 1, np.int64), np.empty(len(masks) + 1)
    size = 0
    for n in range(len(order)):
        row = order[n]
        if n == 0 or states[row] != states[order[n - 1]]:
            size = ways(sums, states[row], masks, weights, table, bits, covered, found, values)
            _accumulate(sums, values, size)
        picks[row] = found[_first_above(values, size, uniforms[row] * values[size - 1])]
    return picks


@kernel(entry="i8[:], i8[:]")
def deposit(states, positions):  # type: ignore[no-untyped-def]
    """Return every one of `states` with its bit j moved to positions[j]."""
    moved = np.zeros(len(states), np.int64)
    for row in range(len(states)):
        for j in range(len(positions)):
            moved[row] |= (states[row] >> j & 1) << positions[j]
    return moved


@kernel(entry="i8[:,:], i8[:], i8[:], i8, i8[:]")
def join_cell(labels, rows, cells, vertex, members):  # type: ignore[no-untyped-def]
    """Give the members of the cell that each row chose at a step the template's number.

    Row k of `labels` continues row rows[k] of the step, which chose the cell cells[rows[k]] (a
    mask).
    """
    for k in range(len(labels)):
        rest = cells[rows[k]]
        if rest != COVERED:
            labels[k, vertex] = vertex
            while rest:
                low = rest & -rest
                rest ^= low
                labels[k, members[bit_count(np.uint64(low - 1))]] = vertex


class Picks(NamedTuple):
    """For every row that continues: its source row, and the entry it took."""

    rows: IntArray
    entries: IntArray


@dataclass(slots=True, eq=False)
class RandomChooser:
    """Every row takes one choice, drawn by its share."""

    rows: int
    kind: int
    rng: np.random.Generator
    every: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.every = np.arange(self.rows)

    def choose(self, states: IntArray, by: Operand, covered: FloatArray) -> Picks:
        entries = draw_states(
            self.kind,
            states,
            np.argsort(states, kind="stable"),
            self.rng.random(self.rows),
            by.masks,
            by.weights,
            by.table,
            by.bits,
            covered,
        )
        return Picks(self.every, entries)


@dataclass(slots=True, eq=False)
class BestChooser:
    """The k rows continue that can end highest; `reach` is how far below the best each ends."""

    k: int
    rows: int = 1
    reach: FloatArray = field(default_factory=lambda: np.zeros(1))

    def choose(self, states: IntArray, by: Operand, covered: FloatArray) -> Picks:
        floor = self.reach[-1] if self.rows == self.k else -np.inf
        order = np.argsort(states, kind="stable")
        starts = np.flatnonzero(np.diff(states[order], prepend=-1))
        columns = [
            self._ways(rows, int(states[rows[0]]), by, covered, floor)
            for rows in np.split(order, starts[1:])
        ]
        rows, entries, reach = (np.concatenate(column) for column in zip(*columns, strict=True))
        # the earlier row first among equals
        best = np.lexsort((rows, -reach))[: self.k]
        self.reach, self.rows = reach[best], len(best)
        return Picks(rows[best], entries[best])

    def _ways(
        self, rows: IntArray, state: int, by: Operand, covered: FloatArray, floor: float
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return all choices of the rows with one state that can end at the floor or above."""
        entries, values = np.empty(len(by.masks) + 1, np.int64), np.empty(len(by.masks) + 1)
        size = ways(False, state, by.masks, by.weights, by.table, by.bits, covered, entries, values)
        behind = values[:size] - values[:size].max()
        good = np.flatnonzero(self.reach[rows[0]] + behind >= max(floor, -np.finfo(float).max))
        good = good[np.argsort(-behind[good], kind="stable")][: self.k]
        reach = self.reach[rows][:, None] + behind[good][None, :]
        row, choice = np.nonzero(reach >= floor)
        return rows[row], entries[good[choice]], reach[row, choice]


Chooser = RandomChooser | BestChooser


class _Trail(NamedTuple):
    """One choice at a step: the source of each row, and its cell or COVERED."""

    rows: IntArray
    step: EliminationStep
    cells: IntArray


def walk(recursion: Recursion, chooser: Chooser) -> tuple[IntArray, FloatArray]:
    """Return rows of labels, in restricted growth form, and their log-weights.

    The recursion's messages must be kept.
    """
    states, trail = np.zeros(chooser.rows, dtype=np.int64), []
    for n in reversed(range(len(recursion.steps))):
        step = recursion.steps[n]
        covered, by, _ = recursion.choices(step, recursion.messages[n])
        picks = chooser.choose(states, by, covered)
        took = picks.entries != COVERED
        masks = np.where(took, by.masks[picks.entries], 0)
        trail.append(_Trail(picks.rows, step, np.where(took, masks >> step.own, COVERED)))
        states = deposit(states[picks.rows] ^ masks, step.table)
        if step.bit >= 0:
            states |= np.where(took, 0, 1 << step.bit)
    rows, weights = _labels(trail, chooser.rows), np.empty(chooser.rows)
    renumber(recursion.theta, rows, weights)
    return rows, weights


def _labels(trail: list[_Trail], count: int) -> IntArray:
    """Follow every row back through its choices."""
    labels = np.empty((count, len(trail)), dtype=np.int64)
    rows = np.arange(count)
    for chosen in reversed(trail):
        join_cell(labels, rows, chosen.cells, chosen.step.vertex, chosen.step.members)
        rows = chosen.rows[rows]
    return labels


def potentials(theta: FloatArray, steps: Sequence[EliminationStep]) -> FloatArray:
    """Return a, feasible for every cell up to rounding."""
    labels = single_move_search(theta)
    together = labels[:, None] == labels[None, :]
    a: FloatArray = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    for step in steps:
        # every cell is looked at once, with its first template; raising more never hurts it
        _, logs = cells_from(theta, a, step.vertex, step.members, 0)
        a[step.vertex] += max(0.0, logs.max())
    return a


HARMLESS = -60.0  # log2 of a probability that may vanish unnoticed
ONE = 1e-9  # by how much the probabilities of a template's cells may miss 1


def eliminate_exactly(
    theta: FloatArray, plan: EliminationPlan | None = None
) -> EliminationPosterior:
    """Return the exact distribution; without a plan, one is made and followed whatever it costs."""
    chosen = plan or plan_elimination(theta)
    if chosen.bytes == math.inf:
        raise TooLarge(
            f"an exact answer for {len(theta)} templates",
            f"tables of more than 2^{WIDEST} entries",
            f"2^{WIDEST} entries",
        )
    return EliminationPosterior(theta, chosen.steps)


class _Solution(NamedTuple):
    """The recursion, log Z of rescaled weights, pairs and E[Σ_C log w(C)].

    The last field is log2 of a bound on the probability of what vanished.
    """

    recursion: Recursion
    log_total: float
    pairs: FloatArray
    expected: float
    loss: float

    @property
    def sound(self) -> bool:
        """Whether nothing that matters vanished, and each template's cells sum to probability 1."""
        lost = self.loss + math.log2(len(self.pairs) + 1)
        missing = np.abs(np.diag(self.pairs) - 1.0).max(initial=0.0)
        return bool(lost < HARMLESS and missing < ONE)


def _solve(recursion: Recursion) -> _Solution:
    n = len(recursion.theta)
    log_total = recursion.keep()
    pairs, expected = np.zeros((n, n)), []
    for step, masks, logs, p in recursion.cells():
        add_pairs(pairs, step.vertex, step.members, masks, step.own, p)
        expected.append(float(p @ logs))
    return _Solution(recursion, log_total, pairs, math.fsum(expected), recursion.loss)


class EliminationPosterior:
    """The posterior from one recursion along the steps of an elimination."""

    method: Method = "exact"

    def __init__(self, theta: FloatArray, steps: Sequence[EliminationStep]) -> None:
        self.size = len(theta)
        width = max((len(step.dims) for step in steps), default=0)
        self.reason = f"exact by elimination, width {width}"
        self._theta, self._steps = theta, steps
        self._scale = potentials(theta, steps)
        solved = self._solve()
        self._solved = solved
        self.log_normaliser = Figure.exact(solved.log_total + math.fsum(self._scale))

    def _solve(self) -> _Solution:
        """Solve in doubles; on logarithms, which is slower, if that loses anything."""
        with np.errstate(under="ignore", over="ignore", divide="ignore", invalid="ignore"):
            solved = _solve(self._recursion(SUM))
        return solved if solved.sound else _solve(self._recursion(LOG))

    def _recursion(self, kind: int) -> Recursion:
        return Recursion(self._steps, self._theta, self._scale, kind)

    def log_weight(self, labels: IntArray) -> float:
        return score(self._theta, labels)

    @cached_property
    def _counted(self) -> tuple[float, int | None]:
        """log₂ of the number of configurations, and the number if a double holds it."""
        ones = np.where(self._theta > -np.inf, 0.0, -np.inf)
        recursion = Recursion(self._steps, ones, np.zeros(self.size), SUM)
        return recursion.total() / LOG2, recursion.whole()

    def log2_count(self) -> Figure:
        return Figure.exact(self._counted[0])

    def count(self) -> int | None:
        return self._counted[1]

    def entropy(self) -> Figure:
        """Return log Z − Σ_C P(C) log w(C), with the rescaled weights, whose terms are small."""
        nats = self._solved.log_total - self._solved.expected
        return Figure.exact(max(0.0, nats) / LOG2)

    def pairs(self) -> Marginals:
        pairs = np.minimum(self._solved.pairs, 1.0)
        np.fill_diagonal(pairs, 1.0)
        return Marginals.exact(pairs)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for step, masks, _, probabilities in self._solved.recursion.cells():
            members = step.members.tolist()
            for mask, p in zip((masks >> step.own).tolist(), probabilities.tolist(), strict=True):
                inside = [m for j, m in enumerate(members) if mask >> j & 1]
                yield tuple(sorted([step.vertex, *inside])), p

    def best(self, k: int) -> Best:
        if k < 1:
            return Best(np.empty((0, self.size), dtype=np.int64), np.empty(0))
        recursion = self._recursion(MAX)
        recursion.keep()
        labels, weights = walk(recursion, BestChooser(k))
        order = np.argsort(-weights, kind="stable")
        return Best(labels[order], weights[order])

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        recursion = self._solved.recursion
        return walk(recursion, RandomChooser(count, recursion.kind, rng))[0]
