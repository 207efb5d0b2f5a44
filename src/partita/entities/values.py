"""The cells of a distribution and the values of their slots, with probabilities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from partita.records import SlotValue, Template
from partita.records.cells import Cells, Places
from partita.records.entities import Plain
from partita.templates.name import Name
from partita.templates.schema import Schema, Values
from partita.templates.slots import SlotType, Value
from partita.templates.strings import Strings


@dataclass(frozen=True, slots=True, eq=False)
class AnchorCells:
    """The cells that contain an anchor, with their probabilities, which add up to 1."""

    holding: Mapping[Places, float]
    cells: Cells

    @classmethod
    def of(cls, cells: Cells, anchor: int) -> AnchorCells:
        shares = {cell: cells.shares[cell] for cell in cells.by_template[anchor]}
        total = math.fsum(shares.values())
        return cls({cell: share / total for cell, share in shares.items()}, cells)


@dataclass(frozen=True, slots=True, eq=False)
class SlotTable:
    """The distinct values of one slot in a set, and the templates that have each of them."""

    slot: SlotType[Any]
    values: Mapping[Value, list[int]]
    kept: dict[int, tuple[str, Plain | None, tuple[int, ...]]]

    @classmethod
    def of(cls, name: str, rows: Sequence[Values], schema: Schema) -> SlotTable:
        values: dict[Value, list[int]] = {}
        for n, row in enumerate(rows):
            if name in row:
                values.setdefault(row[name], []).append(n)
        return cls(schema.slot(name), values, {})

    def described(self, choice: int) -> tuple[str, Plain | None, tuple[int, ...]]:
        """Return what the values of a cell, one bit each, unify to.

        That is a key of the plain form, the plain form, and the templates that hold the unified
        value or a more general one.
        """
        if choice not in self.kept:
            value = self._unified(choice)
            plain = None if value is None else plain_value(value)
            self.kept[choice] = repr(plain), plain, () if value is None else self._holders(value)
        return self.kept[choice]

    def _unified(self, choice: int) -> Value | None:
        """Return the chosen values unified, or None if there are none; in a cell any two unify."""
        result: Value | None = None
        for n, value in enumerate(self.values if choice else ()):
            if choice >> n & 1:
                result = value if result is None else self.slot.unify(result, value)
        return result

    def _holders(self, value: Value) -> tuple[int, ...]:
        return tuple(sorted(n for one in self._subsuming(value) for n in self.values[one]))

    def _subsuming(self, value: Value) -> list[Value]:
        if isinstance(value, Strings):  # the same as below, and faster
            held = cast(Mapping[Strings, list[int]], self.values)
            return [one for one in held if one.members <= value.members]
        unify = self.slot.unify
        return [one for one in self.values if unify(one, value) == value]


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
        rows = [schema.values(template) for template in templates]
        tables = {name: SlotTable.of(name, rows, schema) for name in schema.slots}
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
            found[name] = _values(around, table, shares, tables.ids)
    return found


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
    for choice in sorted(choices):
        key, plain, more = table.described(choice)
        forms[key] = plain
        shares[key] = shares.get(key, 0.0) + choices[choice]
        holders[key] = tuple(sorted({*holders[key], *more})) if key in holders else more
    return tuple(
        SlotValue(
            forms[key],
            around.cells.figure(shares[key]),
            tuple([ids[n] for n in holders[key]]),
        )
        for key in sorted(shares, key=lambda key: (-shares[key], key))
    )
