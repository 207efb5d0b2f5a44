"""Files of reports, records, claims and judgements fused into things."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from partita.errors import InputError
from partita.extraction.domain import Domain
from partita.formats.account_judgements import judgement_accounts
from partita.formats.account_records import Slots, claim_accounts, record_accounts
from partita.formats.account_results import result_accounts, result_domain
from partita.formats.claim_columns import claim_columns
from partita.formats.claim_rows import rows_of
from partita.formats.claim_sides import read_reliabilities
from partita.formats.sources import SOURCES, source_kind
from partita.fusion.accounts import Accounts, gathered
from partita.fusion.across import FusedAccounts, Task, fuse_accounts
from partita.fusion.across_changes import ThingChange, changed
from partita.pairs.models import MaximumEntropy
from partita.templates.sort import SortType

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
        said = forced.get(path) or forced.get(Path(path).name) or forced.get("")
        if said is not None and said not in SOURCES:
            raise InputError(f"is {said}; expected {', '.join(SOURCES)}", file=path)
        found[path] = said or source_kind(path)
    return found


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
    read, model = _made_ready(domain, wanted.parameters)
    given = gathered(_accounts(kinds, _slots(read)))
    if wanted.reliability is not None:
        _refuse_strangers(read_reliabilities(wanted.reliability), given, wanted.reliability)
    task = Task(
        read.schema,
        model,
        {} if wanted.reliability is None else read_reliabilities(wanted.reliability),
        wanted.tolerance,
        wanted.top,
        seed=wanted.seed,
    )
    fused = fuse_accounts(given, task)
    changes = () if wanted.without is None else changed(fused, wanted.without)
    return Things(fused, Path(domain).name, changes, (*given.notes, *_notes(given, fused)))


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


def _made_ready(domain: str, parameters: Path | None) -> tuple[Domain, MaximumEntropy]:
    from partita.formats.pair_models import read_pair_parameters, shipped_pair_parameters
    from partita.formats.rules import own_parameters, read_domain

    path = parameters or own_parameters(domain)
    learned = read_pair_parameters(path) if path else shipped_pair_parameters()
    return read_domain(domain), learned.every_pair


def _slots(domain: Domain) -> Slots:
    """With the slots that tell the sort of a template: those that its kind cannot do without."""
    needed = [
        slot
        for wanted in domain.templates.values()
        for slot in wanted.needs
        if isinstance(kind := domain.schema.slots.get(slot), SortType) and kind.under == wanted.sort
    ]
    return Slots(domain.schema, tuple(dict.fromkeys(needed)))


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


def _refuse_strangers(given: Mapping[str, float], accounts: Accounts, path: Path) -> None:
    if unknown := sorted(given.keys() - set(accounts.sources)):
        raise InputError(
            f"there is a reliability of {unknown[0]}, who says nothing", file=str(path)
        )


def _notes(given: Accounts, fused: FusedAccounts) -> list[str]:
    deaf = sorted(set(given.sources) - set(fused.given.sources))
    told = [f"{name} has reliability 0 and is not heard" for name in deaf]
    if fused.learned.common:
        told.append(
            f"{len(fused.learned.common):,} names or places that very many share "
            "are not compared by that alone"
        )
    return told
