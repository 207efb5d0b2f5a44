"""What flows between the rooms: small frozen records in the paper's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from partita.errors import InputError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

Form = Literal["indefinite", "definite", "pronoun", "name", "bare", ""]
Method = Literal["exact", "certified", "sampled"]
Cell = tuple[str, ...]
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Antecedent:
    """A template that the reference module lists as a possible antecedent."""

    id: str
    preferred: bool = False


@dataclass(frozen=True, slots=True)
class Template:
    """Slots and values built from one expression, and where that expression stands."""

    id: str
    text: str = ""
    start: int = 0
    end: int = 0
    region: str = "text"
    sentence: int = 0
    sort: str = ""
    head: str = ""
    number: int | str | None = None
    form: Form = ""
    slots: Mapping[str, Any] = field(default_factory=dict)
    rule: str = ""
    antecedents: tuple[Antecedent, ...] = ()


def pair(left: str, right: str) -> Pair:
    """The two ids as an unordered pair: the same tuple whichever comes first."""
    return (left, right) if left <= right else (right, left)


@dataclass(frozen=True, slots=True)
class CoreferenceSet:
    """Templates that may corefer, in text order, and what is known a priori about pairs."""

    templates: tuple[Template, ...]
    incompatible: frozenset[Pair] = frozenset()
    must: frozenset[Pair] = frozenset()
    name: str = ""
    ids: tuple[str, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        ids = tuple([template.id for template in self.templates])
        object.__setattr__(self, "ids", ids)
        known = set(ids)
        if len(known) < len(ids):
            twice = next(i for n, i in enumerate(ids) if i in ids[:n])
            raise InputError(f"template {twice} stands twice in set {self.name!r}")
        for given in (*self.incompatible, *self.must):
            if unknown := set(given) - known:
                raise InputError(f"set {self.name!r} has no template {min(unknown)}")

    def __len__(self) -> int:
        return len(self.templates)

    @classmethod
    def of(cls, ids: Iterable[str], name: str = "") -> CoreferenceSet:
        """A set of bare templates, known by their ids alone."""
        return cls(tuple(Template(i) for i in ids), name=name)


@lru_cache(maxsize=1 << 16)
def _natural(text: str) -> tuple[tuple[bool, int, str, str], ...]:
    """A key that sorts T2 before T10: digits by how many there are, then as text."""
    parts = [p for p in re.split(r"([0-9]+)", text) if p]
    digits = [p.lstrip("0") if "0" <= p[0] <= "9" else "" for p in parts]
    return tuple((not "0" <= p[0] <= "9", len(d), d, p) for p, d in zip(parts, digits, strict=True))


@dataclass(frozen=True, slots=True)
class Configuration:
    """A partition of a coreference set into cells; canonical however it was written."""

    cells: tuple[Cell, ...]

    def __init__(self, cells: Iterable[Iterable[str]]) -> None:
        ordered = (tuple(sorted(cell, key=_natural)) for cell in cells)
        canonical = tuple(sorted(filter(None, ordered), key=lambda cell: _natural(cell[0])))
        members = [member for cell in canonical for member in cell]
        if len(set(members)) < len(members):
            twice = next(m for n, m in enumerate(members) if m in members[:n])
            raise InputError(f"template {twice} stands in two cells of one configuration")
        object.__setattr__(self, "cells", canonical)

    @classmethod
    def from_labels(cls, ids: Sequence[str], labels: Sequence[int] | IntArray) -> Configuration:
        """The configuration in which templates with the same label share a cell."""
        return cls.from_rows(ids, [[int(label) for label in labels]])[0]

    @classmethod
    def from_rows(cls, ids: Sequence[str], rows: Iterable[Sequence[int]]) -> list[Configuration]:
        """One configuration a row of labels; members met in canonical order need no sorting."""
        order = sorted(range(len(ids)), key=lambda place: _natural(ids[place]))
        found = []
        for row in rows:
            cells: dict[int, list[str]] = {}
            for place in order:
                cells.setdefault(row[place], []).append(ids[place])
            configuration = object.__new__(cls)
            object.__setattr__(configuration, "cells", tuple(map(tuple, cells.values())))
            found.append(configuration)
        return found

    def labels(self, ids: Sequence[str]) -> IntArray:
        """For each id the number of its cell, cells numbered as they first appear."""
        home = {member: n for n, cell in enumerate(self.cells) for member in cell}
        if odd := set(home) ^ set(ids):
            raise InputError(f"template {min(odd)} is not in both the configuration and the set")
        return restricted_growth([home[name] for name in ids])

    def together(self, left: str, right: str) -> bool:
        return any(left in cell and right in cell for cell in self.cells)

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def __str__(self) -> str:
        return " ".join(f"({' '.join(cell)})" for cell in self.cells)


def restricted_growth(labels: Iterable[int]) -> IntArray:
    """Labels renumbered by first appearance: equal partitions get equal arrays."""
    seen: dict[int, int] = {}
    return np.array([seen.setdefault(int(n), len(seen)) for n in labels], dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class PairProbabilities:
    """A coreference set and, for every two of its templates, the probability that they corefer.

    `matrix` is symmetric in text order: 0 says incompatible, 1 says must-link.
    """

    set: CoreferenceSet
    matrix: FloatArray

    def __post_init__(self) -> None:
        n = len(self.set)
        if self.matrix.shape != (n, n):
            raise InputError(f"{n} templates need a matrix of {n} by {n} pair probabilities")


Kind = Literal["exact", "interval", "estimate"]


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
    """For every two templates the probability that they share a cell; see `Figure` for kind."""

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
        """Why in that way, for a person."""

    @property
    def log_normaliser(self) -> Figure:
        """The logarithm of the sum of all weights."""

    def log_weight(self, labels: IntArray) -> float:
        """Of one configuration; minus infinity if it is impossible."""

    def count(self) -> int | None:
        """The number of possible configurations, exactly, or None where it is not known."""

    def log2_count(self) -> Figure:
        """The logarithm of that number, always."""

    def entropy(self) -> Figure:
        """In bits."""

    def pairs(self) -> Marginals:
        """The probability of every pair."""

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        """Every possible cell, as positions, with its probability; Unavailable if not exact."""

    def best(self, k: int) -> Best:
        """The k most probable configurations."""

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        """That many configurations drawn from the distribution, as rows of labels."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One reported configuration."""

    configuration: Configuration
    probability: float
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Listing(Sequence[Listed]):
    """The reported configurations, most probable first; rows of labels until one is looked at."""

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
    """What is not listed: how many configurations, and their probability in all."""

    count: int | None
    log2_count: float
    probability: float
    interval: tuple[float, float] | None = None

    @property
    def each(self) -> float:
        """The probability of one of them: the remainder is spread uniformly, as in the paper."""
        return self.probability * 2.0**-self.log2_count if self.probability else 0.0


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a computation may take: seconds (of a clock), bytes, and units of work.

    `work` is deterministic: with it the same input gives the same bytes on any machine.
    """

    seconds: float = 30.0
    memory: int = 4 << 30
    work: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Distribution:
    """Probabilities of the configurations of one coreference set, and how they were obtained.

    `configurations` lists the most probable ones and `remainder` holds all others, so that the
    two together are everything. `posterior` answers what is not written here.
    """

    set: CoreferenceSet
    model: str
    method: Method
    reason: str
    probabilities: FloatArray
    marginals: Marginals
    configurations: Listing
    remainder: Remainder
    entropy_bits: Figure
    conflict: float | None
    log_normaliser: Figure
    log2_count: Figure
    count: int | None
    seed: int
    posterior: Posterior
    converged: bool | None = None
    gap: float = 0.0
    pruned: float = 0.0

    @property
    def most_probable(self) -> Configuration:
        return self.configurations[0].configuration

    def log_probability(self, configuration: Configuration) -> Figure:
        """The natural logarithm of the probability of one configuration."""
        weight = self.posterior.log_weight(configuration.labels(self.set.ids))
        total = self.log_normaliser
        return Figure(weight - total.value, weight - total.high, weight - total.low, total.kind)

    def marginal(self, left: str, right: str) -> float:
        """The probability that two templates share a cell."""
        ids = self.set.ids
        return float(self.marginals.value[ids.index(left), ids.index(right)])

    def cell(self, members: Iterable[str]) -> float:
        """The probability that exactly these templates make up one cell."""
        wanted = tuple(sorted(self.set.ids.index(member) for member in members))
        return next((p for cell, p in self.posterior.cells() if cell == wanted), 0.0)

    def draws(self, count: int, seed: int = 0) -> list[Configuration]:
        """Configurations drawn from the distribution."""
        rows = self.posterior.draws(count, np.random.default_rng(seed))
        return [Configuration.from_labels(self.set.ids, row) for row in rows]

    def pair_table(self) -> Any:
        """Every pair with its probability before and after, as an Arrow table."""
        from partita.formats.frames import pair_table

        return pair_table(self)

    def configuration_table(self) -> Any:
        """Every listed configuration, as an Arrow table; pandas and Polars take these."""
        from partita.formats.frames import configuration_table

        return configuration_table(self)

    def __str__(self) -> str:
        from partita.views.terminal import text

        return text(self)

    def _repr_html_(self) -> str:
        from partita.views.notebook import html

        return html(self)


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """A text with its templates in text order and the key: who is who among all of them."""

    name: str
    genre: str
    templates: tuple[Template, ...]
    key: Configuration
    text: str = ""

    def __post_init__(self) -> None:
        keyed = {member for cell in self.key for member in cell}
        if odd := keyed ^ set(self.ids):
            problem = f"template {min(odd)} is not in both the key and the templates"
            raise InputError(f"document {self.name!r}: {problem}")

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(template.id for template in self.templates)

    @property
    def labels(self) -> IntArray:
        """For each template the number of its cell in the key."""
        return self.key.labels(self.ids)

    def __len__(self) -> int:
        return len(self.templates)
