"""Read results of a run as accounts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from partita.errors import InputError
from partita.files.strict import Place, parsed
from partita.files.text import Lines, opened
from partita.fusion.accounts import Account, Accounts, Origin
from partita.records import Entity, Pair, Template, pair
from partita.results.saved_results import Alone, Result, result_of
from partita.templates.schema import Schema

BOTH = " & "  # between sorts of a thing that is both: the anchor has one
LEAST = 0.5  # a value that the message itself holds less probable is not said of the thing


@dataclass(slots=True)
class _Read:
    """What a file has said so far."""

    file: str
    source: str
    schema: Schema
    accounts: list[Account] = field(default_factory=list)
    mates: dict[Pair, float] = field(default_factory=dict)


def result_accounts(path: str | Path, schema: Schema, source: str = "") -> Accounts:
    """The accounts of all messages of a results file; the file is the source if none is named."""
    read = _Read(str(path), source or Path(path).stem, schema)
    for place, found in _numbered(path):
        if isinstance(found, Alone):
            read.accounts += [_alone(one, found.message, place, read) for one in found.templates]
        else:
            _add_set(found, place, read)
    if not read.accounts:
        raise InputError("has no templates; expected results of run", file=read.file)
    return Accounts(tuple(read.accounts), read.mates)


def result_domain(path: str | Path) -> str:
    """The domain of the run, if a line tells."""
    return next((one.domain for _, one in _numbered(path) if isinstance(one, Alone)), "")


def _numbered(path: str | Path) -> Iterator[tuple[Place, Result | Alone]]:
    with opened(path) as stream:
        lines = Lines(stream, str(path))
        number = 0
        for block in lines.blocks():
            for text in lines.decoded(block):
                number += 1
                place = Place(str(path), number)
                if number in lines.broken:
                    place.refuse(lines.broken[number])
                if text.strip():
                    yield place, result_of(parsed(text, place), place)


def _alone(template: Template, message: str, place: Place, read: _Read) -> Account:
    origin = _origin(template, message, place, read)
    return Account.of(read.source, message, template, read.schema, [origin])


def _add_set(found: Result, place: Place, read: _Read) -> None:
    if not found.entities:
        place.refuse(f"set {found.set.name!r} has no entities; expected results of run")
    templates = {template.id: template for template in found.set.templates}
    accounts = [_account(one, templates, found, place, read) for one in found.entities]
    at = {name: n for n, name in enumerate(found.set.ids)}
    for (left, a), (right, b) in combinations(zip(found.entities, accounts, strict=True), 2):
        same = float(found.marginals.value[at[left.anchor], at[right.anchor]])
        if same > 0.0:
            read.mates[pair(a.id, b.id)] = same
    read.accounts += accounts


def _account(
    entity: Entity, templates: Mapping[str, Template], found: Result, place: Place, read: _Read
) -> Account:
    """The anchor with all that the entity's own distribution holds likely."""
    if unknown := [n for n in (entity.anchor, *entity.templates) if n not in templates]:
        place.refuse(f"entity {entity.id} names {unknown[0]}, which is not one of the templates")
    slots: dict[str, Any] = {}
    confidence: dict[str, float] = {}
    for name, values in entity.slots.items():
        best = next((one for one in values if one.value is not None), None)
        if best is not None and best.probability >= LEAST:
            slots[name], confidence[name] = best.value, best.probability
    anchor = templates[entity.anchor]
    sort = anchor.sort if BOTH in entity.sort else entity.sort
    anchor = replace(anchor, slots=slots, sort=sort)
    origins = _origins([templates[n] for n in entity.templates], entity.anchor, found, place, read)
    message = found.message
    return Account.of(read.source, message, anchor, read.schema, origins, confidence)


def _origins(
    members: Iterable[Template], anchor: str, found: Result, place: Place, read: _Read
) -> Sequence[Origin]:
    """The anchor first, then the others in text order."""
    ordered = sorted(members, key=lambda one: (one.id != anchor, one.start))
    return [_origin(one, found.message, place, read) for one in ordered]


def _origin(template: Template, message: str, place: Place, read: _Read) -> Origin:
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
