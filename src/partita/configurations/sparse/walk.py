"""Draws and the K best configurations along an elimination."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from partita.compilation import kernel
from partita.configurations.sparse.kernels import SUM
from partita.configurations.sparse.recursion import Operand, Recursion
from partita.configurations.sparse.tree import bit_count
from partita.core import FloatArray, IntArray

COVERED = -1  # the choice of no entry: the template was covered from below


@kernel()
def ways(sums, state, masks, weights, table, bits, covered, found, values):  # type: ignore[no-untyped-def]
    """Write every choice from a state, an entry or COVERED, and its value; return their number.

    Values are products where `sums` (tables of sums), else logarithms.
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
    """Replace the values by their running sums; of logarithms up to a common factor."""
    top = -np.inf
    for k in range(size):
        top = max(top, values[k])
    total = 0.0
    for k in range(size):
        total += values[k] if sums else math.exp(values[k] - top)
        values[k] = total


@kernel()
def _first_above(values, size, mark):  # type: ignore[no-untyped-def]
    """Return the first of rising values above the mark, or the last with any weight."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] > mark:
            high = middle
        else:
            low = middle + 1
    return low


@kernel()
def draw_states(kind, states, order, uniforms, masks, weights, table, bits, covered):  # type: ignore[no-untyped-def]
    """Draw one choice for every state, by its share.

    `order` sorts the states, so that the choices of each are summed up once.
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


@kernel()
def deposit(states, positions):  # type: ignore[no-untyped-def]
    """Return every state with its bit j moved to positions[j]."""
    moved = np.zeros(len(states), np.int64)
    for row in range(len(states)):
        for j in range(len(positions)):
            moved[row] |= (states[row] >> j & 1) << positions[j]
    return moved


@kernel()
def join_cell(labels, rows, cells, vertex, members):  # type: ignore[no-untyped-def]
    """Give the members of the cell that each row chose at a step the template's number."""
    for k in range(len(labels)):
        rest = cells[rows[k]]
        if rest != COVERED:
            labels[k, vertex] = vertex
            while rest:
                low = rest & -rest
                rest ^= low
                labels[k, members[bit_count(np.uint64(low - 1))]] = vertex


@kernel()
def canonical(labels):  # type: ignore[no-untyped-def]
    """Renumber every row by first appearance, in place."""
    seen = np.empty(labels.shape[1], np.int64)
    for row in range(len(labels)):
        seen[:] = -1
        used = 0
        for i in range(labels.shape[1]):
            label = labels[row, i]
            if seen[label] < 0:
                seen[label] = used
                used += 1
            labels[row, i] = seen[label]


@kernel()
def log_weights(theta, labels):  # type: ignore[no-untyped-def]
    """Return, for every row (labels from 0 to n-1), the sum of theta over pairs with one label."""
    n = labels.shape[1]
    sums = np.zeros(len(labels))
    last, before = np.empty(n, np.int64), np.empty(n, np.int64)
    for row in range(len(labels)):
        last[:] = -1
        for i in range(n):
            label = labels[row, i]
            before[i] = last[label]
            last[label] = i
            j = before[i]
            while j >= 0:
                sums[row] += theta[i, j]
                j = before[j]
    return sums


NOTHING: FloatArray = np.empty(0)


class Picks(NamedTuple):
    """For every row that continues: its source row, and the entry it took."""

    rows: IntArray
    entries: IntArray


class Chooser(Protocol):
    """Decides how rows continue."""

    rows: int

    def choose(self, states: IntArray, by: Operand, covered: FloatArray) -> Picks:
        """Return the entries taken from each row's state."""


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


class _Trail(NamedTuple):
    """One choice: the source of each row and, at a step, its cell or COVERED."""

    rows: IntArray
    step: int = -1
    cells: IntArray | None = None


def walk(recursion: Recursion, chooser: Chooser) -> IntArray:
    """Return rows of labels, in restricted growth form; the recursion's messages must be kept."""
    waiting: dict[int, IntArray] = {}
    trail: list[_Trail] = []
    for n in recursion.descending():
        states = waiting.pop(n, None)
        if states is None:
            states = np.zeros(chooser.rows, dtype=np.int64)
        trail += _take(recursion, n, states, waiting, chooser)
    return _labels(recursion, trail, chooser.rows)


def _take(
    recursion: Recursion,
    n: int,
    states: IntArray,
    waiting: dict[int, IntArray],
    chooser: Chooser,
) -> list[_Trail]:
    """Choose at one step: a cell, and which child covered what."""
    step = recursion.steps[n]
    products = recursion.products(step)
    covered, by, _ = recursion.choices(step, products[-1])
    picks, states = _choose(states, waiting, by, covered, chooser)
    took = picks.entries != COVERED
    masks = np.where(took, by.masks[picks.entries], 0)
    trail = [_Trail(picks.rows, n, np.where(took, masks >> step.own, COVERED))]
    states = deposit(states ^ masks, step.table)
    if step.bit >= 0:
        states |= np.where(took, 0, 1 << step.bit)
    for k in reversed(range(len(step.joins))):
        join, child = step.joins[k], step.children[k + 1]
        by = recursion.operand(join, products[k], recursion.messages[child])
        picks, states = _choose(states, waiting, by, NOTHING, chooser)
        trail.append(_Trail(picks.rows))
        masks = by.masks[picks.entries]
        waiting[child] = deposit(masks >> join.own, join.listed)
        states = deposit(states ^ masks, join.dense)
    if step.children:
        waiting[step.children[0]] = states
    return trail


def _choose(
    states: IntArray,
    waiting: dict[int, IntArray],
    by: Operand,
    covered: FloatArray,
    chooser: Chooser,
) -> tuple[Picks, IntArray]:
    """Choose, and rearrange the rows' states accordingly, the waiting ones too."""
    picks = chooser.choose(states, by, covered)
    for child in waiting:
        waiting[child] = waiting[child][picks.rows]
    return picks, states[picks.rows]


def _labels(recursion: Recursion, trail: list[_Trail], count: int) -> IntArray:
    """Follow every row back through its choices."""
    labels = np.empty((count, len(recursion.steps)), dtype=np.int64)
    rows = np.arange(count)
    for chosen in reversed(trail):
        if chosen.cells is not None:
            step = recursion.steps[chosen.step]
            join_cell(labels, rows, chosen.cells, step.vertex, step.members)
        rows = chosen.rows[rows]
    canonical(labels)
    return labels
