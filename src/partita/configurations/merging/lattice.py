"""The lattice of all decisions: states are (tail, what its cell still allows) for every live cell.

Configurations and paths are one to one. With w the weight of a decision s → s',
mass(s) = Σ w · mass(s'), the total is the mass of the first state, and a decision is taken with
the probability w · mass(s') / mass(s), whatever was dropped for being forbidden.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

import numpy as np
from numpy.typing import NDArray

from partita.configurations.exact.listed import listed_cells
from partita.configurations.merging.listed import BoundedPosterior, MassBounds, bell_bits
from partita.configurations.merging.model import Merger, log_sum, mask, reach_of
from partita.core import Best, BoolArray, Figure, FloatArray, IntArray, Marginals
from partita.errors import InputError, TooLarge, Unavailable

BITS = 62  # of a word of packed states are used: no shift meets the sign
FLOOR = 700.0  # e**-700 bounds what underflows beside the largest mass of a layer


@dataclass(frozen=True, slots=True, eq=False)
class LatticeStep:
    """All decisions about one template, in the order of the states that they start from."""

    first: IntArray  # where each state's decisions begin, and the end
    target: NDArray[np.int32]
    joined: NDArray[np.int16]  # the tail joined, −1 for a new cell
    weight: FloatArray

    def only(self, kept: BoolArray) -> LatticeStep:
        """Return only the decisions that lead to these states, which are renumbered."""
        number = np.cumsum(kept) - 1
        stays = kept[self.target]
        first = np.concatenate([[0], np.cumsum(stays)])[self.first]
        target = number[self.target[stays]].astype(np.int32)
        return LatticeStep(first, target, self.joined[stays], self.weight[stays])


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """What the order of the text decides beforehand, as bits for each template.

    Of later templates, bit e for the one that is e + 1 after it, `allows` has the compatible ones,
    `mates` those that must be with it, and `awaited` those with a mate before or at it. `bound`:
    has it a mate before? `live`: which tails up to it, bit d for the one d before, are still asked?
    """

    allows: IntArray
    mates: IntArray
    awaited: IntArray
    bound: BoolArray
    live: IntArray

    @classmethod
    def of(cls, model: Merger) -> Rules:
        n = model.size
        later = np.triu(np.ones((n, n), dtype=bool), 1)
        same = model.groups[:, None] == model.groups[None, :]
        awaited = np.maximum.accumulate(same, axis=0) & later
        last = np.where((model.log_yes > -math.inf) & later, np.arange(n), -1).max(axis=1)
        live = last[None, :] > np.arange(n)[:, None]
        return cls(
            _bits_after(model.compatible & later),
            _bits_after(same & later),
            _bits_after(awaited),
            (same & later.T).any(axis=1),
            np.array([mask(row[: x + 1][::-1][:BITS]) for x, row in enumerate(live)], np.int64),
        )


def _bits_after(rows: BoolArray) -> IntArray:
    """Return bit e for the template that is e + 1 after that of each row."""
    return np.array([mask(row[x + 1 : x + 1 + BITS]) for x, row in enumerate(rows)], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class PackedStates:
    """The states that a step leads to, packed into words; state 0 of the first has no cells.

    `sets` are the live tails of each state as bits: d is the template d + 1 before the next.
    """

    model: Merger
    near: Rules
    reach: int
    x: int
    sets: IntArray
    words: IntArray

    def __len__(self) -> int:
        return len(self.sets)

    def choices(self) -> IntArray:
        """Return an upper bound on the decisions of each state."""
        return np.bitwise_count(self.sets).astype(np.int64) + 1

    def take(self, kept: IntArray) -> PackedStates:
        """Return only these states."""
        parts = self.sets[kept], self.words[kept]
        return PackedStates(self.model, self.near, self.reach, self.x, *parts)

    def width(self, x: int) -> int:
        """Return the bits of a field before template x."""
        return max(1, min(self.model.size - x, self.reach))

    def grow(self, x: int) -> tuple[LatticeStep, PackedStates]:
        """Return all decisions about template x, and the states that they lead to."""
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


def _facts(near: Rules, x: int) -> tuple[int, int, int, int, int, bool]:
    """Return allows, mates, awaited elsewhere before x, awaited after it, live tails, x bound."""
    elsewhere = int(near.awaited[x - 1]) >> 1 & ~int(near.mates[x]) if x else 0
    masks = (near.allows[x], near.mates[x], elsewhere, near.awaited[x], near.live[x])
    allows, mates, others, awaited, live = (int(m) for m in masks)
    return allows, mates, others, awaited, live, bool(near.bound[x])


def packed_states(model: Merger) -> PackedStates:
    """Return the state before the first template; no relation may reach further than a word."""
    empty = np.zeros((1, 1), dtype=np.int64)
    reach = min(reach_of(model), model.size)
    return PackedStates(model, Rules.of(model), reach, 0, empty[0], empty)


def words_needed(model: Merger) -> int:
    """Return the longest key of a state, in words."""
    n, reach = model.size, min(reach_of(model), model.size)
    widths = [(min(x, reach), max(1, min(n - x, reach))) for x in range(n + 1)]
    return 1 + max(-(-cells // (BITS // width)) for cells, width in widths)


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """The steps, template by template, and the log-mass of every state before each and at the end.

    Before template `whole` nothing was dropped; `made` decisions were looked at in all.
    """

    steps: tuple[LatticeStep, ...]
    tails: tuple[IntArray, ...]
    masses: tuple[FloatArray, ...]
    mass: MassBounds
    whole: int
    made: int

    def __len__(self) -> int:
        return sum(len(step.target) for step in self.steps)

    def chances(self, x: int) -> FloatArray:
        """Return the probability of each decision about x, given its state."""
        step = self.steps[x]
        before = np.repeat(self.masses[x], np.diff(step.first))
        with np.errstate(invalid="ignore"):
            chance: FloatArray = np.exp(step.weight + self.masses[x + 1][step.target] - before)
        return np.nan_to_num(chance, copy=False)

    def taken(self) -> Iterator[tuple[LatticeStep, FloatArray, FloatArray]]:
        """Yield each step with its decisions' probabilities given their state, and of both."""
        visited: FloatArray = np.ones(1)
        for x, step in enumerate(self.steps):
            chance = self.chances(x)
            share = np.repeat(visited, np.diff(step.first)) * chance
            yield step, chance, share
            visited = _sum_by_target(step, share, len(self.masses[x + 1]))

    def visited(self) -> list[FloatArray]:
        """Return the probability of every state before each template, and at the end."""
        probabilities: list[FloatArray] = [np.ones(1)]
        for (step, _, share), masses in zip(self.taken(), self.masses[1:], strict=True):
            probabilities.append(_sum_by_target(step, share, len(masses)))
        return probabilities


