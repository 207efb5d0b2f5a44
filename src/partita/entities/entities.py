"""Merge the templates of each cell into an entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from partita.entities.values import AnchorCells, SlotTables, cells_of, plain_value, slot_values
from partita.records import (
    Configuration,
    CoreferenceSet,
    Distribution,
    Entity,
    Figure,
    SlotValue,
    Template,
)
from partita.templates.algebra import Merged, merge, relation
from partita.templates.name import Name
from partita.templates.schema import Schema
from partita.templates.slots import Value

NAME = "NAME"


def merge_cells(
    configuration: Configuration, group: CoreferenceSet, schema: Schema
) -> tuple[Merged, ...]:
    """Return one merged template per cell, ordered by first template in the text."""
    by_id = {template.id: template for template in group.templates}
    cells = [merge([by_id[name] for name in cell], schema) for cell in configuration]
    place = {name: n for n, name in enumerate(group.ids)}
    return tuple(sorted(cells, key=lambda cell: min(place[name] for name in cell.ids)))


def longest_name(members: Sequence[Template], schema: Schema) -> str:
    """Return the longest name of the members, or an empty string."""
    names = [name for member in members for name in _names(member, schema)]
    return min(names, key=lambda name: (-len(name), name), default="")


def _names(template: Template, schema: Schema) -> frozenset[str]:
    name = schema.values(template).get(NAME)
    if isinstance(name, Name):
        return name.variants
    return frozenset({template.text} if template.form == "name" and template.text else ())


def descriptions(members: Sequence[Template], schema: Schema) -> tuple[str, ...]:
    """Return the descriptions of an entity: precise ones, then vague ones, then pronouns.

    The members share a cell, so that any two are compatible.
    """
    texts = [m for m in members if m.form not in ("name", "pronoun") and m.text]
    groups: dict[frozenset[tuple[str, Value]], list[Template]] = {}
    for member in texts:  # members with the same values
        groups.setdefault(frozenset(schema.values(member).items()), []).append(member)
    merged = [merge([group[0]], schema) for group in groups.values()]
    vague = [any(_more_general(template, other, schema) for other in merged) for template in merged]
    longest = [
        max(group, key=lambda template: len(template.text)).text for group in groups.values()
    ]
    ordered = [text for _, text in sorted(zip(vague, longest, strict=True), key=lambda x: x[0])]
    pronouns = [member.text for member in members if member.form == "pronoun"]
    return tuple(dict.fromkeys([*ordered, *pronouns]))


def _more_general(first: Merged, second: Merged, schema: Schema) -> bool:
    return first is not second and relation(first, second, schema) == "properly subsumes"


CERTAIN = Figure.exact(1.0)


def entities_of(distribution: Distribution, schema: Schema) -> tuple[Entity, ...]:
    """Return the entities of one coreference set, in text order."""
    group, cells = distribution.set, cells_of(distribution)
    tables = SlotTables.of(group.templates, schema)
    place = {name: n for n, name in enumerate(group.ids)}
    entities = []
    for merged in merge_cells(distribution.most_probable, group, schema):
        anchor = anchor_of(merged.members, schema).id
        around = AnchorCells.of(cells, place[anchor], len(group))
        cell = tuple(sorted(place[name] for name in merged.ids))
        probability = cells.figure(cells.shares.get(cell, 0.0))
        entities.append(_entity(merged, anchor, probability, slot_values(around, tables), schema))
    return tuple(entities)


def single_entity(template: Template, schema: Schema) -> Entity:
    """Return the entity of a template that corefers with no other."""
    merged = merge([template], schema)
    slots = {
        name: (SlotValue(plain_value(value), CERTAIN, (template.id,)),)
        for name, value in merged.slots.items()
    }
    return _entity(merged, template.id, CERTAIN, slots, schema)


def number_entities(entities: Sequence[Entity], place: Mapping[str, int]) -> tuple[Entity, ...]:
    """Return the entities ordered by first template, with ids E1, E2 and so on."""
    ordered = sorted(entities, key=lambda entity: min(place[name] for name in entity.templates))
    return tuple(replace(entity, id=f"E{n}") for n, entity in enumerate(ordered, 1))


def anchor_of(members: Sequence[Template], schema: Schema) -> Template:
    """Return the member with the most values; names win ties, then the first."""

    def rank(member: Template) -> tuple[int, bool]:
        return len(schema.values(member)), member.form == "name"

    return max(members, key=rank)


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
        figure=probability,
        slots=slots,
        name=longest_name(merged.members, schema),
        descriptions=descriptions(merged.members, schema),
    )
