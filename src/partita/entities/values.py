"""The cells of a distribution and the values of their slots, with probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
    """The distinct values of one slot in a set, and the number of each template's value."""

    slot: SlotType[Any]
    values: tuple[Value, ...]
    numbers: Mapping[int, int]
    kept: dict[Value, tuple[int, ...]]  # holders of a value

    @classmethod
    def of(cls, name: str, rows: Sequence[Values], schema: Schema) -> SlotTable:
        values = tuple(dict.fromkeys(row_values[name] for row_values in rows if name in row_values))
        place = {value: n for n, value in enumerate(values)}
        numbers = {n: place[row[name]] for n, row in enumerate(rows) if name in row}
        return cls(schema.slot(name), values, numbers, {})

    def chosen(self, cell: Places) -> tuple[int, ...]:
        """Return the numbers of the values that the templates of a cell have."""
        numbers = self.numbers
        return tuple(sorted({numbers[n] for n in cell if n in numbers}))

    def unified(self, choice: Iterable[int]) -> Value | None:
        """Return the chosen values unified, or None if there are none; in a cell any two unify."""
        result: Value | None = None
        for n in choice:
            value = self.values[n]
            result = value if result is None else self.slot.unify(result, value)
        return result

    def holders(self, value: Value | None) -> tuple[int, ...]:
        """Return which templates hold this value or a more general one."""
        if value is None:
            return ()
        if value not in self.kept:
            fits = self._subsuming(value)
            self.kept[value] = tuple(n for n, number in self.numbers.items() if number in fits)
        return self.kept[value]

    def _subsuming(self, value: Value) -> set[int]:
        if isinstance(value, Strings):  # the same as below, and faster
            held = cast(tuple[Strings, ...], self.values)
            return {n for n, one in enumerate(held) if one.members <= value.members}
        unify = self.slot.unify
        return {n for n, one in enumerate(self.values) if unify(one, value) == value}


@dataclass(frozen=True, slots=True, eq=False)
class SlotTables:
    """The slot tables of a set, in the order of the schema."""

    ids: tuple[str, ...]
    slots: Mapping[str, SlotTable]

    @classmethod
    def of(cls, templates: Sequence[Template], schema: Schema) -> SlotTables:
        rows = [schema.values(template) for template in templates]
        tables = {name: SlotTable.of(name, rows, schema) for name in schema.slots}
        filled = {name: table for name, table in tables.items() if table.values}
        return cls(tuple(template.id for template in templates), filled)


def slot_values(around: AnchorCells, tables: SlotTables) -> dict[str, tuple[SlotValue, ...]]:
    """Return the values of every slot that the anchor, or a possible coreferent, fills."""
    possible = set().union(*around.holding)
    return {
        name: _values(around, table, tables.ids)
        for name, table in tables.slots.items()
        if not possible.isdisjoint(table.numbers)
    }


def plain_value(value: Value) -> Plain:
    """Return the plain form of a value; for a name its longest variant."""
    if isinstance(value, Name):
        return min(value.variants, key=lambda name: (-len(name), name))
    return value.json()


def _values(around: AnchorCells, table: SlotTable, ids: Sequence[str]) -> tuple[SlotValue, ...]:
    """Return the values with probabilities; values with the same plain form are added up."""
    shares: dict[str, float] = {}
    forms: dict[str, Plain | None] = {}
    holders: dict[str, tuple[int, ...]] = {}
    for value, share in _unified(around, table):
        plain = None if value is None else plain_value(value)
        key = repr(plain)
        forms[key] = plain
        shares[key] = shares.get(key, 0.0) + share
        more = table.holders(value)
        holders[key] = tuple(sorted({*holders[key], *more})) if key in holders else more
    return tuple(
        SlotValue(
            forms[key],
            around.cells.figure(shares[key]),
            tuple([ids[n] for n in holders[key]]),
        )
        for key in sorted(shares, key=lambda key: (-shares[key], key))
    )


def _unified(around: AnchorCells, table: SlotTable) -> list[tuple[Value | None, float]]:
    """Return the unified values of the cells with their probabilities.

    They depend only on the distinct values in a cell, so each combination is unified once.
    """
    sums: dict[tuple[int, ...], float] = {}
    for cell, share in around.holding.items():
        choice = table.chosen(cell)
        sums[choice] = sums.get(choice, 0.0) + share
    ordered = sorted(sums, key=lambda choice: [-n for n in choice])
    return [(table.unified(choice), sums[choice]) for choice in ordered]
