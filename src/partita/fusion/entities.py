"""Fuse reports and records of many sources into entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from partita.core import Budget, Distribution, Figure
from partita.core.cells import cells_of
from partita.entities.entities import longest_name
from partita.errors import InputError
from partita.fusion.belief import Parameters, SlotReliability
from partita.fusion.claims import Claims, checked_reliabilities
from partita.fusion.copying import Copying
from partita.fusion.entity_values import (
    EntitySlot,
    EntityView,
    claim_row,
    slots_of,
    typed_reading,
    view_alone,
    view_of_cell,
)
from partita.fusion.fuse import FusionSettings, ValueChange, fuse_slots
from partita.fusion.kinds import TYPED
from partita.fusion.open_slots import open_rates
from partita.fusion.record_sets import (
    Linker,
    RecordSet,
    Reliabilities,
    apart_labels,
    compared_slots,
    known_pairs,
    linked_records,
    linked_sets,
    linked_slots,
    record_table,
    resolve_judgements,
)
from partita.fusion.schema_comparison import Chances, Comparer, SchemaEngine, count_record_pairs
from partita.fusion.source_records import SourceRecord, SourceRecords
from partita.fusion.trust import Agreement, SharedSlots, agreement, interval, shared_slots
from partita.fusion.value_reading import MIN_VALUES
from partita.linkage.engines import open_engine
from partita.linkage.record_tables import RecordTable
from partita.templates.name import NameType
from partita.templates.schema import OWN_TYPE, Schema

DEFAULT_RELIABILITY = 0.8  # of a source without any evidence


@dataclass(frozen=True, slots=True, eq=False)
class LearnedSources:
    """How reliable sources are, in all and by slot.

    `fixed` are the reliabilities that were set by the user, `documents` those of the documents of
    sources with several.
    """

    reliabilities: Reliabilities
    fixed: Mapping[str, float]
    slots: Mapping[str, Parameters]
    counts: tuple[SlotReliability, ...]
    intervals: Mapping[str, tuple[float, float]]
    documents: Mapping[str, float] = field(default_factory=dict)

    def interval(self, source: str) -> tuple[float, float]:
        """Return the 95 % interval of a source's reliability."""
        if source in self.fixed:
            return self.fixed[source], self.fixed[source]
        return self.intervals.get(source) or interval(0.0, 0.0, self.reliabilities[source])


def _learned(
    shared: SharedSlots, sizes: Mapping[str, int], fixed: Mapping[str, float]
) -> LearnedSources:
    """Learn the reliabilities of sources from how far linked records agree."""
    result = agreement(shared, fixed, DEFAULT_RELIABILITY)
    of = {**result.reliabilities, **result.documents, **fixed}
    slots = {name: _rates(name, result, size) for name, size in sizes.items()}
    return LearnedSources(
        Reliabilities(of, result.unseen), fixed, slots, result.counts, result.intervals,
        result.documents,
    )  # fmt: skip


def _rates(slot: str, result: Agreement, values: int) -> Parameters:
    """Return the rates of all sources in a slot with this number of values."""
    rates = {
        source: open_rates(result.by_slot.get((source, slot), r), True)
        for source, r in (*result.reliabilities.items(), *result.documents.items())
    }
    size = max(values, MIN_VALUES[TYPED])
    return Parameters(TYPED, rates, open_rates(result.unseen, True), np.ones(1), size)


