"""Pair probabilities in, a distribution over configurations out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, overload

import numpy as np

from partita.core.cells import PartialConfiguration, partial_configuration
from partita.core.configurations import (
    BoolArray,
    Configuration,
    Figure,
    FloatArray,
    IntArray,
    Interval,
    Marginals,
    Method,
    Posterior,
)
from partita.core.tabular import Columns, Tabular, rendered
from partita.core.templates import CoreferenceSet, Id
from partita.errors import InputError

LARGE = 20  # templates; the partial configuration of a larger set is always reported
FEW = 8  # templates; the listed configurations of a smaller set say enough
IMPROBABLE = 0.1  # the best configuration below it says little


@dataclass(frozen=True, slots=True, eq=False)
class PairProbabilities:
    """A coreference set and, for every two of its templates, the probability that they corefer.

    `matrix` is symmetric in text order: 0 says incompatible, 1 says must-link. `compared` marks
    the pairs that were compared, where others only have a default; by default all were.
    """

    set: CoreferenceSet
    matrix: FloatArray
    compared: BoolArray | None = None

    def __post_init__(self) -> None:
        n = len(self.set)
        if self.matrix.shape != (n, n):
            raise InputError(f"{n} templates need a matrix of {n} by {n} pair probabilities")


def compatible_pairs(group: CoreferenceSet) -> BoolArray:
    """Return for every two templates of a set whether they may corefer."""
    place = {name: n for n, name in enumerate(group.ids)}
    compatible = np.ones((len(group), len(group)), dtype=np.bool_)
    for left, right in group.incompatible:
        compatible[place[left], place[right]] = compatible[place[right], place[left]] = False
    return compatible


@dataclass(frozen=True, slots=True)
class Listed:
    """One reported configuration."""

    configuration: Configuration
    probability: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Listing(Sequence[Listed]):
    """The listed configurations, most probable first, as rows of labels until accessed."""

    ids: tuple[str, ...]
    rows: IntArray
    probabilities: Sequence[float]
    intervals: Sequence[tuple[float, float]] | None = None

    def __len__(self) -> int:
        return len(self.probabilities)

    @overload
    def __getitem__(self, place: int) -> Listed: ...

    @overload
    def __getitem__(self, place: slice) -> list[Listed]: ...

    def __getitem__(self, place: int | slice) -> Listed | list[Listed]:
        if isinstance(place, slice):
            return list(self)[place]
        interval = None if self.intervals is None else self.intervals[place]
        found = Configuration.from_labels(self.ids, self.rows[place])
        return Listed(found, self.probabilities[place], interval)

    def __iter__(self) -> Iterator[Listed]:
        intervals: Sequence[tuple[float, float] | None] = self.intervals or [None] * len(self)
        configurations = Configuration.from_rows(self.ids, self.rows.tolist())
        return iter(map(Listed, configurations, self.probabilities, intervals))


@dataclass(frozen=True, slots=True)
class Remainder:
    """The number and total probability of the configurations not listed."""

    count: int | None
    log2_count: float
    probability: float
    interval: tuple[float, float] | None = None

    @property
    def each(self) -> float:
        """Return the mean probability of one of them."""
        return self.probability * 2.0**-self.log2_count if self.probability else 0.0


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a computation: seconds, bytes, and units of work.

    `work` is deterministic: with it the same input gives the same bytes on any machine.
    """

    seconds: float = 30.0
    memory: int = 4 << 30
    work: int | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of a whole distribution, each with how it was obtained."""

    entropy_bits: Figure
    log_normaliser: Figure
    log2_count: Figure


@dataclass(frozen=True, slots=True, eq=False)
class Distribution(Tabular):
    """Probabilities of the configurations of one coreference set, and how they were obtained.

    `configurations` lists the most probable ones, each with `configuration`, `probability` and
    `interval`; `remainder` holds the number and the total probability of all others. `method` is
    exact, certified (with intervals) or sampled (with standard errors), and `reason` says why.
    `marginals.value` is the matrix of pair probabilities that respect transitivity. `partial` is
    what can be said of a large set, whose configurations are all improbable. The tables are
    `configurations`, `pairs` and `parts` (of the partial configuration).
    """

    set: CoreferenceSet
    model: str
    method: Method
    reason: str
    probabilities: FloatArray
    marginals: Marginals
    configurations: Listing
    remainder: Remainder
    figures: Figures
    conflict: float | None
    count: int | None
    seed: int
    posterior: Posterior
    converged: bool | None = None
    gap: float = 0.0
    pruned: float = 0.0

    @property
    def most_probable(self) -> Configuration:
        """The most probable configuration."""
        return self.configurations[0].configuration

    @property
    def entropy_bits(self) -> float:
        """The entropy of the distribution in bits."""
        return self.figures.entropy_bits.value

    @property
    def entropy_bits_interval(self) -> Interval | None:
        """Bounds on the entropy, or minus and plus one standard error; None if exact."""
        return self.figures.entropy_bits.bounds

    @property
    def log_normaliser(self) -> float:
        """The natural logarithm of the sum of the weights of all configurations."""
        return self.figures.log_normaliser.value

    @property
    def log_normaliser_interval(self) -> Interval | None:
        """Bounds on the log-normaliser, or minus and plus one standard error; None if exact."""
        return self.figures.log_normaliser.bounds

    @property
    def log2_count(self) -> float:
        """The logarithm to base 2 of the number of possible configurations."""
        return self.figures.log2_count.value

    @property
    def log2_count_interval(self) -> Interval | None:
        """Bounds on `log2_count`, or minus and plus one standard error; None if exact."""
        return self.figures.log2_count.bounds

    @property
    def partial(self) -> PartialConfiguration:
        """The cells with a probability of at least .5, and the uncertain borders between them."""
        return partial_configuration(self)

    @property
    def needs_partial(self) -> bool:
        """Whether the listed configurations say so little that `partial` is reported too.

        So it is for more than 20 templates, and for more than 8 whose most probable configuration
        has a probability below .1.
        """
        improbable = self.configurations.probabilities[0] < IMPROBABLE
        return len(self.set) > LARGE or (len(self.set) > FEW and improbable)

    def log_probability(self, configuration: Configuration) -> float:
        """Return the natural logarithm of the probability of one configuration."""
        weight = self.posterior.log_weight(configuration.labels(self.set.ids))
        return weight - self.log_normaliser

    def marginal(self, left: Id, right: Id) -> float:
        """Return the probability that two templates share a cell."""
        return float(self.marginals.value[self._place(left), self._place(right)])

    def cell(self, members: Iterable[Id]) -> float:
        """Return the probability that exactly these templates make up one cell."""
        wanted = tuple(sorted(map(self._place, members)))
        return next((p for cell, p in self.posterior.cells() if cell == wanted), 0.0)

    def draws(self, count: int, seed: int = 0) -> list[Configuration]:
        """Draw configurations at random from the distribution."""
        rows = self.posterior.draws(count, np.random.default_rng(seed))
        return [Configuration.from_labels(self.set.ids, row) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as `partita solve --json` writes it."""
        written: dict[str, Any] = json.loads(rendered("line", self))
        return written

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "configurations": self._configuration_columns,
            "pairs": self._pair_columns,
            "parts": self._part_columns,
        }

    def _configuration_columns(self) -> Columns:
        """The listed configurations, most probable first."""
        listed = list(self.configurations)
        bounds = [one.interval or (one.probability, one.probability) for one in listed]
        return {
            "rank": list(range(1, len(listed) + 1)),
            "configuration": [str(one.configuration) for one in listed],
            "cells": [[list(cell) for cell in one.configuration] for one in listed],
            "probability": [one.probability for one in listed],
            "low": [low for low, _ in bounds],
            "high": [high for _, high in bounds],
        }

    def _pair_columns(self) -> Columns:
        """Every two templates: their probability as given, and their marginal with its bounds."""
        ids, at = self.set.ids, np.triu_indices(len(self.set), 1)
        left, right = ([ids[n] for n in end.tolist()] for end in at)
        marginals = self.marginals
        numbers = (self.probabilities, marginals.value, marginals.low, marginals.high)
        names = ("probability", "marginal", "low", "high")
        columns = (matrix[at].tolist() for matrix in numbers)
        return {"left": left, "right": right} | dict(zip(names, columns, strict=True))

    def _part_columns(self) -> Columns:
        """The parts of the partial configuration."""
        parts = self.partial.parts
        return {
            "templates": [list(part.templates) for part in parts],
            "settled": [part.settled for part in parts],
            "cell": [part.cell.value for part in parts],
            "cell_low": [part.cell.low for part in parts],
            "cell_high": [part.cell.high for part in parts],
            "together": [part.together.value for part in parts],
        }

    def _place(self, name: Id) -> int:
        try:
            return self.set.ids.index(cast(str, name))
        except ValueError:
            shown = ", ".join(map(repr, self.set.ids[:20]))
            problem = f"set {self.set.name!r} has no template {name!r} (expected one of {shown})"
            raise InputError(problem) from None

    def __str__(self) -> str:
        return rendered("text", self)

    def _repr_html_(self) -> str:
        return rendered("html", self)
