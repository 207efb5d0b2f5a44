"""Fuse files of several sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from partita.core import IntArray
from partita.domains import Domain, RuleDomain, find_domain, maximum_entropy
from partita.errors import InputError
from partita.evaluation.fusion import SlotMeasure, measure
from partita.fusion.account_files import (
    Slots,
    claim_accounts,
    column_texts,
    judgement_accounts,
    record_accounts,
    unknown_columns,
)
from partita.fusion.account_results import result_accounts, result_domain
from partita.fusion.accounts import Accounts, merge_accounts, row_id
from partita.fusion.across import FusedAccounts, Task, ThingChange, fuse_accounts
from partita.fusion.across import changes_without as entity_changes_without
from partita.fusion.claim_files import claim_columns, claim_table, read_claims
from partita.fusion.claims import Claims, join_claims, latest_claims
from partita.fusion.fuse import Change, Fused, Settings, changes_without, fuse
from partita.fusion.kinds import Reading
from partita.fusion.mass_functions import (
    CombinedMasses,
    MassFile,
    SourceMasses,
    claim_masses,
    combine_masses,
    mass_changes_without,
    read_masses,
)
from partita.fusion.record_values import table_schema
from partita.fusion.side_files import (
    SOURCES,
    is_nesting,
    json_kind,
    read_nesting,
    read_objects,
    read_reliabilities,
    read_truths,
    source_kind,
)
from partita.fusion.warnings import belief_warnings
from partita.templates.schema import Schema
from partita.templates.words import symbol


@dataclass(frozen=True, slots=True)
class FuseOptions:
    """Options of a fusion, as the command `partita fuse` takes them."""

    truth: Path | None = None
    known: Path | None = None
    reliability: Path | None = None
    hierarchy: Path | None = None
    objects: Path | None = None
    columns: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    tolerance: float = 0.0
    separator: str | None = None
    discount: bool = False
    without: str | None = None
    latest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Fusion:
    """Fused claims, with their evaluation, the changes without a source, and notes."""

    fused: Fused
    measured: tuple[SlotMeasure, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = field(default=())


def fuse_files(paths: Sequence[str | Path], options: FuseOptions | None = None) -> Fusion:
    """Fuse files of claims about named objects."""
    chosen, paths = _separate_hierarchy(options or FuseOptions(), paths)
    claims = join_claims(*(read_claims(path, chosen.columns) for path in paths))
    if chosen.latest:
        claims = latest_claims(claims, chosen.latest)
    if chosen.objects is not None:
        _refuse_unknown_objects(claims, read_objects(chosen.objects))
    fused = fuse(claims, _settings(chosen, claims))
    measured: tuple[SlotMeasure, ...] = ()
    if chosen.truth is not None:
        measured = measure_slots(fused, chosen.truth)
    changes = changes_without(fused, chosen.without) if chosen.without is not None else ()
    return Fusion(fused, measured, changes, (*claims.notes, *_notes(fused)))


def _separate_hierarchy(
    options: FuseOptions, paths: Sequence[str | Path]
) -> tuple[FuseOptions, Sequence[str | Path]]:
    """Move a hierarchy that is among the sources into the options."""
    hierarchies = (
        [] if options.hierarchy or options.columns else [p for p in paths if is_nesting(p)]
    )
    if not hierarchies:
        return options, paths
    if len(hierarchies) > 1 or len(hierarchies) == len(paths):
        raise InputError("is a hierarchy; expected claims beside it", file=str(hierarchies[-1]))
    return replace(options, hierarchy=Path(hierarchies[0])), [
        p for p in paths if p not in hierarchies
    ]


def measure_slots(fused: Fused, truth: Path) -> tuple[SlotMeasure, ...]:
    """Evaluate every slot for which the file has true values."""
    truths = read_truths(truth, [slot.name for slot in fused.slots])
    by_slot: dict[str, dict[str, str]] = {}
    for (name, slot), value in truths.items():
        by_slot.setdefault(slot, {})[name] = value
    nesting = fused.settings.reading.nesting
    tolerance = fused.settings.reading.tolerance
    return tuple(
        measure(fused.slot(slot), by_slot[slot], nesting, tolerance) for slot in sorted(by_slot)
    )


def _settings(options: FuseOptions, claims: Claims) -> Settings:
    nesting = None if options.hierarchy is None else read_nesting(options.hierarchy)
    used = [claims.slots[n] for n in np.unique(claims.slot).tolist()]
    return Settings(
        kinds=dict(_slot_kind(text) for text in options.kinds),
        reading=Reading(options.tolerance, nesting),
        reliabilities=_reliabilities(options, claims),
        truths={} if options.known is None else read_truths(options.known, used),
        separator=options.separator,
        discount=options.discount,
    )


def _slot_kind(text: str) -> tuple[str, str]:
    """Parse SLOT=KIND, or a kind for all slots."""
    slot, equals, kind = text.rpartition("=")
    return (slot, kind) if equals else ("", text)


def _reliabilities(options: FuseOptions, claims: Claims) -> dict[str, float]:
    reliabilities = {} if options.reliability is None else read_reliabilities(options.reliability)
    _refuse_unknown_sources(reliabilities, claims.sources, options.reliability)
    return reliabilities


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
        if statements.repeated:
            notes.append(f"{belief.name}: {statements.repeated:,} repeated claims count once")
        if parsed.without_value:
            notes.append(f"{belief.name}: {parsed.without_value:,} lists contain no names")
        if contradictions := _count_contradictions(statements.object, statements.source):
            notes.append(
                f"{belief.name}: {contradictions:,} times a source says two things of one object"
            )
        if note := _hierarchy_note(fused, belief.name):
            notes.append(f"{belief.name}: {note}")
        if not belief.converged:
            notes.append(f"{belief.name}: still moving after {belief.rounds} rounds")
        for warning in belief_warnings(belief):
            notes.append(f"warning: {belief.name}: {warning.text}; {warning.advice}")
    ignored = sorted(n for n, r in _fixed_reliabilities(fused).items() if r == 0.0)
    return [*notes, *(f"{name} has reliability 0 and is ignored" for name in ignored)]


def _fixed_reliabilities(fused: Fused) -> dict[str, float]:
    return {**fused.claims.reliabilities, **fused.settings.reliabilities}


def _count_contradictions(objects: IntArray, sources: IntArray) -> int:
    counts = np.unique(np.stack([objects, sources]), axis=1, return_counts=True)[1]
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


DOMAIN = "depots"


@dataclass(frozen=True, slots=True)
class EntityOptions:
    """Options of a fusion that links records first; `kinds` gives kinds of files by name."""

    domain: str = ""
    parameters: Path | None = None
    reliability: Path | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.0
    without: str | None = None
    top: int | None = None
    seed: int = 0
    latest: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class EntityFusion:
    """Fused entities, with their domain, the changes without a source, and notes."""

    fused: FusedAccounts
    domain: str
    changes: tuple[ThingChange, ...] = ()
    notes: tuple[str, ...] = ()


def source_kinds(paths: Sequence[str | Path], forced: Mapping[str, str]) -> dict[str, str]:
    """Return the kind of every file, as forced by path, by name or for all, or else detected."""
    kinds = {}
    for path in map(str, paths):
        kind = _forced_kind(path, forced)
        if kind is not None and kind not in SOURCES:
            raise InputError(f"unknown kind {kind} (expected {', '.join(SOURCES)})", file=path)
        kinds[path] = kind or source_kind(path)
    return kinds


def _forced_kind(path: str, forced: Mapping[str, str]) -> str | None:
    """Return the kind that is set for a file by its path, by its name, or for all files."""
    return forced.get(path) or forced.get(Path(path).name) or forced.get("")


def needs_linkage(kinds: Mapping[str, str], domain: str) -> bool:
    """Return whether the sources must be linked first: reports, or records without objects."""
    if domain or "reports" in kinds.values():
        return True
    tables = [path for path, kind in kinds.items() if kind == "records"]
    return any(map(_lacks_objects, tables)) or _own_ids(tables)


MIN_COMPARED = 20  # values with which two tables are compared by ids
MAX_COMPARED = 20_000  # rows of a table whose values are kept for that
MIN_EXCESS = 0.05  # agreement under equal ids beyond that by chance, if the ids mean the same


def _own_ids(tables: Sequence[str]) -> bool:
    """Return whether several tables have ids of their own.

    This holds if no id stands in two tables, or if values under equal ids agree no more often than
    others.
    """
    read: list[dict[str, dict[str, str]]] = []
    for path in tables:
        by_id: dict[str, dict[str, str]] = {}
        table = claim_table(path)
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


def fuse_entities(
    paths: Sequence[str | Path], options: EntityOptions | None = None
) -> EntityFusion:
    """Link the accounts of all sources, and fuse each entity."""
    chosen = options or EntityOptions()
    kinds = source_kinds(paths, chosen.kinds)
    if not chosen.domain and chosen.parameters is None and _plain_tables(kinds):
        _refuse_one_source(kinds)
        return _fuse_tables(kinds, chosen)
    domain = chosen.domain or _domain(kinds) or DOMAIN
    model_domain = find_domain(domain)
    if chosen.parameters is not None:
        model_domain = model_domain.with_parameters(chosen.parameters)
    model = maximum_entropy(model_domain.pair_model("evidential"))
    accounts = merge_accounts(_accounts(kinds, _slots(model_domain)))
    reliabilities = {} if chosen.reliability is None else read_reliabilities(chosen.reliability)
    _refuse_unknown_sources(reliabilities, accounts.sources, chosen.reliability)
    task = Task(
        model_domain.schema,
        model,
        reliabilities,
        chosen.tolerance,
        chosen.top,
        seed=chosen.seed,
        latest=_latest_slots(chosen.latest, model_domain.schema),
    )
    fused = fuse_accounts(accounts, task)
    changes = () if chosen.without is None else entity_changes_without(fused, chosen.without)
    return EntityFusion(
        fused, Path(domain).name, changes, (*accounts.notes, *_account_notes(accounts, fused))
    )


def _latest_slots(names: Sequence[str], schema: Schema) -> frozenset[str]:
    """Return the slots with these names; an unknown one is an error."""
    slots = {symbol(slot): slot for slot in schema.slots}
    if unknown := [name for name in names if symbol(name) not in slots]:
        existing = ", ".join(schema.slots)
        raise InputError(f"--latest {unknown[0]}: unknown slot (expected one of {existing})")
    return frozenset(slots[symbol(name)] for name in names)


def _plain_tables(kinds: Mapping[str, str]) -> bool:
    """Return whether there are tables of records whose columns are not slots of the default domain.

    Judgements may stand beside them.
    """
    tables = [path for path, kind in kinds.items() if kind == "records"]
    if not tables or set(kinds.values()) - {"records", "judgements"}:
        return False
    slots = _slots(find_domain(DOMAIN))
    return any(unknown_columns(claim_table(path).columns, slots) for path in tables)


def _refuse_one_source(kinds: Mapping[str, str]) -> None:
    """Raise an error if there is one table of one source: nothing to fuse, or a missing header."""
    if len(kinds) > 1:
        return
    [path] = kinds
    columns = _header(path)
    problem = claim_columns(columns)
    if isinstance(problem, str) and "source" not in map(str.lower, columns):
        raise InputError(problem, file=path)


def _fuse_tables(kinds: Mapping[str, str], options: EntityOptions) -> EntityFusion:
    """Link the records of tables without a domain by a comparison learned from them, and fuse."""
    tables = [path for path, kind in kinds.items() if kind == "records"]
    slots = Slots(table_schema(column_texts(tables)))
    accounts = merge_accounts(_accounts(kinds, slots))
    reliabilities = {} if options.reliability is None else read_reliabilities(options.reliability)
    _refuse_unknown_sources(reliabilities, accounts.sources, options.reliability)
    task = Task(slots.schema, None, reliabilities, options.tolerance, options.top,
                seed=options.seed, records=True,
                latest=_latest_slots(options.latest, slots.schema))  # fmt: skip
    fused = fuse_accounts(accounts, task)
    changes = () if options.without is None else entity_changes_without(fused, options.without)
    notes = (*accounts.notes, *_row_id_notes(accounts), *_account_notes(accounts, fused))
    return EntityFusion(fused, "", changes, notes)


def _row_id_notes(accounts: Accounts) -> Iterator[str]:
    """Say that equal ids of two tables are not taken for the same thing."""
    sources: dict[str, str] = {}
    for account in accounts.accounts:
        name = account.object.removeprefix(row_id(account.origins[0].file, ""))
        if account.has_row_id and sources.setdefault(name, account.source) != account.source:
            yield (
                f"ids such as {name} stand in several tables, and the values under them do not "
                "agree: records are linked by their values (name the column object to link by ids)"
            )
            return


def _lacks_objects(path: str) -> bool:
    columns = _header(path)
    return isinstance(claim_columns(columns), str)


def _header(path: str) -> Sequence[str]:
    """Return the columns of a file."""
    return claim_table(path).columns


def _domain(kinds: Mapping[str, str]) -> str:
    """Return the domain of the results among the sources; refuse two different domains."""
    domains = {path: result_domain(path) for path, kind in kinds.items() if kind == "reports"}
    names = sorted({domain for domain in domains.values() if domain})
    if len(names) > 1:
        other = next(path for path, domain in domains.items() if domain == names[1])
        raise InputError(
            f"has domain {names[1]} (expected {names[0]}, as in the other results)", file=other
        )
    return names[0] if names else ""


def _slots(domain: Domain) -> Slots:
    """Return the slots of a domain, with those that hold the type of a template."""
    return Slots(domain.schema, domain.type_slots if isinstance(domain, RuleDomain) else ())


def _accounts(kinds: Mapping[str, str], slots: Slots) -> Iterator[Accounts]:
    for path, kind in kinds.items():
        if kind == "reports":
            yield result_accounts(path, slots.schema)
        elif kind == "records":
            yield record_accounts(path, slots)
        elif kind == "claims":
            yield claim_accounts(path, slots)
        else:
            yield judgement_accounts(path)


def _refuse_unknown_sources(
    reliabilities: Mapping[str, float], sources: Iterable[str], path: Path | None
) -> None:
    if unknown := sorted(reliabilities.keys() - set(sources)):
        problem = f"reliability of unknown source {unknown[0]} (expected a source of the claims)"
        raise InputError(problem, file=str(path))


def _account_notes(accounts: Accounts, fused: FusedAccounts) -> list[str]:
    ignored = sorted(set(accounts.sources) - set(fused.accounts.sources))
    notes = [f"{name} has reliability 0 and is ignored" for name in ignored]
    if fused.learned.common:
        notes.append(
            f"{len(fused.learned.common):,} names or places that very many share "
            "are not compared by that alone"
        )
    return notes


def fuse_sources(
    paths: Sequence[Path], options: FuseOptions, domain: str = "", parameters: Path | None = None
) -> Fusion | EntityFusion | MassFusion:
    """Fuse files: link records first where they name no objects, else fuse claims by object.

    Mass functions are combined, with claims beside them.
    """
    files, slots = split_kinds(options.kinds)
    combined = fuse_masses(paths, options, files, domain, parameters)
    if combined is not None:
        return combined
    entity = entity_options(paths, options, files, domain, parameters)
    if entity is None:
        return fuse_files(paths, replace(options, kinds=slots))
    return fuse_entities(paths, entity)


def split_kinds(kinds: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the kinds of files, by name ("" for all), and the kinds of slots."""
    files: dict[str, str] = {}
    slots: list[str] = []
    for text in kinds:
        name, _, kind = text.rpartition("=")
        if kind in SOURCES:
            files[name] = kind
        else:
            slots.append(text)
    return files, tuple(slots)


