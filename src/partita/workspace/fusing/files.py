"""Fusion as the shells call it: files of several sources in, one belief out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from partita.errors import InputError
from partita.evaluation.fused import Measured, measure
from partita.formats.claim_sides import (
    is_nesting,
    read_nesting,
    read_objects,
    read_reliabilities,
    read_truths,
)
from partita.formats.claims import read_claims
from partita.fusion.changes import Change, changed
from partita.fusion.claims import Claims, joined
from partita.fusion.fuse import Fused, Settings, fuse
from partita.fusion.kinds import Reading
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
    claims = joined(*(read_claims(path, asked.columns) for path in paths))
    if asked.objects is not None:
        _refuse_strangers(claims, read_objects(asked.objects))
    fused = fuse(claims, _settings(asked, claims))
    measured: tuple[Measured, ...] = ()
    if asked.truth is not None:
        measured = against(fused, asked.truth)
    changes = changed(fused, asked.without) if asked.without is not None else ()
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
        known={} if asked.known is None else read_truths(asked.known, used),
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
        raise claims.located(first, f"speaks of an unknown object {claims.objects[strangers[0]]}")


def _notes(fused: Fused) -> list[str]:
    """What a person should know of the claims and of how the belief was obtained."""
    told = []
    for belief in fused.slots:
        said, read = belief.read.said, belief.read
        if said.repeated:
            told.append(f"{belief.name}: {said.repeated:,} repeated claims count once")
        if read.silent:
            told.append(f"{belief.name}: {read.silent:,} lists name nobody")
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
    nesting, read = fused.settings.reading.nesting, fused.slot(name).read
    values = read.said.values
    if nesting is None or read.kind != "open" or not fused.settings.reading.orders(values):
        return ""
    outside = [value for value in values if value not in nesting]
    if not outside:
        return ""
    return f"{len(outside):,} values are not in the hierarchy, such as {outside[0]}"
