"""The cells of a distribution and the values of their slots, with probabilities."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.errors import Unavailable
from partita.records import Distribution, Figure, FloatArray, IntArray, Kind, SlotValue, Template
from partita.records.entities import Plain
from partita.templates.name import Name
from partita.templates.schema import Schema, Values
from partita.templates.slots import SlotType, Value

MOST = 1 << 16  # cells that are all looked at; a set that has more is drawn from
DRAWS = 500
FEWEST = 32
COMMON = 60  # templates: of larger sets a draw takes longer, and fewer are made

Cell = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Cells as positions in text order. `draws` is how many configurations they come from where
    they are an estimate, `missing` the mass of what was not looked at where they are bounds."""

    shares: Mapping[Cell, float]
    kind: Kind = "exact"
    draws: int = 0
    missing: float = 0.0

    def figure(self, share: float) -> Figure:
        """A sum of shares, and how it was obtained."""
        share = min(max(share, 0.0), 1.0)
        if self.kind == "exact":
            return Figure.exact(share)
        if self.kind == "interval":
            seen = share * (1.0 - self.missing)
            return Figure(share, seen, min(1.0, seen + self.missing), "interval")
        error = _error(share, self.draws)
        return Figure(share, max(0.0, share - error), min(1.0, share + error), "estimate")


def _error(share: float, draws: int) -> float:
    """One standard error; that nothing else was drawn does not make a thing certain."""
    likely = (share * draws + 1) / (draws + 2)
    return math.sqrt(likely * (1 - likely) / draws)


def cells_of(distribution: Distribution) -> Cells:
    """All cells where they are known and not too many, else those of draws, else the listed."""
    try:
        found = dict(islice(distribution.posterior.cells(), MOST + 1))
    except Unavailable:
        found = {}
    if found and len(found) <= MOST:
        return Cells(found)
    try:
        number = _number(len(distribution.set))
        rows = distribution.posterior.draws(number, np.random.default_rng(distribution.seed))
    except Unavailable:
        return _listed(distribution)
    return Cells(_shares(rows, np.full(len(rows), 1.0 / len(rows))), "estimate", len(rows))


def _number(templates: int) -> int:
    return max(FEWEST, int(DRAWS * min(1.0, (COMMON / templates) ** 2)))


def _listed(distribution: Distribution) -> Cells:
    """Of what the list holds; the rest may be anything."""
    listed = distribution.configurations
    low = [one[0] for one in listed.intervals or [(p, p) for p in listed.probabilities]]
    shares = np.array(listed.probabilities) / math.fsum(listed.probabilities)
    return Cells(_shares(listed.rows, shares), "interval", missing=max(0.0, 1.0 - math.fsum(low)))


def _shares(rows: IntArray, shares: FloatArray) -> dict[Cell, float]:
    """The share of every cell that any of the rows of labels has."""
    found: Counter[Cell] = Counter()
    for row, share in zip(rows.tolist(), shares.tolist(), strict=True):
        cells: dict[int, list[int]] = {}
        for place, label in enumerate(row):
            cells.setdefault(label, []).append(place)
        for members in cells.values():
            found[tuple(members)] += share
    return dict(found)


@dataclass(frozen=True, slots=True, eq=False)
class Around:
    """The cells that hold an anchor: which templates each holds, and how probable it is."""

    members: NDArray[np.bool_]
    shares: FloatArray
    cells: Cells

    @classmethod
    def of(cls, cells: Cells, anchor: int, size: int) -> Around:
        holding = [cell for cell in cells.shares if anchor in cell]
        members = np.zeros((len(holding), size), dtype=np.bool_)
        for row, cell in enumerate(holding):
            members[row, list(cell)] = True
        shares = np.array([cells.shares[cell] for cell in holding])
        return cls(members, shares / shares.sum(), cells)


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """The different values that the templates of a set hold in one slot: template × value."""

    slot: SlotType[Any]
    values: tuple[Value, ...]
    holds: NDArray[np.bool_]

    @classmethod
    def of(cls, name: str, said: Sequence[Values], schema: Schema) -> Held:
        values = tuple(dict.fromkeys(own[name] for own in said if name in own))
        place = {value: n for n, value in enumerate(values)}
        holds = np.zeros((len(said), len(values)), dtype=np.bool_)
        for row, own in enumerate(said):
            if name in own:
                holds[row, place[own[name]]] = True
        return cls(schema.slot(name), values, holds)

    def unified(self, choice: NDArray[np.bool_]) -> Value | None:
        """These values together; nil if there are none. In a cell any two of them unify."""
        together: Value | None = None
        for n in np.flatnonzero(choice).tolist():
            value = self.values[n]
            together = value if together is None else self.slot.unify(together, value)
        return together

    def saying(self, value: Value | None) -> NDArray[np.bool_]:
        """Which templates say this value, or something more general."""
        fits = [value is not None and self.slot.unify(own, value) == value for own in self.values]
        chosen = self.holds[:, np.array(fits, dtype=np.bool_)]
        found: NDArray[np.bool_] = np.logical_or.reduce(chosen, axis=1)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """What the templates of a set say, slot by slot, in the schema's order."""

    ids: tuple[str, ...]
    slots: Mapping[str, Held]

    @classmethod
    def of(cls, templates: Sequence[Template], schema: Schema) -> Said:
        said = [schema.values(template) for template in templates]
        held = {name: Held.of(name, said, schema) for name in schema.slots}
        filled = {name: one for name, one in held.items() if one.values}
        return cls(tuple(template.id for template in templates), filled)


def slot_values(around: Around, said: Said) -> dict[str, tuple[SlotValue, ...]]:
    """Every slot of which the anchor, or something that may be the same, says anything."""
    near = around.members.any(axis=0)
    return {
        name: _values(around, held, said.ids)
        for name, held in said.slots.items()
        if held.holds[near].any()
    }


def shown(value: Value) -> Plain:
    """The plain form; of a name its longest variant."""
    if isinstance(value, Name):
        return min(value.variants, key=lambda name: (-len(name), name))
    return value.json()


def _values(around: Around, held: Held, ids: Sequence[str]) -> tuple[SlotValue, ...]:
    """Values that look the same count together: of two names that of the longest variant."""
    shares: dict[str, float] = {}
    forms: dict[str, Plain | None] = {}
    saying: dict[str, NDArray[np.bool_]] = {}
    for value, share in _unified(around, held):
        plain = None if value is None else shown(value)
        key = repr(plain)
        forms[key] = plain
        shares[key] = shares.get(key, 0.0) + share
        saying[key] = saying.get(key, False) | held.saying(value)
    return tuple(
        SlotValue(
            forms[key],
            around.cells.figure(shares[key]),
            tuple(ids[n] for n in np.flatnonzero(saying[key]).tolist()),
        )
        for key in sorted(shares, key=lambda key: (-shares[key], key))
    )


def _unified(around: Around, held: Held) -> list[tuple[Value | None, float]]:
    """What the cells say, with their sums. It depends only on which different values a cell
    holds: each such choice is unified once."""
    present = around.members.astype(np.float64) @ held.holds > 0
    choices, where = np.unique(present, axis=0, return_inverse=True)
    sums = np.bincount(where.reshape(-1), around.shares, len(choices)).tolist()
    return [(held.unified(choice), share) for choice, share in zip(choices, sums, strict=True)]
