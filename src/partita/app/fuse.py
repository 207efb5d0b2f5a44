"""Fuse files of several sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from partita.domains import Domain, RuleDomain, find_domain, maximum_entropy
from partita.errors import InputError
from partita.evaluation.fusion import Measured, measure
from partita.fusion.account_files import Slots, claim_accounts, judgement_accounts, record_accounts
from partita.fusion.account_results import result_accounts, result_domain
from partita.fusion.accounts import Accounts, merge_accounts
from partita.fusion.across import FusedAccounts, Task, ThingChange, fuse_accounts
from partita.fusion.across import changes_without as entity_changes_without
from partita.fusion.claim_files import claim_columns, read_claims, rows_of
from partita.fusion.claims import Claims, join_claims
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
from partita.records import IntArray


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a user asks for beside the sources."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Fusion:
    """The belief, how it fares against truths, what changes without a source, what to tell."""

    fused: Fused
    measured: tuple[Measured, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = field(default=())


def fuse_files(paths: Sequence[str | Path], wanted: Wanted | None = None) -> Fusion:
    """Read the sources and whatever stands beside them, and fuse."""
    asked, paths = _told_apart(wanted or Wanted(), paths)
    claims = join_claims(*(read_claims(path, asked.columns) for path in paths))
    if asked.objects is not None:
        _refuse_strangers(claims, read_objects(asked.objects))
    fused = fuse(claims, _settings(asked, claims))
    measured: tuple[Measured, ...] = ()
    if asked.truth is not None:
        measured = against(fused, asked.truth)
    changes = changes_without(fused, asked.without) if asked.without is not None else ()
    return Fusion(fused, measured, changes, (*claims.notes, *_notes(fused)))


def _told_apart(asked: Wanted, paths: Sequence[str | Path]) -> tuple[Wanted, Sequence[str | Path]]:
    """A hierarchy among the sources is one, whether or not an option says so."""
    found = [] if asked.hierarchy or asked.columns else [p for p in paths if is_nesting(p)]
    if not found:
        return asked, paths
    if len(found) > 1 or len(found) == len(paths):
        raise InputError("is a hierarchy; expected claims beside it", file=str(found[-1]))
    return replace(asked, hierarchy=Path(found[0])), [p for p in paths if p not in found]


def against(fused: Fused, truth: Path) -> tuple[Measured, ...]:
    """Every slot of which the file has truths."""
    truths = read_truths(truth, [slot.name for slot in fused.slots])
    by_slot: dict[str, dict[str, str]] = {}
    for (thing, slot), value in truths.items():
        by_slot.setdefault(slot, {})[thing] = value
    nesting = fused.settings.reading.nesting
    return tuple(measure(fused.slot(slot), by_slot[slot], nesting) for slot in sorted(by_slot))


def _settings(asked: Wanted, claims: Claims) -> Settings:
    nesting = None if asked.hierarchy is None else read_nesting(asked.hierarchy)
    used = [claims.slots[n] for n in np.unique(claims.slot).tolist()]
    return Settings(
        kinds=dict(_kind(text) for text in asked.kinds),
        reading=Reading(asked.tolerance, nesting),
        reliabilities=_reliabilities(asked, claims),
        truths={} if asked.known is None else read_truths(asked.known, used),
        separator=asked.separator,
        discount=asked.discount,
    )


def _kind(text: str) -> tuple[str, str]:
    """SLOT=KIND, or a kind for all slots."""
    slot, equals, kind = text.rpartition("=")
    return (slot, kind) if equals else ("", text)


def _reliabilities(asked: Wanted, claims: Claims) -> dict[str, float]:
    given = {} if asked.reliability is None else read_reliabilities(asked.reliability)
    if unknown := sorted(given.keys() - set(claims.sources)):
        raise InputError(f"there is a reliability of {unknown[0]}, who claims nothing",
                         file=str(asked.reliability))  # fmt: skip
    return given


def _refuse_strangers(claims: Claims, objects: set[str]) -> None:
    strangers = [n for n, name in enumerate(claims.objects) if name not in objects]
    if strangers:
        first = int(np.flatnonzero(claims.object == strangers[0])[0])
        raise claims.located(first, f"refers to an unknown object {claims.objects[strangers[0]]}")


def _notes(fused: Fused) -> list[str]:
    """What a person should know of the claims and of how the belief was obtained."""
    told = []
    for belief in fused.slots:
        said, read = belief.parsed.statements, belief.parsed
        if said.repeated:
            told.append(f"{belief.name}: {said.repeated:,} repeated claims count once")
        if read.without_value:
            told.append(f"{belief.name}: {read.without_value:,} lists name nobody")
        if selves := _contradicting(said.object, said.source):
            told.append(f"{belief.name}: {selves:,} times a source says two things of one object")
        if outside := _outside(fused, belief.name):
            told.append(f"{belief.name}: {outside}")
        if not belief.converged:
            told.append(f"{belief.name}: still moving after {belief.rounds} rounds")
    deaf = sorted(n for n, r in _given(fused).items() if r == 0.0)
    return [*told, *(f"{name} has reliability 0 and is not heard" for name in deaf)]


def _given(fused: Fused) -> dict[str, float]:
    return {**fused.claims.reliabilities, **fused.settings.reliabilities}


def _contradicting(thing: IntArray, source: IntArray) -> int:
    pairs = np.unique(np.stack([thing, source]), axis=1, return_counts=True)[1]
    return int((pairs > 1).sum())


def _outside(fused: Fused, name: str) -> str:
    """Values that a hierarchy does not list are values all the same."""
    nesting, read = fused.settings.reading.nesting, fused.slot(name).parsed
    values = read.statements.values
    if nesting is None or read.kind != "open" or not fused.settings.reading.orders(values):
        return ""
    outside = [value for value in values if value not in nesting]
    if not outside:
        return ""
    return f"{len(outside):,} values are not in the hierarchy, such as {outside[0]}"


DOMAIN = "depots"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a user asks for beside the sources; `kinds` are files' that are not left to guess."""

    domain: str = ""
    parameters: Path | None = None
    reliability: Path | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)
    tolerance: float = 0.0
    without: str | None = None
    top: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Things:
    """What came out, in which domain, what changes without a source, and what to tell."""

    fused: FusedAccounts
    domain: str
    changes: tuple[ThingChange, ...] = ()
    notes: tuple[str, ...] = ()


