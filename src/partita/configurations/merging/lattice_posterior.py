"""Answers from a lattice of decisions."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np

from partita.configurations.exact.listed import listed_cells
from partita.configurations.merging.bounds import MassBounds, bell_bits, log2_count
from partita.configurations.merging.bounds import count as count_configurations
from partita.configurations.merging.lattice import SMALL, Lattice, Step, most
from partita.configurations.merging.model import Merger
from partita.core import Best, Figure, FloatArray, IntArray, Marginals, Method
from partita.errors import Unavailable

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


def pair_marginals(lattice: Lattice) -> FloatArray:
    """Return, for i < j, the probability that j is in i's cell."""
    n, visited = len(lattice.steps), lattice.visited()
    within = np.zeros((n, n))
    table = np.zeros((len(lattice.masses[-1]), n, 0))
    for x in range(n - 1, -1, -1):
        within[x, x + 1 :] = visited[x + 1] @ table[:, x]
        table = _before(lattice.steps[x], lattice.chances(x), x, table)
    return within


def _before(step: Step, chance: FloatArray, x: int, after: FloatArray) -> FloatArray:
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


LISTABLE = 200_000  # so many configurations are listed where that is the only way


@dataclass(frozen=True, slots=True, eq=False)
class LatticePosterior:
    """The posterior by a lattice of decisions."""

    model: Merger
    lattice: Lattice
    memory: int
    reason: str

    @property
    def size(self) -> int:
        return self.model.size

    @property
    def mass(self) -> MassBounds:
        return self.lattice.mass

    @property
    def method(self) -> Method:
        return "exact" if self.mass.exact else "certified"

    @property
    def log_normaliser(self) -> Figure:
        return self.mass.log_normaliser()

    def log_weight(self, labels: IntArray) -> float:
        return self.model.log_weight(labels)

    def count(self) -> int | None:
        return count_configurations(self.model)

    def log2_count(self) -> Figure:
        return log2_count(self.model)

    def entropy(self) -> Figure:
        """Sum the decisions' entropies, each weighted by the probability of its state."""
        total = 0.0
        for _, chance, share in self.lattice.taken():
            possible = chance > 0
            total -= float(np.sum(share[possible] * np.log2(chance[possible])))
        return self.mass.entropy(total, bell_bits(self.size))

    def pairs(self) -> Marginals:
        if self.size <= SMALL:
            within = pair_marginals(self.lattice)
        else:
            from partita.configurations.merging import states

            within = states.pair_marginals(self.lattice, self.memory)
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
            bounds.append(most(step, step.weight + bounds[-1][step.target]))
        bounds.reverse()
        listed = best_first(self.size, self._choices, lambda x, s: float(bounds[x][s]), k)
        last = float(listed.log_weights[-1]) if len(listed.log_weights) else -math.inf
        gap = self.mass.single - last if self.mass.single > last else 0.0
        return Best(listed.labels, listed.log_weights, gap)

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


def _choose(step: Step, chances: FloatArray, state: IntArray, rng: np.random.Generator) -> IntArray:
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
