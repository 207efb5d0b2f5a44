"""The states of a set, as arrays or packed into words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from partita.configurations.merging.lattice import BITS, LatticeStep
from partita.configurations.merging.model import Merger, mask, reach_of
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
    """States as rows of masks, NO_TAIL where no live tail is (see `lattice.LatticeStates`)."""

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
        """Raise: small sets compute their pair marginals without the tails."""
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


@dataclass(frozen=True, slots=True, eq=False)
class _RelativeRules:
    """The rules relative to each template: bit e is e + 1 after it, bit d is d before."""

    allows: IntArray
    mates: IntArray
    awaited: IntArray
    bound: BoolArray
    live: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class PackedStates:
    """States packed into words (see `lattice.LatticeStates`)."""

    model: Merger
    near: _RelativeRules
    reach: int
    x: int
    sets: IntArray
    words: IntArray

    def __len__(self) -> int:
        return len(self.sets)

    def tails(self) -> IntArray:
        return self.sets

    def choices(self) -> IntArray:
        return np.bitwise_count(self.sets).astype(np.int64) + 1

    def take(self, kept: IntArray) -> PackedStates:
        parts = self.sets[kept], self.words[kept]
        return PackedStates(self.model, self.near, self.reach, self.x, *parts)

    def width(self, x: int) -> int:
        """Return the bits of a field before template x."""
        return max(1, min(self.model.size - x, self.reach))

    def grow(self, x: int) -> tuple[LatticeStep, PackedStates]:
        from partita.configurations.merging.kernels import expand

        back = x - 1 - np.arange(min(x, BITS))
        cells = int(np.bitwise_count(self.sets).max(initial=0)) + 1
        first, target, joined, weight, keys = expand(
            np.ascontiguousarray(self.sets),
            np.ascontiguousarray(self.words),
            self.width(x),
            self.width(x + 1),
            -(-cells // (BITS // self.width(x + 1))),
            self.model.log_yes[x, back],
            self.model.log_no[x, back],
            _facts(self.near, x),
            int(self.choices().sum()),
        )
        tail = np.where(joined < 0, -1, x - 1 - joined.astype(np.int16))
        after = PackedStates(self.model, self.near, self.reach, x + 1, keys[:, 0], keys[:, 1:])
        return LatticeStep(first, target, tail, weight), after


def _facts(near: _RelativeRules, x: int) -> tuple[int, int, int, int, int, bool]:
    """Return allows, mates, awaited elsewhere before x, awaited after it, live tails, x bound."""
    elsewhere = int(near.awaited[x - 1]) >> 1 & ~int(near.mates[x]) if x else 0
    masks = (near.allows[x], near.mates[x], elsewhere, near.awaited[x], near.live[x])
    allows, mates, others, awaited, live = (int(m) for m in masks)
    return allows, mates, others, awaited, live, bool(near.bound[x])


def packed_states(model: Merger) -> PackedStates:
    """Return the state before the first template; no relation may reach further than a word."""
    absolute, n = rules(model), model.size
    full = (1 << BITS) - 1
    allows, mates, awaited = (
        np.array([m >> x + 1 & full for x, m in enumerate(masks)], dtype=np.int64)
        for masks in (absolute.allows, absolute.mates, absolute.awaited)
    )
    live = np.array([_reversed(m, x) for x, m in enumerate(absolute.live)], dtype=np.int64)
    near = _RelativeRules(allows, mates, awaited, absolute.bound, live)
    empty = np.zeros((1, 1), dtype=np.int64)
    return PackedStates(model, near, min(reach_of(model), n), 0, empty[0], empty)


def _reversed(mask: int, x: int) -> int:
    """Return bit d for template x − d."""
    return sum(1 << d for d in range(min(x + 1, BITS)) if mask >> (x - d) & 1)


def words_needed(model: Merger) -> int:
    """Return the longest key of a state, in words."""
    n, reach = model.size, min(reach_of(model), model.size)
    widths = [(min(x, reach), max(1, min(n - x, reach))) for x in range(n + 1)]
    return 1 + max(-(-cells // (BITS // width)) for cells, width in widths)