def _sum_by_target(step: LatticeStep, shares: FloatArray, states: int) -> FloatArray:
    """Sum the values over the decisions that lead to each state."""
    sums: FloatArray = np.bincount(step.target, shares, states).astype(np.float64)
    return sums


@dataclass(slots=True, eq=False)
class _Growth:
    """A growing lattice: forward masses are computed when states must be dropped."""

    states: PackedStates
    steps: list[LatticeStep] = field(default_factory=list)
    tails: list[IntArray] = field(default_factory=list)
    reached: FloatArray = field(default_factory=lambda: np.zeros(1))
    at: int = 0
    dropped: list[float] = field(default_factory=list)
    single: float = -math.inf

    def grow(self, x: int) -> None:
        self.tails.append(self.states.sets)
        step, self.states = self.states.grow(x)
        self.steps.append(step)

    def cut(self, room: float) -> None:
        """Keep the states of most mass whose decisions there is room for."""
        while self.at < len(self.steps):
            self.reached = _forward(self.steps[self.at], self.reached)
            self.at += 1
        by = np.argsort(-self.reached, kind="stable")
        fits = max(1, int(np.searchsorted(np.cumsum(self.states.choices()[by]), room, "right")))
        kept = np.zeros(len(by), dtype=bool)
        kept[by[:fits]] = True
        self.dropped.append(log_sum(self.reached[~kept]))
        self.single = max(self.single, float(self.reached[~kept].max(initial=-math.inf)))
        self.reached, self.states = self.reached[kept], self.states.take(np.flatnonzero(kept))
        self.steps[-1] = self.steps[-1].only(kept)


