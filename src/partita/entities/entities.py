"""Merge the templates of each cell into an entity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from partita.entities.values import Around, Said, cells_of, shown, slot_values
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


def merged_cells(
    configuration: Configuration, given: CoreferenceSet, schema: Schema
) -> tuple[Merged, ...]:
    """One merged template for every cell, by the first template of each in the text."""
    by_id = {template.id: template for template in given.templates}
    cells = [merge([by_id[name] for name in cell], schema) for cell in configuration]
    place = {name: n for n, name in enumerate(given.ids)}
    return tuple(sorted(cells, key=lambda cell: min(place[name] for name in cell.ids)))


def called(members: Sequence[Template], schema: Schema) -> str:
    """The longest name that any of them gives, or nothing."""
    names = [name for member in members for name in _names(member, schema)]
    return min(names, key=lambda name: (-len(name), name), default="")


def _names(template: Template, schema: Schema) -> frozenset[str]:
    given = schema.values(template).get(NAME)
    if isinstance(given, Name):
        return given.variants
    return frozenset({template.text} if template.form == "name" and template.text else ())


def descriptions(members: Sequence[Template], schema: Schema) -> tuple[str, ...]:
    """How a thing is described where it is not named: precise first, then vague, then pronouns.

    The members are those of a cell, so that any two are compatible.
    """
    texts = [m for m in members if m.form not in ("name", "pronoun") and m.text]
    groups: dict[frozenset[tuple[str, Value]], list[Template]] = {}
    for member in texts:  # those that say the same, by the first of them
        groups.setdefault(frozenset(schema.values(member).items()), []).append(member)
    said = [merge([group[0]], schema) for group in groups.values()]
    vague = [any(_more_general(one, other, schema) for other in said) for one in said]
    longest = [max(group, key=lambda one: len(one.text)).text for group in groups.values()]
    ordered = [text for _, text in sorted(zip(vague, longest, strict=True), key=lambda x: x[0])]
    pronouns = [member.text for member in members if member.form == "pronoun"]
    return tuple(dict.fromkeys([*ordered, *pronouns]))


def _more_general(one: Merged, other: Merged, schema: Schema) -> bool:
    return one is not other and relation(one, other, schema) == "properly subsumes"


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
        figure=probability,
        slots=slots,
        name=called(merged.members, schema),
        descriptions=descriptions(merged.members, schema),
    )
