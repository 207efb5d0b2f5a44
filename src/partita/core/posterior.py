"""Figures with intervals, and the protocol of posteriors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from partita.core.arrays import FloatArray, IntArray

Method = Literal["exact", "certified", "sampled"]
Kind = Literal["exact", "interval", "estimate"]
Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number and how it was obtained.

    exact: low = value = high. interval: the truth lies between low and high, certainly.
    estimate: low and high are value minus and plus one standard error.
    """

    value: float
    low: float
    high: float
    kind: Kind = "exact"

    @property
    def bounds(self) -> Interval | None:
        """Return low and high, or None where the value is exact."""
        return None if self.kind == "exact" else (self.low, self.high)

    @property
    def error(self) -> float | None:
        """Return the standard error of an estimate."""
        if self.kind != "estimate":
            return None
        return max(self.high - self.value, self.value - self.low)

    @classmethod
    def exact(cls, value: float) -> Figure:
        return cls(value, value, value)

    @classmethod
    def interval(cls, low: float, high: float) -> Figure:
        return cls((low + high) / 2, low, high, "interval")

    @classmethod
    def estimate(cls, value: float, error: float) -> Figure:
        return cls(value, value - error, value + error, "estimate")


@dataclass(frozen=True, slots=True, eq=False)
class Marginals:
    """The probability that two templates share a cell, for every pair; kinds as in `Figure`."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    kind: Kind = "exact"

    @classmethod
    def exact(cls, value: FloatArray) -> Marginals:
        return cls(value, value, value)


@dataclass(frozen=True, slots=True, eq=False)
class Best:
    """Configurations as rows of labels, most probable first, with their log-weights.

    Nothing that is not listed has a log-weight above the last one's plus `gap`: 0 where the
    list is proved to be the best, infinite where nothing is known.
    """

    labels: IntArray
    log_weights: FloatArray
    gap: float = 0.0


class Posterior(Protocol):
    """A distribution over the configurations of n templates: every method answers these.

    Configurations are rows of labels in restricted growth form, templates in text order.
    A log-weight minus the log-normaliser is a log-probability (natural logarithms).
    """

    @property
    def size(self) -> int:
        """The number of templates."""

    @property
    def method(self) -> Method:
        """How the answers are obtained."""

    @property
    def reason(self) -> str:
        """Why this method was chosen."""

    @property
    def log_normaliser(self) -> Figure:
        """The logarithm of the sum of all weights."""

    def log_weight(self, labels: IntArray) -> float:
        """Return the log-weight of a configuration; −∞ if it is impossible."""

    def count(self) -> int | None:
        """Return the number of possible configurations, or None if unknown."""

    def log2_count(self) -> Figure:
        """Return the base-2 logarithm of the number of configurations."""

    def entropy(self) -> Figure:
        """Return the entropy in bits."""

    def pairs(self) -> Marginals:
        """Return the probability of every pair."""

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """Yield every cell, as positions, with its probability; Unavailable if not exact."""

    def best(self, k: int) -> Best:
        """Return the k most probable configurations."""

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        """Draw configurations, as rows of labels."""


@runtime_checkable
class DrawnPosterior(Protocol):
    """A posterior that keeps the draws behind its pair probabilities."""

    def drawn_rows(self) -> IntArray:
        """Return the draws, as rows of labels."""


@runtime_checkable
class CountedPosterior(Protocol):
    """A posterior that knows without enumeration how many cells it has."""

    def least_cells(self) -> int:
        """Return a number of cells that it has at least."""


def least_cells(posterior: Posterior) -> int:
    """Return a number of cells that a posterior has at least; 0 if it does not know."""
    return posterior.least_cells() if isinstance(posterior, CountedPosterior) else 0
