"""States of a small set in plain arrays: for each template, if it is a tail, whom its cell allows.

Joining, x leaves its cell whom both allow; where mates are to come, all other cells close to them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita.configurations.graphs import BoolArray
from partita.configurations.merging.lattice import Step
from partita.configurations.merging.model import Merger, mask
from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What the order of the text decides beforehand, for each template as a mask of later ones.

    `allows`: compatible ones. `mates`: those that must be with it. `awaited`: those with a mate
    before or at it. `bound`: has it a mate before? `live`: which tails up to it are still asked?
    """

    allows: list[int]
    mates: list[int]
    awaited: list[int]
    bound: BoolArray
    live: list[int]


def rules(model: Merger) -> Rules:
    n = model.size
    later = np.triu(np.ones((n, n), dtype=bool), 1)
    same = model.groups[:, None] == model.groups[None, :]
    mates = [mask(row) for row in same & later]
    awaited = [0] * n
    for x in range(n):
        awaited[x] = ((awaited[x - 1] if x else 0) | mates[x]) & ~((2 << x) - 1)
    drawn = (model.log_yes > -math.inf) & later
    last = np.where(drawn, np.arange(n), -1).max(axis=1)
    live = [mask(last[: x + 1] > x) for x in range(n)]
    allows = [mask(row) for row in model.compatible & later]
    return Rules(allows, mates, awaited, (same & later.T).any(axis=1), live)


@dataclass(frozen=True, slots=True, eq=False)
class SmallStates:
    """Rows of masks, −1 for what is not a live tail. See merging_lattice.States."""

    model: Merger
    rules: Rules
    rows: IntArray

    def __len__(self) -> int:
        return len(self.rows)

    def choices(self) -> IntArray:
        counted: IntArray = (self.rows >= 0).sum(axis=1) + 1
        return counted

    def take(self, kept: IntArray) -> SmallStates:
        return SmallStates(self.model, self.rules, self.rows[kept])

    def tails(self) -> IntArray:
        """Not asked of small sets: their fellows are found without it."""
        return np.zeros(0, dtype=np.int64)

    def grow(self, x: int) -> tuple[Step, SmallStates]:
        found = [self._place(x, *answer) for answer in self._answers(x)]
        source = np.concatenate([part[0] for part in found])
        order = np.argsort(source, kind="stable")
        joined, weight, rows = (
            np.concatenate([part[i] for part in found])[order] for i in (1, 2, 3)
        )
        fresh, target = _distinct(rows)
        first = np.searchsorted(source[order], np.arange(len(self) + 1))
        step = Step(first, target.astype(np.int32), joined.astype(np.int16), weight)
        return step, SmallStates(self.model, self.rules, fresh)

    def _answers(self, x: int) -> list[tuple[int, IntArray, FloatArray]]:
        """For each tail (and for none) the states in which x may join it, and the weights."""
        spent = np.zeros(len(self))
        found = []
        for t in range(x - 1, -1, -1):
            weight = spent + self.model.log_yes[x, t]
            tail = self.rows[:, t] >= 0
            may = tail & (self.rows[:, t] >> x & 1 > 0) & (weight > -math.inf)
            found.append((t, np.flatnonzero(may), weight[may]))
            spent[tail] += self.model.log_no[x, t]
        may = (spent > -math.inf) & ~self.rules.bound[x]
        return [*found, (-1, np.flatnonzero(may), spent[may])]

    def _place(
        self, x: int, t: int, source: IntArray, weight: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """The rows after x has joined t; without those in which an awaited one has no place."""
        known, rows = self.rules, self.rows[source]
        elsewhere = (known.awaited[x - 1] if x else 0) & ~known.mates[x]
        allowed = (rows[:, t] if t >= 0 else ~elsewhere) & known.allows[x]
        if t >= 0:
            rows[:, t] = -1
        rows = np.where(rows >= 0, rows & ~(known.mates[x] | 1 << x), -1)
        rows[:, x] = allowed
        rows[:, [i for i in range(x + 1) if not known.live[x] >> i & 1]] = -1
        placed = np.bitwise_or.reduce(np.maximum(rows, 0), axis=1)
        fine = placed & known.awaited[x] == known.awaited[x]
        return source[fine], np.full(int(fine.sum()), t), weight[fine], rows[fine]


def small_states(model: Merger) -> SmallStates:
    """The one state before the first template."""
    return SmallStates(model, rules(model), np.full((1, model.size), -1, dtype=np.int64))


def _distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The different rows, and for each row its place among them."""
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    packed = np.ascontiguousarray(rows, dtype=np.int16)  # 14 templates fit
    keys = packed.view(np.dtype((np.void, packed.shape[1] * 2))).ravel()
    _, index, target = np.unique(keys, return_index=True, return_inverse=True)
    return rows[index], target
