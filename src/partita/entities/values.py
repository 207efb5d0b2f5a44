"""The cells of a distribution and the values of their slots, with probabilities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, cast

import numpy as np

from partita.errors import Unavailable
from partita.records import (
    Distribution,
    DrawnPosterior,
    Figure,
    FloatArray,
    IntArray,
    Kind,
    SlotValue,
    Template,
)
from partita.records.entities import Plain
from partita.templates.name import Name
from partita.templates.schema import Schema, Values
from partita.templates.slots import SlotType, Value
from partita.templates.strings import Strings

MOST = 1 << 16  # most cells to enumerate; larger sets are sampled
DRAWS = 500
FEWEST = 32
COMMON = 60  # templates; larger sets, where draws take longer, get fewer draws

Cell = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Cells:
    """Probabilities of cells, which are positions in text order.

    `draws` is the number of sampled configurations of an estimate; `missing` is the probability
    mass outside the listed configurations if the shares are bounds.
    """

    shares: Mapping[Cell, float]
    kind: Kind = "exact"
    draws: int = 0
    missing: float = 0.0

    @cached_property
    def by_template(self) -> dict[int, list[Cell]]:
        """Return the cells that each template is in."""
        cells: dict[int, list[Cell]] = {}
        for cell in self.shares:
            for place in cell:
                cells.setdefault(place, []).append(cell)
        return cells

    def figure(self, share: float) -> Figure:
        """Return a sum of shares as a figure, with its interval or standard error."""
        share = min(max(share, 0.0), 1.0)
        if self.kind == "exact":
            return Figure.exact(share)
        if self.kind == "interval":
            seen = share * (1.0 - self.missing)
            return Figure(share, seen, min(1.0, seen + self.missing), "interval")
        error = _error(share, self.draws)
        return Figure(share, max(0.0, share - error), min(1.0, share + error), "estimate")


def _error(share: float, draws: int) -> float:
    """Return one standard error, smoothed so that no share counts as certain."""
    likely = (share * draws + 1) / (draws + 2)
    return math.sqrt(likely * (1 - likely) / draws)


def cells_of(distribution: Distribution) -> Cells:
    """Return all cells if they are known and few enough, else those of draws or of the list."""
    try:
        cells = dict(islice(distribution.posterior.cells(), MOST + 1))
    except Unavailable:
        cells = {}
    if cells and len(cells) <= MOST:
        return Cells(cells)
    try:
        rows = _drawn(distribution)
    except Unavailable:
        return _listed_cells(distribution)
    return Cells(_shares(rows, np.full(len(rows), 1.0 / len(rows))), "estimate", len(rows))


def _drawn(distribution: Distribution) -> IntArray:
    """Return the draws behind the pair probabilities, or new ones."""
    posterior = distribution.posterior
    if isinstance(posterior, DrawnPosterior):
        return posterior.drawn_rows()
    number = _draw_count(len(distribution.set))
    return posterior.draws(number, np.random.default_rng(distribution.seed))


def _draw_count(templates: int) -> int:
    return max(FEWEST, int(DRAWS * min(1.0, (COMMON / templates) ** 2)))


def _listed_cells(distribution: Distribution) -> Cells:
    """Return the cells of the listed configurations; the remaining mass is unknown."""
    listed = distribution.configurations
    low = [interval[0] for interval in listed.intervals or [(p, p) for p in listed.probabilities]]
    shares = np.array(listed.probabilities) / math.fsum(listed.probabilities)
    return Cells(_shares(listed.rows, shares), "interval", missing=max(0.0, 1.0 - math.fsum(low)))


def _shares(rows: IntArray, shares: FloatArray) -> dict[Cell, float]:
    """Return the share of every cell in the rows of labels."""
    totals: Counter[Cell] = Counter()
    for row, share in zip(rows.tolist(), shares.tolist(), strict=True):
        cells: dict[int, list[int]] = {}
        for place, label in enumerate(row):
            cells.setdefault(label, []).append(place)
        for members in cells.values():
            totals[tuple(members)] += share
    return dict(totals)


@dataclass(frozen=True, slots=True, eq=False)
class AnchorCells:
    """The cells that contain an anchor, with their probabilities, which add up to 1."""

    holding: Mapping[Cell, float]
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

    def chosen(self, cell: Cell) -> tuple[int, ...]:
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
