"""Fuse what several sources say: claims, records, results of runs or judgements."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita.app.batch import Failure, Failures
from partita.core import IntArray
from partita.core.tabular import Columns, Tabular, row_columns
from partita.errors import InputError
from partita.evaluation.fusion import SlotMeasure, measure_fusion
from partita.files.strict import shortened
from partita.fusion.answers import answers
from partita.fusion.claim_files import claim_columns, read_claims
from partita.fusion.claims import Claims, distinct, join_claims, latest_claims
from partita.fusion.copying import Copying
from partita.fusion.fuse import Fused, FusionSettings, ValueChange, changes_without, fuse_slots
from partita.fusion.kinds import Reading
from partita.fusion.sources import (
    CLAIMS,
    HIERARCHY,
    JUDGEMENTS,
    RECORDS,
    REPORTS,
    SOURCES,
    Content,
    FuseSource,
    NamedTable,
    read_nesting,
    read_objects,
    read_reliabilities,
    read_source,
    read_states,
    read_truths,
)
from partita.fusion.value_reading import ParsedSlot
from partita.fusion.warnings import belief_warnings
from partita.options import FuseOptions, LinkOptions, described
from partita.tables import Table, read_table
from partita.tables.reading import is_frame
from partita.templates.schema import Schema
from partita.templates.slots import symbol
from partita.views.fusion import entities_json, fused_json, held_out_tables

if TYPE_CHECKING:
    from partita.domains import Domain
    from partita.fusion.entities import FusedRecords, Task
    from partita.fusion.record_files import Slots
    from partita.fusion.record_sets import Known, LinkedTable, Linker
    from partita.fusion.run_results import RunResults
    from partita.fusion.source_records import SourceRecords
    from partita.linkage.record_tables import LinkageEngine


DOMAIN = "depots"
S = TypeVar("S")
T = TypeVar("T")


def _kinds(options: FuseOptions, of_sources: bool) -> dict[str, str]:
    """Return the kinds of sources, or those of slots, by name ("" for all)."""
    given = options.kinds or {}
    named = given.items() if isinstance(given, Mapping) else map(_named_kind, given)
    return {name: kind for name, kind in named if (kind in SOURCES) == of_sources}


def _named_kind(text: str) -> tuple[str, str]:
    """Parse NAME=KIND, or a kind for all."""
    name, _, kind = text.rpartition("=")
    return name, kind


SIDE_TABLES = ("truth", "known", "reliability", "hierarchy", "objects", "states")


def _with_tables(options: FuseOptions | None) -> FuseOptions:
    """Return the options with the tables of the files beside the sources, each read once."""
    chosen = options or FuseOptions()
    given = {name: getattr(chosen, name) for name in SIDE_TABLES}
    files = {name: one for name, one in given.items() if isinstance(one, str | os.PathLike)}
    tables: dict[str, Any] = {name: read_table(file) for name, file in files.items()}
    return replace(chosen, **tables)


def _table_notes(options: FuseOptions) -> list[str]:
    given = (getattr(options, name) for name in SIDE_TABLES)
    return [note for table in given if isinstance(table, Table) for note in table.notes]


def _reliabilities(options: FuseOptions, sources: Iterable[str]) -> dict[str, float]:
    """Return the reliabilities that are set; one of an unknown source is an error."""
    found = {} if options.reliability is None else read_reliabilities(options.reliability)
    _refuse_unknown(found, sources, options)
    return found


def _refuse_unknown(
    reliabilities: Mapping[str, float], sources: Iterable[str], options: FuseOptions
) -> None:
    """Raise an error for a reliability of an unknown source."""
    if unknown := sorted(reliabilities.keys() - set(sources)):
        problem = f"reliability of unknown source {unknown[0]}"
        given = options.reliability
        file = given.name if isinstance(given, Table) else None
        raise InputError(f"{problem} (expected a source of the claims)", file=file)


@dataclass(frozen=True, slots=True, eq=False)
class Fusion:
    """Fused claims, with their evaluation, the changes without a source, and notes."""

    fused: Fused
    measured: tuple[SlotMeasure, ...] = ()
    changes: tuple[ValueChange, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class EntityFusion:
    """Fused entities, with their domain, the changes without a source, and notes."""

    fused: FusedRecords
    domain: str
    changes: tuple[ValueChange, ...] = ()
    notes: tuple[str, ...] = ()
    failures: tuple[Failure, ...] = ()


def fuse_sources(sources: Sequence[Any], options: FuseOptions | None = None) -> AnyFusion:
    """Fuse sources: link records first where they name no objects, else fuse claims by object.

    A source or slot that fails is raised or reported, as `errors` says.
    """
    chosen = options or FuseOptions()
    failures = Failures(chosen.errors)
    read = read_sources(sources, chosen, failures)
    linked = not chosen.columns and needs_linkage(read, chosen.domain)
    fusion: AnyFusion = fuse_entities(read, chosen) if linked else fuse_claims(read, chosen)
    failures += fusion.failures
    return replace(fusion, failures=failures.warned("source or slot"))


def read_sources(
    sources: Sequence[Any], options: FuseOptions | None = None, failures: Failures | None = None
) -> list[FuseSource]:
    """Read every source once."""
    chosen = options or FuseOptions()
    kinds = _kinds(chosen, True)
    failures = Failures("raise") if failures is None else failures
    return _each_read(sources, lambda one: read_source(one, kinds, chosen.columns), failures)


def _source_name(source: Any, number: int) -> str:
    """Return what a source is called before it is read."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    return getattr(source, "name", None) or f"source {number}"


