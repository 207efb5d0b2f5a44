"""Configurations: partitions of a set into cells; figures with intervals; posteriors over them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError

Cell = tuple[str, ...]


@lru_cache(maxsize=1 << 16)
def _natural(text: str) -> tuple[tuple[bool, int, str, str], ...]:
    """Return a key that sorts T2 before T10."""
    parts = [p for p in re.split(r"([0-9]+)", str(text)) if p]
    digits = [p.lstrip("0") if "0" <= p[0] <= "9" else "" for p in parts]
    return tuple((not "0" <= p[0] <= "9", len(d), d, p) for p, d in zip(parts, digits, strict=True))


@dataclass(frozen=True, slots=True)
class Configuration:
    """A partition of a coreference set into cells, in canonical order."""

    cells: tuple[Cell, ...]

    def __init__(self, cells: Iterable[Iterable[str]]) -> None:
        ordered = (tuple(sorted(cell, key=_natural)) for cell in cells)
        canonical = tuple(sorted(filter(None, ordered), key=lambda cell: _natural(cell[0])))
        members = [member for cell in canonical for member in cell]
        if len(set(members)) < len(members):
            twice = next(m for n, m in enumerate(members) if m in members[:n])
            raise InputError(f"template {twice} is in two cells of one configuration")
        object.__setattr__(self, "cells", canonical)

    @classmethod
    def from_labels(cls, ids: Sequence[str], labels: Sequence[int] | IntArray) -> Configuration:
        """Return the configuration in which templates with the same label share a cell."""
        return cls.from_rows(ids, [[int(label) for label in labels]])[0]

    @classmethod
    def from_rows(cls, ids: Sequence[str], rows: Iterable[Sequence[int]]) -> list[Configuration]:
        """Return one configuration per row of labels."""
        order = sorted(range(len(ids)), key=lambda position: _natural(ids[position]))
        configurations = []
        for row in rows:
            cells: dict[int, list[str]] = {}
            for position in order:
                cells.setdefault(row[position], []).append(ids[position])
            configuration = object.__new__(cls)
            object.__setattr__(configuration, "cells", tuple(map(tuple, cells.values())))
            configurations.append(configuration)
        return configurations

    def labels(self, ids: Sequence[str]) -> IntArray:
        """Return the cell number of each id, by first appearance."""
        cell_of = {member: n for n, cell in enumerate(self.cells) for member in cell}
        if odd := set(cell_of) ^ set(ids):
            raise InputError(f"template {min(odd)} is not in both the configuration and the set")
        return restricted_growth([cell_of[name] for name in ids])

    def together(self, left: str, right: str) -> bool:
        return any(left in cell and right in cell for cell in self.cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __str__(self) -> str:
        return " ".join(f"({' '.join(map(str, cell))})" for cell in self.cells)


def restricted_growth(labels: Iterable[int]) -> IntArray:
    """Renumber labels by first appearance: equal partitions get equal arrays."""
    numbers: dict[int, int] = {}
    return np.array([numbers.setdefault(int(n), len(numbers)) for n in labels], dtype=np.int64)


def restricted_growth_rows(rows: IntArray) -> IntArray:
    """Renumber the labels of each row, whole numbers from 0 on, by first appearance."""
    count, size = rows.shape
    if not rows.size:
        return np.zeros((count, size), dtype=np.int64)
    places, each = np.arange(size), np.arange(count)[:, None]
    firsts = np.full((count, int(rows.max()) + 1), size)
    np.minimum.at(firsts, (each, rows), places)
    homes = firsts[each, rows]
    numbers = np.cumsum(homes == places, axis=1) - 1
    renumbered: IntArray = numbers[each, homes]
    return renumbered


def in_text_order(configuration: Configuration, place: Mapping[str, int]) -> list[list[str]]:
    """Return cells by their first template, each cell's templates in text order."""
    cells = [sorted(cell, key=place.__getitem__) for cell in configuration]
    return sorted(cells, key=lambda cell: place[cell[0]])


FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


def linked_components(count: int, left: IntArray, right: IntArray) -> IntArray:
    """Return for each of `count` nodes the smallest node of its component.

    Roots are hooked on smaller ones along the links and the trees are flattened, until no link
    leads from one tree to another.
    """
    home = np.arange(count)
    while len(left):
        a, b = home[left], home[right]
        np.minimum.at(home, np.maximum(a, b), np.minimum(a, b))
        while (home != home[home]).any():
            home = home[home]
        apart = home[left] != home[right]
        left, right = left[apart], right[apart]
    return home


def components(adjacent: BoolArray) -> IntArray:
    """Return for each node of a matrix the number of its component, by first appearance.

    For matrices flooding is quicker than following every link.
    """
    home = np.full(len(adjacent), -1, dtype=np.int64)
    number = 0
    for node in range(len(adjacent)):
        if home[node] < 0:
            border = np.array([node])
            while len(border):
                home[border] = number
                border = np.flatnonzero(adjacent[border].any(axis=0) & (home < 0))
            number += 1
    return home


def mean_linkage(probabilities: FloatArray, least: float) -> IntArray:
    """Return the labels of clusters, joined while their mean pair probability is at least this.

    A mean is at most the greatest of its values, so components of the pairs of at least this
    probability are clustered on their own.
    """
    homes = components(probabilities >= least)
    order = np.argsort(homes, kind="stable")
    labels = np.arange(len(homes))
    for members in np.split(order, np.flatnonzero(np.diff(homes[order])) + 1):
        if len(members) > 1:
            labels[members] = members[_linked(probabilities[np.ix_(members, members)], least)]
    return restricted_growth(labels)


def _linked(probabilities: FloatArray, least: float) -> IntArray:
    """Return a member of each one's cluster, by joining the two closest clusters in turn."""
    homes, sizes = np.arange(len(probabilities)), np.ones(len(probabilities))
    sums = np.minimum(probabilities, 1.0)
    means = np.triu(sums, 1)
    while True:
        first, second = divmod(int(means.argmax()), len(means))
        if means[first, second] < least:
            return homes
        sums[first] += sums[second]
        sums[:, first] = sums[first]
        sizes[first] += sizes[second]
        sizes[second] = np.inf  # so that nothing is close to it
        homes[homes == second] = first
        mean = sums[first] / (sizes[first] * sizes)
        means[first, first + 1 :], means[:first, first] = mean[first + 1 :], mean[:first]
        means[second, :] = means[:, second] = 0.0


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
