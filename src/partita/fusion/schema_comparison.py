"""Choose pairs of records, and compare them: the log-odds that both are the same entity."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from partita.core import FloatArray
from partita.fusion.source_records import SourceRecord
from partita.fusion.value_reading import close
from partita.linkage.record_tables import RecordTable, Scored, Settings
from partita.templates.entity_types import EntityType, HierarchyType
from partita.templates.name import Name, NamedPlace, PlaceType, split_name
from partita.templates.quantities import Date, Measurement, Number
from partita.templates.schema import OWN_TYPE, Schema, Values
from partita.templates.slots import SlotType, Strings, StringsType, Value, fit

MAX_PER_KEY = 100  # records under one key; a key with more is ignored
MAX_ACRONYM = 6  # letters of an acronym

Key = tuple[str, str]
Numbers = dict[Key, list[int]]


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys a record is stored under, and those it is looked up under."""

    own: frozenset[Key]
    searched: frozenset[Key]


class SchemaKeys:
    """The keys of records by the slots of a schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._generic_words = _generic_words(schema)

    def indexes(self, records: Sequence[SourceRecord]) -> tuple[Numbers, Numbers]:
        """Return the numbers of records under the keys they are stored under, and look up."""
        stored: Numbers = defaultdict(list)
        searched: Numbers = defaultdict(list)
        for n, record in enumerate(records):
            keys = self.keys(record)
            for key in keys.own:
                stored[key].append(n)
            for key in keys.searched:
                searched[key].append(n)
        return stored, searched

    def crowded(self, records: Sequence[SourceRecord]) -> frozenset[Key]:
        """Return the keys with too many records."""
        return frozenset(key for index in self.indexes(records) for key, found in index.items()
                         if len(found) > MAX_PER_KEY)  # fmt: skip

    def keys(self, record: SourceRecord) -> Keys:
        own: set[Key] = set()
        above: set[Key] = set()
        for name, value in record.values.items():
            if isinstance(value, Name):
                own.update(("name", word) for word in _name_words(value, self._generic_words))
            elif isinstance(value, NamedPlace):
                self._place(name, value, record, own, above)
            elif isinstance(value, Strings) and _is_label(self.schema.slot(name)):
                own.update((name, text.upper()) for text in value.members)
        if record.object:
            own.add(("object", record.object))
        return Keys(frozenset(own), frozenset(own | above))

    def _place(
        self, name: str, place: NamedPlace, record: SourceRecord, own: set[Key], above: set[Key]
    ) -> None:
        """Add keys for the place, alone and with the type, so that crowded places stay usable."""
        own.update((name, one) for one in place.names)
        above.update(_containing_places(name, place, self.schema.slot(name)))
        entity_type, types = record.values.get(OWN_TYPE), self.schema.types
        if not isinstance(entity_type, EntityType) or types is None:
            return
        for one, kind in product(place.names, entity_type.names):
            own.add((f"{name} of {kind}", one))
            above.update((f"{name} of {over}", one) for over in types.above[kind])


def candidates(
    records: Iterable[SourceRecord],
    schema: Schema,
    common: frozenset[Key] = frozenset(),
) -> Iterator[Two]:
    """Yield every pair worth comparing once, as sorted ids."""
    ordered = sorted(records, key=lambda record: record.id)
    stored, searched = SchemaKeys(schema).indexes(ordered)
    pairs = {(min(n, other), max(n, other)) for key, found in stored.items() if key not in common
             for other in searched.get(key, ()) for n in found if n != other}  # fmt: skip
    for a, b in sorted(pairs, key=lambda two: two[::-1]):
        left, right = ordered[a], ordered[b]
        if can_match(left, right, schema):
            yield left.id, right.id


def can_match(left: SourceRecord, right: SourceRecord, schema: Schema) -> bool:
    """Return whether two records can be the same entity.

    Not so for incompatible sorts, for one and several, for two records of one message, and for two
    objects that a source names differently.
    """
    if left.object and left.object == right.object:
        return True
    named = left.object and right.object
    if left.source == right.source and (left.message == right.message or named):
        return False
    return compatible_records(left, right, schema)


def compatible_records(left: SourceRecord, right: SourceRecord, schema: Schema) -> bool:
    """Return whether types are compatible, numbers are not one and several, and nothing is denied.

    A record that denies to be something is not the same entity as one that says to be it.
    """
    if schema.denies(left.template, right.values) or schema.denies(right.template, left.values):
        return False
    for name in left.values.keys() & right.values.keys():
        a, b = left.values[name], right.values[name]
        if name == OWN_TYPE or (isinstance(a, EntityType) and a == left.values.get(OWN_TYPE)):
            if schema.slot(name).unify(a, b) is None:
                return False
        elif isinstance(a, Number) and isinstance(b, Number) and _one_and_several(a, b):
            return False
    return True


def count_record_pairs(records: Iterable[SourceRecord]) -> int:
    """Count the pairs of records of different messages."""
    sizes: dict[tuple[str, str], int] = defaultdict(int)
    for record in records:
        sizes[record.source, record.message] += 1
    total = sum(sizes.values())
    return (total * total - sum(size * size for size in sizes.values())) // 2


def _one_and_several(left: Number, right: Number) -> bool:
    return any(a.high == 1 and b.low >= 2 for a, b in ((left, right), (right, left)))


def _name_words(name: Name, generic: frozenset[str]) -> Iterator[str]:
    """Yield the words of a name that are not types (all if none is left), and its initials."""
    for variant in name.variants:
        parts = split_name(variant)
        yield from ([word for word in parts if word not in generic] or parts)
        if 1 < len(parts) <= MAX_ACRONYM:
            yield "".join(word[0] for word in parts)


def _containing_places(name: str, place: NamedPlace, slot: Any) -> Iterator[Key]:
    if isinstance(slot, PlaceType):
        for place_name in place.names:
            yield from ((name, above) for above in slot.gazetteer.above.get(place_name, ()))


def _is_label(slot: Any) -> bool:
    return isinstance(slot, StringsType) and not slot.several


def _generic_words(schema: Schema) -> frozenset[str]:
    """Return the words that occur in the names of types."""
    types: Mapping[str, Any] = {} if schema.types is None else schema.types.parents
    return frozenset(word for entity_type in types for word in split_name(entity_type))


UNSEEN_ENTITIES = 100.0  # A: entities that no source may have described
OWN_DESCRIPTIONS = 2.0  # descriptions: those of the two records compared
RARE_SHARE = 0.01  # share of entities that a name or a label fits
ROUNDED_SHARE = 0.05  # that a measure or a date fits, given rounding
FREQUENT_SHARE = 0.5  # that a number fits: most numbers are 1
MAX_SAMPLED = 400  # distinct values of a slot


@dataclass(frozen=True, slots=True, eq=False)
class Chances:
    """Frequencies of values among different descriptions, by slot."""

    schema: Schema
    entities: int
    counts: Mapping[str, Mapping[Value, float]]
    totals: Mapping[str, float]
    _cache: dict[tuple[str, Value], float] = field(default_factory=dict, repr=False)

    @classmethod
    def of_records(cls, records: Iterable[SourceRecord], schema: Schema) -> Chances:
        described = sorted({_description(one.values): one.values for one in records}.items())
        counts: dict[str, Counter[Value]] = {}
        for _, values in described:
            for name, value in values.items():
                counts.setdefault(name, Counter())[value] += 1
        totals = {name: float(sum(count.values())) for name, count in counts.items()}
        return cls(schema, len(described), {n: _sampled(c) for n, c in counts.items()}, totals)

    @property
    def prior(self) -> float:
        """Return −log(D + A), for D descriptions."""
        return -math.log(self.entities + UNSEEN_ENTITIES)

    def of(self, name: str, value: Value) -> float:
        """Return c(v), in (0, 1]."""
        key = (name, value)
        if key not in self._cache:
            self._cache[key] = self._chance(name, value)
        return self._cache[key]

    def _chance(self, name: str, value: Value) -> float:
        slot = self.schema.slot(name)
        counts = self.counts.get(name, {})
        matching = sum(n for other, n in counts.items() if fit(slot, value, other) is not None)
        total = self.totals.get(name, 0.0)
        others = max(matching - OWN_DESCRIPTIONS, 0.0)
        return min(
            1.0, (others + UNSEEN_ENTITIES * _domain_share(slot, value)) / (total + UNSEEN_ENTITIES)
        )


def _description(values: Values) -> tuple[str, ...]:
    """Return what identifies an entity: type, names, places and labels."""
    identifying = (
        f"{name}={value}"
        for name, value in sorted(values.items())
        if name == OWN_TYPE or isinstance(value, Name | NamedPlace | Strings)
    )
    return tuple(identifying)


def _sampled(counts: Counter[Value]) -> dict[Value, float]:
    """Return all counts, or for very many values an even sample of the same weight."""
    ordered: Sequence[Value] = sorted(counts, key=str)
    step = -(-len(ordered) // MAX_SAMPLED)
    return {value: float(counts[value] * step) for value in ordered[::step]}


def _domain_share(slot: SlotType[Any], value: Value) -> float:
    """Return the share of the domain's values that would fit."""
    if isinstance(value, NamedPlace) and isinstance(slot, PlaceType):
        return _share(value.names, slot.gazetteer)
    if isinstance(value, EntityType) and isinstance(slot, HierarchyType):
        return _share(value.names, slot.hierarchy)
    if isinstance(value, Number):
        return FREQUENT_SHARE
    if isinstance(value, Strings) and isinstance(slot, StringsType) and slot.several:
        return FREQUENT_SHARE  # several values may hold at once
    return ROUNDED_SHARE if isinstance(value, Measurement | Date) else RARE_SHARE


