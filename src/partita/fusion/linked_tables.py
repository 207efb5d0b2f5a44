"""Records of tables without a domain: as the linker reads them, and what it tells of sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from partita.configurations.forest.model import ForestParameters
from partita.core import FloatArray, Id, IntArray, Pair
from partita.fusion.source_records import SourceRecord, SourceRecords
from partita.fusion.trust import Agreement, SlotReliability, interval
from partita.linkage.engines import OWN, Scored, Settings
from partita.linkage.own_engine import CodedRecords, RecordModel, fit_records
from partita.linkage.record_columns import cell_text
from partita.linkage.record_tables import RecordTable, columns_to_compare, record_ids
from partita.linkage.sets import Sets
from partita.templates.schema import Schema

CERTAIN = 1000.0  # log₂ of the odds of two records that are known to be the same
Known = Callable[[Scored], Scored]
Judged = Mapping[Pair, Sequence[tuple[str, float, float]]]  # source, probability, reliability


class LinkedTable(Protocol):
    """Clusters of records, as `partita.link` makes them."""

    @property
    def settings(self) -> Settings: ...
    @property
    def compared(self) -> int: ...
    @property
    def solved_sets(self) -> Sets: ...
    @property
    def pair_probabilities(self) -> FloatArray: ...
    @property
    def clusters(self) -> Mapping[Id, Sequence[Id]]: ...


class Linker(Protocol):
    """Link the records of a table: by a model given or trained, and by what else is known."""

    def __call__(
        self,
        table: RecordTable,
        settings: Settings | None,
        reliabilities: Mapping[str, float],
        known: Known,
    ) -> LinkedTable: ...


def linked_records(records: SourceRecords) -> list[SourceRecord]:
    """Return records in the order of the files and their lines."""
    order = {file: n for n, file in enumerate(records.files)}
    origins = {one.id: one.origins[0] for one in records.records}
    return sorted(records.records, key=lambda one: (
        order.get(origins[one.id].file, len(order)), origins[one.id].line, one.id))  # fmt: skip


def record_table(
    records: Sequence[SourceRecord], schema: Schema, note: Callable[[str], None]
) -> RecordTable:
    """Return records as a table whose columns are the slots of the schema."""
    columns = {slot: [_cell(one.template.slots.get(slot)) for one in records]
               for slot in schema.slots}  # fmt: skip
    compared = columns_to_compare(columns, frozenset(), note)
    sources = [one.source for one in records]
    return RecordTable(record_ids(sources, _own_ids(records)), sources, columns, compared)


def _own_ids(records: Sequence[SourceRecord]) -> list[Id]:
    """Return the id that each row has in its table, or its number from 1."""
    rows: dict[str, list[Id]] = {}
    for one in records:
        rows.setdefault(one.source, []).append(one.row_id)
    numbered = {source: iter(ids if len({*ids} - {""}) == len(ids) else range(1, len(ids) + 1))
                for source, ids in rows.items()}  # fmt: skip
    return [next(numbered[one.source]) for one in records]


def _cell(value: Any) -> str | None:
    return cell_text("; ".join(map(str, value)) if isinstance(value, list) else value)


def known_pairs(
    records: Sequence[SourceRecord],
    judgements: Judged,
) -> Known:
    """Return how scores change by the objects that records name, and by judgements.

    Records of one object are the same; a source that names two objects means two. A judgement of
    reliability r that gives probability p has the odds (1 - r + r p) / (1 - r p).
    """
    place = {one.id: n for n, one in enumerate(records)}
    named = {name: n for n, name in enumerate(dict.fromkeys(map(_object, records)))}
    objects = np.array([named[_object(one)] if _object(one) else -1 for one in records])
    sources = np.array([one.source for one in records])
    judged: dict[tuple[int, int], float] = {}
    for names, claims in judgements.items():
        low, high = sorted(place[name] for name in names)
        judged[low, high] = sum(judged_weight(p, reliability) for _, p, reliability in claims)

    def changed(scored: Scored) -> Scored:
        if not judged and (objects < 0).all():
            return scored
        weight = {(int(a), int(b)): float(w) for a, b, w in zip(
            scored.left, scored.right, scored.weight, strict=True)}  # fmt: skip
        unlisted = ForestParameters().unlisted_probability
        for two, more in judged.items():
            weight[two] = weight.get(two, float(np.log2(unlisted / (1.0 - unlisted)))) + more
        for a, b in weight:
            if sources[a] == sources[b] and min(objects[a], objects[b]) >= 0:
                weight[a, b] = -CERTAIN
        weight |= dict.fromkeys(_same_object(objects), CERTAIN)
        left, right = np.array(sorted(weight), dtype=np.int64).reshape(-1, 2).T
        values = np.array([weight[two] for two in sorted(weight)])
        return Scored(left, right, np.clip(values, -CERTAIN, CERTAIN), scored.compared)

    return changed


def _object(record: SourceRecord) -> str:
    """Return the object that a record names, if it is more than the id of a row."""
    return "" if record.row_id else record.object


def judged_weight(p: float, reliability: float) -> float:
    """Return log₂ of the odds that a judgement gives a pair."""
    same, different = 1.0 - reliability * (1.0 - p), 1.0 - reliability * p
    with np.errstate(divide="ignore"):
        return float(np.clip(np.log2(same) - np.log2(different), -CERTAIN, CERTAIN))


def _same_object(objects: IntArray) -> Iterator[tuple[int, int]]:
    """Yield all pairs of records of one object."""
    for number in np.unique(objects[objects >= 0]).tolist():
        members = np.flatnonzero(objects == number).tolist()
        yield from ((a, b) for n, a in enumerate(members) for b in members[n + 1 :])


def source_agreement(
    table: RecordTable, linked: LinkedTable, fixed: Mapping[str, float]
) -> Agreement:
    """Return the reliabilities of the sources: those that our engine learned, or learn them."""
    records = CodedRecords.of(table)
    if linked.settings.get("engine") == OWN:
        model = RecordModel.from_dict(linked.settings)
    else:
        ends = _ends(linked.solved_sets, table.ids)
        model, _ = fit_records(records, ends, fixed, linked.pair_probabilities)
    filled = np.zeros((len(records.sources), len(model.columns)))
    np.add.at(filled, records.source, records.cells >= 0)
    return _agreement(model, dict(zip(records.sources, filled, strict=True)), fixed)


def _ends(sets: Sets, ids: Sequence[Id]) -> tuple[IntArray, IntArray]:
    """Return the compared pairs of the sets by the numbers of their records."""
    place = {str(name): n for n, name in enumerate(ids)}
    numbers = np.array([place[name] for name in sets.ids], dtype=np.int64)
    offset = np.repeat(sets.starts[:-1], np.diff(sets.row_starts))
    return numbers[sets.left + offset], numbers[sets.right + offset]


def _agreement(
    model: RecordModel, filled: Mapping[str, FloatArray], fixed: Mapping[str, float]
) -> Agreement:
    rates: dict[str, float] = {}
    intervals: dict[str, tuple[float, float]] = {}
    counts = []
    unseen = float(model.rates.mean())
    for source, sizes in filled.items():
        n = model.sources.index(source)
        total, good = float(model.claims[n].sum()), float(model.good[n].sum())
        rates[source] = fixed.get(source, (good + unseen) / (total + 1.0))
        right = float(sizes.sum()) * rates[source]
        learned = interval(right, float(sizes.sum()) - right, rates[source])
        intervals[source] = (rates[source], rates[source]) if source in fixed else learned
        for c, column in enumerate(model.columns):
            if model.claims[n, c] > 0:
                r, size = float(model.rates[n, c]), float(sizes[c])
                low, high = interval(size * r, size * (1 - r), r)
                counts.append(SlotReliability(source, column, r, low, high, int(size), size * r))
    by_slot = {(source, column): model.reliability(source, column)
               for source in filled for column in model.columns}  # fmt: skip
    return Agreement(rates, intervals, unseen, by_slot, tuple(counts))