def entity_options(
    paths: Sequence[Path],
    options: FuseOptions,
    files: Mapping[str, str],
    domain: str,
    parameters: Path | None,
) -> EntityOptions | None:
    """Return the options for linking first, or None where all sources name their objects."""
    if options.columns:
        return None
    hierarchies = [path for path in paths if is_nesting(path)]
    kinds = source_kinds([path for path in paths if path not in hierarchies], files)
    if not needs_linkage(kinds, domain):
        return None
    _refuse_options(options, "is for claims; reports and records follow their domain")
    if hierarchies:
        problem = "is a hierarchy, which is for claims; reports and records follow their domain"
        raise InputError(problem, file=str(hierarchies[0]))
    return EntityOptions(
        domain,
        parameters,
        options.reliability,
        files,
        options.tolerance,
        options.without,
        latest=options.latest,
    )


def _refuse_options(options: FuseOptions, reason: str, **others: object) -> None:
    """Raise an error for an option that does not apply; `others` are further options."""
    values = {
        "--truth": options.truth,
        "--known": options.known,
        "--hierarchy": options.hierarchy,
        "--objects": options.objects,
        "--one-to-one": options.separator,
        "--discount-copies": options.discount or None,
        "--kind of a slot": [kind for kind in options.kinds if kind.rpartition("=")[2]
                             not in SOURCES] or None,
        **{f"--{name}": value or None for name, value in others.items()},
    }  # fmt: skip
    for option, value in values.items():
        if value is not None:
            raise InputError(f"{option} {reason}")