def _forward(step: LatticeStep, reached: FloatArray) -> FloatArray:
    """Return the log-mass that arrives in each state; where it underflows, a bound for it."""
    arriving = np.repeat(reached, np.diff(step.first)) + step.weight
    top = float(arriving.max(initial=-math.inf))
    if top == -math.inf:
        return np.full(int(step.target.max(initial=-1)) + 1, top)
    sums = np.bincount(step.target, np.exp(arriving - top))
    masses: FloatArray = top + np.log(np.maximum(sums, math.exp(-FLOOR)))
    return masses


def lattice(states: PackedStates, size: int, decisions: float) -> Lattice:
    """Grow a lattice with at most so many decisions: three quarters freely, then evenly.

    The mass that a dropped state could still have had is at most the mass that reached it.
    """
    growth = _Growth(states)
    used, whole = 0, size
    for x in range(size):
        room = max((decisions - used) / (size - x), 0.75 * decisions - used)
        if len(growth.states) > 1 and growth.states.choices().sum() > room:
            growth.cut(room)
            whole = min(whole, x)
        growth.grow(x)
        used += len(growth.steps[-1].target)
    masses = _masses(growth.steps, len(growth.states))
    if masses[0][0] == -math.inf:
        if growth.dropped:
            raise TooLarge(
                "a possible configuration", "a wider search", f"{decisions:.0f} decisions"
            )
        raise InputError("the pair probabilities and must-links leave no configuration possible")
    dropped = log_sum(np.array(growth.dropped))
    bounds = MassBounds(float(masses[0][0]), dropped, growth.single, size)
    tails = (*growth.tails, growth.states.sets)
    return Lattice(tuple(growth.steps), tails, masses, bounds, whole, used)


def _masses(steps: list[LatticeStep], last: int) -> tuple[FloatArray, ...]:
    masses = [np.zeros(last)]
    for step in reversed(steps):
        masses.append(_sums(step, step.weight + masses[-1][step.target]))
    return tuple(masses[::-1])


def _sums(step: LatticeStep, logs: FloatArray) -> FloatArray:
    """Return, for every state, the logarithm of the sum over its decisions."""
    top = largest_by_state(step, logs)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled = np.exp(logs - np.repeat(top, np.diff(step.first)))
        sums: FloatArray = top + np.log(np.add.reduceat(np.append(scaled, 0.0), step.first[:-1]))
    return np.where(np.isneginf(top), top, sums)


def largest_by_state(step: LatticeStep, values: FloatArray) -> FloatArray:
    """Return, for every state, the largest value of its decisions; −∞ if it has none."""
    ended = np.append(values, -math.inf)
    top = np.maximum.reduceat(ended, step.first[:-1])
    return np.where(np.diff(step.first) > 0, top, -math.inf)


Choice = tuple[int, float, int]  # the tail joined (−1: a new cell), log-weight, the state after it
Path = tuple["Path", int] | None


