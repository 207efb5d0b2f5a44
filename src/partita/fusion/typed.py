"""Claims with values parsed by the slot types of a domain, and their unifications.

The candidates for the truth are the stated values and every a ⊓ b of them; v is above t ⇔ v ⊓ t = t
≠ v.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from partita.core import IntArray
from partita.entities.values import plain_value
from partita.errors import InputError
from partita.fusion.claims import Claims
from partita.fusion.parsed_claims import merge_close
from partita.templates.entity_types import EntityType, HierarchyType
from partita.templates.name import NamedPlace, PlaceType
from partita.templates.quantities import Date, Measurement, Number
from partita.templates.slots import SlotType, Strings, Value

MAX_UNIFIED = 32  # unified values of one object, beside the stated ones
MAX_MEMBERS = 40


@dataclass(frozen=True, slots=True, eq=False)
class TypedClaims:
    """Claims as indices into the values, which are sorted by their texts."""

    object: IntArray
    source: IntArray
    value: IntArray
    values: Sequence[Value]
    unions: Sequence[tuple[int, int]]
    slot: SlotType[Any]

    @property
    def texts(self) -> list[str]:
        return [encode_value(value) for value in self.values]

    @property
    def labels(self) -> list[str]:
        return [display_text(value) for value in self.values]

    def is_more_general(self, high: int, low: int) -> bool:
        both: bool = self.slot.unify(self.values[high], self.values[low]) == self.values[low]
        return both

    def heights(self, slot: SlotType[Any]) -> IntArray:
        return np.array([_height(slot, value) for value in self.values], dtype=np.int64)

    def more(self, object_number: Callable[[int], int]) -> tuple[IntArray, IntArray]:
        """Return pairs of an object and a value that no source states as a whole."""
        pairs = sorted((object_number(thing), value) for thing, value in self.unions)
        pairs_array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        return pairs_array[:, 0], pairs_array[:, 1]


def parse_typed(claims: Claims, slot: SlotType[Any], tolerance: float = 0.0) -> TypedClaims:
    """Parse every claim's value; numbers, measures and days that are close count as one."""
    used, codes = np.unique(claims.value, return_inverse=True)
    parsed = [_read(claims, slot, n) for n in used.tolist()]
    values_by_object: dict[int, set[Value]] = {}
    for thing, value in zip(claims.object.tolist(), codes.tolist(), strict=True):
        values_by_object.setdefault(thing, set()).add(parsed[value])
    unions = {
        thing: _unifications(values, slot)
        for thing, values in values_by_object.items()
        if len(values) > 1
    }
    all_values = sorted(
        {*parsed, *(value_ for more in unions.values() for value_ in more)}, key=encode_value
    )
    position = {value: n for n, value in enumerate(all_values)}
    value = np.array([position[value_] for value_ in parsed], dtype=np.int64)[codes]
    if tolerance:
        positions = np.array([_position(value_) for value_ in all_values])
        relative = not any(isinstance(value_, Date) for value_ in all_values)
        value = merge_close(claims.object, value, positions, tolerance, relative)
    pairs = [(thing, position[value_]) for thing, more in unions.items() for value_ in more]
    return TypedClaims(claims.object, claims.source, value, all_values, pairs, slot)


def encode_value(value: Value) -> str:
    """Return a text for a value, which `decode_value` reverses."""
    return json.dumps(value.json(), ensure_ascii=False)


def decode_value(text: str) -> Any:
    """Return the JSON value of a text, or the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def display_text(value: Value) -> str:
    """Return a value as people write it; of a name its longest variant."""
    shown_value = plain_value(value)
    return "; ".join(shown_value) if isinstance(shown_value, list) else str(shown_value)


def close(left: Value, right: Value, tolerance: float) -> bool:
    """Return whether two points are within the tolerance."""
    if not tolerance:
        return False
    a, b = sorted((_position(left), _position(right)))
    return bool(b - a <= tolerance * (1.0 if isinstance(left, Date) else abs(a)))


def _read(claims: Claims, slot: SlotType[Any], number: int) -> Value:
    text = claims.values[number]
    try:
        value: Value = slot.read(decode_value(text))
    except InputError:
        try:
            value = slot.read(text)  # 1994 is a year, and "24" a number
        except InputError as error:
            claim = int(np.flatnonzero(claims.value == number)[0])
            raise claims.located(claim, f"{claims.named(claim)}: {error.problem}") from None
    return value


def _unifications(values: Iterable[Value], slot: SlotType[Any]) -> set[Value]:
    """Return all unifications of values of one object, without the values themselves."""
    ordered = sorted(values, key=encode_value)
    unified: dict[Value, None] = dict.fromkeys(ordered)
    for value in ordered:
        for other in list(unified):
            both = slot.unify(value, other)
            if both is not None and len(unified) < len(ordered) + MAX_UNIFIED:
                unified.setdefault(both)
    return set(unified) - set(ordered)


def _height(slot: SlotType[Any], value: Value) -> int:
    """Return how many less exact ways there are to state the value."""
    if isinstance(value, NamedPlace) and isinstance(slot, PlaceType):
        return _above(value.names, slot.gazetteer.above)
    if isinstance(value, EntityType) and isinstance(slot, HierarchyType):
        return _above(value.names, slot.hierarchy.above)
    if isinstance(value, Strings):
        return max((1 << min(len(value.members), MAX_MEMBERS)) - 2, 1)
    return 1


def _above(names: frozenset[str], above: Any) -> int:
    return max(len({over for name in names for over in above.get(name, ())} - names), 1)


def _position(value: Value) -> float:
    """Return the position of a point on a line, NaN for other values."""
    if (
        isinstance(value, Number | Measurement)
        and value.low is not None
        and value.low == value.high
    ):
        return float(value.low)
    if isinstance(value, Date) and isinstance(value.first, date) and value.first == value.last:
        return float(value.first.toordinal())
    return float("nan")