def _share(names: frozenset[str], hierarchy: Any) -> float:
    """Return the share of a hierarchy that is above or below one of these names."""
    listed = [name for name in names if name in hierarchy]
    if not listed:
        return RARE_SHARE
    fitting = set().union(*(hierarchy.below[n] | hierarchy.above[n] for n in listed))
    return max(RARE_SHARE, len(fitting) / max(len(hierarchy.parents), 1))


Two = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A pair: for each slot that both records fill (slot, share c, confidence).

    A share of 0 is a contradiction; the confidence is the product of the values' probabilities.
    """

    slots: tuple[tuple[str, float, float], ...]

    def log_odds(self, reliability: float, prior: float) -> float:
        """Return the log-odds, given the product of both sources' reliabilities."""
        total = prior
        for _, share, confidence in self.slots:
            rho = reliability * confidence
            odds = rho / share + 1.0 - rho if share else 1.0 - rho
            total += math.log(odds) if odds > 0.0 else -math.inf
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Comparer:
    """Compare records by a schema, the frequencies of its values and a tolerance."""

    schema: Schema
    chances: Chances
    tolerance: float = 0.0
    _cache: dict[tuple[str, Value, Value], float] = field(default_factory=dict, repr=False)

    def compare(self, left: SourceRecord, right: SourceRecord) -> Comparison:
        return Comparison(tuple(self._slots(left, right)))

    def _slots(self, left: SourceRecord, right: SourceRecord) -> Iterator[tuple[str, float, float]]:
        for name in (OWN_TYPE, *self.schema.slots):
            a, b = left.values.get(name), right.values.get(name)
            if a is None or b is None or (name != OWN_TYPE and _repeats_type(a, b, left, right)):
                continue
            yield (
                name,
                self._share(name, a, b),
                left.slot_confidence(name) * right.slot_confidence(name),
            )

    def _share(self, name: str, a: Value, b: Value) -> float:
        key = (name, a, b)
        if key not in self._cache:
            both = fit(self.schema.slot(name), a, b)
            if both is None and not close(a, b, self.tolerance):
                self._cache[key] = 0.0
            else:
                self._cache[key] = max(self.chances.of(name, a), self.chances.of(name, b))
        return self._cache[key]


