"""Parse the values of a slot, and which of them are equal or more general."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partita.fusion.claims import Claims
from partita.fusion.hierarchy import Order, flat_order, nested_order, object_order
from partita.fusion.kinds import SETS, TYPED, Kind, Reading
from partita.fusion.parsed_claims import Spoken, claimed_sets, claimed_texts, united
from partita.fusion.typed import claimed_typed
from partita.records import FloatArray, IntArray
from partita.templates.date import DateType


@dataclass(frozen=True, slots=True, eq=False)
class Statements:
    """Who says what of which object; sorted by object, value and source.

    `times` tells how often each was said, which counts once; `first` which claim was the first.
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


def statements(
    objects: Sequence[str],
    sources: Sequence[str],
    values: Sequence[str],
    said: tuple[IntArray, IntArray, IntArray],
    confidence: FloatArray,
) -> Statements:
    """Objects and sources sorted, only those that occur; of a repeated claim the most confident."""
    things, thing = _sorted(objects, said[0])
    people, source = _sorted(sources, said[1])
    value = said[2]
    key = (thing * len(values) + value) * len(people) + source
    order = np.lexsort((-confidence, key))
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    times = np.diff(first, append=len(key))
    kept = order[first]
    return Statements(
        things,
        people,
        values,
        thing[kept],
        source[kept],
        value[kept],
        confidence[kept],
        times,
        np.minimum.reduceat(order, first) if len(first) else first,
    )


def _sorted(names: Sequence[str], numbers: IntArray) -> tuple[list[str], IntArray]:
    """The names in use, in their order, and numbers that point into them."""
    used = np.unique(numbers).tolist()
    order = sorted(used, key=lambda n: names[n])
    place = np.zeros(len(names), dtype=np.int64)
    place[order] = np.arange(len(order))
    return [names[n] for n in order], place[numbers]


Pairs = tuple[IntArray, IntArray]
FEWEST: dict[Kind, int] = {  # values that a source could have said, however few are said
    "closed": 2,
    "open": 10,
    "number": 100,
    "date": 366,
    "several": 100,
    "people": 100,
    "typed": 100,
}
WIDE = 40  # members: the parts of larger sets are as good as impossible each


@dataclass(frozen=True, slots=True, eq=False)
class Read:
    """One slot's statements, its kind, and the order of its values.

    `labels` are the values as people write them, `members` the sets of a slot that holds several;
    `more` are pairs of an object and a value that nobody said in one piece.
    """

    kind: Kind
    said: Statements
    order: Order
    more: Pairs
    labels: Sequence[str]
    members: Sequence[frozenset[str]] = ()
    silent: int = 0


def read_slot(
    claims: Claims,
    kind: Kind,
    reading: Reading,
    size: int | None = None,
    known: Sequence[str] = (),
) -> Read:
    """The claims about one slot; `size` and `known` values are given if they are known before."""
    if kind == TYPED:
        return _read_typed(claims, reading, size)
    spoken = (
        claimed_sets(claims, kind, reading.lexicon)
        if kind in SETS
        else claimed_texts(claims, kind, reading.tolerance, known)
    )
    said = statements(
        claims.objects,
        claims.sources,
        spoken.values,
        (spoken.object, spoken.source, spoken.value),
        spoken.confidence,
    )
    more = _unions(said, spoken) if kind in SETS else (said.object[:0], said.value[:0])
    order = _order(kind, said, spoken, more, reading, size)
    return Read(kind, said, order, more, spoken.labels, spoken.members, spoken.silent)


def _read_typed(claims: Claims, reading: Reading, size: int | None) -> Read:
    """By the type of the slot: what unifies is no contradiction, and together it says more."""
    slot = reading.types[claims.slots[int(claims.slot[0])]]
    spoken = claimed_typed(claims, slot, reading.tolerance)
    said = statements(
        claims.objects,
        claims.sources,
        spoken.texts,
        (spoken.object, spoken.source, spoken.value),
        claims.confidence,
    )
    things = {name: n for n, name in enumerate(said.objects)}
    more = spoken.more(lambda n: things[claims.objects[n]])
    wide = size or max(len(np.unique(said.value)), FEWEST[TYPED])
    order = object_order(
        _pairs(said, more), len(said.values), wide, spoken.general, spoken.heights(slot)
    )
    return Read(TYPED, said, order, more, spoken.labels)


def _order(
    kind: Kind, said: Statements, spoken: Spoken, more: Pairs, reading: Reading, size: int | None
) -> Order:
    count = len(said.values)
    wide = size or max(len(np.unique(said.value)), FEWEST[kind])
    pairs = _pairs(said, more)
    if kind in SETS:
        sets = spoken.members
        heights = np.array([_parts(len(one)) for one in sets], dtype=np.int64)
        return object_order(pairs, count, wide, lambda high, low: sets[high] < sets[low], heights)
    if kind == "date":
        return _dates(pairs, said.values, wide)
    if kind == "open" and reading.nesting is not None and reading.orders(said.values):
        return nested_order(said.values, reading.nesting)
    return flat_order(count, wide)


def _parts(members: int) -> int:
    """How many parts a set has that are neither empty nor the whole."""
    return max((1 << min(members, WIDE)) - 2, 1)


def _dates(pairs: Pairs, values: Sequence[str], size: int) -> Order:
    slot = DateType()
    dates = [slot.read(value) for value in values]
    heights = np.array([{"day": 2, "month": 1}.get(one.precision, 1) for one in dates])
    return object_order(
        pairs, len(values), size, lambda h, low: slot.unify(dates[h], dates[low]) == dates[low],
        heights,
    )  # fmt: skip


def _pairs(said: Statements, more: Pairs) -> Pairs:
    """Every object with every value that it may have, once."""
    count = max(len(said.values), 1)
    keys = np.union1d(said.object * count + said.value, more[0] * count + more[1])
    return keys // count, keys % count


def _unions(said: Statements, spoken: Spoken) -> Pairs:
    """Every object with all that anybody says of it."""
    place = {members: n for n, members in enumerate(spoken.members)}
    whole = united(said.object, [spoken.members[n] for n in said.value.tolist()])
    objects = np.array(list(whole), dtype=np.int64)
    return objects, np.array([place[one] for one in whole.values()], dtype=np.int64)
