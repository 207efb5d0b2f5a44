"""Messages and sets of a run, as they were written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from partita.errors import Unknown
from partita.store import shapes, tables
from partita.store.shapes import Row

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Table


def read_message(connection: Connection, run: str, message: str) -> Row:
    """Everything that is known of one message, but for its keys."""
    at = tables.messages.c
    row = connection.execute(
        select(tables.messages).where(at.run == run, at.message == message)
    ).mappings()
    found = row.one_or_none()
    if found is None:
        raise Unknown(f"run {run} has no message {message}")
    templates, entities = _templates(connection, run, message), _entities(connection, run, message)
    return {
        "run": run,
        "message": message,
        "title": found["title"],
        "place": found["place"],
        "text": found["text"],
        "text_hash": found["text_hash"],
        "fields": found["fields"],
        "error": found["error"],
        "sets": _sets(connection, run, message, templates, entities),
        "singletons": [one for home, one in templates if home is None],
        "entities": [one for _, one in entities],
    }


def read_set(connection: Connection, run: str, name: str) -> Row:
    """One set, as a line of results."""
    at = tables.sets.c
    message = connection.execute(
        select(at.message).where(at.run == run, at.set_name == name)
    ).scalar_one_or_none()
    if message is None:
        raise Unknown(f"run {run} has no set {name}")
    templates, entities = _templates(connection, run, message), _entities(connection, run, message)
    return _sets(connection, run, message, templates, entities, name)[0]


Homed = list[tuple[str | None, Row]]  # objects with the set that they are in


def _rows(connection: Connection, table: Table, *where: ColumnElement[bool], by: str) -> list[Any]:
    query = select(table).where(*where).order_by(table.c[by])
    return list(connection.execute(query).mappings())


def _templates(connection: Connection, run: str, message: str) -> Homed:
    """In text order."""
    found, back = (
        _rows(connection, table, table.c.run == run, table.c.message == message, by=by)
        for table, by in ((tables.templates, "position"), (tables.antecedents, "rank"))
    )
    by_template = _grouped(back, "template")
    return [
        (row["set_name"], shapes.template_again(row, by_template.get(row["template"], ())))
        for row in found
    ]


def _entities(connection: Connection, run: str, message: str) -> Homed:
    found, values = (
        _rows(connection, table, table.c.run == run, table.c.message == message, by="position")
        for table in (tables.entities, tables.slot_values)
    )
    by_entity = _grouped(values, "entity")
    return [
        (row["set_name"], shapes.entity_object(row, by_entity.get(row["entity"], ())))
        for row in found
    ]


def _sets(
    connection: Connection,
    run: str,
    message: str,
    templates: Homed,
    entities: Homed,
    only: str | None = None,
) -> list[Row]:
    at = tables.sets.c
    asked = [at.set_name == only] if only is not None else []
    rows = _rows(
        connection, tables.sets, at.run == run, at.message == message, *asked, by="position"
    )
    names = [row["set_name"] for row in rows]
    pairs, listed = (
        _grouped(_inside(connection, table, run, names), "set_name")
        for table in (tables.pairs, tables.configurations)
    )
    return [_set(row, _of(templates, row), pairs, listed, _of(entities, row)) for row in rows]


def _set(
    row: Any,
    templates: list[Row],
    pairs: dict[str, list[Any]],
    listed: dict[str, list[Any]],
    entities: list[Row],
) -> Row:
    name = row["set_name"]
    inside = {
        "templates": templates,
        "pairs": shapes.pair_objects(pairs.get(name, ()), templates),
        "configurations": [shapes.configuration_object(one) for one in listed.get(name, ())],
        "entities": entities,
    }
    return shapes.set_object(row, inside)


def _of(homed: Homed, row: Any) -> list[Row]:
    return [one for home, one in homed if home == row["set_name"]]


def _inside(connection: Connection, table: Table, run: str, names: Sequence[str]) -> list[Any]:
    key = list(table.primary_key.columns)
    query = select(table).where(table.c.run == run, table.c.set_name.in_(names)).order_by(*key)
    return list(connection.execute(query).mappings())


def _grouped(rows: Iterable[Any], name: str) -> dict[str, list[Any]]:
    ordered = sorted(rows, key=lambda row: str(row[name]))  # stable: inside, the order stays
    return {key: list(group) for key, group in groupby(ordered, key=lambda row: str(row[name]))}