def _each_read(sources: Sequence[S], read: Callable[[S], T], failures: Failures) -> list[T]:
    """Return what is read of every source; if all of them fail, the first error is raised."""
    done: list[T] = []
    for number, one in enumerate(sources, 1):
        with failures.caught(_source_name(one, number)):
            done.append(read(one))
    if sources and not done:
        raise failures[-len(sources)].error
    return done


def fuse_claims(sources: Sequence[Any], options: FuseOptions | None = None) -> Fusion:
    """Fuse claims about named objects; a hierarchy may be among them."""
    chosen = _with_tables(options)
    failures = Failures(chosen.errors)
    chosen, read = _separate_hierarchy(chosen, read_sources(sources, chosen))
    claims = join_claims(*_each_read(read, lambda one: read_claims(one.table), failures))
    if chosen.latest:
        claims = latest_claims(claims, chosen.latest)
    if chosen.objects is not None:
        _refuse_unknown_objects(claims, read_objects(chosen.objects))
    fused = fuse_slots(claims, _settings(chosen, claims), failures.caught)
    measured = () if chosen.truth is None else measure_slots(fused, chosen.truth)
    changes = changes_without(fused, chosen.without) if chosen.without is not None else ()
    notes = (*claims.notes, *_table_notes(chosen), *_notes(fused))
    return Fusion(fused, measured, changes, notes, tuple(failures))


def _separate_hierarchy(
    options: FuseOptions, sources: Sequence[FuseSource]
) -> tuple[FuseOptions, list[FuseSource]]:
    """Move a hierarchy that is among the sources into the options."""
    hierarchies = [one for one in sources if one.kind == HIERARCHY and options.hierarchy is None]
    others = [one for one in sources if one not in hierarchies]
    if not hierarchies:
        return options, others
    if len(hierarchies) > 1 or not others:
        raise InputError("is a hierarchy; expected claims beside it", file=hierarchies[-1].name)
    return replace(options, hierarchy=hierarchies[0].table), others


