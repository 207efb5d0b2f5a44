"""The contents of a report, and the colours of its templates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.files.strict import Place
from partita.records import Configuration, Entity, Figure, Template
from partita.results.saved_results import Result, result_of
from partita.views.markup import Html, cut, element, joined


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
        members = [*self.alone, *(t for one in self.sets for t in one.result.set.templates)]
        return tuple(sorted(members, key=lambda t: (t.start, -t.end)))

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


COLOURS = 10  # after which they begin again; names tell cells apart
CELLS = 80
VALUES = 160


@dataclass(frozen=True, slots=True, eq=False)
class Colours:
    """By template: the class of its colour, its cell's name, and what to say about it."""

    classes: dict[str, str]
    cells: dict[str, str]
    hints: dict[str, str]

    def chip(self, template: str) -> Html:
        """The id of a template in its colour."""
        colour = self.classes.get(template, "none")
        hint = self.hints.get(template)
        return element("span", cut(template, 40), class_=f"chip {colour}", title=hint)

    def cell(self, members: list[str]) -> Html:
        """The templates of a cell in one box."""
        return element("span", joined(map(self.chip, members)), class_="cell")

    def cells_of(self, cells: Sequence[Sequence[str]]) -> Html:
        """The cells of a configuration; of hundreds the first ones."""
        boxes = [self.cell(list(cell)) for cell in cells[:CELLS]]
        if hidden := len(cells) - len(boxes):
            boxes.append(element("small", f"{hidden:,} more cells"))
        return joined(boxes)


def colours_of(message: ReportMessage) -> Colours:
    """Cells of several templates get colours in text order; a template that is alone in its cell
    has none, nor has one that is in no set."""
    order = {template.id: n for n, template in enumerate(message.templates)}
    cells = [cell for one in message.sets for cell in _cells(one)]
    names = {t: entity.id for entity in message.entities for t in entity.templates}
    classes, named = {}, {}
    shared = 0
    for cell in sorted(cells, key=lambda cell: min(map(order.__getitem__, cell))):
        name = f"c{shared % COLOURS}" if len(cell) > 1 else "single"
        shared += len(cell) > 1
        for template in cell:
            classes[template] = name
            named[template] = names.get(template, "")
    hints = {template.id: hint(template) for template in message.templates}
    return Colours(classes, named, hints)


def colours_by_set(message: ReportMessage) -> tuple[Colours, list[Colours]]:
    """For the text and for every set: where an id stands in several sets, each has its own."""
    ids = [template.id for template in message.templates]
    whole = colours_of(message)
    if len(set(ids)) == len(ids):
        return whole, [whole] * len(message.sets)
    own = [colours_of(ReportMessage(message.id, (one,))) for one in message.sets]
    return Colours({}, {}, whole.hints), own


def _cells(one: ReportSet) -> Iterator[tuple[str, ...]]:
    yield from one.result.configurations[0].configuration if one.result.configurations else ()


def hint(template: Template) -> str:
    """A template in a line."""
    about = (f"{template.id}: {cut(template.text, VALUES)}", template.sort, template.form)
    slots = ", ".join(f"{name} {shown(value)}" for name, value in template.slots.items())
    rule = f"rule: {template.rule}" if template.rule else ""
    return cut(" · ".join(filter(None, (*about, slots, rule))), 3 * VALUES)


def shown(value: object) -> str:
    """The value of a slot; None: nobody says anything about it."""
    if value is None:
        return "unknown"
    if isinstance(value, list | tuple):
        return cut(" & ".join(map(shown, value)), VALUES)
    if isinstance(value, dict):
        return cut(", ".join(f"{name} {shown(one)}" for name, one in value.items()), VALUES)
    return cut(str(value), VALUES)