CERTAIN = Figure.exact(1.0)
BUDGET = Budget(memory=1 << 30, work=1000)  # draws: the error of a value is at most .016


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The schema of the records, the linker, and the options of fusion.

    Without a domain, whose schema has types, records are rows of tables. In the slots of `latest`,
    a later statement of a source supersedes its earlier ones.
    """

    schema: Schema
    linker: Linker
    reliabilities: Mapping[str, float] = field(default_factory=dict)
    tolerance: float = 0.0
    top: int | None = None
    seed: int = 0
    of_tables: bool = False
    latest: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, eq=False)
class FusedEntity:
    """An entity: the records that describe one entity.

    It is a cell of the configuration of its set that is the answer; `probability` is that of
    exactly this cell. The values of its slots are taken over all configurations, around the
    record `anchor`.
    """

    id: str
    type: str
    name: str
    records: tuple[SourceRecord, ...]
    anchor: str
    probability: Figure
    slots: Mapping[str, EntitySlot]

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(sorted({record.source for record in self.records}))

    def sources_of(self, records: Collection[str]) -> tuple[str, ...]:
        """Return the sources of some of its records."""
        return tuple(sorted({one.source for one in self.records if one.id in records}))


@dataclass(frozen=True, slots=True)
class SourceTrust:
    """How reliable a source is, within which interval, and how many of its claims are right.

    `given` says that the reliability was set by the user; `slots` has the counts by slot,
    `documents` the reliabilities of the messages of a source that has several.
    """

    source: str
    reliability: float
    low: float
    high: float
    given: bool
    records: int
    claims: int
    right: float
    wrong: float
    slots: Mapping[str, SlotReliability]
    documents: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class ResolvedSet:
    """A set with its entities."""

    set: RecordSet
    entities: tuple[FusedEntity, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FusedRecords:
    """The result of fusion; `compared` counts the pairs that were compared, of `pairs` in total."""

    records: SourceRecords
    task: Task
    learned: LearnedSources
    sets: tuple[ResolvedSet, ...]
    compared: int
    pairs: int
    notes: tuple[str, ...] = ()

    @property
    def entities(self) -> tuple[FusedEntity, ...]:
        entities = (entity for one in self.sets for entity in one.entities)
        return tuple(replace(entity, id=f"E{n}") for n, entity in enumerate(entities, 1))

    def source_trusts(self) -> list[SourceTrust]:
        """Return how reliable every source is."""
        records = Counter(one.source for one in self.records.records)
        return [self._trust(source, records[source]) for source in self.records.sources]

    def _trust(self, source: str, records: int) -> SourceTrust:
        counts = [one for one in self.learned.counts if one.source == source]
        claims, right = sum(one.claims for one in counts), sum(one.right for one in counts)
        reliability, interval_ = self.learned.reliabilities[source], self.learned.interval(source)
        given, slots = source in self.learned.fixed, {one.slot or "sort": one for one in counts}
        wrong = sum(one.claims - one.right for one in counts)
        return SourceTrust(
            source, reliability, *interval_, given, records, claims, right, wrong, slots,
            {name.removeprefix(f"{source}, "): r for name, r in self.learned.documents.items()
             if name.startswith(f"{source}, ")},
        )  # fmt: skip

    @property
    def distributions(self) -> tuple[Distribution, ...]:
        return tuple(one.set.distribution for one in self.sets if one.set.distribution is not None)


def fuse_records(records: SourceRecords, task: Task) -> FusedRecords:
    """Link records, and fuse the values of each cluster."""
    used = _drop_unreliable(records, task)
    notes: list[str] = []
    fixed = checked_reliabilities(used.reliabilities)
    if len(used) > 1:
        sets, shared, compared = _linked(used, task, notes.append)
    else:
        sets, compared = [RecordSet(used.records)], 0
        shared = shared_slots({}, {}, used.sources, np.zeros(0))
    texts = [{OWN_TYPE: one.template.type, **one.template.slots} for one in used.records]
    sizes = {name: len({str(one[name]) for one in texts if one.get(name)})
             for name in (OWN_TYPE, *task.schema.slots)}  # fmt: skip
    learned = _learned(shared, sizes, fixed)
    resolved = tuple(_resolve_sets(sets, task, learned))
    pairs = count_record_pairs(used.records)
    return FusedRecords(used, task, learned, resolved, compared, pairs, tuple(notes))


def _linked(
    used: SourceRecords, task: Task, note: Callable[[str], None]
) -> tuple[list[RecordSet], SharedSlots, int]:
    """Return the sets of linked records, what linked records share, and how many were compared."""
    ordered = linked_records(used) if task.of_tables else used.records
    by_id = {one.id: one for one in ordered}
    judgements = {
        two: [(name, p, used.reliabilities.get(name, DEFAULT_RELIABILITY)) for name, p in said]
        for two, said in resolve_judgements(used.judgements, by_id).items()
        if two[0] != two[1]
    }
    if task.of_tables:
        table = record_table(ordered, task.schema, note)
        engine = open_engine(table, None, seed=task.seed)
        linked = task.linker(engine, known_pairs(ordered, judgements, {}))
        shared = linked_slots(table, linked)
    else:
        comparer = Comparer(task.schema, Chances.of_records(ordered, task.schema), task.tolerance)
        trusted = [used.reliabilities.get(one.source, DEFAULT_RELIABILITY) for one in ordered]
        table = RecordTable([*by_id], [one.source for one in ordered], {}, ())
        known = known_pairs(ordered, judgements, used.same_message, task.schema)
        labels = apart_labels(ordered, used.same_message)
        linked = task.linker(SchemaEngine(table, ordered, comparer, trusted, labels), known)
        shared = compared_slots(linked, by_id, used.sources, comparer)
    named = {str(name): one for name, one in zip(table.ids, ordered, strict=True)}
    sets = linked_sets(linked, named, judgements, task.top, BUDGET, task.seed)
    return sets, shared, linked.compared


def fuse_without(fused: FusedRecords, source: str) -> FusedRecords:
    """Fuse again without one source, including all estimates."""
    return fuse_records(fused.records.without(source), fused.task)


def _drop_unreliable(records: SourceRecords, task: Task) -> SourceRecords:
    """Leave out the sources whose reliability is 0."""
    reliabilities = {**records.reliabilities, **task.reliabilities}
    unreliable = {source for source, r in reliabilities.items() if r == 0.0}
    used = records.only(set(records.sources) - unreliable) if unreliable else records
    if not used.records:
        raise InputError(
            "all sources have reliability 0 (expected at least one above 0)"
            if unreliable
            else "the sources make no statements"
        )
    return replace(used, reliabilities=reliabilities)


def _resolve_sets(
    sets: Sequence[RecordSet], task: Task, learned: LearnedSources
) -> list[ResolvedSet]:
    views = [list(_views(set_)) for set_ in sets]
    settings = FusionSettings(
        reading=typed_reading(task.schema, task.tolerance),
        reliabilities=learned.fixed,
        fixed=learned.slots,
    )
    trusted = learned.reliabilities
    slots_by_view = iter(
        slots_of(
            [view for set_views in views for view in set_views],
            task.schema,
            settings,
            trusted,
            task.latest,
        )
    )
    return [
        ResolvedSet(
            set_, tuple(_entity(view, next(slots_by_view), task.schema) for view in set_views)
        )
        for set_, set_views in zip(sets, views, strict=True)
    ]


def _views(set_: RecordSet) -> Iterable[EntityView]:
    """Return a view of each cell of the set's answer."""
    if set_.distribution is None:
        return [view_alone(set_.records[0])]
    cells = cells_of(set_.distribution)
    return [view_of_cell(set_.records, cells, cell) for cell in set_.answer]