def measure_slots(fused: Fused, truth: Any) -> tuple[SlotMeasure, ...]:
    """Evaluate every slot for which there are true values."""
    truths = read_truths(truth, [slot.name for slot in fused.slots])
    by_slot: dict[str, dict[str, str]] = {}
    for (name, slot), value in truths.items():
        by_slot.setdefault(slot, {})[name] = value
    nesting = fused.settings.reading.nesting
    tolerance = fused.settings.reading.tolerance
    return tuple(
        measure_fusion(fused.slot(slot), by_slot[slot], nesting, tolerance)
        for slot in sorted(by_slot)
    )


def _settings(options: FuseOptions, claims: Claims) -> FusionSettings:
    nesting = None if options.hierarchy is None else read_nesting(options.hierarchy)
    used = [claims.slots[n] for n in distinct(claims.slot).tolist()]
    return FusionSettings(
        kinds=_kinds(options, False),
        reading=Reading(
            options.tolerance,
            nesting,
            most_detailed=options.most_detailed,
            states={} if options.states is None else read_states(options.states),
        ),
        reliabilities=_reliabilities(options, claims.sources),
        truths={} if options.known is None else read_truths(options.known, used),
        separator=options.one_to_one,
        discount=options.discount_copies,
    )


def _refuse_unknown_objects(claims: Claims, objects: set[str]) -> None:
    unknown = [n for n, name in enumerate(claims.objects) if name not in objects]
    if unknown:
        first = int(np.flatnonzero(claims.object == unknown[0])[0])
        raise claims.located(first, f"refers to an unknown object {claims.objects[unknown[0]]}")


def _notes(fused: Fused) -> list[str]:
    """Return notes about unusual claims and about convergence."""
    notes = []
    for belief in fused.slots:
        statements, parsed = belief.parsed.statements, belief.parsed
        if statements.repeated and belief.state is None:
            notes.append(f"{belief.name}: {statements.repeated:,} repeated claims count once")
        if parsed.without_value:
            notes.append(f"{belief.name}: {parsed.without_value:,} lists contain no names")
        if parsed.damaged:
            notes.append(f"{belief.name}: {_damage_note(parsed)}")
        twice = _count_contradictions(statements.object, statements.source)
        if twice and belief.state is None:
            notes.append(f"{belief.name}: {twice:,} times a source says two things of one object")
        if note := _hierarchy_note(fused, belief.name):
            notes.append(f"{belief.name}: {note}")
        if not belief.converged:
            notes.append(f"{belief.name}: still moving after {belief.rounds} rounds")
        for warning in belief_warnings(belief):
            notes.append(f"warning: {belief.name}: {warning.text}; {warning.advice}")
    ignored = sorted(n for n, r in _fixed_reliabilities(fused).items() if r == 0.0)
    return [*notes, *(f"{name} has reliability 0 and is ignored" for name in ignored)]


SHOWN_DAMAGE = 3


def _damage_note(parsed: ParsedSlot) -> str:
    """Say how many values were set aside, and which are the first."""
    kind, count = "number" if parsed.kind == "number" else "date", len(parsed.damaged)
    first = (
        f"{shortened(repr(one.value))} by {one.source} ({one.file}{':' if one.file else 'line '}"
        f"{one.line})"
        for one in parsed.damaged[:SHOWN_DAMAGE]
    )
    what = (
        f"{count:,} values that are no {kind} are" if count > 1 else f"a value that is no {kind} is"
    )
    return f"{what} set aside: {', '.join(first)}{', …' if count > SHOWN_DAMAGE else ''}"


def _fixed_reliabilities(fused: Fused) -> dict[str, float]:
    return {**fused.claims.reliabilities, **fused.settings.reliabilities}


def _count_contradictions(objects: IntArray, sources: IntArray) -> int:
    key = objects * (int(sources.max(initial=0)) + 1) + sources
    counts = np.unique(key, return_counts=True)[1]
    return int((counts > 1).sum())


