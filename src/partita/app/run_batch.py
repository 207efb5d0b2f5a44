"""Resolve many messages in order."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from traceback import format_exc
from typing import Any

from partita.app.batch import Outcome, OutputForms, WorkPiece, gc_paused, process
from partita.app.runner import Runner
from partita.domains import content_hash
from partita.errors import PartitaError
from partita.pipeline import Resolved
from partita.text.messages import parse_message
from partita.text.raw_messages import RawMessage

CHUNK = 16  # messages handed to a worker at a time
CHARACTERS = 60_000  # or so much text
PAYS = 48  # messages: fewer are done before other processes have started

Item = RawMessage | Outcome

_log = logging.getLogger(__name__)
if "PARTITA_DEBUG" not in os.environ:  # then tracebacks go to standard error
    _log.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Earlier:
    """The messages of earlier runs by the hashes of their texts, and where they are.

    Those that are not everywhere they should be are resolved `again`.
    """

    hashes: Mapping[str, str] = field(default_factory=dict)
    again: frozenset[str] = frozenset()
    where: str = "the file of results"
    option: str = "--out"
    longest_id: int = 1 << 20  # characters


def run_messages(
    messages: Iterable[RawMessage | PartitaError],
    runner: Runner,
    forms: OutputForms,
    earlier: Earlier | None = None,
    workers: int | None = None,
) -> Iterator[Outcome]:
    """Yield the outcome of every message in order."""
    items = (_item(message, earlier or Earlier()) for message in messages)
    return process(_pieces(items), partial(resolve_each, runner, forms), workers)


def text_hash(text: str) -> str:
    """Return the hash by which the text of a message is recognised."""
    return content_hash([text.encode("utf-8", "surrogatepass")])


def message_hash(message: RawMessage) -> str:
    """Return the hash by which a message is recognised: of its text and of its annotation."""
    if message.annotation is None:
        return text_hash(message.text)
    return f"{text_hash(message.text)}-{text_hash(message.annotation.fingerprint)}"


def _item(message: RawMessage | PartitaError, earlier: Earlier) -> Item:
    """Return the message, or its outcome if it need not or cannot be resolved."""
    if isinstance(message, PartitaError):
        return Outcome("", error=str(message))
    if not _is_utf8(message.place + message.id):
        problem = f"{message.place}: the name is not UTF-8 (expected a name that can be written)"
        return Outcome("", error=problem)
    if len(message.id) > earlier.longest_id:
        problem = f"{message.place}: the id has {len(message.id):,} characters"
        return Outcome("", error=f"{problem}; {earlier.where} takes {earlier.longest_id:,}")
    if message.id not in earlier.hashes:
        return message
    if earlier.hashes[message.id] == message_hash(message):
        return message if message.id in earlier.again else Outcome(message.id, skipped=True)
    problem = f"{message.place}: {earlier.where} holds another text called {message.id}"
    return Outcome(message.id, error=f"{problem}; use another {earlier.option}")


def _is_utf8(name: str) -> bool:
    """Check a name: those of files may hold bytes that are no characters."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _pieces(items: Iterator[Item]) -> Iterator[WorkPiece[list[Item]]]:
    while piece := list(islice(items, 1)):
        size = _length(piece[0])
        while len(piece) < CHUNK and size < CHARACTERS and (item := next(items, None)):
            piece.append(item)
            size += _length(item)
        yield WorkPiece(piece, sum(isinstance(item, RawMessage) for item in piece) / PAYS)


def _length(item: Item) -> int:
    return len(item.text) if isinstance(item, RawMessage) else 0


def resolve_each(runner: Runner, forms: OutputForms, items: Sequence[Item]) -> Iterator[Outcome]:
    """Yield the outcome of each item; a message that fails does not stop the others."""
    for item in items:
        if isinstance(item, Outcome):
            yield item
            continue
        try:
            with gc_paused():
                outcome = _outcome(item, runner, forms)
        except PartitaError as error:
            outcome = _failure(item, str(error), forms)
        except Exception as error:
            problem = f"a fault of Partita ({type(error).__name__}: {error})"
            outcome = _failure(item, f"{problem}; fault {_log_fault(item, problem)}", forms)
        yield outcome


