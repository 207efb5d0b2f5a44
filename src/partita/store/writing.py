"""Write a message of a run to the store, in one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from partita.store import shapes, tables
from partita.store.runs import add_if_new
from partita.store.shapes import Object, Row
from partita.store.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Connection

LONGEST = 120  # characters of a title


def write_message(
    store: Store, run: str, position: int, message: Object, *, durable: bool = False
) -> bool:
    """Write a message; return whether it was new. If `durable`, wait for the disk.

    A message that failed before is replaced. `message` is an object as from `read_message`, with
    `place`, `text_hash` and `error`.
    """
    with store.writing(hurried=not durable) as connection:
        _forget_failed(connection, run, message["message"])
        if not add_if_new(connection, tables.messages, _message_row(message, run, position)):
            return False
        for table, rows in _rows(message).items():
            _insert(connection, table, run, message["message"], rows)
        return True


def _forget_failed(connection: Connection, run: str, message: str) -> None:
    at = tables.messages.c
    connection.execute(
        tables.messages.delete().where(at.run == run, at.message == message, at.error != "")
    )


def _insert(connection: Connection, table: str, run: str, message: str, rows: list[Row]) -> None:
    if rows:
        columns = tables.metadata.tables[table].c
        common = {"run": run} | ({"message": message} if "message" in columns else {})
        connection.execute(tables.metadata.tables[table].insert(), [common | row for row in rows])


def _message_row(message: Object, run: str, position: int) -> Row:
    sets = message["sets"]
    sizes = [*map(len, (one["templates"] for one in sets)), len(message["singletons"])]
    return {
        "run": run,
        "message": message["message"],
        "position": position,
        "title": title(message["text"], message["fields"]),
        "place": message["place"],
        "text_hash": message["text_hash"],
        "fields": dict(message["fields"]),
        "error": message["error"],
        "templates": sum(sizes),
        "sets": len(sets),
        "entities": len(message["entities"]),
        "entropy_bits": sum(one["entropy_bits"] or 0.0 for one in sets),
        "text": message["text"],
    }


def title(text: str, fields: Mapping[str, Any]) -> str:
    """Return the subject, or the first non-empty line."""
    lines = (line.strip() for line in text.splitlines())
    subject = str(fields.get("subject") or next(filter(None, lines), ""))
    words = " ".join(subject.split())
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"


def _rows(message: Object) -> dict[str, list[Row]]:
    """Return the rows of each table, referenced tables first."""
    sets = message["sets"]
    set_of = {one["id"]: line["set"] for line in sets for one in line["templates"]}
    templates = sorted(
        _templates(message), key=lambda one: (one.get("start", 0), one.get("end", 0))
    )
    entities = message["entities"]
    return {
        "sets": [shapes.set_row(line, n) for n, line in enumerate(sets)],
        "templates": [
            shapes.template_row(one, n, set_of.get(one["id"])) for n, one in enumerate(templates)
        ],
        "antecedents": [row for one in templates for row in shapes.antecedent_rows(one)],
        "pairs": [
            {"set_name": line["set"], **shapes.pair_row(one)}
            for line in sets
            for one in line["pairs"]
        ],
        "configurations": [
            {"set_name": line["set"], **shapes.configuration_row(one, rank)}
            for line in sets
            for rank, one in enumerate(line["configurations"], 1)
        ],
        "entities": [
            shapes.entity_row(one, n, set_of.get(one["templates"][0]))
            for n, one in enumerate(entities)
        ],
        "slot_values": [row for one in entities for row in shapes.value_rows(one)],
    }


def _templates(message: Object) -> Iterator[Object]:
    for line in message["sets"]:
        yield from line["templates"]
    yield from message["singletons"]