def _hierarchy_note(fused: Fused, name: str) -> str:
    """Return a note on the values of a slot that the hierarchy lacks, or nothing."""
    nesting, parsed = fused.settings.reading.nesting, fused.slot(name).parsed
    values = parsed.statements.values
    if nesting is None or parsed.kind != "open" or not fused.settings.reading.orders(values):
        return ""
    missing = [value for value in values if value not in nesting]
    if not missing:
        return ""
    return f"{len(missing):,} values are not in the hierarchy, such as {missing[0]}"


def needs_linkage(sources: Sequence[FuseSource], domain: str = "") -> bool:
    """Return whether the sources must be linked first: reports, or records without objects."""
    if domain or any(one.kind == REPORTS for one in sources):
        return True
    tables = [one.table for one in sources if one.kind == RECORDS]
    return any(isinstance(claim_columns(one.columns), str) for one in tables) or _own_ids(tables)


MIN_COMPARED = 20  # values with which two tables are compared by ids
MAX_COMPARED = 20_000  # rows of a table whose values are kept for that
MIN_EXCESS = 0.05  # agreement under equal ids beyond that by chance, if the ids mean the same


def _own_ids(tables: Sequence[Table]) -> bool:
    """Return whether several tables have ids of their own.

    This holds if no id stands in two tables, or if values under equal ids agree no more often than
    others.
    """
    read: list[dict[str, dict[str, str]]] = []
    for table in tables:
        by_id: dict[str, dict[str, str]] = {}
        columns = [name.strip().lower() for name in table.columns]
        if "id" not in columns or "source" in columns:
            return False
        for values in zip(*table.values, strict=True):
            texts = ("" if one is None else str(one).strip().lower() for one in values)
            row = dict(zip(columns, texts, strict=True))
            name = row.pop("id")
            by_id.setdefault(name, row if len(by_id) < MAX_COMPARED else {})
        read.append(by_id)
    return len(tables) > 1 and not _ids_agree(read)


def _ids_agree(tables: Sequence[Mapping[str, Mapping[str, str]]]) -> bool:
    """Return whether equal ids of tables mean the same, as far as their values tell."""
    shared, agreeing, by_chance, compared = False, 0, 0, 0
    for left, right in combinations(tables, 2):
        ids = sorted(left.keys() & right.keys())
        shared |= bool(ids)
        for one, other in zip(ids, [*ids[1:], *ids[:1]], strict=True):
            for name in left[one].keys() & right[one].keys() & right[other].keys():
                if left[one][name] and right[one][name] and right[other][name]:
                    compared += 1
                    agreeing += left[one][name] == right[one][name]
                    by_chance += left[one][name] == right[other][name]
    if compared < MIN_COMPARED:
        return shared
    return agreeing > by_chance + MIN_EXCESS * compared


def fuse_entities(sources: Sequence[Any], options: FuseOptions | None = None) -> EntityFusion:
    """Link the records and reports of all sources, and fuse each entity."""
    from partita.domains import find_domain
    from partita.fusion.record_files import table_slots
    from partita.fusion.run_results import read_run_results
    from partita.fusion.source_records import merge_records

    chosen = _with_tables(options)
    failures = Failures(chosen.errors)
    read = read_sources(sources, chosen)
    _refuse_options(chosen)
    if hierarchies := [one for one in read if one.kind == HIERARCHY]:
        problem = "is a hierarchy, which is for claims; reports and records follow their domain"
        raise InputError(problem, file=hierarchies[0].name)
    if not chosen.domain and _plain_tables(read):
        _refuse_one_source(read)
        slots = table_slots(one.table for one in read if one.kind == RECORDS)
        records = merge_records(_records(read, slots, {}, failures))
        task = _task(chosen, records, slots.schema, of_tables=True)
        fusion = _entities(task, records, chosen, "", _row_id_notes(records))
        return replace(fusion, failures=tuple(failures))
    runs: dict[str, RunResults] = {}
    for one in (one for one in read if one.kind == REPORTS):
        with failures.caught(one.name):
            runs[one.name] = read_run_results(one)
    name = chosen.domain or _domain([*runs.values()]) or DOMAIN
    domain = find_domain(name)
    records = merge_records(_records(read, _slots(domain), runs, failures))
    task = _task(chosen, records, domain.schema)
    fusion = _entities(task, records, chosen, Path(name).name, ())
    return replace(fusion, failures=tuple(failures))