def kinds_of(paths: Sequence[str | Path], forced: Mapping[str, str]) -> dict[str, str]:
    """What every file is: as it is said, by its path or name or for all, or by its content."""
    found = {}
    for path in map(str, paths):
        said = _forced_kind(path, forced)
        if said is not None and said not in SOURCES:
            raise InputError(f"is {said}; expected {', '.join(SOURCES)}", file=path)
        found[path] = said or source_kind(path)
    return found


def _forced_kind(path: str, forced: Mapping[str, str]) -> str | None:
    """Return the kind that is set for a file by its path, by its name, or for all files."""
    return forced.get(path) or forced.get(Path(path).name) or forced.get("")


def about_things(kinds: Mapping[str, str], domain: str) -> bool:
    """Whether sources must be told which thing is which: reports, or records without objects."""
    if domain or "reports" in kinds.values():
        return True
    return any(kind == "records" and _nameless(path) for path, kind in kinds.items())


def fuse_things(paths: Sequence[str | Path], asked: Asked | None = None) -> Things:
    """Read the sources, put their accounts together, and fuse."""
    wanted = asked or Asked()
    kinds = kinds_of(paths, wanted.kinds)
    domain = wanted.domain or _domain(kinds) or DOMAIN
    about = find_domain(domain)
    if wanted.parameters is not None:
        about = about.with_parameters(wanted.parameters)
    model = maximum_entropy(about.pair_model("evidential"))
    given = merge_accounts(_accounts(kinds, _slots(about)))
    if wanted.reliability is not None:
        _refuse_unknown_sources(read_reliabilities(wanted.reliability), given, wanted.reliability)
    task = Task(
        about.schema,
        model,
        {} if wanted.reliability is None else read_reliabilities(wanted.reliability),
        wanted.tolerance,
        wanted.top,
        seed=wanted.seed,
    )
    fused = fuse_accounts(given, task)
    changes = () if wanted.without is None else entity_changes_without(fused, wanted.without)
    return Things(fused, Path(domain).name, changes, (*given.notes, *_account_notes(given, fused)))


def _nameless(path: str) -> bool:
    first = next(rows_of(path), None)
    return first is not None and isinstance(claim_columns(first.columns), str)


def _domain(kinds: Mapping[str, str]) -> str:
    """That of the runs; two domains have no templates in common."""
    told = {path: result_domain(path) for path, kind in kinds.items() if kind == "reports"}
    named = sorted({domain for domain in told.values() if domain})
    if len(named) > 1:
        odd = next(path for path, domain in told.items() if domain == named[1])
        raise InputError(f"is of the domain {named[1]}, another one of {named[0]}", file=odd)
    return named[0] if named else ""


def _slots(domain: Domain) -> Slots:
    """Return the slots of a domain, with those that hold the sort of a template."""
    return Slots(domain.schema, domain.sort_slots if isinstance(domain, RuleDomain) else ())


