"""The fused values of the slots of an entity.

P(x = v) = Σ_{cells C ∋ anchor} P(C)·P(v | claims of the records of C). The second factor is that
of claim fusion: a source is exact, general or guessing, and values that no source states are
unknown. A record claims each value with the probability given by the message's own distribution.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

import numpy as np

from partita.core import Figure, Pair
from partita.core.cells import CellProbabilities
from partita.entities.entities import AnchorCells
from partita.fusion.belief import Parameters, SlotBelief
from partita.fusion.claims import Claims
from partita.fusion.fuse import FusionSettings, fuse_slots
from partita.fusion.kinds import Reading
from partita.fusion.open_slots import GUESS
from partita.fusion.record_sets import Reliabilities
from partita.fusion.source_records import SourceRecord
from partita.fusion.states import fuse_states
from partita.fusion.value_reading import decode_value, display_text, encode_value
from partita.fusion.warnings import conflict
from partita.templates.name import Name
from partita.templates.schema import OWN_TYPE, Schema
from partita.templates.slots import StateGroup, Strings, StringsType, Value

SAME_SOURCE = 0.5  # dependence of two messages of one source that state the same
MAX_CHOICES = 64  # combinations of records considered for one slot
MIN_CHOICE = 1e-4  # their least probability; the rest counts as unknown
Row = tuple[str, str, str, str, float]


@dataclass(frozen=True, slots=True)
class FusedValue:
    """A value, its probability, and the records that state it or a more general one."""

    value: Any
    text: str
    probability: Figure
    records: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EntitySlot:
    """The values of a slot, which with `unknown` add up to 1, and the sources' conflict κ."""

    values: tuple[FusedValue, ...]
    unknown: float
    conflict: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class EntityView:
    """An entity as seen from one record, the anchor: the cells around it and its own members."""

    records: tuple[SourceRecord, ...]
    around: AnchorCells
    cell: tuple[int, ...]
    anchor: str


@dataclass(slots=True)
class _Requests:
    """Objects to fuse: each combination of records that fill a slot, once.

    `known` are documents with rates of their own. `reports` are the states that records give, by
    slot, with the day of each.
    """

    latest: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    states: Mapping[str, tuple[StateGroup, ...]] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    reports: dict[str, list[tuple[Row, int]]] = field(default_factory=dict)
    documents: dict[str, str] = field(default_factory=dict)
    dependence: dict[Pair, float] = field(default_factory=dict)
    names: dict[tuple[str, tuple[str, ...]], str] = field(default_factory=dict)
    uses: dict[str, int] = field(default_factory=dict)

    def name(self, slot: str, records: Sequence[SourceRecord]) -> str:
        records = latest_records(records) if slot in self.latest else records
        key = (slot, tuple(record.id for record in records))
        if key not in self.names:
            self.names[key] = self._label(slot, records[0])
            self.rows += self._claims(records, self.names[key], slot)
        return self.names[key]

    def _claims(self, records: Sequence[SourceRecord], entity: str, slot: str) -> Iterator[Row]:
        """Yield the claims; those of several messages of a source are statements of their own."""
        times = Counter(record.source for record in records if record.is_document)
        several: dict[str, list[str]] = {}
        for record in records:
            source, *_, confidence = claim_row(record, entity, slot)
            if record.document in self.known or (record.is_document and times[record.source] > 1):
                self.documents[record.document], source = record.source, record.document
                if times[record.source] > 1:
                    several.setdefault(record.source, []).append(record.document)
            states, others = self._states(record.values[slot], slot)
            for state in states:
                report = (source, entity, slot, state, confidence)
                self.reports.setdefault(slot, []).append((report, record.stated))
            if others is not None:
                yield source, entity, slot, encode_value(others), confidence
        for names in several.values():
            for a, b in combinations(sorted({*names}), 2):
                self.dependence[a, b] = SAME_SOURCE

    def _states(self, value: Value, slot: str) -> tuple[list[str], Value | None]:
        """Return the states that a value names, and the value without them."""
        named = {value for group in self.states.get(slot, ()) for value in group.values}
        if not named or not isinstance(value, Strings):
            return [], value
        others = value.members - named
        return sorted(value.members & named), Strings(others) if others else None

    def _label(self, slot: str, first: SourceRecord) -> str:
        """Return a unique and readable name for messages about the object."""
        name = ", ".join(filter(None, (first.object or first.id, slot)))
        self.uses[name] = self.uses.get(name, 0) + 1
        return name if self.uses[name] == 1 else f"{name} ({self.uses[name]})"