@dataclass(frozen=True, slots=True, eq=False)
class MassFusion:
    """The combined mass functions, those of the sources, and the reliabilities that are set."""

    combined: tuple[CombinedMasses, ...]
    masses: tuple[SourceMasses, ...]
    reliabilities: Mapping[str, float]
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()


def fuse_masses(
    paths: Sequence[str | Path],
    options: FuseOptions,
    files: Mapping[str, str],
    domain: str = "",
    parameters: Path | None = None,
) -> MassFusion | None:
    """Combine mass functions by Dempster's rule; None if no source is a file of beliefs.

    Reliabilities are not learned. They are those of `--reliability` and of the files, else 1.
    """
    if "beliefs" not in {_forced_kind(str(path), files) or json_kind(path) for path in paths}:
        return None
    _refuse_options(
        options,
        "does not apply to beliefs",
        columns=options.columns,
        tolerance=options.tolerance,
        domain=domain,
        parameters=parameters,
        latest=options.latest,
    )
    fixed = {} if options.reliability is None else read_reliabilities(options.reliability)
    mass_files = _mass_files(source_kinds(paths, files), fixed)
    masses = tuple(function for file in mass_files for function in file.masses)
    _refuse_unknown_sources(fixed, (function.source for function in masses), options.reliability)
    reliabilities = _joined_reliabilities(mass_files) | fixed
    ignored = sorted(name for name, r in reliabilities.items() if r == 0.0)
    notes = [note for file in mass_files for note in file.notes]
    notes += [f"{name} has reliability 0 and has no effect" for name in ignored]
    combined = combine_masses(masses, reliabilities)
    changes: tuple[Change, ...] = ()
    if options.without is not None:
        changes = mass_changes_without(options.without, combined, masses, reliabilities)
    return MassFusion(combined, masses, reliabilities, changes, tuple(notes))


def _joined_reliabilities(files: Sequence[MassFile]) -> dict[str, float]:
    """Return the reliabilities of all files; two for one source are an error."""
    reliabilities: dict[str, float] = {}
    for file in files:
        for source, r in file.reliabilities.items():
            if (before := reliabilities.setdefault(source, r)) != r:
                problem = f"reliability of {source} is {r:g}, in another file {before:g}"
                raise InputError(problem, file=file.masses[0].place.file)
    return reliabilities


def _mass_files(kinds: Mapping[str, str], reliabilities: Mapping[str, float]) -> list[MassFile]:
    """Read files of beliefs; claims beside them become simple support functions."""
    for path, kind in kinds.items():
        if kind == "reports" or is_nesting(path):
            what = "results of run" if kind == "reports" else "a hierarchy"
            raise InputError(f"is {what}; expected beliefs or claims beside beliefs", file=path)
    beliefs = [read_masses(path) for path, kind in kinds.items() if kind == "beliefs"]
    claims = [read_claims(path) for path, kind in kinds.items() if kind != "beliefs"]
    return [*beliefs, claim_masses(join_claims(*claims), reliabilities)] if claims else beliefs
