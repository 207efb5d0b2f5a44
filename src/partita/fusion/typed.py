"""Claims whose values are read by a slot type of a domain, with what values of an object unify to.

Candidates for the truth are what was said and every a ⊓ b of it;  v is above t ⇔ v ⊓ t = t ≠ v.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from partita.entities.values import shown
from partita.errors import InputError
from partita.fusion.claims import Claims
from partita.fusion.parsed_claims import within
from partita.records import IntArray
from partita.templates.date import Date
from partita.templates.measure import Measure
from partita.templates.number import Number
from partita.templates.place import Place, PlaceType
from partita.templates.slots import SlotType, Value
from partita.templates.sort import Sort, SortType
from partita.templates.strings import Strings

MEETS = 32  # values that one object may have beside those that were said
WIDE = 40


@dataclass(frozen=True, slots=True, eq=False)
class Typed:
    """Numbers that point into the values, which are in the order of their texts."""

    object: IntArray
    source: IntArray
    value: IntArray
    values: Sequence[Value]
    unions: Sequence[tuple[int, int]]
    slot: SlotType[Any]

    @property
    def texts(self) -> list[str]:
        return [written(value) for value in self.values]

    @property
    def labels(self) -> list[str]:
        return [said_as(value) for value in self.values]

    def general(self, high: int, low: int) -> bool:
        both: bool = self.slot.unify(self.values[high], self.values[low]) == self.values[low]
        return both

    def heights(self, slot: SlotType[Any]) -> IntArray:
        return np.array([_height(slot, value) for value in self.values], dtype=np.int64)

    def more(self, place: Callable[[int], int]) -> tuple[IntArray, IntArray]:
        """Pairs of an object and a value that nobody said in one piece."""
        pairs = sorted((place(thing), value) for thing, value in self.unions)
        both = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return both[:, 0], both[:, 1]


def claimed_typed(claims: Claims, slot: SlotType[Any], tolerance: float = 0.0) -> Typed:
    """Every claim's value; numbers, measures and days that are close count as one."""
    used, where = np.unique(claims.value, return_inverse=True)
    read = [_read(claims, slot, n) for n in used.tolist()]
    said: dict[int, set[Value]] = {}
    for thing, value in zip(claims.object.tolist(), where.tolist(), strict=True):
        said.setdefault(thing, set()).add(read[value])
    unions = {thing: _meets(values, slot) for thing, values in said.items() if len(values) > 1}
    every = sorted({*read, *(one for more in unions.values() for one in more)}, key=written)
    place = {value: n for n, value in enumerate(every)}
    value = np.array([place[one] for one in read], dtype=np.int64)[where]
    if tolerance:
        positions = np.array([_position(one) for one in every])
        relative = not any(isinstance(one, Date) for one in every)
        value = within(claims.object, value, positions, tolerance, relative)
    pairs = [(thing, place[one]) for thing, more in unions.items() for one in more]
    return Typed(claims.object, claims.source, value, every, pairs, slot)


def written(value: Value) -> str:
    """One text for one value, which `plain` takes back."""
    return json.dumps(value.json(), ensure_ascii=False)


def plain(text: str) -> Any:
    """What a text stands for: a list where it is written as one, else a text or a number."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def said_as(value: Value) -> str:
    """As people write it; of a name its longest variant."""
    given = shown(value)
    return "; ".join(given) if isinstance(given, list) else str(given)


def close(left: Value, right: Value, tolerance: float) -> bool:
    """Two points that the tolerance takes for one."""
    if not tolerance:
        return False
    a, b = sorted((_position(left), _position(right)))
    return bool(b - a <= tolerance * (1.0 if isinstance(left, Date) else abs(a)))


def _read(claims: Claims, slot: SlotType[Any], number: int) -> Value:
    text = claims.values[number]
    try:
        value: Value = slot.read(plain(text))
    except InputError:
        try:
            value = slot.read(text)  # 1994 is a year, and "24" a number that is written
        except InputError as error:
            at = int(np.flatnonzero(claims.value == number)[0])
            raise claims.located(at, f"{claims.named(at)}: {error.problem}") from None
    return value


def _meets(values: Iterable[Value], slot: SlotType[Any]) -> set[Value]:
    """All that values of one object unify to, beside themselves."""
    given = sorted(values, key=written)
    found: dict[Value, None] = dict.fromkeys(given)
    for value in given:
        for other in list(found):
            both = slot.unify(value, other)
            if both is not None and len(found) < len(given) + MEETS:
                found.setdefault(both)
    return set(found) - set(given)


def _height(slot: SlotType[Any], value: Value) -> int:
    """How many ways there are to say it less exactly."""
    if isinstance(value, Place) and isinstance(slot, PlaceType):
        return _above(value.names, slot.gazetteer.above)
    if isinstance(value, Sort) and isinstance(slot, SortType):
        return _above(value.names, slot.hierarchy.above)
    if isinstance(value, Strings):
        return max((1 << min(len(value.members), WIDE)) - 2, 1)
    return 1


def _above(names: frozenset[str], above: Any) -> int:
    return max(len({over for name in names for over in above.get(name, ())} - names), 1)


def _position(value: Value) -> float:
    """Where a point lies on a line; what is no point lies nowhere."""
    if isinstance(value, Number | Measure) and value.low is not None and value.low == value.high:
        return float(value.low)
    if isinstance(value, Date) and isinstance(value.first, date) and value.first == value.last:
        return float(value.first.toordinal())
    return float("nan")
