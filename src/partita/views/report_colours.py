"""Which colour a template has: that of its cell in the most probable configuration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from partita.records import Template
from partita.views.markup import Html, cut, element, joined
from partita.views.report_records import ReportMessage, ReportSet

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
        known = self.classes.get(template, "none")
        hint = self.hints.get(template)
        return element("span", cut(template, 40), class_=f"chip {known}", title=hint)

    def cell(self, members: list[str]) -> Html:
        """The templates of a cell in one box."""
        return element("span", joined(map(self.chip, members)), class_="cell")

    def cells_of(self, cells: Sequence[Sequence[str]]) -> Html:
        """The cells of a configuration; of hundreds the first ones."""
        told = [self.cell(list(cell)) for cell in cells[:CELLS]]
        if hidden := len(cells) - len(told):
            told.append(element("small", f"{hidden:,} more cells"))
        return joined(told)


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
