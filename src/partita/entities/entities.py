"""Entities: the merged templates of cells, with the probabilities of their values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, cast

from partita.core import (
    Configuration,
    CoreferenceSet,
    Denial,
    Distribution,
    Entity,
    Figure,
    SlotValue,
    Status,
    Template,
)
from partita.core.cells import CellProbabilities, Places, cells_of
from partita.core.entities import Plain
from partita.core.templates import ASSERTIONS, RANKS, WEIGHTS
from partita.entities.answer import answer
from partita.templates.name import Name
from partita.templates.schema import Merged, ReadOnce, Schema, Values, merge, relation
from partita.templates.slots import SlotType, Strings, StringsType, Value


@dataclass(frozen=True, slots=True, eq=False)
class AnchorCells:
    """The cells that contain an anchor, with their probabilities, which add up to 1."""

    holding: Mapping[Places, float]
    cells: CellProbabilities

    @classmethod
    def of(cls, cells: CellProbabilities, anchor: int) -> AnchorCells:
        shares = {cell: cells.shares[cell] for cell in cells.by_template[anchor]}
        total = math.fsum(shares.values())
        return cls({cell: share / total for cell, share in shares.items()}, cells)


Said = tuple[Value, Status]  # a value, and the status that a template gives it
Reading = tuple[str, Plain | None, tuple[int, ...], float, Status]
ASSERTED: Status = "asserted"
MOST_WEAK = 6  # values of one cell that may be absent, all ways of which are summed


@dataclass(frozen=True, slots=True, eq=False)
class SlotTable:
    """The distinct values of one slot in a set, by status, and the templates that say them."""

    slot: SlotType[Any]
    values: Mapping[Said, list[int]]
    kept: dict[int, list[Reading]]
    said: tuple[Said, ...]
    by_string: Mapping[str, list[Said]]  # values that are not denied, by each of their strings

    @classmethod
    def of(cls, name: str, rows: Sequence[Sequence[Said]], schema: Schema) -> SlotTable:
        values: dict[Said, list[int]] = {}
        for n, row in enumerate(rows):
            for said in row:
                values.setdefault(said, []).append(n)
        by_string: dict[str, list[Said]] = {}
        for value, status in values:
            for string in value.members if isinstance(value, Strings) else ():
                if status != "denied":
                    by_string.setdefault(string, []).append((value, status))
        return cls(schema.slot(name), values, {}, tuple(values), by_string)

    def described(self, choice: int) -> list[Reading]:
        """Return what the values of a cell, one bit each, may amount to.

        Each reading has a key of the plain form, the plain form, the templates that hold the value
        or a more general one, its share of the probability, and its status.
        """
        if choice not in self.kept:
            self.kept[choice] = [
                (*self._held(value), share, status)
                for value, share, status in self._readings(self._chosen(choice))
            ]
        return self.kept[choice]

    def _held(self, value: Value | None) -> tuple[str, Plain | None, tuple[int, ...]]:
        plain = None if value is None else plain_value(value)
        return repr(plain), plain, () if value is None else self._holders(value)

    def _chosen(self, choice: int) -> dict[Value, Status]:
        """Return the values of a cell, each with its most certain status.

        What one template asserts and another denies is only possible.
        """
        statuses: dict[Value, Status] = {}
        denied: list[Value] = []
        while choice:
            value, status = self.said[(choice & -choice).bit_length() - 1]
            choice &= choice - 1
            if status == "denied":
                denied.append(value)
            elif RANKS[status] <= RANKS[statuses.get(value, status)]:
                statuses[value] = status
        return statuses | {value: "possible" for value in denied if value in statuses}

    def _readings(
        self, statuses: Mapping[Value, Status]
    ) -> Iterator[tuple[Value | None, float, Status]]:
        """Yield the ways in which weak values may hold or not; their shares add up to 1."""
        firm = [value for value, status in statuses.items() if status == ASSERTED]
        weak = [value for value, status in statuses.items() if status != ASSERTED]
        for present in product((True, False), repeat=min(len(weak), MOST_WEAK)):
            taken = [one for n, one in enumerate(weak) if n >= len(present) or present[n]]
            shares = (
                WEIGHTS[statuses[one]] if kept else 1 - WEIGHTS[statuses[one]]
                for one, kept in zip(weak, present, strict=False)
            )
            share = math.prod(shares, start=1.0)
            status = max((statuses[one] for one in taken), key=RANKS.__getitem__, default=ASSERTED)
            yield self._unified([*firm, *taken]), share, status

    def _unified(self, values: Iterable[Value]) -> Value | None:
        """Return the values unified, or None if there are none.

        Asserted values of a cell unify; what does not fit to the values before it is left out. Of
        states that exclude each other, the last one stated holds.
        """
        result: Value | None = None
        states = self.slot if isinstance(self.slot, StringsType) and self.slot.groups else None
        for value in sorted(values, key=self._last_said) if states else values:
            if states and result is not None:
                result = states.updated(cast(Strings, result), cast(Strings, value))
                continue
            unified = value if result is None else self.slot.unify(result, value)
            result = result if unified is None else unified
        return result

    def _last_said(self, value: Value) -> int:
        return max(n for said, holders in self.values.items() if said[0] == value for n in holders)

    def _holders(self, value: Value) -> tuple[int, ...]:
        return tuple(sorted({n for one in self._subsuming(value) for n in self.values[one]}))

    def _subsuming(self, value: Value) -> list[Said]:
        if isinstance(value, Strings):  # the same as below, and faster
            some = (one for string in value.members for one in self.by_string.get(string, ()))
            return [one for one in some if cast(Strings, one[0]).members <= value.members]
        held = [said for said in self.values if said[1] != "denied"]
        unify = self.slot.unify
        return [one for one in held if unify(one[0], value) == value]


@dataclass(frozen=True, slots=True, eq=False)
class SlotTables:
    """The slot tables of a set, in the order of the schema.

    `bits` has a number for each template, with one bit for each of its values; those of a slot
    begin at its number in `begins`.
    """

    ids: tuple[str, ...]
    slots: Mapping[str, SlotTable]
    begins: tuple[int, ...]
    bits: Sequence[int]

    @classmethod
    def of(cls, templates: Sequence[Template], schema: Schema) -> SlotTables:
        split = any(template.context.get(ASSERTIONS) for template in templates)
        rows = [slot_statements(template, schema, split) for template in templates]
        tables = {
            name: SlotTable.of(name, [row.get(name, ()) for row in rows], schema)
            for name in schema.slots
        }
        filled = {name: table for name, table in tables.items() if table.values}
        begins, bits = [0], [0] * len(rows)
        for table in filled.values():
            for number, holders in enumerate(table.values.values(), begins[-1]):
                for n in holders:
                    bits[n] |= 1 << number
            begins.append(begins[-1] + len(table.values))
        return cls(tuple(template.id for template in templates), filled, tuple(begins), bits)


def slot_values(around: AnchorCells, tables: SlotTables) -> dict[str, tuple[SlotValue, ...]]:
    """Return the values of every slot that the anchor, or a possible coreferent, fills."""
    chosen, bits, possible = list[tuple[int, float]](), tables.bits, 0
    for cell, share in around.holding.items():
        choice = 0
        for n in cell:
            choice |= bits[n]
        chosen.append((choice, share))
        possible |= choice
    found = {}
    for (name, table), (first, last) in zip(
        tables.slots.items(), pairwise(tables.begins), strict=True
    ):
        mask = (1 << last - first) - 1
        if possible >> first & mask:
            shares: dict[int, float] = {}
            for choice, share in chosen:
                of_slot = choice >> first & mask
                shares[of_slot] = shares.get(of_slot, 0.0) + share
            values = _values(around, table, shares, tables.ids)
            if any(value.value is not None for value in values):
                found[name] = values
    return found


def alone_values(tables: SlotTables) -> dict[str, tuple[SlotValue, ...]]:
    """Return the values of a template that corefers with no other."""
    alone = {}
    for name, table in tables.slots.items():
        readings = sorted(table.described((1 << len(table.values)) - 1), key=lambda one: -one[3])
        values = tuple(
            SlotValue(plain, Figure.exact(share), tables.ids if held else (), status)
            for _, plain, held, share, status in readings
        )
        if any(value.value is not None for value in values):
            alone[name] = values
    return alone


def slot_statements(template: Template, schema: Schema, split: bool) -> dict[str, list[Said]]:
    """Return the values that a template says a slot has, or has not, each with its status.

    With `split`, the strings of slots that hold several are values of their own.
    """
    if not split:
        return {name: [(value, ASSERTED)] for name, value in schema.values(template).items()}
    said: dict[str, list[Said]] = {
        name: [(value, ASSERTED)] for name, value in schema.firm(template).items()
    }
    for slots, status in schema.not_asserted(template, "possible", "reported", "denied"):
        if status != "denied" or _of_strings(slots):
            for name, value in slots.items():
                said.setdefault(name, []).append((value, status))
    return {name: [one for value in some for one in _single(value)] for name, some in said.items()}


def _of_strings(slots: Values) -> bool:
    return all(isinstance(value, Strings) for value in slots.values())


def _single(said: Said) -> Iterator[Said]:
    """Yield the strings of a value one by one, so that each can be denied."""
    value, status = said
    if isinstance(value, Strings):
        yield from ((Strings(frozenset({one})), status) for one in sorted(value.members))
    else:
        yield said


def plain_value(value: Value) -> Plain:
    """Return the plain form of a value; for a name its longest variant."""
    if isinstance(value, Name):
        return min(value.variants, key=lambda name: (-len(name), name))
    return value.json()


def _values(
    around: AnchorCells, table: SlotTable, choices: Mapping[int, float], ids: Sequence[str]
) -> tuple[SlotValue, ...]:
    """Return the values with probabilities; values with the same plain form are added up."""
    shares: dict[str, float] = {}
    forms: dict[str, Plain | None] = {}
    holders: dict[str, tuple[int, ...]] = {}
    statuses: dict[str, Status] = {}
    for choice in sorted(choices):
        for key, plain, more, share, status in table.described(choice):
            forms[key] = plain
            shares[key] = shares.get(key, 0.0) + choices[choice] * share
            holders[key] = tuple(sorted({*holders[key], *more})) if key in holders else more
            statuses[key] = min(statuses.get(key, status), status, key=RANKS.__getitem__)
    return tuple(
        SlotValue(
            forms[key],
            around.cells.figure(shares[key]),
            tuple([ids[n] for n in holders[key]]),
            statuses[key],
        )
        for key in sorted(shares, key=lambda key: (-shares[key], key))
    )


NAME = "NAME"


def merge_cells(
    configuration: Iterable[Iterable[str]], group: CoreferenceSet, schema: Schema
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
    if any(member.form in ("definite", "indefinite") for member in members):
        names = [name for name in names if not name[:1].isdigit()]  # a date is no name of a thing
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


def entities_of(
    distribution: Distribution,
    schema: Schema,
    grouping: Configuration | None = None,
    earlier: Container[str] = (),
) -> tuple[Entity, ...]:
    """Return the entities of one coreference set, in text order.

    Without a grouping they are those of its `answer`. Entities of which all templates are among the
    `earlier` ones are left out.
    """
    grouping = grouping or answer(distribution)
    group, cells = distribution.set, cells_of(distribution)
    schema = ReadOnce(schema.slots, schema.types)
    tables = SlotTables.of(group.templates, schema)
    place = {name: n for n, name in enumerate(group.ids)}
    entities = []
    new = [cell for cell in grouping if any(name not in earlier for name in cell)]
    for merged in merge_cells(new, group, schema):
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
