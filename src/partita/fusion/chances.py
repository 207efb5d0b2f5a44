"""How often a value like this holds of a thing by chance.

c(v) = (Σ_w n(w)·[v, w unify] − 2 + A·b(v)) / (D + A):  n counts different descriptions, so that a
thing of which many speak alike counts once, and the two that are compared not at all; b is what is
known without them: the share of the places or sorts of the domain that fit, one in a hundred for
names and labels, one in twenty for measures.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.fusion.accounts import Account
from partita.templates.date import Date
from partita.templates.measure import Measure
from partita.templates.name import Name
from partita.templates.number import Number
from partita.templates.place import Place, PlaceType
from partita.templates.schema import SORT, Schema, Values
from partita.templates.slots import SlotType, Value
from partita.templates.sort import Sort, SortType
from partita.templates.strings import Strings, StringsType

MORE = 100.0  # A: things of which nobody may have spoken
OWN = 2.0  # descriptions: those of the two that are compared
RARE = 0.01  # the share of things that a name or a label fits
ROUND = 0.05  # that a measure or a date fits: people round them
OFTEN = 0.5  # that a number fits: most things are one
SAMPLE = 400  # different values of a slot that are looked at


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Counts of values over different descriptions, by slot; D descriptions in all."""

    schema: Schema
    things: int
    counts: Mapping[str, Mapping[Value, float]]
    totals: Mapping[str, float]
    _found: dict[tuple[str, Value], float] = field(default_factory=dict, repr=False)

    @classmethod
    def of_accounts(cls, accounts: Iterable[Account], schema: Schema) -> Chances:
        described = sorted({_described(one.values): one.values for one in accounts}.items())
        counts: dict[str, Counter[Value]] = {}
        for _, values in described:
            for name, value in values.items():
                counts.setdefault(name, Counter())[value] += 1
        totals = {name: float(sum(count.values())) for name, count in counts.items()}
        return cls(schema, len(described), {n: _sampled(c) for n, c in counts.items()}, totals)

    @property
    def prior(self) -> float:
        """−log(D + A): of so many things two accounts mean the same one."""
        return -math.log(self.things + MORE)

    def of(self, name: str, value: Value) -> float:
        """c(v), above 0 and at most 1."""
        key = (name, value)
        if key not in self._found:
            self._found[key] = self._chance(name, value)
        return self._found[key]

    def _chance(self, name: str, value: Value) -> float:
        slot = self.schema.slot(name)
        counts = self.counts.get(name, {})
        seen = sum(n for other, n in counts.items() if slot.unify(value, other) is not None)
        total = self.totals.get(name, 0.0)
        others = max(seen - OWN, 0.0)
        return min(1.0, (others + MORE * _known(slot, value)) / (total + MORE))


def _described(values: Values) -> tuple[str, ...]:
    """What tells things apart: sort, names, places and labels."""
    telling = (
        f"{name}={value}"
        for name, value in sorted(values.items())
        if name == SORT or isinstance(value, Name | Place | Strings)
    )
    return tuple(telling)


def _sampled(counts: Counter[Value]) -> dict[Value, float]:
    """All values, or of very many an even sample that weighs as much."""
    ordered: Sequence[Value] = sorted(counts, key=str)
    step = -(-len(ordered) // SAMPLE)
    return {value: float(counts[value] * step) for value in ordered[::step]}


def _known(slot: SlotType[Any], value: Value) -> float:
    """The share of all that the domain knows which would fit."""
    if isinstance(value, Place) and isinstance(slot, PlaceType):
        return _share(value.names, slot.gazetteer)
    if isinstance(value, Sort) and isinstance(slot, SortType):
        return _share(value.names, slot.hierarchy)
    if isinstance(value, Number):
        return OFTEN
    if isinstance(value, Strings) and isinstance(slot, StringsType) and slot.several:
        return OFTEN  # several may hold at once
    return ROUND if isinstance(value, Measure | Date) else RARE


def _share(names: frozenset[str], hierarchy: Any) -> float:
    """Of a hierarchy below the tops of these names, the part above or below one of them."""
    known = [name for name in names if name in hierarchy]
    if not known:
        return RARE
    fitting = set().union(*(hierarchy.below[n] | hierarchy.above[n] for n in known))
    return max(RARE, len(fitting) / max(len(hierarchy.parents), 1))