def _log_fault(message: RawMessage, problem: str) -> str:
    """Log the traceback of an unexpected exception; return the id by which it is found there.

    The same fault in the same message has the same id.
    """
    fault = content_hash([f"{message.id}\n{problem}".encode("utf-8", "replace")])[:12]
    _log.error("fault %s in message %s\n%s", fault, message.id, format_exc())
    return fault


def _failure(message: RawMessage, problem: str, forms: OutputForms) -> Outcome:
    error = f"{message.place}: message {message.id}: {problem}"
    stored = failed_object(message, error) if forms.stored else None
    return Outcome(message.id, error=error, stored=stored)


def _outcome(message: RawMessage, runner: Runner, forms: OutputForms) -> Outcome:
    if forms.own:
        text, count = runner.domain.formatted(forms.own, parse_message(message), runner.stages)
        lines = tuple(text.removesuffix("\n").split("\n"))
        return Outcome(message.id, lines=lines, sizes=(count, 0, 0))
    resolved = runner.resolve(parse_message(message), message.annotation)
    run = {"text": message_hash(message), **runner.provenance}
    return Outcome(
        message.id,
        lines=_json_lines(resolved, run, runner) if forms.json else (),
        exported=_exported(resolved, message, runner, forms),
        stored=message_object(message, resolved) if forms.stored else None,
        shown=_shown(resolved, forms),
        sizes=(len(resolved.templates), len(resolved.distributions), len(resolved.entities)),
        notes=resolved.notes,
    )


def _exported(
    resolved: Resolved, message: RawMessage, runner: Runner, forms: OutputForms
) -> tuple[str, ...]:
    """Return the message in another format; standoff annotation has the text besides."""
    if not forms.export:
        return ()
    exported = runner.exported(resolved, forms.export, message.annotation)
    return (exported, message.text) if forms.export == "brat" else (exported,)


def message_object(message: RawMessage, resolved: Resolved) -> dict[str, Any]:
    """Return a resolved message as stores keep it and pages show it."""
    from partita.results.template_json import entity_json

    *sets, alone = map(json.loads, result_lines(resolved, {}))
    return _object(message, resolved.message.fields) | {
        "sets": sets,
        "singletons": alone["singletons"],
        "entities": [entity_json(entity) for entity in resolved.entities],
    }


def failed_object(message: RawMessage, error: str) -> dict[str, Any]:
    """Return a message of which only the text is known."""
    return _object(message, message.fields) | {"error": error}


def _object(message: RawMessage, fields: Mapping[str, str]) -> dict[str, Any]:
    return {
        "message": message.id,
        "place": message.place,
        "text": message.text,
        "text_hash": message_hash(message),
        "fields": dict(fields),
        "error": "",
        "sets": [],
        "singletons": [],
        "entities": [],
    }


def _json_lines(resolved: Resolved, run: Mapping[str, Any], runner: Runner) -> tuple[str, ...]:
    return tuple(result_lines(resolved, run, runner.domain.additions(resolved.message)))


def result_lines(
    resolved: Resolved,
    run: Mapping[str, Any],
    additions: Mapping[str, Sequence[object]] | None = None,
) -> Iterator[str]:
    """Yield a line for every set, and one for singletons, which also ends the message."""
    from partita.results.result_lines import result_line, singletons_line

    name, unwritten = resolved.message.id, resolved.entities
    for distribution in resolved.distributions:
        ids = set(distribution.set.ids)
        entities = [entity for entity in unwritten if entity.templates[0] in ids]
        unwritten = tuple(entity for entity in unwritten if entity.templates[0] not in ids)
        yield result_line(distribution, name, entities=entities)
    yield singletons_line(resolved.singletons, name, run, resolved.notes, additions)


def _shown(resolved: Resolved, forms: OutputForms) -> str:
    if not forms.view:
        return ""
    from partita.views.message import message_line, message_report

    if forms.view == "line":
        return message_line(resolved, forms.width) + "\n"
    return message_report(resolved, forms.width, forms.colour)
