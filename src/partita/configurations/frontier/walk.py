"""Draws and the K best: the way down along the steps, many rows at once.

A row is a state for every message that waits. A draw takes each way on by its share of the
message. For the K best, with tables of maxima, the K rows of highest possible log-weight go on:
what a row can still reach is known exactly, so no other row can end among the K.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from partita.configurations.frontier import walk_kernels as kernels
from partita.configurations.frontier.recursion import Operand, Recursion
from partita.records import FloatArray, IntArray

NOTHING: FloatArray = np.empty(0)


class Picks(NamedTuple):
    """For every row that goes on: which row it was, and which entry it took."""

    rows: IntArray
    entries: IntArray


class Chooser(Protocol):
    """Decides how rows go on."""

    rows: int

    def choose(self, states: IntArray, by: Operand, covered: FloatArray) -> Picks:
        """From each row's state to the entries taken."""


@dataclass(slots=True, eq=False)
class Drawn:
    """Every row takes one way, by its share."""

    rows: int
    kind: int
    rng: np.random.Generator
    every: IntArray = field(init=False)

    def __post_init__(self) -> None:
        self.every = np.arange(self.rows)

    def choose(self, states: IntArray, by: Operand, covered: FloatArray) -> Picks:
        entries = kernels.draw(
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
class Highest:
    """The k rows go on that can end highest; `reach` says how far below the best each ends."""

    k: int
    rows: int = 1
    reach: FloatArray = field(default_factory=lambda: np.zeros(1))

    def choose(self, states: IntArray, by: Operand, covered: FloatArray) -> Picks:
        floor = self.reach[-1] if self.rows == self.k else -np.inf
        order = np.argsort(states, kind="stable")
        starts = np.flatnonzero(np.diff(states[order], prepend=-1))
        found = [
            self._ways(rows, int(states[rows[0]]), by, covered, floor)
            for rows in np.split(order, starts[1:])
        ]
        rows, entries, reach = (np.concatenate(column) for column in zip(*found, strict=True))
        # the earlier row first among equals
        best = np.lexsort((rows, -reach))[: self.k]
        self.reach, self.rows = reach[best], len(best)
        return Picks(rows[best], entries[best])

    def _ways(
        self, rows: IntArray, state: int, by: Operand, covered: FloatArray, floor: float
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """All ways on of the rows with one state that can end at the floor or above."""
        entries, values = np.empty(len(by.masks) + 1, np.int64), np.empty(len(by.masks) + 1)
        size = kernels.ways(
            False, state, by.masks, by.weights, by.table, by.bits, covered, entries, values
        )
        behind = values[:size] - values[:size].max()
        good = np.flatnonzero(self.reach[rows[0]] + behind >= max(floor, -np.finfo(float).max))
        good = good[np.argsort(-behind[good], kind="stable")][: self.k]
        reach = self.reach[rows][:, None] + behind[good][None, :]
        row, way = np.nonzero(reach >= floor)
        return rows[row], entries[good[way]], reach[row, way]


class _Trail(NamedTuple):
    """At one choice: which row each row was before and, at a step, its cell or COVERED."""

    rows: IntArray
    step: int = -1
    cells: IntArray | None = None


def walk(recursion: Recursion, chooser: Chooser) -> IntArray:
    """Rows of labels, in restricted growth form; the recursion's messages have been kept."""
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
    took = picks.entries != kernels.COVERED
    masks = np.where(took, by.masks[picks.entries], 0)
    trail = [_Trail(picks.rows, n, np.where(took, masks >> step.own, kernels.COVERED))]
    states = kernels.deposit(states ^ masks, step.table)
    if step.bit >= 0:
        states |= np.where(took, 0, 1 << step.bit)
    for k in reversed(range(len(step.joins))):
        join, child = step.joins[k], step.children[k + 1]
        by = recursion.operand(join, products[k], recursion.messages[child])
        picks, states = _choose(states, waiting, by, NOTHING, chooser)
        trail.append(_Trail(picks.rows))
        masks = by.masks[picks.entries]
        waiting[child] = kernels.deposit(masks >> join.own, join.listed)
        states = kernels.deposit(states ^ masks, join.dense)
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
    """The choice, and the rows' states rearranged as it says, those that wait too."""
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
            kernels.join_cell(labels, rows, chosen.cells, step.vertex, step.members)
        rows = chosen.rows[rows]
    kernels.canonical(labels)
    return labels
