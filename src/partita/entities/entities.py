"""Merge the templates of each cell into an entity."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from partita.core import (
    Configuration,
    CoreferenceSet,
    Denial,
    Distribution,
    Entity,
    Figure,
    SlotValue,
    Template,
)
from partita.core.cells import cells_of
from partita.entities.answer import answer
from partita.entities.values import AnchorCells, SlotTables, alone_values, slot_values
from partita.templates.name import Name
from partita.templates.schema import Merged, ReadOnce, Schema, merge, relation
from partita.templates.slots import Strings, StringsType, Value

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
    """Return the longest name of the members, or an empty string.

    Where names need not match, the longest that contains the most frequent one.
    """
    names = [name for member in members for name in _names(member, schema)]
    if isinstance(schema.slots.get(NAME), StringsType) and names:
        counts = Counter(names)
        frequent = set(min(counts, key=lambda name: (-counts[name], -len(name), name)).split())
        names = [name for name in names if frequent <= set(name.split())]
    return min(names, key=lambda name: (-len(name), name), default="")


def _names(template: Template, schema: Schema) -> frozenset[str]:
    name = schema.values(template).get(NAME)
    if isinstance(name, Name):
        return name.variants
    if isinstance(name, Strings):
        return name.members
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
    schema = ReadOnce(schema.slots, schema.types)
    tables = SlotTables.of(group.templates, schema)
    place = {name: n for n, name in enumerate(group.ids)}
    entities = []
    for merged in merge_cells(answer(distribution), group, schema):
        anchor = anchor_of(merged.members, schema).id
        around = AnchorCells.of(cells, place[anchor])
        cell = tuple(sorted(place[name] for name in merged.ids))
        probability = cells.figure(cells.shares.get(cell, 0.0))
        entities.append(_entity(merged, anchor, probability, slot_values(around, tables), schema))
    return tuple(entities)


def single_entity(template: Template, schema: Schema) -> Entity:
    """Return the entity of a template that corefers with no other."""
    slots = alone_values(SlotTables.of([template], schema))
    return _entity(merge([template], schema), template.id, CERTAIN, slots, schema)


def join_entities(parts: Sequence[Entity], members: Sequence[Template], schema: Schema) -> Entity:
    """Return the parts of an entity, found in several windows, as one with these members.

    Its probability is that of all parts; each slot has the values of the part that most templates
    fill.
    """
    ids = tuple(member.id for member in members)
    if len(parts) == 1 and parts[0].anchor in ids:
        return replace(parts[0], templates=ids)
    slots: dict[str, tuple[SlotValue, ...]] = {}
    for part in sorted(parts, key=lambda part: len(part.templates)):
        slots |= part.slots
    return Entity(
        id="",
        type=_common_type(members),
        templates=ids,
        anchor=anchor_of(members, schema).id,
        figure=_product([part.figure for part in parts]),
        slots={name: slots[name] for name in schema.slots if name in slots},
        name=longest_name(members, schema),
        descriptions=tuple(dict.fromkeys(text for part in parts for text in part.descriptions)),
        denied=denials(members),
    )


def _product(figures: Sequence[Figure]) -> Figure:
    value, low, high = (
        math.prod(getattr(figure, name) for figure in figures) for name in ("value", "low", "high")
    )
    return Figure(value, low, high, next((f.kind for f in figures if f.kind != "exact"), "exact"))


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
        type=_entity_type(merged, schema),
        templates=merged.ids,
        anchor=anchor,
        figure=probability,
        slots=slots,
        name=longest_name(merged.members, schema),
        descriptions=descriptions(merged.members, schema),
        denied=denials(merged.members),
    )


def denials(members: Sequence[Template]) -> tuple[Denial, ...]:
    """Return what the members deny of the entity, each denial once."""
    found: dict[str, Denial] = {}
    for member in members:
        for one in member.assertions:
            if one.status == "denied" and one.slots:
                key = repr(sorted(one.slots.items()))
                known = found.get(key, Denial(one.slots, (), one.cue))
                found[key] = replace(known, templates=(*known.templates, member.id))
    return tuple(found.values())


def _entity_type(merged: Merged, schema: Schema) -> str:
    """Return the type of the members; one that is only possible counts if there is no other.

    Example: "the site is probably a radar station" is a site.
    """
    if schema.types is None:
        return _common_type(merged.members)
    firm = [member for member in merged.members if not _possible_type(member)]
    return merge(firm, schema).type if 0 < len(firm) < len(merged.members) else merged.type


def _possible_type(member: Template) -> bool:
    return any(
        one.status == "possible" and member.type in one.slots.values() for one in member.assertions
    )


def _common_type(members: Sequence[Template]) -> str:
    """Return the type with the largest sum of probabilities over the members.

    Pronouns count a tenth: their types are guesses from the words around them.
    """
    sums: dict[str, float] = {}
    for member in members:
        weight = 0.1 if member.form == "pronoun" else 1.0
        for entity_type, share in _type_probabilities(member).items():
            sums[entity_type] = sums.get(entity_type, 0.0) + weight * share
    return max(sums, key=lambda entity_type: (sums[entity_type], entity_type), default="")


def _type_probabilities(template: Template) -> Mapping[str, float]:
    shares: Mapping[str, float] | None = template.context.get("SORT_PROBABILITIES")
    return shares or ({template.type: 1.0} if template.type else {})