def _task(options: FuseOptions, records: SourceRecords, schema: Schema, **others: Any) -> Task:
    from partita.fusion.entities import Task

    return Task(
        schema,
        record_linker(),
        reliabilities=_reliabilities(options, records.sources),
        tolerance=options.tolerance,
        top=options.top,
        latest=_latest_slots(options.latest, schema),
        **others,
    )


def _entities(
    task: Task, records: SourceRecords, options: FuseOptions, domain: str, notes: Iterable[str]
) -> EntityFusion:
    from partita.fusion.entities import entity_changes_without, fuse_records

    fused = fuse_records(records, task)
    changes = () if options.without is None else entity_changes_without(fused, options.without)
    tables = _table_notes(options)
    all_notes = (*records.notes, *tables, *notes, *_record_notes(records, fused), *fused.notes)
    return EntityFusion(fused, domain, changes, all_notes)


def record_linker(seed: int = 0) -> Linker:
    """Return how records are linked: as `partita link` does."""
    from partita.app.link import link_table

    def link(engine: LinkageEngine, known: Known) -> LinkedTable:
        return link_table(engine, None, LinkOptions(seed=seed), known=known)

    return link


def _latest_slots(names: Sequence[str], schema: Schema) -> frozenset[str]:
    """Return the slots with these names; an unknown one is an error."""
    slots = {symbol(slot): slot for slot in schema.slots}
    if unknown := [name for name in names if symbol(name) not in slots]:
        existing = ", ".join(schema.slots)
        raise InputError(f"--latest {unknown[0]}: unknown slot (expected one of {existing})")
    return frozenset(slots[symbol(name)] for name in names)


def _plain_tables(sources: Sequence[FuseSource]) -> bool:
    """Return whether there are tables of records whose columns are not slots of the default domain.

    Judgements may stand beside them.
    """
    from partita.domains import find_domain
    from partita.fusion.record_files import unknown_columns

    tables = [one.table for one in sources if one.kind == RECORDS]
    if not tables or {one.kind for one in sources} - {RECORDS, JUDGEMENTS}:
        return False
    slots = _slots(find_domain(DOMAIN))
    return any(unknown_columns(table.columns, slots) for table in tables)


def _refuse_one_source(sources: Sequence[FuseSource]) -> None:
    """Raise an error if there is one table of one source: nothing to fuse, or a missing header."""
    if len(sources) > 1:
        return
    columns = sources[0].table.columns
    problem = claim_columns(columns)
    if isinstance(problem, str) and "source" not in map(str.lower, columns):
        raise InputError(problem, file=sources[0].name)


def _row_id_notes(records: SourceRecords) -> Iterator[str]:
    """Say that equal ids of two tables are not taken for the same entity."""
    sources: dict[str, str] = {}
    for record in records.records:
        name = record.row_id
        if name and sources.setdefault(name, record.source) != record.source:
            yield (
                f"ids such as {name} stand in several tables, and the values under them do not "
                "agree: records are linked by their values (name the column object to link by ids)"
            )
            return


def _domain(runs: Sequence[RunResults]) -> str:
    """Return the domain of the results among the sources; refuse two different domains."""
    names = sorted({run.domain for run in runs if run.domain})
    if len(names) > 1:
        other = next(run for run in runs if run.domain == names[1])
        problem = f"has domain {names[1]} (expected {names[0]}, as in the other results)"
        raise InputError(problem, file=other.name)
    return names[0] if names else ""


