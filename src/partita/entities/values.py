"""The values of a slot with their probabilities, seen from one template, the anchor.

P(x = v) = Σ_{cells C ∋ anchor} P(C)·[the merged template of C says x = v],  nil included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.entities.cells import Cells
from partita.records import FloatArray, SlotValue, Template
from partita.records.entities import Plain
from partita.templates.name import Name
from partita.templates.schema import Schema, Values
from partita.templates.slots import SlotType, Value


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
