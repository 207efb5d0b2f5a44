"""Entities with the values of their slots, each with its probability."""

from __future__ import annotations

from collections.abc import Sequence

from partita.records import Entity, Figure, SlotValue, Template
from partita.views.markup import Html, cut, element, joined
from partita.views.report_colours import Colours, shown
from partita.views.svg_bars import bar
from partita.views.words import ranged

ENTITIES = 100
VALUES = 6
SURE = 0.99995  # what rounds to 1 needs no number


def entities_table(entities: Sequence[Entity], alone: Sequence[Template], colours: Colours) -> Html:
    """Merged ones first, then the templates that corefer with no other."""
    rows = [_entity(entity, colours) for entity in entities[:ENTITIES]]
    rows += [_alone(template, colours) for template in alone[: max(ENTITIES - len(rows), 0)]]
    if not rows:
        return joined([])
    titles = ("entity", "templates", "this cell", "slots")
    head = element("tr", *(element("th", title) for title in titles))
    parts = [
        element("table", element("thead", head), element("tbody", joined(rows)), class_="entities")
    ]
    if hidden := len(entities) + len(alone) - len(rows):
        parts.append(element("p", f"{hidden:,} more are not shown here", class_="left-out"))
    return element("div", element("h4", "Entities"), *parts)


def _entity(entity: Entity, colours: Colours) -> Html:
    called = entity.name or next(iter(entity.descriptions), "")
    known = colours.classes.get(entity.anchor, "none")
    title = joined(
        [
            element("span", cut(entity.id, 40), class_=f"chip {known}"),
            element("b", cut(called, 80), dir="auto"),
            element("small", cut(entity.sort, 60)),
        ],
        " ",
    )
    share = joined([_probability(entity.probability), bar(*_spread(entity.probability))])
    return element(
        "tr",
        element("td", title),
        element("td", colours.cell(list(entity.templates))),
        element("td", share, class_="share-of-cell"),
        element("td", _slots(entity)),
    )


def _alone(template: Template, colours: Colours) -> Html:
    """A template that is alone is what it is: no probability is told."""
    title = joined(
        [
            element("b", cut(template.text, 80), dir="auto"),
            element("small", cut(template.sort, 60)),
        ],
        " ",
    )
    slots = [_slot(name, joined([shown(value)])) for name, value in template.slots.items()]
    return element(
        "tr",
        element("td", title),
        element("td", colours.cell([template.id])),
        element("td", element("small", "alone")),
        element("td", joined(slots)),
    )


def _slots(entity: Entity) -> Html:
    return joined(_slot(name, _values(values)) for name, values in entity.slots.items())


def _slot(name: str, told: Html) -> Html:
    return element("span", element("small", cut(name, 40)), " ", told, class_="slot")


def _values(values: Sequence[SlotValue]) -> Html:
    told = [_value(value) for value in values[:VALUES]]
    if hidden := len(values) - VALUES if len(values) > VALUES else 0:
        told.append(joined([f"{hidden} more"]))
    return joined(told, ", ")


def _value(value: SlotValue) -> Html:
    text = element("span", shown(value.value), class_="unknown" if value.value is None else "value")
    if value.probability.value >= SURE:
        return text
    return joined([text, element("span", f" {_probability(value.probability)}", class_="number")])


def _probability(given: Figure) -> str:
    return ranged(*_spread(given))


def _spread(given: Figure) -> tuple[float, tuple[float, float] | None]:
    return given.value, None if given.kind == "exact" else (given.low, given.high)