def _entity_name(
    records: Sequence[SourceRecord], slots: Mapping[str, EntitySlot], schema: Schema
) -> str:
    """Return the longest name, or the most probable one if there is no domain."""
    longest = longest_name([one.template for one in records], schema)
    likeliest = _name(slots, schema)
    return likeliest or longest if schema.types is None else longest or likeliest


def _entity(view: EntityView, slots: Mapping[str, EntitySlot], schema: Schema) -> FusedEntity:
    records = tuple(view.records[n] for n in view.cell)
    share = view.around.cells.shares.get(view.cell, 0.0)
    figure = CERTAIN if len(view.records) == 1 else view.around.cells.figure(share)
    entity_type = slots.get(OWN_TYPE)
    return FusedEntity(
        id="",
        type=entity_type.values[0].text if entity_type and entity_type.values else "",
        name=_entity_name(records, slots, schema),
        records=records,
        anchor=view.anchor,
        probability=figure,
        slots={name: one for name, one in slots.items() if name != OWN_TYPE},
    )


def _name(slots: Mapping[str, EntitySlot], schema: Schema) -> str:
    """Return the most probable name of a record."""
    named = (slots[slot] for slot, kind in schema.slots.items()
             if isinstance(kind, NameType) and slot in slots and slots[slot].values)  # fmt: skip
    return next((one.values[0].text for one in named), "")


def entity_changes_without(fused: FusedRecords, source: str) -> tuple[ValueChange, ...]:
    """Return what changes, entity by entity, when a source is left out.

    A change without a slot is one of the records of an entity.
    """
    after = fuse_without(fused, source)
    entity_of = {record.id: entity for entity in after.entities for record in entity.records}
    changes: list[ValueChange] = []
    for entity in fused.entities:
        remaining = [record.id for record in entity.records if record.source != source]
        if not remaining:
            names = ", ".join(record.id for record in entity.records)
            changes.append(ValueChange(entity.id, "", names, entity.probability.value, "", 0.0))
            continue
        now = entity_of[entity.anchor if entity.anchor in remaining else remaining[0]]
        changes += _changes(entity, now, remaining)
    return tuple(changes)


def _changes(
    entity: FusedEntity, after: FusedEntity, remaining: list[str]
) -> Iterator[ValueChange]:
    names = [record.id for record in after.records]
    if set(remaining) != set(names):
        yield ValueChange(
            entity.id,
            "",
            ", ".join(remaining),
            entity.probability.value,
            ", ".join(names),
            after.probability.value,
        )
    for slot, values in entity.slots.items():
        (value, p), (other, q) = _best(values), _best(after.slots.get(slot))
        if value != other:
            yield ValueChange(entity.id, slot, value, p, other, q)


def _best(slot: EntitySlot | None) -> tuple[str, float]:
    if slot is None or not slot.values:
        return "", 0.0
    return slot.values[0].text, slot.values[0].probability.value


def find_copying_sources(fused: FusedRecords) -> tuple[Copying, ...]:
    """Find apparent copying among the claims about entities with several sources."""
    rows = [
        claim_row(record, entity.id, slot)
        for entity in fused.entities
        if len(entity.sources) > 1
        for record in entity.records
        for slot in record.values
        if slot in entity.slots
    ]
    if not rows:
        return ()
    slots = {row[2] for row in rows}
    settings = FusionSettings(
        reading=typed_reading(fused.task.schema, fused.task.tolerance),
        reliabilities=fused.learned.fixed,
        fixed={slot: fused.learned.slots[slot] for slot in sorted(slots)},
    )
    return fuse_slots(Claims.of(rows), settings).copying
