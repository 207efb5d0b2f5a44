"""The lattice of merging decisions with states as rows of masks, for sets of at most 14 templates.

Plain arrays instead of packed words and compiled loops; see `merging.lattice`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita.configurations.merging.lattice import Lattice, LatticeStep
from partita.configurations.merging.model import Merger, mask
from partita.core import BoolArray, FloatArray, IntArray

NO_TAIL = -1  # in place of a mask, which is never negative


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
    """States as rows of masks, NO_TAIL where no live tail is (see `lattice.PackedStates`)."""

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

    @property
    def sets(self) -> IntArray:
        """Nothing: `small_pair_marginals` needs no tails."""
        return np.zeros(0, dtype=np.int64)

    def grow(self, x: int) -> tuple[LatticeStep, SmallStates]:

        placed = [self._place(x, *answer) for answer in self._answers(x)]
        source = np.concatenate([part[0] for part in placed])
        order = np.argsort(source, kind="stable")
        joined, weight, rows = (
            np.concatenate([part[i] for part in placed])[order] for i in (1, 2, 3)
        )
        fresh, target = _distinct(rows)
        first = np.searchsorted(source[order], np.arange(len(self) + 1))
        step = LatticeStep(first, target.astype(np.int32), joined.astype(np.int16), weight)
        return step, SmallStates(self.model, self.rules, fresh)

    def _answers(self, x: int) -> list[tuple[int, IntArray, FloatArray]]:
        """Return, for each tail (and none), the states in which x may join it, and weights."""
        spent = np.zeros(len(self))
        answers = []
        for t in range(x - 1, -1, -1):
            weight = spent + self.model.log_yes[x, t]
            tail = self.rows[:, t] >= 0
            may = tail & (self.rows[:, t] >> x & 1 > 0) & (weight > -math.inf)
            answers.append((t, np.flatnonzero(may), weight[may]))
            spent[tail] += self.model.log_no[x, t]
        may = (spent > -math.inf) & ~self.rules.bound[x]
        return [*answers, (-1, np.flatnonzero(may), spent[may])]

    def _place(
        self, x: int, t: int, source: IntArray, weight: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
        """Return the rows after x has joined t, without those where an awaited one has no place."""
        rules, rows = self.rules, self.rows[source]
        elsewhere = (rules.awaited[x - 1] if x else 0) & ~rules.mates[x]
        allowed = (rows[:, t] if t >= 0 else ~elsewhere) & rules.allows[x]
        if t >= 0:
            rows[:, t] = NO_TAIL
        rows = np.where(rows >= 0, rows & ~(rules.mates[x] | 1 << x), NO_TAIL)
        rows[:, x] = allowed
        rows[:, [i for i in range(x + 1) if not rules.live[x] >> i & 1]] = NO_TAIL
        placed = np.bitwise_or.reduce(np.maximum(rows, 0), axis=1)
        fine = placed & rules.awaited[x] == rules.awaited[x]
        return source[fine], np.full(int(fine.sum()), t), weight[fine], rows[fine]


def small_states(model: Merger) -> SmallStates:
    """Return the one state before the first template."""
    return SmallStates(model, rules(model), np.full((1, model.size), NO_TAIL))


def _distinct(rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return the different rows, and for each row its place among them."""
    if not len(rows):
        return rows, np.zeros(0, dtype=np.int64)
    packed = np.ascontiguousarray(rows, dtype=np.int16)  # 14 templates fit
    keys = packed.view(np.dtype((np.void, packed.shape[1] * 2))).ravel()
    _, index, target = np.unique(keys, return_index=True, return_inverse=True)
    return rows[index], target


def small_pair_marginals(lattice: Lattice) -> FloatArray:
    """Return, for i < j, the probability that j is in i's cell."""
    n, visited = len(lattice.steps), lattice.visited()
    within = np.zeros((n, n))
    table = np.zeros((len(lattice.masses[-1]), n, 0))
    for x in range(n - 1, -1, -1):
        within[x, x + 1 :] = visited[x + 1] @ table[:, x]
        table = _before(lattice.steps[x], lattice.chances(x), x, table)
    return within


def _before(step: LatticeStep, chance: FloatArray, x: int, after: FloatArray) -> FloatArray:
    """Return the table before x, tails by later templates, from the one after it."""
    tables = np.zeros((len(chance) + 1, x, after.shape[2] + 1))  # an empty one ends the last sum
    tables[:-1, :, 1:] = after[step.target, :x]
    joins = np.flatnonzero(step.joined >= 0)
    tails = step.joined[joins]
    tables[joins, tails, 1:] = after[step.target[joins], x]
    tables[joins, tails, 0] = 1.0
    tables[:-1] *= chance[:, None, None]
    sums: FloatArray = np.add.reduceat(tables, step.first[:-1], axis=0)
    sums[np.diff(step.first) == 0] = 0.0
    return sums
