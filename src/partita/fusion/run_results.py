"""Read results of a run as records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import combinations
from typing import Any

from partita.core import Assertion, Entity, Pair, Template, pair
from partita.core.templates import ASSERTIONS, WEIGHTS
from partita.errors import InputError
from partita.files.strict import Place
from partita.fusion.source_records import Origin, SourceRecord, SourceRecords
from partita.fusion.sources import REPORTS, read_source
from partita.results.saved_results import Alone, Result, result_of
from partita.templates.schema import Schema

TYPE_SEPARATOR = " & "  # between the types of an entity with several; its anchor has one
MIN_PROBABILITY = 0.5  # values less probable in the message itself are left out


@dataclass(slots=True)
class _RunReader:
    """The records read from a file so far."""

    file: str
    source: str
    schema: Schema
    records: list[SourceRecord] = field(default_factory=list)
    same_message: dict[Pair, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class RunResults:
    """The results of a run as they were read, and where each of them is."""

    name: str
    source: str
    results: tuple[tuple[Place, Result | Alone], ...]

    @property
    def domain(self) -> str:
        """The domain of the run, or "" if no line gives it."""
        return next((one.domain for _, one in self.results if isinstance(one, Alone)), "")


def read_run_results(given: Any) -> RunResults:
    """Read the results of a run; their source is the file."""
    read = read_source(given, kinds={"": REPORTS})
    results = tuple((place, result_of(row, place)) for place, row in read.rows())
    return RunResults(read.name, read.source, results)


def run_records(run: RunResults, schema: Schema) -> SourceRecords:
    """Return the records of all messages of a run."""
    read = _RunReader(run.name, run.source, schema)
    days = {one.message: date.fromisoformat(one.date).toordinal() for _, one in run.results
            if isinstance(one, Alone) and one.date}  # fmt: skip
    for place, result in run.results:
        if isinstance(result, Alone):
            read.records += [
                _singleton_record(template, result.message, place, read)
                for template in result.templates
            ]
        else:
            _add_set(result, place, read)
    if not read.records:
        raise InputError("has no templates; expected results of run", file=read.file)
    records = (replace(one, stated=days.get(one.message, 0)) for one in read.records)
    return SourceRecords(tuple(records), read.same_message)


def _singleton_record(
    template: Template, message: str, place: Place, read: _RunReader
) -> SourceRecord:
    origin = _origin(template, message, place, read)
    confidence = {
        slot: WEIGHTS[one.status]
        for one in template.assertions
        for slot in one.slots
        if one.status != "denied"
    }
    return SourceRecord.of(read.source, message, template, read.schema, [origin], confidence)


def _add_set(result: Result, place: Place, read: _RunReader) -> None:
    if not result.entities:
        place.refuse(f"set {result.set.name!r} has no entities; expected results of run")
    templates = {template.id: template for template in result.set.templates}
    records = [_record(entity, templates, result, place, read) for entity in result.entities]
    position = {name: n for n, name in enumerate(result.set.ids)}
    for (left, a), (right, b) in combinations(zip(result.entities, records, strict=True), 2):
        probability = float(result.marginals.value[position[left.anchor], position[right.anchor]])
        if probability > 0.0:
            read.same_message[pair(a.id, b.id)] = probability
    read.records += records


def _record(
    entity: Entity,
    templates: Mapping[str, Template],
    result: Result,
    place: Place,
    read: _RunReader,
) -> SourceRecord:
    """Make a record of an entity, with the values that its distribution makes likely."""
    if unknown := [n for n in (entity.anchor, *entity.templates) if n not in templates]:
        place.refuse(f"entity {entity.id} names {unknown[0]}, which is not one of the templates")
    slots: dict[str, Any] = {}
    confidence: dict[str, float] = {}
    for name, values in entity.slots.items():
        best = next((one for one in values if one.value is not None), None)
        if best is not None and best.probability >= MIN_PROBABILITY:
            slots[name], confidence[name] = best.value, best.probability
    anchor = templates[entity.anchor]
    entity_type = anchor.type if TYPE_SEPARATOR in entity.type else entity.type
    denied = [Assertion("denied", one.slots, one.cue).plain() for one in entity.denied]
    anchor = replace(
        anchor, slots=slots, type=entity_type, context={**anchor.context, ASSERTIONS: denied}
    )
    origins = _origins([templates[n] for n in entity.templates], entity.anchor, result, place, read)
    message = result.message
    return SourceRecord.of(read.source, message, anchor, read.schema, origins, confidence)


def _origins(
    members: Iterable[Template], anchor: str, result: Result, place: Place, read: _RunReader
) -> Sequence[Origin]:
    """Return the origins of an entity's templates, the anchor first, then in text order."""
    ordered = sorted(members, key=lambda template: (template.id != anchor, template.start))
    return [_origin(template, result.message, place, read) for template in ordered]


def _origin(template: Template, message: str, place: Place, read: _RunReader) -> Origin:
    return Origin(
        read.source,
        read.file,
        place.line or 0,
        message,
        template.id,
        template.text,
        template.start,
        template.end,
    )