def _slots(domain: Domain) -> Slots:
    """Return the slots of a domain, with those that hold the type of a template."""
    from partita.domains import RuleDomain
    from partita.fusion.record_files import Slots

    return Slots(domain.schema, domain.type_slots if isinstance(domain, RuleDomain) else ())


def _records(
    sources: Sequence[FuseSource],
    slots: Slots,
    runs: Mapping[str, RunResults],
    failures: Failures,
) -> list[SourceRecords]:
    """Return the records of every source; `runs` are the results that could be read, by name."""
    from partita.fusion.record_files import claim_records, judgement_records, table_records
    from partita.fusion.run_results import run_records

    def records(one: FuseSource) -> SourceRecords:
        if one.kind == REPORTS:
            return run_records(runs[one.name], slots.schema)
        if one.kind == RECORDS:
            return table_records(one.table, slots)
        return (
            claim_records(one.table, slots) if one.kind == CLAIMS else judgement_records(one.table)
        )

    readable = [one for one in sources if one.kind != REPORTS or one.name in runs]
    return _each_read(readable, records, failures)


def _record_notes(records: SourceRecords, fused: FusedRecords) -> list[str]:
    ignored = sorted(set(records.sources) - set(fused.records.sources))
    return [f"{name} has reliability 0 and is ignored" for name in ignored]


def _refuse_options(options: FuseOptions) -> None:
    """Raise an error for an option that does not apply to reports and records."""
    values = {
        "--truth": options.truth,
        "--known": options.known,
        "--hierarchy": options.hierarchy,
        "--objects": options.objects,
        "--most-detailed": options.most_detailed or None,
        "--states": options.states,
        "--one-to-one": options.one_to_one,
        "--discount-copies": options.discount_copies or None,
        "--kind of a slot": _kinds(options, False) or None,
    }
    for option, value in values.items():
        if value is not None:
            problem = "is for claims; reports and records follow their domain"
            raise InputError(f"{option} {problem}")


AnyFusion = Fusion | EntityFusion


def fuse_contents(
    sources: Sequence[Content | FuseSource], options: FuseOptions | None = None
) -> dict[str, Any]:
    """Fuse sources into one belief, and return what `partita fuse --json` prints.

    Of things (reports, records, or a domain is named):
    {"version", "domain", "notes": [text],
     "entities": [{"id", "sort", "name"?, "probability", "interval"? or "error"?, "sources": [name],
       "anchor": account, "set": name of its set,
       "slots": {slot: {"values": [{"value", "probability", "sources", "accounts"}],
                        "unknown", "conflict"}},
       "accounts": [{"id", "source", "message", "object"?, "said": {slot: {"value", "probability"}},
                     "templates": [{"source", "file", "line", "message", "template", "text",
                                    "start", "end"}]}]}],
     "sets": [a line of results, with "contradicted": [{"left", "right", "conflict"}]],
     "sources": [{"source", "reliability", "low", "high", "given", "accounts", "claims", "right",
                  "wrong", "slots": {slot: trust}}],
     "copying": [...], "compared": {"pairs", "of", "excluded", "sets_solved"},
     "without"?: {"source", "changes": [{"thing", "slot", "before", "before_probability", "after",
                                         "after_probability"}]}}
    Of claims and judgements alone: {"version", "notes", "objects", "sources", "copying", "slots",
    "without"?} as for claims, every slot of an object with its "conflict".
    Errors are PartitaError and name the source by its name.
    """
    chosen = options or FuseOptions()
    _refuse_names(sources)
    try:
        if isinstance(chosen.hierarchy, Content):
            _refuse_names([chosen.hierarchy])
            chosen = replace(chosen, hierarchy=read_source(chosen.hierarchy).table)
        fused = fuse_sources(sources, chosen)
    except InputError as error:  # whoever sends contents gives no options of a command
        problem = error.problem.removeprefix("--")
        raise InputError(problem, file=error.file, line=error.line, unit=error.unit) from None
    return report_of(fused, chosen.without) | {"notes": list(fused.notes)}