def _repeats_type(a: Value, b: Value, left: SourceRecord, right: SourceRecord) -> bool:
    """Return whether the slot repeats the type, which must not count twice."""
    same = isinstance(a, EntityType) and isinstance(b, EntityType)
    return same and a == left.values.get(OWN_TYPE) and b == right.values.get(OWN_TYPE)


CERTAIN = 1000.0  # log₂ of the odds of two records that are known to be the same
Report = Callable[[str], None]


class SchemaEngine:
    """Compare records by the slots of a schema: an engine of the linker.

    `reliability` is that of each record's source; records with equal `labels` are not the same.
    `common` are the keys that are too frequent to be useful.
    """

    def __init__(
        self,
        table: RecordTable,
        records: Sequence[SourceRecord],
        comparer: Comparer,
        reliability: Sequence[float],
        labels: Sequence[str],
    ) -> None:
        self.table, self.records, self.comparer = table, records, comparer
        self.reliability, self.labels = reliability, labels
        self.common = SchemaKeys(comparer.schema).crowded(records)

    def fit(self, settings: Settings | None, progress: Report, note: Report) -> Settings:
        """Return no settings: nothing is trained."""
        return {} if settings is None else settings

    def score(self, model: Settings, link_above: float) -> Scored:
        """Return the scores of all pairs that share a key and may be the same."""
        place = {one.id: n for n, one in enumerate(self.records)}
        found = list(candidates(self.records, self.comparer.schema, self.common))
        ends = np.array([sorted((place[a], place[b])) for a, b in found], dtype=np.int64)
        left, right = ends.reshape(-1, 2).T
        odds = [self._log_odds(a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True)]
        weight = np.array(odds, dtype=np.float64) / np.log(2.0)
        return Scored(left, right, np.clip(weight, -CERTAIN, CERTAIN), len(found))

    def _log_odds(self, left: int, right: int) -> float:
        both = self.reliability[left] * self.reliability[right]
        comparison = self.comparer.compare(self.records[left], self.records[right])
        return comparison.log_odds(both, self.comparer.chances.prior)

    def unmatched(self) -> FloatArray:
        """Return P(no match beyond the scored pairs), which is not known."""
        return np.ones(len(self.records))

    def weights(self, model: Settings, left: int, right: int) -> list[tuple[str, float]]:
        """Return the log-odds of two records; the first is the prior."""
        prior, odds = self.comparer.chances.prior, self._log_odds(left, right)
        return [("two random records", prior), ("the whole record", odds - prior)]

    def apart(self, model: Settings) -> Sequence[str] | None:
        """Return the labels of records that are not the same."""
        return self.labels