def _accounts(kinds: Mapping[str, str], about: Slots) -> Iterator[Accounts]:
    for path, kind in kinds.items():
        if kind == "reports":
            yield result_accounts(path, about.schema)
        elif kind == "records":
            yield record_accounts(path, about)
        elif kind == "claims":
            yield claim_accounts(path, about)
        else:
            yield judgement_accounts(path)


def _refuse_unknown_sources(given: Mapping[str, float], accounts: Accounts, path: Path) -> None:
    if unknown := sorted(given.keys() - set(accounts.sources)):
        raise InputError(
            f"there is a reliability of {unknown[0]}, who says nothing", file=str(path)
        )


def _account_notes(given: Accounts, fused: FusedAccounts) -> list[str]:
    deaf = sorted(set(given.sources) - set(fused.accounts.sources))
    told = [f"{name} has reliability 0 and is not heard" for name in deaf]
    if fused.learned.common:
        told.append(
            f"{len(fused.learned.common):,} names or places that very many share "
            "are not compared by that alone"
        )
    return told


def fuse_sources(
    paths: Sequence[Path], wanted: Wanted, domain: str = "", parameters: Path | None = None
) -> Fusion | Things | MassFusion:
    """Fuse things where it must be resolved which is which, else the objects that claims name.

    Mass functions are combined, with claims beside them.
    """
    files, slots = sorted_out(wanted.kinds)
    combined = fuse_masses(paths, wanted, files, domain, parameters)
    if combined is not None:
        return combined
    asked = as_asked(paths, wanted, files, domain, parameters)
    if asked is None:
        return fuse_files(paths, replace(wanted, kinds=slots))
    return fuse_things(paths, asked)


def sorted_out(kinds: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Kinds of files, by name ("" for all), apart from kinds of slots."""
    files: dict[str, str] = {}
    slots: list[str] = []
    for text in kinds:
        name, _, kind = text.rpartition("=")
        if kind in SOURCES:
            files[name] = kind
        else:
            slots.append(text)
    return files, tuple(slots)


def as_asked(
    paths: Sequence[Path],
    wanted: Wanted,
    files: Mapping[str, str],
    domain: str,
    parameters: Path | None,
) -> Asked | None:
    """What fusing thing by thing needs; None where all sources name the objects they speak of."""
    if wanted.columns:
        return None
    nestings = [path for path in paths if is_nesting(path)]
    known = kinds_of([path for path in paths if path not in nestings], files)
    if not about_things(known, domain):
        return None
    _refuse_options(wanted, "is for claims; reports and records follow their domain")
    if nestings:
        problem = "is a hierarchy, which is for claims; reports and records follow their domain"
        raise InputError(problem, file=str(nestings[0]))
    return Asked(
        domain,
        parameters,
        wanted.reliability,
        files,
        wanted.tolerance,
        wanted.without,
    )


def _refuse_options(wanted: Wanted, reason: str, **others: object) -> None:
    """Raise an error for an option that does not apply; `others` are further options."""
    given = {
        "--truth": wanted.truth,
        "--known": wanted.known,
        "--hierarchy": wanted.hierarchy,
        "--objects": wanted.objects,
        "--one-to-one": wanted.separator,
        "--discount-copies": wanted.discount or None,
        "--kind of a slot": [kind for kind in wanted.kinds if kind.rpartition("=")[2]
                             not in SOURCES] or None,
        **{f"--{name}": value or None for name, value in others.items()},
    }  # fmt: skip
    for option, value in given.items():
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
    wanted: Wanted,
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
        wanted,
        "does not apply to beliefs",
        columns=wanted.columns,
        tolerance=wanted.tolerance,
        domain=domain,
        parameters=parameters,
    )
    fixed = {} if wanted.reliability is None else read_reliabilities(wanted.reliability)
    read = _mass_files(kinds_of(paths, files), fixed)
    masses = tuple(one for file in read for one in file.masses)
    if unknown := sorted(fixed.keys() - {one.source for one in masses}):
        problem = f"has a reliability of {unknown[0]}; no source has this name"
        raise InputError(problem, file=str(wanted.reliability))
    reliabilities = _joined_reliabilities(read) | fixed
    ignored = sorted(name for name, r in reliabilities.items() if r == 0.0)
    notes = [note for file in read for note in file.notes]
    notes += [f"{name} has reliability 0 and has no effect" for name in ignored]
    combined = combine_masses(masses, reliabilities)
    changes: tuple[Change, ...] = ()
    if wanted.without is not None:
        changes = mass_changes_without(wanted.without, combined, masses, reliabilities)
    return MassFusion(combined, masses, reliabilities, changes, tuple(notes))


def _joined_reliabilities(read: Sequence[MassFile]) -> dict[str, float]:
    """Return the reliabilities of all files; two for one source are an error."""
    reliabilities: dict[str, float] = {}
    for file in read:
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
