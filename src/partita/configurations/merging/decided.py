"""Answers from a lattice: exact if it is whole, intervals if mass was dropped on the way."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from partita.configurations.merging.best import Choice, best_first
from partita.configurations.merging.bounds import Kept, bell_bits
from partita.configurations.merging.counted import count, log2_count
from partita.configurations.merging.fellows import fellows
from partita.configurations.merging.lattice import SMALL, Lattice, Step, most
from partita.configurations.merging.listed import cell_marginals
from partita.configurations.merging.model import Merger
from partita.errors import Unavailable
from partita.records import Best, Figure, FloatArray, IntArray, Marginals, Method

LISTABLE = 200_000  # so many configurations are listed where that is the only way


@dataclass(frozen=True, slots=True, eq=False)
class Decided:
    """The distribution by a lattice of decisions; answers all of records.Posterior."""

    model: Merger
    lattice: Lattice
    memory: int
    reason: str

    @property
    def size(self) -> int:
        return self.model.size

    @property
    def mass(self) -> Kept:
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
        return count(self.model)

    def log2_count(self) -> Figure:
        return log2_count(self.model)

    def entropy(self) -> Figure:
        """The decisions' entropies, each as often as its state is visited."""
        total = 0.0
        for _, chance, share in self.lattice.taken():
            some = chance > 0
            total -= float(np.sum(share[some] * np.log2(chance[some])))
        return self.mass.entropy(total, bell_bits(self.size))

    def pairs(self) -> Marginals:
        if self.size <= SMALL:
            within = fellows(self.lattice)
        else:
            within = _compiled_fellows(self.lattice, self.memory)
        together = np.clip(within + within.T, 0.0, 1.0)
        np.fill_diagonal(together, 1.0)
        return self.mass.pairs(together)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if not self.mass.exact or self.paths() > LISTABLE:
            raise Unavailable(
                f"cell probabilities of {self.size} templates by merging decisions need a list of "
                f"all configurations; the pair probabilities are there"
            )
        return cell_marginals(*self._all())

    def paths(self) -> float:
        """How many configurations have any weight."""
        ways: FloatArray = np.ones(len(self.lattice.masses[-1]))
        for step in reversed(self.lattice.steps):
            sums = np.append(ways[step.target], 0.0)
            ways = np.add.reduceat(sums, step.first[:-1]) * (np.diff(step.first) > 0)
        return float(ways[0])

    def _all(self) -> tuple[IntArray, FloatArray]:
        """Every configuration with its probability."""
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
            labels, cells = _joined(labels[row], cells[row], tails)
            state = step.target[chosen].astype(np.int64)
        return labels, share

    def best(self, k: int) -> Best:
        bounds = [np.zeros(len(self.lattice.masses[-1]))]
        for step in reversed(self.lattice.steps):
            bounds.append(most(step, step.weight + bounds[-1][step.target]))
        bounds.reverse()
        found = best_first(self.size, self._choices, lambda x, s: float(bounds[x][s]), k)
        last = float(found.log_weights[-1]) if len(found.log_weights) else -math.inf
        gap = self.mass.single - last if self.mass.single > last else 0.0
        return Best(found.labels, found.log_weights, gap)

    def _choices(self, x: int, state: int) -> list[Choice]:
        step = self.lattice.steps[x]
        some = slice(int(step.first[state]), int(step.first[state + 1]))
        parts = (step.joined[some], step.weight[some], step.target[some])
        return list(zip(*(part.tolist() for part in parts), strict=True))

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        state = np.zeros(count, dtype=np.int64)
        labels, cells = np.zeros((count, 0), dtype=np.int64), np.zeros(count, dtype=np.int64)
        for x, step in enumerate(self.lattice.steps):
            chosen = _choose(step, self.lattice.chances(x), state, rng)
            labels, cells = _joined(labels, cells, step.joined[chosen].astype(np.int64))
            state = step.target[chosen].astype(np.int64)
        return labels


def _choose(step: Step, chances: FloatArray, state: IntArray, rng: np.random.Generator) -> IntArray:
    """For each draw one of its state's decisions."""
    bounds = np.concatenate([[0.0], np.cumsum(chances)])
    low, high = step.first[state], step.first[state + 1]
    at = bounds[low] + rng.random(len(state)) * (bounds[high] - bounds[low])
    chosen: IntArray = np.clip(np.searchsorted(bounds, at, side="right") - 1, low, high - 1)
    return chosen


def _joined(labels: IntArray, cells: IntArray, tails: IntArray) -> tuple[IntArray, IntArray]:
    """Rows of labels with one template more, which joins these tails or starts a cell."""
    rows = np.arange(len(labels))
    home = np.where(tails < 0, cells, labels[rows, tails] if labels.shape[1] else cells)
    return np.column_stack([labels, home]), cells + (tails < 0)


def _compiled_fellows(lattice: Lattice, memory: int) -> FloatArray:
    from partita.configurations.merging.packed import fellows as compiled

    return compiled(lattice, memory)
