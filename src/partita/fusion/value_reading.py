"""Parse the values of a slot, and find which are equal or more general."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.fusion.claims import Claims
from partita.fusion.hierarchy import Order, flat_order, nested_order, object_order
from partita.fusion.kinds import SETS, TYPED, Kind, Reading
from partita.fusion.parsed_claims import ParsedClaims, parse_sets, parse_texts, unions_by_object
from partita.fusion.typed import parse_typed
from partita.templates.quantities import DateType


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


def statements(
    objects: Sequence[str],
    sources: Sequence[str],
    values: Sequence[str],
    codes: tuple[IntArray, IntArray, IntArray],
    confidence: FloatArray,
) -> ClaimStatements:
    """Sort the claims; of repeated ones the most confident is kept."""
    used_objects, object_ = _sorted(objects, codes[0])
    used_sources, source = _sorted(sources, codes[1])
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
    used = np.unique(numbers).tolist()
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
}
MAX_MEMBERS = 40  # members; the number of subsets is capped for larger sets


@dataclass(frozen=True, slots=True, eq=False)
class ParsedSlot:
    """The statements about one slot, its kind, and the order of its values.

    `labels` are the values as written, `members` the sets of a slot that holds several; `more` are
    pairs of an object and a value that no source states as a whole.
    """

    kind: Kind
    statements: ClaimStatements
    order: Order
    more: Pairs
    labels: Sequence[str]
    members: Sequence[frozenset[str]] = ()
    without_value: int = 0


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
    claims_ = (
        parse_sets(claims, kind, reading.lexicon)
        if kind in SETS
        else parse_texts(claims, kind, reading.tolerance, extra)
    )
    rows = statements(
        claims.objects,
        claims.sources,
        claims_.values,
        (claims_.object, claims_.source, claims_.value),
        claims_.confidence,
    )
    more = _unions(rows, claims_) if kind in SETS else (rows.object[:0], rows.value[:0])
    order = _order(kind, rows, claims_, more, reading, size)
    return ParsedSlot(
        kind, rows, order, more, claims_.labels, claims_.members, claims_.without_value
    )


def _read_typed(claims: Claims, reading: Reading, size: int | None) -> ParsedSlot:
    """Parse by the type of the slot, where values that unify do not contradict."""
    slot = reading.types[claims.slots[int(claims.slot[0])]]
    parsed = parse_typed(claims, slot, reading.tolerance)
    rows = statements(
        claims.objects,
        claims.sources,
        parsed.texts,
        (parsed.object, parsed.source, parsed.value),
        claims.confidence,
    )
    things = {name: n for n, name in enumerate(rows.objects)}
    more = parsed.more(lambda n: things[claims.objects[n]])
    wide = size or max(len(np.unique(rows.value)), MIN_VALUES[TYPED])
    order = object_order(
        _pairs(rows, more), len(rows.values), wide, parsed.is_more_general, parsed.heights(slot)
    )
    return ParsedSlot(TYPED, rows, order, more, parsed.labels)


def _order(
    kind: Kind,
    rows: ClaimStatements,
    parsed: ParsedClaims,
    more: Pairs,
    reading: Reading,
    size: int | None,
) -> Order:
    count = len(rows.values)
    wide = size or max(len(np.unique(rows.value)), MIN_VALUES[kind])
    pairs = _pairs(rows, more)
    if kind in SETS:
        sets = parsed.members
        heights = np.array([_parts(len(one)) for one in sets], dtype=np.int64)
        return object_order(pairs, count, wide, lambda high, low: sets[high] < sets[low], heights)
    if kind == "date":
        return _dates(pairs, rows.values, wide)
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