def latest_records(records: Sequence[SourceRecord]) -> list[SourceRecord]:
    """Return the last record of every source."""
    last: dict[str, SourceRecord] = {}
    for record in records:
        if record.source not in last or record.when > last[record.source].when:
            last[record.source] = record
    return [record for record in records if last[record.source] is record]


def claim_row(record: SourceRecord, entity: str, slot: str) -> Row:
    """Return the claim of a record about a slot."""
    return (
        record.source,
        entity,
        slot,
        encode_value(record.values[slot]),
        record.slot_confidence(slot),
    )


def view_alone(record: SourceRecord) -> EntityView:
    cells = CellProbabilities({(0,): 1.0})
    return EntityView((record,), AnchorCells.of(cells, 0), (0,), record.id)


def view_of_cell(
    records: tuple[SourceRecord, ...], cells: CellProbabilities, cell: tuple[int, ...]
) -> EntityView:
    """Return the view from the record of the cell that fills most slots."""
    anchor = max(cell, key=lambda n: (len(records[n].values), -n))
    around = AnchorCells.of(cells, anchor)
    return EntityView(records, around, cell, records[anchor].id)


def typed_reading(schema: Schema, tolerance: float = 0.0) -> Reading:
    """Return how slots are parsed: by the schema's types, with the type as a slot."""
    entity_type = {} if schema.types is None else {OWN_TYPE: schema.slot(OWN_TYPE)}
    return Reading(tolerance, types={**entity_type, **schema.slots})


def slots_of(
    entities: Sequence[EntityView],
    schema: Schema,
    settings: FusionSettings,
    reliabilities: Reliabilities,
    latest: frozenset[str] = frozenset(),
) -> list[dict[str, EntitySlot]]:
    """Return the slots of all entities; each combination of records is fused once.

    In the slots of `latest`, only the last record of each source counts.
    """
    rated = {name for parameters in settings.fixed.values() for name in parameters.rates}
    own = {one.document for view in entities for one in view.records if one.is_document}
    states = {name: kind.groups for name, kind in schema.slots.items()
              if isinstance(kind, StringsType) and kind.groups}  # fmt: skip
    requests = _Requests(latest, frozenset(rated & own), states)
    choices_by_entity = [
        {slot: _record_choices(view, slot, requests) for slot in _filled_slots(view, schema)}
        for view in entities
    ]
    answers = _fuse_requests(requests, settings)
    return [
        {slot: _mix_choices(view, slot, choices, answers, schema, reliabilities)
         for slot, choices in slots.items()}
        for view, slots in zip(entities, choices_by_entity, strict=True)
    ]  # fmt: skip


def _filled_slots(view: EntityView, schema: Schema) -> list[str]:
    nearby = set().union(*view.around.holding)
    filled = {name for n in nearby for name in view.records[n].values}
    return [name for name in (OWN_TYPE, *schema.slots) if name in filled]


def _record_choices(view: EntityView, slot: str, requests: _Requests) -> list[tuple[str, float]]:
    """Return the combinations of records that fill the slot, with their probabilities."""
    fills = {n for n, record in enumerate(view.records) if slot in record.values}
    sums: dict[tuple[int, ...], float] = {}
    for cell, share in view.around.holding.items():
        if share >= MIN_CHOICE / MAX_CHOICES:
            filled = tuple(n for n in cell if n in fills)
            sums[filled] = sums.get(filled, 0.0) + share
    choices = []
    for filled in sorted(sums, key=lambda one: (-sums[one], [-n for n in one]))[:MAX_CHOICES]:
        if filled and sums[filled] >= MIN_CHOICE:
            records = [view.records[n] for n in filled]
            choices.append((requests.name(slot, records), sums[filled]))
    return choices


def _fuse_requests(
    requests: _Requests, settings: FusionSettings
) -> dict[str, list[tuple[str, float]]]:
    """Return the values of every requested object, with their probabilities."""
    slots = {row[2] for row in requests.rows} | {*requests.reports}
    fixed = {slot: _with_documents(settings.fixed[slot], requests) for slot in sorted(slots)}
    given = {name: settings.reliabilities[source] for name, source in requests.documents.items()
             if source in settings.reliabilities}  # fmt: skip
    reliabilities = {**settings.reliabilities, **given}
    answers: dict[str, list[tuple[str, float]]] = {}
    if requests.rows:
        typed = {slot: fixed[slot] for slot in {row[2] for row in requests.rows}}
        settings = replace(settings, fixed=typed, reliabilities=reliabilities)
        fused = fuse_slots(Claims.of(requests.rows), settings)
        answers = {name: list(values) for one in fused.slots
                   for name, values in _values_by_object(one)}  # fmt: skip
    for slot, reports in requests.reports.items():
        groups = requests.states[slot]
        for belief in _state_beliefs(slot, groups, reports, fixed[slot], reliabilities):
            stated = {(row[1], row[3]) for row, _ in reports}
            for name, values in _values_by_object(belief):
                named = [(one, p) for one, p in values if (name, one) in stated]
                answers[name] = _together(answers.get(name), named)
    return answers