def _refuse_names(sources: Sequence[Content | FuseSource]) -> None:
    if not sources:
        raise InputError("no sources (expected at least one)")
    names = [source.name for source in sources]
    for n, name in enumerate(names):
        if not name or Path(name).name != name or name in (".", ".."):
            raise InputError(f"invalid source name {name!r} (expected a file name)")
        if name in names[:n]:
            raise InputError(f"duplicate source name {name} (expected unique names)")


def report_of(fused: AnyFusion, without: str | None = None) -> dict[str, Any]:
    """Return a fusion as `partita fuse --json` writes it."""
    if isinstance(fused, EntityFusion):
        return entities_json(fused.fused, fused.domain, fused.changes, without)
    return fused_json(fused.fused, fused.measured, fused.changes, without)


@dataclass(frozen=True, slots=True)
class BelievedValue:
    """A value that a slot of an object may have; None where none of the stated values is true."""

    object: str
    slot: str
    value: str | None
    probability: float
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceReliability:
    """How reliable a source is, within which interval, and how many claims it makes."""

    source: str
    slot: str
    reliability: float
    low: float
    high: float
    claims: int


@dataclass(frozen=True, slots=True, eq=False)
class Belief(Tabular):
    """What several sources say, as one belief: values with probabilities, sources with reliability.

    The values of one slot of one object add up to 1, most probable first and unknown last. `notes`
    say what was noticed in the sources. The tables are `values`, `sources` and `copying`. `fusion`
    has all that was computed.
    """

    fusion: AnyFusion
    without: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        return self.fusion.notes

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The sources and slots that failed, with `errors="report"`."""
        return self.fusion.failures

    @property
    def values(self) -> tuple[BelievedValue, ...]:
        """Every value of every slot, with its probability and the sources that state it."""
        by_object: dict[str, list[BelievedValue]] = {}
        for value in _believed_values(self.fusion):
            by_object.setdefault(value.object, []).append(value)
        return tuple(value for values in by_object.values() for value in values)

    @property
    def most_probable(self) -> dict[tuple[str, str], BelievedValue]:
        """The most probable value by object and slot."""
        best: dict[tuple[str, str], BelievedValue] = {}
        for believed in self.values:
            key = (believed.object, believed.slot)
            if key not in best or believed.probability > best[key].probability:
                best[key] = believed
        return best

    @property
    def sources(self) -> tuple[SourceReliability, ...]:
        """The reliability of every source, by slot where claims name slots."""
        return tuple(_source_reliabilities(self.fusion))

    @property
    def report(self) -> dict[str, Any]:
        """Everything as `partita fuse --json` writes it."""
        return self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as `partita fuse --json` writes it."""
        return report_of(self.fusion, self.without)

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "values": lambda: _field_columns(BelievedValue, self.values),
            "sources": lambda: _field_columns(SourceReliability, self.sources),
            "copying": lambda: row_columns(list(_copying(self.fusion))),
        }

    def _repr_html_(self) -> str:
        """Return the values, and for claims how far to believe them."""
        beliefs = self.fusion.fused.slots if isinstance(self.fusion, Fusion) else ()
        return Tabular._repr_html_(self) + held_out_tables(beliefs)

    def __repr__(self) -> str:
        objects = len({one.object for one in self.values})
        return f"Belief({objects:,} objects, {len(self.sources):,} reliabilities)"


def _believed_values(fusion: AnyFusion) -> Iterator[BelievedValue]:
    """Yield all values, those of a slot of an object together."""
    if isinstance(fusion, EntityFusion):
        for entity in fusion.fused.entities:
            for name, slot in entity.slots.items():
                for value in slot.values:
                    text = _text(value.value)
                    p, sources = value.probability.value, entity.sources_of(value.records)
                    yield BelievedValue(entity.id, name, text, p, sources)
                yield from _unknown(entity.id, name, slot.unknown)
        return
    for one in (answer for belief in fusion.fused.slots for answer in answers(belief)):
        for said in one.values:
            text = _text(said.value)
            yield BelievedValue(one.object, one.slot, text, said.probability, said.sources)
        yield from _unknown(one.object, one.slot, one.unknown)


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _unknown(name: str, slot: str, probability: float) -> Iterator[BelievedValue]:
    if probability > 0.0:
        yield BelievedValue(name, slot, None, probability)


