"""Write a message of a run to the store, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
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
    return {
        "run": run,
        "message": message["message"],
        "position": position,
        "title": title(message["text"], message["fields"]),
        "place": message["place"],
        "text_hash": message["text_hash"],
        "fields": dict(message["fields"]),
        "error": message["error"],
        "templates": len(_templates(message)),
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
    sets, entities, homes = message["sets"], message["entities"], _templates(message)
    set_of = {name: home for name, (home, _) in homes.items()}
    templates = sorted(
        (one for _, one in homes.values()), key=lambda one: (one.get("start", 0), one.get("end", 0))
    )
    return {
        "sets": [shapes.set_row(line, n, set_of) for n, line in enumerate(sets)],
        "templates": [
            shapes.template_row(one, n, set_of[one["id"]]) for n, one in enumerate(templates)
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


def _templates(message: Object) -> dict[str, tuple[str | None, Object]]:
    """Return every template by its id, with the first set that holds it."""
    homes: dict[str, tuple[str | None, Object]] = {}
    for line in message["sets"]:
        for one in line["templates"]:
            homes.setdefault(one["id"], (line["set"], one))
    return homes | {one["id"]: (None, one) for one in message["singletons"]}
