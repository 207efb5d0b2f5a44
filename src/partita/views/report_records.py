"""What a report is about: a run, all its messages in a row each, and some of them in full."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.formats.saved import Result, result_of
from partita.formats.strict import Place
from partita.records import Configuration, Entity, Figure, Template


@dataclass(frozen=True, slots=True)
class ReportKey:
    """What a person says is right."""

    author: str
    configuration: Configuration


@dataclass(frozen=True, slots=True, eq=False)
class ReportSet:
    """A set as results tell it; `proved` says that no configuration is more probable than the
    first, `excluded` is what was left out to get an answer at all."""

    result: Result
    entropy: Figure
    proved: bool = True
    excluded: float = 0.0
    keys: tuple[ReportKey, ...] = ()

    @property
    def name(self) -> str:
        return self.result.set.name


@dataclass(frozen=True, slots=True, eq=False)
class ReportMessage:
    """A message in full; without a text its expressions are shown alone."""

    id: str
    sets: tuple[ReportSet, ...]
    alone: tuple[Template, ...] = ()
    text: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def templates(self) -> tuple[Template, ...]:
        """In text order."""
        found = [*self.alone, *(t for one in self.sets for t in one.result.set.templates)]
        return tuple(sorted(found, key=lambda t: (t.start, -t.end)))

    @property
    def things(self) -> int:
        """Entities, with templates that corefer with no other."""
        return len(self.entities) + len(self.alone)

    @property
    def entities(self) -> tuple[Entity, ...]:
        return tuple(entity for one in self.sets for entity in one.result.entities)


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message in short."""

    id: str
    templates: int
    sets: int
    entities: int
    entropy_bits: float
    error: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Everything that is shown; `methods` counts the sets by how they were answered."""

    title: str
    settings: Mapping[str, Any]
    rows: tuple[MessageRow, ...]
    messages: tuple[ReportMessage, ...]
    methods: Mapping[str, int] = field(default_factory=dict)
    measured: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    without_text: bool = False


def set_of(line: Mapping[str, Any], place: Place, keys: Iterable[ReportKey] = ()) -> ReportSet:
    """From the object that a line of results is."""
    result = result_of(line, place)
    if not isinstance(result, Result):
        place.refuse("is a line of singletons; expected one of a set")
    return ReportSet(
        result,
        _entropy(line, result),
        bool(line.get("optimal", True)),
        float(line.get("excluded", 0.0)),
        tuple(keys),
    )


def answered(method: str, unsettled: bool) -> str:
    """How a set was answered, and whether that may be trusted."""
    return f"{method}, NOT converged" if unsettled else method


def most_uncertain(rows: Sequence[MessageRow], most: int) -> list[int]:
    """The places of the messages with the highest entropy, in their order."""
    order = sorted(range(len(rows)), key=lambda n: (-rows[n].entropy_bits, n))
    return sorted(order[:most])


def _entropy(line: Mapping[str, Any], result: Result) -> Figure:
    """Bounds that are not known are open."""
    value = 0.0 if result.entropy_bits is None else result.entropy_bits
    ends = line.get("entropy_bits_interval")
    if not isinstance(ends, list) or len(ends) != 2:
        return Figure.exact(value)
    low, high = (float(end) if isinstance(end, int | float) else math.inf for end in ends)
    return Figure(value, low, high, "interval" if result.method == "certified" else "estimate")
