"""The contents of a report, and the colours of its templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.core import Configuration, Entity, Template
from partita.files.strict import Place
from partita.results.saved_results import Result, result_of
from partita.views.markup import Html, element, join_markup, shorten
from partita.views.palette import CELLS


@dataclass(frozen=True, slots=True)
class ReportKey:
    """A gold label and its author."""

    author: str
    configuration: Configuration


@dataclass(frozen=True, slots=True, eq=False)
class ReportSet:
    """A set with its result and keys."""

    result: Result
    keys: tuple[ReportKey, ...] = ()

    @property
    def name(self) -> str:
        return self.result.set.name


@dataclass(frozen=True, slots=True, eq=False)
class ReportMessage:
    """A message in full; without a text only its expressions are shown."""

    id: str
    sets: tuple[ReportSet, ...]
    alone: tuple[Template, ...] = ()
    text: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def templates(self) -> tuple[Template, ...]:
        """Return all templates in text order; those that several windows read, once."""
        members = [*self.alone, *(t for one in self.sets for t in one.result.set.templates)]
        if self.entities:
            members = list({t.id: t for t in members}.values())
        return tuple(sorted(members, key=lambda t: (t.start, -t.end)))

    @property
    def things(self) -> int:
        """Return the number of entities, including single templates."""
        return len(self.entities) + len(self.alone)

    @property
    def entities(self) -> tuple[Entity, ...]:
        return tuple(entity for one in self.sets for entity in one.result.entities)

    def answer(self, one: ReportSet) -> Configuration | None:
        """Return the entities as a configuration of a set; results of solve have none."""
        ids = set(one.result.set.ids)
        cells = [[name for name in entity.templates if name in ids] for entity in self.entities]
        return Configuration(cells) if cells else None


@dataclass(slots=True)
class MessageRow:
    """A message in the index."""

    id: str
    templates: int = 0
    sets: int = 0
    entities: int = 0
    entropy_bits: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The contents of a report; `methods` counts the sets by method."""

    title: str
    settings: Mapping[str, Any]
    rows: tuple[MessageRow, ...]
    messages: tuple[ReportMessage, ...]
    methods: Mapping[str, int] = field(default_factory=dict)
    measured: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    without_text: bool = False


def set_of(line: Mapping[str, Any], place: Place, keys: Iterable[ReportKey] = ()) -> ReportSet:
    """Return the set of a line of results."""
    result = result_of(line, place)
    if not isinstance(result, Result):
        place.refuse("is a line of singletons; expected one of a set")
    return ReportSet(result, tuple(keys))


def method_label(method: str, unsettled: bool) -> str:
    """Return the method, with a warning if it has not converged."""
    return f"{method}, NOT converged" if unsettled else method


def most_uncertain(rows: Sequence[MessageRow], most: int) -> list[int]:
    """Return the indices of the messages with the highest entropy, in order."""
    order = sorted(range(len(rows)), key=lambda n: (-rows[n].entropy_bits, n))
    return sorted(order[:most])


MAX_CELLS = 80
MAX_LETTERS = 160


@dataclass(frozen=True, slots=True, eq=False)
class Colours:
    """The colour class, cell name and tooltip of each template."""

    classes: dict[str, str]
    cells: dict[str, str]
    hints: dict[str, str]

    def chip(self, template: str) -> Html:
        """Return the id of a template in its colour."""
        colour = self.classes.get(template, "none")
        template_hint = self.hints.get(template)
        return element("span", shorten(template, 40), class_=f"chip {colour}", title=template_hint)

    def cell(self, members: list[str]) -> Html:
        """Return the templates of a cell in one box."""
        return element("span", join_markup(map(self.chip, members)), class_="cell")

    def cells_of(self, cells: Sequence[Sequence[str]]) -> Html:
        """Return the first cells of a configuration."""
        boxes = [self.cell(list(cell)) for cell in cells[:MAX_CELLS]]
        if hidden := len(cells) - len(boxes):
            boxes.append(element("small", f"{hidden:,} more cells"))
        return join_markup(boxes)


def colours_of(message: ReportMessage) -> Colours:
    """Assign colours to entities of several templates, in text order.

    Results without entities have the colours of their most probable configurations.
    """
    order = {template.id: n for n, template in enumerate(message.templates)}
    cells = [entity.templates for entity in message.entities]
    cells = cells or [cell for one in message.sets for cell in one.result.first_cells]
    names = {t: entity.id for entity in message.entities for t in entity.templates}
    classes, cell_names = {}, {}
    shared = 0
    for cell in sorted(cells, key=lambda cell: min(map(order.__getitem__, cell))):
        name = f"c{shared % CELLS}" if len(cell) > 1 else "single"
        shared += len(cell) > 1
        for template in cell:
            classes[template] = name
            cell_names[template] = names.get(template, "")
    hints = {template.id: template_hint(template) for template in message.templates}
    return Colours(classes, cell_names, hints)


def colours_by_set(message: ReportMessage) -> tuple[Colours, list[Colours]]:
    """Return colours for the text and for each set; ids may repeat across sets."""
    ids = [template.id for template in message.templates]
    whole = colours_of(message)
    if len(set(ids)) == len(ids):
        return whole, [whole] * len(message.sets)
    own = [colours_of(ReportMessage(message.id, (one,))) for one in message.sets]
    return Colours({}, {}, whole.hints), own


def template_hint(template: Template) -> str:
    """Return a one-line description of a template."""
    about = (f"{template.id}: {shorten(template.text, MAX_LETTERS)}", template.type, template.form)
    slots = ", ".join(f"{name} {slot_text(value)}" for name, value in template.slots.items())
    rule = f"rule: {template.rule}" if template.rule else ""
    return shorten(" · ".join(filter(None, (*about, slots, rule))), 3 * MAX_LETTERS)


def slot_text(value: object) -> str:
    """Return the value of a slot as text; None is "unknown"."""
    if value is None:
        return "unknown"
    if isinstance(value, list | tuple):
        return shorten(" & ".join(map(slot_text, value)), MAX_LETTERS)
    if isinstance(value, dict):
        parts = (f"{name} {slot_text(one)}" for name, one in value.items())
        return shorten(", ".join(parts), MAX_LETTERS)
    return shorten(str(value), MAX_LETTERS)
