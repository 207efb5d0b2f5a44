"""Blocking: find the records worth comparing, by the words of names, places and labels.

A record is stored under its own keys and looked up under these and more general ones, so that a
thousand reports do not lead to a million comparisons. A place is stored under its name and looked
up under the places that contain it; keys of very many records are ignored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from partita.fusion.source_records import SourceRecord
from partita.linkage.candidates import candidate_pairs, crowded_keys
from partita.templates.entity_types import EntityType
from partita.templates.name import Name, NamedPlace, PlaceType, split_name
from partita.templates.quantities import Number
from partita.templates.schema import OWN_TYPE, Schema
from partita.templates.slots import Strings, StringsType

MAX_PER_KEY = 100  # records under one key; a key with more is ignored
MAX_ACRONYM = 6  # letters of an acronym

Key = tuple[str, str]
Two = tuple[str, str]
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
        stored, searched = self.indexes(records)
        return crowded_keys(stored, MAX_PER_KEY) | crowded_keys(searched, MAX_PER_KEY)

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
    pairs = candidate_pairs(*SchemaKeys(schema).indexes(ordered), common)
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
