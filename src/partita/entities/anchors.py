"""The entities of a message: one for every cell of the most probable configurations.

An entity is what its anchor speaks of, the template of its cell that says most.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from partita.entities.cells import cells_of
from partita.entities.merging import called, descriptions, merged_cells
from partita.entities.values import Around, Said, shown, slot_values
from partita.records import Distribution, Entity, Figure, SlotValue, Template
from partita.templates.algebra import Merged, merge
from partita.templates.schema import Schema

SURE = Figure.exact(1.0)


def entities_of(distribution: Distribution, schema: Schema) -> tuple[Entity, ...]:
    """The entities of one coreference set, in text order."""
    given, cells = distribution.set, cells_of(distribution)
    said = Said.of(given.templates, schema)
    place = {name: n for n, name in enumerate(given.ids)}
    found = []
    for merged in merged_cells(distribution.most_probable, given, schema):
        anchor = anchor_of(merged.members, schema).id
        around = Around.of(cells, place[anchor], len(given))
        cell = tuple(sorted(place[name] for name in merged.ids))
        probability = cells.figure(cells.shares.get(cell, 0.0))
        found.append(_entity(merged, anchor, probability, slot_values(around, said), schema))
    return tuple(found)


def entity_alone(template: Template, schema: Schema) -> Entity:
    """The entity of a template that corefers with no other."""
    merged = merge([template], schema)
    slots = {
        name: (SlotValue(shown(value), SURE, (template.id,)),)
        for name, value in merged.slots.items()
    }
    return _entity(merged, template.id, SURE, slots, schema)


def in_text_order(entities: Sequence[Entity], place: Mapping[str, int]) -> tuple[Entity, ...]:
    """Entities by their first templates, called E1, E2 and so on."""
    ordered = sorted(entities, key=lambda one: min(place[name] for name in one.templates))
    return tuple(replace(one, id=f"E{n}") for n, one in enumerate(ordered, 1))


def anchor_of(members: Sequence[Template], schema: Schema) -> Template:
    """The one that says most; of several a name, then the first."""

    def said(member: Template) -> tuple[int, bool]:
        return len(schema.values(member)), member.form == "name"

    return max(members, key=said)


def _entity(
    merged: Merged,
    anchor: str,
    probability: Figure,
    slots: Mapping[str, tuple[SlotValue, ...]],
    schema: Schema,
) -> Entity:
    return Entity(
        id="",
        sort=merged.sort,
        templates=merged.ids,
        anchor=anchor,
        probability=probability,
        slots=slots,
        name=called(merged.members, schema),
        descriptions=descriptions(merged.members, schema),
    )