def best_first(
    size: int,
    choices: Callable[[int, int], list[Choice]],
    bound: Callable[[int, int], float],
    k: int,
) -> Best:
    """Return the k best paths from state 0; `bound` never underestimates the rest of a path."""
    order = count(1)
    heap: list[tuple[float, int, int, int, float, Path]] = [(0.0, 0, 0, 0, 0.0, None)]
    paths: list[tuple[float, IntArray]] = []
    while heap and len(paths) < k:
        _, _, x, state, spent, path = heapq.heappop(heap)
        if x == size:
            paths.append((spent, labels_of(path, size)))
            continue
        for tail, cost, after in choices(x, state):
            hope = spent + cost + bound(x + 1, after)
            if hope > -math.inf:
                entry = (-hope, next(order), x + 1, after, spent + cost, (path, tail))
                heapq.heappush(heap, entry)
    return sort_paths(size, paths)


def sort_paths(size: int, paths: list[tuple[float, IntArray]], gap: float = 0.0) -> Best:
    """Sort by falling weight: rounding in the bounds may have swapped near equals."""
    weights: FloatArray = np.array([weight for weight, _ in paths], dtype=np.float64)
    labels = np.array([row for _, row in paths], dtype=np.int64).reshape(len(paths), size)
    by = np.argsort(-weights, kind="stable")
    return Best(labels[by], weights[by], gap)


def labels_of(path: Path, size: int) -> IntArray:
    """Return a path of decisions, last first, as labels in restricted growth form."""
    tails = []
    while path is not None:
        path, tail = path
        tails.append(tail)
    labels = np.empty(size, dtype=np.int64)
    cells = 0
    for x, tail in enumerate(reversed(tails)):
        labels[x] = cells if tail < 0 else labels[tail]
        cells += tail < 0
    return labels


def pair_marginals(lattice: Lattice, memory: int) -> FloatArray:
    """Return the pair marginals, in blocks of later templates, as memory allows."""
    n, visited = len(lattice.steps), lattice.visited()
    within = np.zeros((n, n))
    starts = [_starts(tails) for tails in lattice.tails]
    block = min(n, 64)
    while block > 1 and 20 * _largest(starts, block) > memory:
        block //= 2
    for low in range(0, n, block):
        _block(lattice, visited, starts, within, low, min(n, low + block))
    return within


def _starts(tails: IntArray) -> IntArray:
    """Return where the rows of each state begin, one for each of its tails, and the end."""
    return np.concatenate([[0], np.cumsum(np.bitwise_count(tails).astype(np.int64))])


def _largest(starts: list[IntArray], block: int) -> int:
    """Return the largest number of entries of a table with so many columns at once."""
    left = [min(block, len(starts) - 1 - x) for x in range(len(starts))]
    return max(int(start[-1]) * columns for start, columns in zip(starts, left, strict=True))


def _block(
    lattice: Lattice,
    visited: list[FloatArray],
    starts: list[IntArray],
    within: FloatArray,
    low: int,
    high: int,
) -> None:
    """Fill the columns from low to high, as far back as they have marginals.

    A table holds only the columns of templates that are still to come.
    """
    from partita.configurations.merging.kernels import before

    table = np.zeros((starts[high][-1], 0))
    for x in range(high - 1, -1, -1):
        latest = np.flatnonzero(lattice.tails[x + 1] & 1)
        within[x, max(low, x + 1) : high] = visited[x + 1][latest] @ table[starts[x + 1][latest]]
        step, tails = lattice.steps[x], lattice.tails
        sides = tails[x], starts[x], tails[x + 1], starts[x + 1]
        joined = np.where(step.joined < 0, -1, x - 1 - step.joined.astype(np.int64))
        chance = lattice.chances(x)
        table = before(step.first, step.target, joined, chance, *sides, table, int(x >= low))
        if x < low and not table.any():
            break


LISTABLE = 200_000  # so many configurations are listed where that is the only way


