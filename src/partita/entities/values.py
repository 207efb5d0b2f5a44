"""The cells of a distribution and the values of their slots, with probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, cast

from partita.core import Figure, SlotValue, Status, Template
from partita.core.cells import Cells, Places
from partita.core.entities import Plain
from partita.core.templates import ASSERTIONS, RANKS, WEIGHTS
from partita.templates.name import Name
from partita.templates.schema import Schema, Values
from partita.templates.slots import SlotType, Strings, Value


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

    @classmethod
    def of(cls, name: str, rows: Sequence[Sequence[Said]], schema: Schema) -> SlotTable:
        values: dict[Said, list[int]] = {}
        for n, row in enumerate(rows):
            for said in row:
                values.setdefault(said, []).append(n)
        return cls(schema.slot(name), values, {})

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
        for n, (value, status) in enumerate(self.values if choice else ()):
            if choice >> n & 1:
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

        Asserted values of a cell unify; what does not fit to the values before it is left out.
        """
        result: Value | None = None
        for value in values:
            unified = value if result is None else self.slot.unify(result, value)
            result = result if unified is None else unified
        return result

    def _holders(self, value: Value) -> tuple[int, ...]:
        return tuple(sorted({n for one in self._subsuming(value) for n in self.values[one]}))

    def _subsuming(self, value: Value) -> list[Said]:
        held = [said for said in self.values if said[1] != "denied"]
        if isinstance(value, Strings):  # the same as below, and faster
            return [one for one in held if cast(Strings, one[0]).members <= value.members]
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
        rows = [statements(template, schema, split) for template in templates]
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


def statements(template: Template, schema: Schema, split: bool) -> dict[str, list[Said]]:
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
