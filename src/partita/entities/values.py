"""The values of a slot with their probabilities, seen from one template, the anchor.

P(x = v) = Σ_{cells C ∋ anchor} P(C)·[the merged template of C says x = v],  nil included.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.entities.cells import Cells
from partita.records import FloatArray, SlotValue, Template
from partita.records.entities import Plain
from partita.templates.name import Name
from partita.templates.schema import Schema, Values
from partita.templates.slots import Value


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


@dataclass(frozen=True, slots=True)
class Said:
    """What every template of a set says."""

    ids: tuple[str, ...]
    values: tuple[Values, ...]
    schema: Schema

    @classmethod
    def of(cls, templates: Sequence[Template], schema: Schema) -> Said:
        values = tuple(schema.values(template) for template in templates)
        return cls(tuple(template.id for template in templates), values, schema)

    def unified(self, name: str, values: Sequence[Value]) -> Value | None:
        """All of them together; nil if there are none. In a cell any two of them unify."""
        together: Value | None = None
        for value in values:
            unify = self.schema.slot(name).unify
            together = value if together is None else unify(together, value)
        return together

    def saying(self, name: str, value: Value | None) -> set[str]:
        """The templates that say this value, or something more general."""
        if value is None:
            return set()
        unify = self.schema.slot(name).unify
        held = (
            (one, own[name]) for one, own in zip(self.ids, self.values, strict=True) if name in own
        )
        return {one for one, own in held if unify(own, value) == value}


def slot_values(around: Around, said: Said) -> dict[str, tuple[SlotValue, ...]]:
    """Every slot of which the anchor, or something that may be the same, says anything."""
    near = np.flatnonzero(around.members.any(axis=0)).tolist()
    filled = {name for n in near for name in said.values[n]}
    return {name: _values(name, around, said) for name in said.schema.slots if name in filled}


def shown(value: Value) -> Plain:
    """The plain form; of a name its longest variant."""
    if isinstance(value, Name):
        return min(value.variants, key=lambda name: (-len(name), name))
    return value.json()


def _values(name: str, around: Around, said: Said) -> tuple[SlotValue, ...]:
    """Values that look the same count together: of two names that of the longest variant."""
    shares: dict[str, float] = {}
    saying: dict[str, set[str]] = {}
    forms: dict[str, Plain | None] = {}
    for value, share in _unified(name, around, said):
        plain = None if value is None else shown(value)
        key = repr(plain)
        forms[key] = plain
        shares[key] = shares.get(key, 0.0) + share
        saying[key] = saying.get(key, set()) | said.saying(name, value)
    return tuple(
        SlotValue(
            forms[key],
            around.cells.figure(shares[key]),
            tuple(one for one in said.ids if one in saying[key]),
        )
        for key in sorted(shares, key=lambda key: (-shares[key], key))
    )


def _unified(name: str, around: Around, said: Said) -> list[tuple[Value | None, float]]:
    """What the cells say, with their sums. It depends only on which different values a cell
    holds: each such choice is unified once."""
    distinct = list(dict.fromkeys(own[name] for own in said.values if name in own))
    holds = np.array([[own.get(name) == one for one in distinct] for own in said.values])
    present = around.members.astype(np.float64) @ holds > 0
    choices, where = np.unique(present, axis=0, return_inverse=True)
    sums = np.bincount(where.reshape(-1), around.shares, len(choices)).tolist()
    held = ([one for one, has in zip(distinct, row, strict=True) if has] for row in choices)
    return [(said.unified(name, values), share) for values, share in zip(held, sums, strict=True)]
