"""Answers from a list of configurations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from partita.configurations.exact.listed import (
    LARGEST,
    draw_listed,
    listed_cells,
    listed_pairs,
    partitions,
)
from partita.configurations.merging.bounds import MassBounds, bell_bits, count, log2_count, log_sum
from partita.configurations.merging.model import Merger
from partita.core import Best, Figure, FloatArray, IntArray, Marginals, Method
from partita.errors import InputError, Unavailable


@dataclass(frozen=True, slots=True, eq=False)
class ListedPosterior:
    """Configurations as rows of labels, most probable first, as a posterior."""

    model: Merger
    labels: IntArray
    log_weights: FloatArray
    mass: MassBounds
    possible: int | None
    reason: str

    @property
    def size(self) -> int:
        return self.model.size

    @property
    def method(self) -> Method:
        return "exact" if self.mass.exact else "certified"

    @property
    def log_normaliser(self) -> Figure:
        return self.mass.log_normaliser()

    def log_weight(self, labels: IntArray) -> float:
        return self.model.log_weight(labels)

    def count(self) -> int | None:
        return count(self.model) if self.possible is None else self.possible

    def log2_count(self) -> Figure:
        if self.possible is None:
            return log2_count(self.model)
        return Figure.exact(math.log2(self.possible))

    def probabilities(self) -> FloatArray:
        """Return the probabilities within the list."""
        shares: FloatArray = np.exp(self.log_weights - self.mass.kept)
        return shares

    def entropy(self) -> Figure:
        shares = self.probabilities()
        within = -float(np.sum(shares * (self.log_weights - self.mass.kept))) / math.log(2)
        return self.mass.entropy(within, bell_bits(self.size))

    def pairs(self) -> Marginals:
        return self.mass.pairs(listed_pairs(self.labels, self.probabilities()))

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if not self.mass.exact:
            raise Unavailable("cell probabilities need an exact answer; the best list some cells")
        return listed_cells(self.labels, self.probabilities())

    def best(self, k: int) -> Best:
        listed = self.log_weights[:k]
        last = float(listed[-1]) if len(listed) else -math.inf
        gap = self.mass.single - last if self.mass.single > last else 0.0
        return Best(self.labels[:k], listed, gap)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        return draw_listed(self.labels, self.probabilities(), count, rng)


def enumerate_configurations(model: Merger) -> ListedPosterior:
    """List every possible configuration of at most nine templates, in one pass over a table."""
    table = _table(model.size)
    later, earlier = np.tril_indices(model.size, -1)
    yes, no = model.log_yes[later, earlier], model.log_no[later, earlier]
    linked = model.groups[later] == model.groups[earlier]
    broken = table.together @ ~model.compatible[later, earlier] + table.apart @ linked
    weights = _product(table.joined, yes) + _product(table.asked, no)
    weights[broken > 0] = -math.inf
    return list_posterior(
        model, table.labels, weights, MassBounds(log_sum(weights)), int((broken == 0).sum())
    )


def list_posterior(
    model: Merger, labels: IntArray, weights: FloatArray, mass: MassBounds, possible: int | None
) -> ListedPosterior:
    """Return the list in order; equal weights keep their order."""
    if mass.kept == -math.inf:
        raise InputError("the pair probabilities and must-links leave no configuration possible")
    order = np.argsort(-weights, kind="stable")
    order = order[weights[order] > -math.inf]
    reason = (
        f"all {len(order)} configurations listed"
        if mass.exact
        else f"{len(order)} best configurations listed, the rest bounded"
    )
    return ListedPosterior(model, labels[order], weights[order], mass, possible, reason)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """All partitions of n and, for each pair of each, its role for the merger, as 0 or 1."""

    labels: IntArray
    together: FloatArray
    apart: FloatArray
    joined: FloatArray
    asked: FloatArray


@lru_cache(maxsize=LARGEST + 1)
def _table(n: int) -> _Table:
    labels = partitions(n)
    later, earlier = np.tril_indices(n, -1)
    together = labels[:, later] == labels[:, earlier]
    before, after = _neighbours(labels)
    joined = before[:, later] == earlier
    asked = (earlier > before[:, later]) & (after[:, earlier] > later)
    return _Table(labels, *(np.asarray(t, float) for t in (together, ~together, joined, asked)))


def _neighbours(labels: IntArray) -> tuple[IntArray, IntArray]:
    """Return, for each row and template, the nearest earlier and later member of its cell."""
    before, after = np.full_like(labels, -1), np.full_like(labels, labels.shape[1])
    for x in range(labels.shape[1]):
        for y in range(x):
            same = labels[:, x] == labels[:, y]
            before[same, x] = y
            after[same & (after[:, y] > x), y] = x
    return before, after


def _product(table: FloatArray, logs: FloatArray) -> FloatArray:
    """Sum logarithms by a table of 0 and 1, in which 0 times minus infinity is 0."""
    never = np.isneginf(logs)
    sums: FloatArray = table @ np.where(never, 0.0, logs)
    sums[table @ never > 0] = -math.inf
    return sums