def _source_reliabilities(fusion: AnyFusion) -> Iterator[SourceReliability]:
    if isinstance(fusion, Fusion):
        for one in (trust for belief in fusion.fused.slots for trust in belief.trust):
            low_high = (one.low, one.high)
            yield SourceReliability(one.source, one.slot, one.reliability, *low_high, one.claims)
    else:
        for trust in fusion.fused.source_trusts():
            low_high = (trust.low, trust.high)
            yield SourceReliability(trust.source, "", trust.reliability, *low_high, trust.claims)


def _copying(fusion: AnyFusion) -> Iterator[dict[str, Any]]:
    found: Sequence[Copying] = ()
    if isinstance(fusion, EntityFusion):
        from partita.fusion.entities import find_copying_sources

        found = find_copying_sources(fusion.fused)
    elif isinstance(fusion, Fusion):
        found = fusion.fused.copying
    yield from ({**asdict(one), "share": one.share} for one in found)


def _field_columns(record: Any, rows: Sequence[Any]) -> Columns:
    return {one.name: [getattr(row, one.name) for row in rows] for one in fields(record)}


@described(FuseOptions)
def fuse(
    claims: Any,
    *,
    truth: Any = None,
    known: Any = None,
    reliability: Any = None,
    hierarchy: Any = None,
    states: Any = None,
    most_detailed: bool = False,
    objects: Any = None,
    columns: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    tolerance: float = 0.0,
    one_to_one: str | None = None,
    discount_copies: bool = False,
    without: str | None = None,
    latest: Sequence[str] = (),
    domain: str = "",
    top: int | None = None,
    errors: str = "raise",
) -> Belief:
    """Combine what several sources say into one belief.

    `claims` is a file, a data frame, a list of dicts, a list of tuples (object, source, value) or
    (object, source, slot, value), a list of files and data frames, or a mapping from the names of
    sources to these. Columns are those of the files of `partita fuse`: object, source and either
    value or one column for each slot. Without a column source, each file or name is a source.

    `truth` (to measure against), `known` (to learn from), `reliability`, `hierarchy` and `objects`
    are tables in the same forms, or mappings: truths by object, reliabilities by source, parents
    by name. `kinds` gives the kind of a slot, as in {"built": "date"}. The other arguments are the
    options of the command `partita fuse`.

    A source that cannot be read, or a slot whose claims cannot be fused, raises its error. With
    `errors="report"` the others are fused: the result has `failures`, each with `name` and `error`,
    and a warning counts them.
    """
    options = FuseOptions.of(locals())
    return Belief(fuse_sources([*_sources(claims)], options), without)


def _sources(claims: Any) -> Iterator[Any]:
    """Yield a table, the tables of a list, or tables with the names of their sources."""
    if isinstance(claims, Mapping):
        yield from (NamedTable(str(name), one) for name, one in claims.items())
        return
    if isinstance(claims, str | os.PathLike) or is_frame(claims):
        yield claims
        return
    if not isinstance(claims, Iterable):
        expected = "a file, a data frame, a list of dicts or tuples, or a list of these"
        raise TypeError(f"claims must be {expected}, not {type(claims).__name__}")
    listed = list(claims)
    if not listed:
        raise InputError("no sources (expected at least one)")
    if isinstance(listed[0], Mapping | tuple):
        yield listed
        return
    for n, one in enumerate(listed, 1):
        file = isinstance(one, str | os.PathLike)
        yield one if file else NamedTable(f"claims-{n}", one)
