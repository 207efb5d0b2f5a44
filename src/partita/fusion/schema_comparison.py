"""Choose pairs of records, and compare them: the log-odds that both are the same entity."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from partita.core import FloatArray, IntArray, Template, linked_components
from partita.fusion.source_records import SourceRecord
from partita.fusion.value_reading import close
from partita.pairs.characteristics import feature_offsets, pair_log_odds
from partita.pairs.columns import template_columns
from partita.pairs.models import MaximumEntropy
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
    touched: frozenset[str] | None = None,
) -> Iterator[Two]:
    """Yield every pair worth comparing once, as sorted ids.

    With `touched`, yield only pairs with at least one touched record.
    """
    ordered = sorted(records, key=lambda record: record.id)
    stored, searched = SchemaKeys(schema).indexes(ordered)
    pairs = {(min(n, other), max(n, other)) for key, found in stored.items() if key not in common
             for other in searched.get(key, ()) for n in found if n != other}  # fmt: skip
    for a, b in sorted(pairs, key=lambda two: two[::-1]):
        left, right = ordered[a], ordered[b]
        new = touched is None or not touched.isdisjoint((left.id, right.id))
        if new and not cannot_match(left, right, schema):
            yield left.id, right.id


def cannot_match(left: SourceRecord, right: SourceRecord, schema: Schema) -> bool:
    """Return whether two records cannot be the same entity.

    This holds for incompatible sorts, for one and several, for two records of one message, and for
    two objects that a source names differently.
    """
    if left.object and left.object == right.object:
        return False
    named = left.object and right.object
    if left.source == right.source and (left.message == right.message or named):
        return True
    return not compatible_records(left, right, schema)


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


Link = tuple[str, str]


def component_names(names: Iterable[str], links: Iterable[Link]) -> dict[str, str]:
    """Return for each name the first name, in order, of its component."""
    unique = dict.fromkeys(names)
    ordered = sorted(unique)
    position = {name: n for n, name in enumerate(ordered)}
    ends = np.array([(position[a], position[b]) for a, b in links], dtype=np.int64).reshape(-1, 2)
    component = linked_components(len(ordered), ends[:, 0], ends[:, 1]).tolist()
    return {name: ordered[component[position[name]]] for name in unique}


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
BATCH_RECORDS = 64  # records per batch
SLOT_CHARACTERISTICS = frozenset(
    {"slot_relation", "values_in_common", "same_long_name", "sort_agreement", "names"}
)
TEXT_CHARACTERISTICS = frozenset(
    {"number_agreement", "gender_agreement", "heads", "modifiers", "overlap", "same_text"}
)  # records have no text


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """A pair: the pair model's score, and for each slot both fill (slot, share c, confidence).

    A share of 0 is a contradiction; the confidence is the product of the values' probabilities.
    """

    context: float
    slots: tuple[tuple[str, float, float], ...]

    @property
    def contradicts(self) -> bool:
        return any(share == 0.0 for _, share, _ in self.slots)

    def log_odds(self, reliability: float, prior: float) -> float:
        """Return the log-odds, given the product of both sources' reliabilities."""
        total = prior + self.context
        for _, share, confidence in self.slots:
            rho = reliability * confidence
            odds = rho / share + 1.0 - rho if share else 1.0 - rho
            total += math.log(odds) if odds > 0.0 else -math.inf
        return total


@dataclass(frozen=True, slots=True, eq=False)
class Comparer:
    """Compare records by a schema, the frequencies of its values, a pair model and a tolerance."""

    schema: Schema
    chances: Chances
    model: MaximumEntropy | None = None
    tolerance: float = 0.0
    common: frozenset[Key] = frozenset()
    _cache: dict[tuple[str, Value, Value], float] = field(default_factory=dict, repr=False)

    @property
    def prior(self) -> float:
        return self.chances.prior

    def cannot_match(self, left: SourceRecord, right: SourceRecord) -> bool:
        """Return whether two records cannot be the same entity."""
        return cannot_match(left, right, self.schema)

    def candidates(
        self, records: Iterable[SourceRecord], touched: frozenset[str] | None = None
    ) -> Iterator[Two]:
        """Yield the pairs worth comparing, as sorted ids."""
        return candidates(records, self.schema, self.common, touched)

    def compare(
        self, records: Mapping[str, SourceRecord], pairs: Sequence[Two]
    ) -> dict[Two, Comparison]:
        """Return the comparison of every pair of ids."""
        contexts = dict(zip(pairs, self._contexts(records, pairs).tolist(), strict=True))
        return {
            names: Comparison(
                contexts[names], tuple(self._slots(records[names[0]], records[names[1]]))
            )
            for names in pairs
        }

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

    def _contexts(self, records: Mapping[str, SourceRecord], pairs: Sequence[Two]) -> FloatArray:
        """Return Σ λ f of all pairs, averaged over both orders of the two."""
        scores = np.zeros(len(pairs))
        if self.model is None:
            return scores
        for batch in _batches(pairs):
            names = sorted({name for n in batch for name in pairs[n]})
            place = {name: n for n, name in enumerate(names)}
            left = np.array([place[pairs[n][0]] for n in batch])
            right = np.array([place[pairs[n][1]] for n in batch])
            templates = [records[name].template for name in names]
            last = len(names) - 1
            forward = _scores(self.model, self.schema, templates, left, right)
            backward = _scores(self.model, self.schema, templates[::-1], last - left, last - right)
            scores[batch] = (forward + backward) / 2
        return scores


def _scores(
    model: MaximumEntropy,
    schema: Schema,
    templates: Sequence[Template],
    left: IntArray,
    right: IntArray,
) -> FloatArray:
    """Return Σ λ f over what can be observed across messages; for records only the slots."""
    codes = model.codes(template_columns(templates, schema=schema), left, right)
    slots, words = (
        pair_log_odds(codes, model.characteristics, _kept(model, names))
        for names in (SLOT_CHARACTERISTICS, TEXT_CHARACTERISTICS)
    )
    worded = np.array([bool(template.head or template.text) for template in templates])
    score: FloatArray = slots + np.where(worded[left] & worded[right], words, 0.0)
    return score


def _kept(model: MaximumEntropy, names: frozenset[str]) -> FloatArray:
    """Return the weights of these characteristics, with 0 for the others."""
    starts = feature_offsets(model.characteristics)
    mask = np.zeros(len(model.weights))
    for n, one in enumerate(model.characteristics):
        mask[starts[n] : starts[n + 1]] = one.name in names
    kept: FloatArray = model.weights * mask
    return kept


def _repeats_type(a: Value, b: Value, left: SourceRecord, right: SourceRecord) -> bool:
    """Return whether the slot repeats the type, which must not count twice."""
    same = isinstance(a, EntityType) and isinstance(b, EntityType)
    return same and a == left.values.get(OWN_TYPE) and b == right.values.get(OWN_TYPE)


def _batches(pairs: Sequence[Two]) -> Iterator[list[int]]:
    """Yield batches of pairs, keeping connected records together."""
    component = component_names((name for two in pairs for name in two), pairs)
    batch: list[int] = []
    names: set[str] = set()
    for n in sorted(range(len(pairs)), key=lambda n: (component[pairs[n][0]], n)):
        two = pairs[n]
        if len(names | set(two)) > BATCH_RECORDS:
            yield batch
            batch, names = [], set()
        batch.append(n)
        names.update(two)
    if batch:
        yield batch