@dataclass(frozen=True, slots=True, eq=False)
class LatticePosterior(BoundedPosterior):
    """The posterior by a lattice of decisions."""

    lattice: Lattice
    memory: int
    reason: str

    def entropy(self) -> Figure:
        """Sum the decisions' entropies, each weighted by the probability of its state."""
        total = 0.0
        for _, chance, share in self.lattice.taken():
            possible = chance > 0
            total -= float(np.sum(share[possible] * np.log2(chance[possible])))
        return self.mass.entropy(total, bell_bits(self.size))

    def pairs(self) -> Marginals:
        within = pair_marginals(self.lattice, self.memory)
        together = np.clip(within + within.T, 0.0, 1.0)
        np.fill_diagonal(together, 1.0)
        return self.mass.pairs(together)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if not self.mass.exact or self.paths() > LISTABLE:
            raise Unavailable(
                f"cell probabilities of {self.size} templates by merging decisions need a list of "
                f"all configurations; the pair probabilities are there"
            )
        return listed_cells(*self._all())

    def paths(self) -> float:
        """Return the number of configurations with any weight."""
        ways: FloatArray = np.ones(len(self.lattice.masses[-1]))
        for step in reversed(self.lattice.steps):
            sums = np.append(ways[step.target], 0.0)
            ways = np.add.reduceat(sums, step.first[:-1]) * (np.diff(step.first) > 0)
        return float(ways[0])

    def _all(self) -> tuple[IntArray, FloatArray]:
        """Return every configuration with its probability."""
        state, share = np.zeros(1, dtype=np.int64), np.ones(1)
        labels, cells = np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
        for x, step in enumerate(self.lattice.steps):
            number = np.diff(step.first)[state]
            row = np.repeat(np.arange(len(state)), number)
            chosen = (
                step.first[state][row] + np.arange(len(row)) - (np.cumsum(number) - number)[row]
            )
            share = share[row] * self.lattice.chances(x)[chosen]
            tails = step.joined[chosen].astype(np.int64)
            labels, cells = _join(labels[row], cells[row], tails)
            state = step.target[chosen].astype(np.int64)
        return labels, share

    def best(self, k: int) -> Best:
        bounds = [np.zeros(len(self.lattice.masses[-1]))]
        for step in reversed(self.lattice.steps):
            bounds.append(largest_by_state(step, step.weight + bounds[-1][step.target]))
        bounds.reverse()
        listed = best_first(self.size, self._choices, lambda x, s: float(bounds[x][s]), k)
        return self.mass.best(listed.labels, listed.log_weights)

    def _choices(self, x: int, state: int) -> list[Choice]:
        step = self.lattice.steps[x]
        decisions = slice(int(step.first[state]), int(step.first[state + 1]))
        parts = (step.joined[decisions], step.weight[decisions], step.target[decisions])
        return list(zip(*(part.tolist() for part in parts), strict=True))

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        state = np.zeros(count, dtype=np.int64)
        labels, cells = np.zeros((count, 0), dtype=np.int64), np.zeros(count, dtype=np.int64)
        for x, step in enumerate(self.lattice.steps):
            chosen = _choose(step, self.lattice.chances(x), state, rng)
            labels, cells = _join(labels, cells, step.joined[chosen].astype(np.int64))
            state = step.target[chosen].astype(np.int64)
        return labels


def _choose(
    step: LatticeStep, chances: FloatArray, state: IntArray, rng: np.random.Generator
) -> IntArray:
    """Choose one of its state's decisions for each draw."""
    bounds = np.concatenate([[0.0], np.cumsum(chances)])
    low, high = step.first[state], step.first[state + 1]
    at = bounds[low] + rng.random(len(state)) * (bounds[high] - bounds[low])
    chosen: IntArray = np.clip(np.searchsorted(bounds, at, side="right") - 1, low, high - 1)
    return chosen


def _join(labels: IntArray, cells: IntArray, tails: IntArray) -> tuple[IntArray, IntArray]:
    """Return rows of labels with one template more, which joins these tails or starts a cell."""
    rows = np.arange(len(labels))
    home = np.where(tails < 0, cells, labels[rows, tails] if labels.shape[1] else cells)
    return np.column_stack([labels, home]), cells + (tails < 0)
