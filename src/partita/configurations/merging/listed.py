"""Answers from a list of configurations, and bounds on the mass of what is not listed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from partita.configurations.count import count_bounds, count_configurations, log2_bell
from partita.configurations.exact.listed import LARGEST, ListedRows, partitions
from partita.configurations.merging.model import Merger, decisions, log_sum
from partita.configurations.product_posterior import entropy_bounds
from partita.core import Best, BoolArray, Figure, FloatArray, IntArray, Marginals, Method
from partita.errors import InputError, TooLarge, Unavailable

if TYPE_CHECKING:
    from partita.configurations.merging.particles import BeamPlan


@dataclass(frozen=True, slots=True, eq=False)
class MergingPosterior:
    """What the model alone says, whatever the method."""

    model: Merger

    @property
    def size(self) -> int:
        return self.model.size

    def log_weight(self, labels: IntArray) -> float:
        return self.model.log_weight(labels)

    def count(self) -> int | None:
        return count_configurations(possible(self.model))

    def log2_count(self) -> Figure:
        """Return log₂ of the number, or bounds on it."""
        if (number := self.count()) is not None:
            return Figure.exact(math.log2(number))
        return Figure.interval(*count_bounds(possible(self.model)))


def possible(model: Merger) -> BoolArray:
    """Return who may be together; templates that must corefer count as one."""
    first = np.unique(model.groups, return_index=True)[1]
    return model.compatible[np.ix_(first, first)]


@dataclass(frozen=True, slots=True, eq=False)
class ListedPosterior(MergingPosterior):
    """The posterior from configurations that are listed one by one, the rest bounded."""

    mass: MassBounds
    listed: ListedRows
    possible: int | None
    reason: str

    @property
    def method(self) -> Method:
        return "exact" if self.mass.exact else "certified"

    @property
    def log_normaliser(self) -> Figure:
        return self.mass.log_normaliser()

    def count(self) -> int | None:
        return MergingPosterior.count(self) if self.possible is None else self.possible

    def entropy(self) -> Figure:
        return self.mass.entropy(self.listed.entropy().value, log2_bell(self.size))

    def pairs(self) -> Marginals:
        return self.mass.pairs(self.listed.pairs().value)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        if not self.mass.exact:
            raise Unavailable("cell probabilities need an exact answer; the best list some cells")
        return self.listed.cells()

    def best(self, k: int) -> Best:
        best = self.listed.best(k)
        return self.mass.best(best.labels, best.log_weights)

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        return self.listed.draws(count, rng)


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
    """Return the posterior of the rows that have a weight."""
    if mass.kept == -math.inf:
        raise InputError("the pair probabilities and must-links leave no configuration possible")
    labels, weights = labels[weights > -math.inf], weights[weights > -math.inf]
    reason = (
        f"all {len(labels)} configurations listed"
        if mass.exact
        else f"{len(labels)} best configurations listed, the rest bounded"
    )
    listed = ListedRows(labels, weights, mass.kept, None)
    return ListedPosterior(model, mass, listed, possible, reason)


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
    answers = decisions(labels, earlier, later)
    return _Table(labels, *(np.asarray(t, float) for t in (together, ~together, *answers)))


def _product(table: FloatArray, logs: FloatArray) -> FloatArray:
    """Sum logarithms by a table of 0 and 1, in which 0 times minus infinity is 0."""
    never = np.isneginf(logs)
    sums: FloatArray = table @ np.where(never, 0.0, logs)
    sums[table @ never > 0] = -math.inf
    return sums


@dataclass(frozen=True, slots=True)
class MassBounds:
    """Logarithms of the mass kept and of the most that was dropped, and a bound for rounding.

    `single` bounds the log-weight of any one configuration that was dropped.
    """

    kept: float
    dropped: float = -math.inf
    single: float = -math.inf
    size: int = 0

    @property
    def exact(self) -> bool:
        return self.dropped == -math.inf

    @property
    def slack(self) -> float:
        """A bound on the rounding of logarithms: sums of up to `size`² terms of their magnitude."""
        return 1e-11 + 1e-13 * self.size + 1e-14 * abs(max(self.kept, -1e9)) + 1e-15 * self.size**2

    @property
    def residual(self) -> float:
        """The share of the total that may have been dropped."""
        return math.exp(self.dropped - float(np.logaddexp(self.kept, self.dropped)))

    def log_normaliser(self) -> Figure:
        if self.exact:
            return Figure.exact(self.kept)
        high = float(np.logaddexp(self.kept, self.dropped)) + self.slack
        return Figure.interval(self.kept - self.slack, high)

    def pairs(self, within: FloatArray) -> Marginals:
        """Bound all pair probabilities, from those within what was kept."""
        if self.exact:
            return Marginals.exact(np.clip(within, 0.0, 1.0))
        lost = self.residual + 1e-11
        low = np.clip(within * (1.0 - lost) - self.slack, 0.0, 1.0)
        high = np.clip(within * (1.0 - lost) + lost + self.slack, 0.0, 1.0)
        np.fill_diagonal(low, 1.0)
        return Marginals((low + high) / 2, low, high, "interval")

    def best(self, labels: IntArray, log_weights: FloatArray) -> Best:
        """Return the best of what was kept, and by how much a dropped one may be better."""
        last = float(log_weights[-1]) if len(log_weights) else -math.inf
        return Best(labels, log_weights, self.single - last if self.single > last else 0.0)

    def entropy(self, within: float, log2_count: float) -> Figure:
        """Bound the entropy of the whole in bits, from that within what was kept."""
        if self.exact:
            return Figure.exact(max(0.0, within))
        least = 1.0 - min(1.0, self.residual + 1e-11)
        spread = max(log2_count, within)
        low, high = entropy_bounds(within, spread, least)
        return Figure.interval(max(0.0, low - 1e-9), high + 1e-9)


UNSEEN = 1e-15  # of the mass: what is left out is less than what a double can tell


def beam(model: Merger, planned: BeamPlan, width: int) -> ListedPosterior:
    """List the best beginnings, template by template; the dropped mass bounds what is missing."""
    from partita.configurations.merging.particles import best_beginnings

    best, dropped, single = best_beginnings(planned, width)
    mass = MassBounds(log_sum(best.scores), log_sum(dropped), single, planned.size)
    if mass.kept > -math.inf and mass.residual <= UNSEEN:
        mass = MassBounds(mass.kept)
    elif mass.kept == -math.inf < mass.dropped:
        needs, has = "a wider search", f"{width} beginnings"
        raise TooLarge(f"a possible configuration of {model.size} templates", needs, has)
    return list_posterior(model, best.home.astype(np.int64), best.scores, mass, None)