def _state_beliefs(
    slot: str,
    groups: tuple[StateGroup, ...],
    reports: Sequence[tuple[Row, int]],
    parameters: Parameters,
    given: Mapping[str, float],
) -> Iterator[SlotBelief]:
    """Yield the belief about every group of states: reports of different days may all be true.

    The sources have the reliability that was learned from all slots.
    """
    claims = Claims.of([row for row, _ in reports])
    learned = {source: 1.0 - float(parameters.rates.get(source, parameters.pooled)[0, GUESS])
               for source in claims.sources}  # fmt: skip
    days = np.array([day for _, day in reports], dtype=np.int64)
    return fuse_states(replace(claims, stated=days), slot, groups, {**learned, **given}, {})


def _together(
    before: Sequence[tuple[str, float]] | None, states: Sequence[tuple[str, float]]
) -> list[tuple[str, float]]:
    """Return values of which each has a state beside what was known before; groups are free."""
    if before is None:
        return [(json.dumps([one], ensure_ascii=False), p) for one, p in states]
    return [
        (json.dumps(sorted({*decode_value(value), one}), ensure_ascii=False), p * q)
        for (value, p), (one, q) in product(before, states)
    ]


def _with_documents(parameters: Parameters, requests: _Requests) -> Parameters:
    """Give new documents the rates of their source, and make those of one source dependent."""
    rates = {name: parameters.rates.get(source, parameters.pooled)
             for name, source in requests.documents.items()}  # fmt: skip
    return replace(parameters, rates={**rates, **parameters.rates}, dependence=requests.dependence)


def _values_by_object(belief: SlotBelief) -> Iterable[tuple[str, list[tuple[str, float]]]]:
    statements = belief.parsed.statements
    for number, name in enumerate(statements.objects):
        yield name, [(statements.values[v], p) for v, p in belief.of(number)]


def _mix_choices(
    view: EntityView,
    slot: str,
    choices: Sequence[tuple[str, float]],
    answers: Mapping[str, Sequence[tuple[str, float]]],
    schema: Schema,
    reliabilities: Reliabilities,
) -> EntitySlot:
    """Average over all combinations; values with the same text are added up."""
    kind = schema.slot(slot)
    spelled = _spellings(view, slot) if schema.types is None else {}
    shares: dict[str, float] = {}
    forms: dict[str, Value] = {}
    for name, share in choices:
        for encoded, p in answers[name]:
            value = kind.read(decode_value(encoded))
            label = spelled.get(text := display_text(value), text)
            shares[label] = shares.get(label, 0.0) + share * p
            forms.setdefault(label, value)
    order = sorted(shares, key=lambda label: (-shares[label], label))
    members = [view.records[n] for n in view.cell if slot in view.records[n].values]
    values = tuple(
        FusedValue(
            label if spelled else forms[label].json(),
            label,
            view.around.cells.figure(shares[label]),
            tuple(record.id for record in members
                  if kind.unify(record.values[slot], forms[label]) == forms[label]),
        )
        for label in order
        if shares[label] > 0.0
    )  # fmt: skip
    masses = {
        record.id: (
            record.values[slot],
            reliabilities.record(record) * record.slot_confidence(slot),
        )
        for record in members
    }
    unknown = max(0.0, 1.0 - sum(value.probability.value for value in values))
    return EntitySlot(values, unknown, conflict(masses, kind))


def _spellings(view: EntityView, slot: str) -> dict[str, str]:
    """Return the most frequent spelling of each name, as the records have it."""
    texts: dict[str, Counter[str]] = {}
    for record in view.records:
        if isinstance(value := record.values.get(slot), Name):
            text = str(record.template.slots[slot])
            texts.setdefault(display_text(value), Counter())[text] += 1
    return {name: max(sorted(count), key=count.__getitem__) for name, count in texts.items()}
