"""Parse the values of a slot, and find which are equal or more general."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.entities.entities import plain_value
from partita.errors import InputError
from partita.fusion.claims import Claims, distinct
from partita.fusion.hierarchy import Order, flat_order, nested_order, object_order
from partita.fusion.kinds import MAX_DAMAGED, SETS, TYPED, Kind, Reading
from partita.fusion.parsed_claims import (
    DamagedValue,
    ParsedClaims,
    merge_close,
    parse_sets,
    parse_texts,
    unions_by_object,
)
from partita.templates.entity_types import EntityType, HierarchyType
from partita.templates.name import NamedPlace, PlaceType
from partita.templates.quantities import Date, DateType, Measurement, Number
from partita.templates.slots import SlotType, Strings, Value, symbol

MAX_UNIFIED = 32  # unified values of one object, beside the stated ones


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
        return _parts(len(value.members))
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


@dataclass(frozen=True, slots=True, eq=False)
class ClaimStatements:
    """Distinct claims, sorted by object, value and source.

    `times` is how often each was repeated, `first` the index of its first claim.
    """

    objects: Sequence[str]
    sources: Sequence[str]
    values: Sequence[str]
    object: IntArray
    source: IntArray
    value: IntArray
    confidence: FloatArray
    times: IntArray
    first: IntArray

    def __len__(self) -> int:
        return len(self.object)

    @property
    def repeated(self) -> int:
        return int((self.times - 1).sum())

    def only(self, chosen: NDArray[np.bool_] | IntArray) -> ClaimStatements:
        """Return some of the statements; the lists of names stay the same."""
        columns = ("object", "source", "value", "confidence", "times", "first")
        return replace(self, **{name: getattr(self, name)[chosen] for name in columns})


def claim_statements(
    claims: Claims,
    values: Sequence[str],
    codes: tuple[IntArray, IntArray, IntArray],
    confidence: FloatArray,
) -> ClaimStatements:
    """Sort the claims, read as values; of repeated ones the most confident is kept."""
    used_objects, object_ = _sorted(claims.objects, codes[0])
    used_sources, source = _sorted(claims.sources, codes[1])
    value = codes[2]
    key = (object_ * len(values) + value) * len(used_sources) + source
    order = np.lexsort((-confidence, key))
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    times = np.diff(first, append=len(key))
    kept = order[first]
    return ClaimStatements(
        used_objects,
        used_sources,
        values,
        object_[kept],
        source[kept],
        value[kept],
        confidence[kept],
        times,
        np.minimum.reduceat(order, first) if len(first) else first,
    )


def _sorted(names: Sequence[str], numbers: IntArray) -> tuple[list[str], IntArray]:
    """Return the names in use, sorted, and the numbers that point into them."""
    used = distinct(numbers).tolist()
    order = sorted(used, key=lambda n: names[n])
    place = np.zeros(len(names), dtype=np.int64)
    place[order] = np.arange(len(order))
    return [names[n] for n in order], place[numbers]


Pairs = tuple[IntArray, IntArray]
MIN_VALUES: dict[Kind, int] = {  # values that a source could state, however few are stated
    "closed": 2,
    "open": 10,
    "number": 100,
    "date": 366,
    "several": 100,
    "people": 100,
    "typed": 100,
    "state": 2,
}
MAX_MEMBERS = 40  # members; the number of subsets is capped for larger sets


@dataclass(frozen=True, slots=True, eq=False)
class ParsedSlot:
    """The statements about one slot, its kind, and the order of its values.

    `labels` are the values as written, `members` the sets of a slot that holds several; `more` are
    pairs of an object and a value that no source states as a whole. `damaged` claims were set
    aside.
    """

    kind: Kind
    statements: ClaimStatements
    order: Order
    more: Pairs
    labels: Sequence[str]
    members: Sequence[frozenset[str]] = ()
    without_value: int = 0
    damaged: tuple[DamagedValue, ...] = ()


def parse_slot(
    claims: Claims,
    kind: Kind,
    reading: Reading,
    size: int | None = None,
    extra: Sequence[str] = (),
) -> ParsedSlot:
    """Parse the claims about one slot; `size` and `extra` values come from earlier parameters."""
    if kind == TYPED:
        return _read_typed(claims, reading, size)
    nesting = reading.nesting if kind == "open" else None
    if nesting is not None:
        stated = [symbol(claims.values[n]) for n in distinct(claims.value).tolist()]
        extra = [*extra, *{high for value in stated for high in nesting.above.get(value, ())}]
    claims_ = (
        parse_sets(claims, kind, reading.lexicon)
        if kind in SETS
        else parse_texts(
            claims, kind, reading.tolerance, extra, MAX_DAMAGED if size is None else 1.0
        )
    )
    codes = (claims_.object, claims_.source, claims_.value)
    rows = claim_statements(claims, claims_.values, codes, claims_.confidence)
    more = _unions(rows, claims_) if kind in SETS else (rows.object[:0], rows.value[:0])
    order = _order(kind, rows, claims_, more, reading, size)
    labels = claims_.labels
    if nesting is not None:
        labels = [nesting.written.get(value, label) if value == label else label
                  for value, label in zip(claims_.values, labels, strict=True)]  # fmt: skip
    sets = (labels, claims_.members, claims_.without_value)
    return ParsedSlot(kind, rows, order, more, *sets, claims_.damaged)


def _read_typed(claims: Claims, reading: Reading, size: int | None) -> ParsedSlot:
    """Parse by the type of the slot, where values that unify do not contradict.

    Numbers, measures and days that are close count as one.
    """
    slot = reading.types[claims.slots[int(claims.slot[0])]]
    used, codes = np.unique(claims.value, return_inverse=True)
    parsed = [_read(claims, slot, n) for n in used.tolist()]
    by_object: dict[int, set[Value]] = {}
    for thing, value in zip(claims.object.tolist(), codes.tolist(), strict=True):
        by_object.setdefault(thing, set()).add(parsed[value])
    unified = {thing: _unifications(stated, slot) for thing, stated in by_object.items()
               if len(stated) > 1}  # fmt: skip
    values = sorted({*parsed, *(one for more in unified.values() for one in more)},
                    key=encode_value)  # fmt: skip
    position = {value: n for n, value in enumerate(values)}
    code = np.array([position[value] for value in parsed], dtype=np.int64)[codes]
    if reading.tolerance:
        places = np.array([_position(value) for value in values])
        relative = not any(isinstance(value, Date) for value in values)
        code = merge_close(claims.object, code, places, reading.tolerance, relative)
    texts = [encode_value(value) for value in values]
    columns = (claims.object, claims.source, code)
    rows = claim_statements(claims, texts, columns, claims.confidence)
    things = {name: n for n, name in enumerate(rows.objects)}
    pairs = sorted((things[claims.objects[thing]], position[value])
                   for thing, more in unified.items() for value in more)  # fmt: skip
    objects, unions = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    wide = size or max(len(distinct(rows.value)), MIN_VALUES[TYPED])
    heights = np.array([_height(slot, value) for value in values], dtype=np.int64)
    order = object_order(
        _pairs(rows, (objects, unions)), len(values), wide,
        lambda high, low: slot.unify(values[high], values[low]) == values[low], heights,
    )  # fmt: skip
    labels = [display_text(value) for value in values]
    return ParsedSlot(TYPED, rows, order, (objects, unions), labels)


def _order(
    kind: Kind,
    rows: ClaimStatements,
    parsed: ParsedClaims,
    more: Pairs,
    reading: Reading,
    size: int | None,
) -> Order:
    count = len(rows.values)
    wide = size or max(len(distinct(rows.value)), MIN_VALUES[kind])
    if kind in SETS:
        sets = parsed.members
        heights = np.array([_parts(len(one)) for one in sets], dtype=np.int64)
        pairs = _pairs(rows, more)
        return object_order(pairs, count, wide, lambda high, low: sets[high] < sets[low], heights)
    if kind == "date":
        return _dates(_pairs(rows, more), rows.values, wide)
    if kind == "open" and reading.nesting is not None and reading.orders(rows.values):
        return nested_order(rows.values, reading.nesting)
    return flat_order(count, wide)


def _parts(members: int) -> int:
    """Return the number of proper non-empty subsets."""
    return max((1 << min(members, MAX_MEMBERS)) - 2, 1)


def _dates(pairs: Pairs, values: Sequence[str], size: int) -> Order:
    slot = DateType()
    dates = [slot.read(value) for value in values]
    heights = np.array([{"day": 2, "month": 1}.get(one.precision, 1) for one in dates])
    return object_order(
        pairs, len(values), size, lambda h, low: slot.unify(dates[h], dates[low]) == dates[low],
        heights,
    )  # fmt: skip


def _pairs(rows: ClaimStatements, more: Pairs) -> Pairs:
    """Return every object with each of its possible values, once."""
    count = max(len(rows.values), 1)
    keys = np.union1d(rows.object * count + rows.value, more[0] * count + more[1])
    return keys // count, keys % count


def _unions(rows: ClaimStatements, parsed: ParsedClaims) -> Pairs:
    """Return every object with the union of its stated sets."""
    position = {members: n for n, members in enumerate(parsed.members)}
    unions = unions_by_object(rows.object, [parsed.members[n] for n in rows.value.tolist()])
    objects = np.array(list(unions), dtype=np.int64)
    return objects, np.array([position[members] for members in unions.values()], dtype=np.int64)
