"""Resolve many messages in order, on all cores where that pays."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any, Literal

from partita.app.process_pool import Job, in_order, uncollected
from partita.app.runner import DIGITS, Ready, Settings, ready
from partita.errors import PartitaError
from partita.pipeline import Resolved, resolve
from partita.results.result_lines import result_line, singletons_line
from partita.results.template_json import entity_json
from partita.text.messages import message_of
from partita.text.raw_messages import Given

CHUNK = 16  # messages handed to a worker at a time
CHARACTERS = 60_000  # or so much text
PAYS = 48  # messages: fewer are done before other processes have started

Shown = Literal["", "line", "text"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """In which forms a message is wanted; answers to the exam are wanted alone."""

    json: bool = False
    answers: bool = False
    stored: bool = False
    shown: Shown = ""
    width: int = 80
    colour: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """One message, ready to be written; an error has none of the forms, but for what a store keeps
    of it. `kept` is one that was done before, `sizes` are its templates, sets and entities."""

    message: str
    error: str = ""
    kept: bool = False
    lines: tuple[str, ...] = ()
    stored: Mapping[str, Any] | None = None
    shown: str = ""
    sizes: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Finished:
    """The messages that were done before by the hashes of their texts, and where they are; those
    that are not everywhere they should be are done `again`."""

    hashes: Mapping[str, str] = field(default_factory=dict)
    again: frozenset[str] = frozenset()
    where: str = "the file of results"
    option: str = "--out"
    longest: int = 1 << 20  # characters that the id of a message may have there


Item = Given | Done


def done(
    texts: Iterable[Given | PartitaError],
    settings: Settings,
    wanted: Wanted,
    finished: Finished | None = None,
    workers: int | None = None,
) -> Iterator[Done]:
    """Every text in order. What comes out does not depend on the number of workers."""
    workers = workers or os.cpu_count() or 1
    items = (_item(text, finished or Finished()) for text in texts)
    first, some = _first(items)
    if workers == 1 or not some:
        yield from _each(chain(first, items), settings, wanted)
        return
    jobs = (Job(partial(_all, piece, settings, wanted)) for piece in _pieces(chain(first, items)))
    for piece in in_order(jobs, workers):
        yield from piece


def text_hash(text: str) -> str:
    """By which a message is known again."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _item(text: Given | PartitaError, finished: Finished) -> Item:
    if isinstance(text, PartitaError):
        return Done("", error=str(text))
    if not _writable(text.place + text.id):
        return Done(
            "", error=f"{text.place}: the name is not UTF-8; expected one that can be written"
        )
    if len(text.id) > finished.longest:
        problem = f"{text.place}: the id has {len(text.id):,} characters"
        return Done("", error=f"{problem}; {finished.where} takes {finished.longest:,}")
    if text.id not in finished.hashes:
        return text
    if finished.hashes[text.id] == text_hash(text.text):
        return text if text.id in finished.again else Done(text.id, kept=True)
    problem = f"{text.place}: {finished.where} holds another text called {text.id}"
    return Done(text.id, error=f"{problem}; use another {finished.option}")


def _writable(name: str) -> bool:
    """Names of files may hold bytes that are no characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _first(items: Iterator[Item]) -> tuple[list[Item], bool]:
    """Items up to where it is known whether there is enough to do for many."""
    held: list[Item] = []
    open_ = 0
    for item in items:
        held.append(item)
        open_ += isinstance(item, Given)
        if open_ >= PAYS:
            return held, True
    return held, False


def _pieces(items: Iterator[Item]) -> Iterator[list[Item]]:
    while piece := list(islice(items, 1)):
        size = _length(piece[0])
        while len(piece) < CHUNK and size < CHARACTERS and (more := next(items, None)):
            piece.append(more)
            size += _length(more)
        yield piece


def _length(item: Item) -> int:
    return len(item.text) if isinstance(item, Given) else 0


def _all(items: Sequence[Item], settings: Settings, wanted: Wanted) -> list[Done]:
    return list(_each(items, settings, wanted))


def _each(items: Iterable[Item], settings: Settings, wanted: Wanted) -> Iterator[Done]:
    """A message that fails does not stop the others, whatever it stumbles on."""
    for item in items:
        if isinstance(item, Done):
            yield item
            continue
        try:
            with uncollected():
                found = _done(item, ready(settings), wanted)
        except PartitaError as error:
            found = _failed(item, str(error), wanted)
        except (ArithmeticError, LookupError, TypeError, ValueError, RecursionError) as error:
            found = _failed(item, f"a fault of Partita ({type(error).__name__}: {error})", wanted)
        yield found


def _failed(given: Given, problem: str, wanted: Wanted) -> Done:
    told = f"{given.place}: message {given.id}: {problem}"
    return Done(given.id, error=told, stored=failed_object(given, told) if wanted.stored else None)


def _done(given: Given, made: Ready, wanted: Wanted) -> Done:
    if wanted.answers and made.answers is not None:
        return Done(given.id, lines=(made.answers(message_of(given)),))
    found = resolve(message_of(given), made.stages)
    told = {"text": text_hash(given.text), **made.told}
    return Done(
        given.id,
        lines=tuple(result_lines(found, told)) if wanted.json else (),
        stored=message_object(given, found) if wanted.stored else None,
        shown=_shown(found, wanted),
        sizes=(len(found.templates), len(found.distributions), len(found.entities)),
    )


def message_object(given: Given, found: Resolved) -> dict[str, Any]:
    """The message whole, as stores keep it and pages show it."""
    *sets, alone = map(json.loads, result_lines(found, {}))
    return _object(given, found.message.fields) | {
        "sets": sets,
        "singletons": alone["singletons"],
        "entities": [entity_json(entity) for entity in found.entities],
    }


def failed_object(given: Given, error: str) -> dict[str, Any]:
    """A message of which nothing but its text is known."""
    return _object(given, given.fields) | {"error": error}


def _object(given: Given, fields: Mapping[str, str]) -> dict[str, Any]:
    return {
        "message": given.id,
        "place": given.place,
        "text": given.text,
        "text_hash": text_hash(given.text),
        "fields": dict(fields),
        "error": "",
        "sets": [],
        "singletons": [],
        "entities": [],
    }


def result_lines(found: Resolved, run: Mapping[str, Any]) -> Iterator[str]:
    """One for every set, and one for what is alone, which also says that the message is done."""
    name = found.message.id
    for one in found.distributions:
        entities = [e for e in found.entities if e.templates[0] in one.set.ids]
        yield result_line(one, name, entities=entities)
    yield singletons_line(found.singletons, name, run)


def _shown(found: Resolved, wanted: Wanted) -> str:
    if not wanted.shown:
        return ""
    from partita.views.message import line, report

    if wanted.shown == "line":
        return line(found, wanted.width) + "\n"
    return report(found, wanted.width, wanted.colour)
