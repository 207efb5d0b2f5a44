"""Read messages, sets and entities of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, cast, exists, func, or_, select, tuple_

from partita.errors import Unknown
from partita.store import shapes, tables
from partita.store.keys import family
from partita.store.shapes import Row, entity_object

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


def list_messages(
    connection: Connection, run: str, search: str, uncertain: bool, offset: int, limit: int
) -> Row:
    """In text order, or least certain first."""
    at = tables.messages.c
    where = [at.run == run]
    if search:
        where.append(or_(*(_holds(column, search) for column in (at.message, at.title, at.text))))
    order = (at.entropy_bits.desc(), at.position) if uncertain else (at.position,)
    columns = (at.message, at.title, at.entropy_bits, at.templates, at.sets, at.entities, at.error)
    query = select(*columns).where(*where).order_by(*order, at.message)
    rows = connection.execute(query.offset(offset).limit(limit)).mappings().all()
    keyed = _keyed(connection, run, [row["message"] for row in rows])
    found = [dict(row) | {"keyed": keyed.get(row["message"], 0)} for row in rows]
    return {"total": _count(connection, where), "messages": found}


def list_entities(
    connection: Connection, run: str, search: str, sort: str, offset: int, limit: int
) -> Row:
    """In the order of the messages, then of the text."""
    at, of = tables.entities.c, tables.messages.c
    where = [at.run == run, of.run == run, of.message == at.message]
    if sort:
        where.append(at.sort == sort)
    if search:
        where.append(_says(search))
    query = select(tables.entities).where(*where).order_by(of.position, of.message, at.position)
    rows = connection.execute(query.offset(offset).limit(limit)).mappings().all()
    values = _values(connection, run, rows)
    return {
        "total": _count(connection, where),
        "entities": [
            entity_object(dict(row), values.get((row["message"], row["entity"]), ()))
            | {"message": row["message"], "set": row["set_name"]}
            for row in rows
        ],
    }


def set_names(connection: Connection, run: str) -> list[str]:
    """Of all sets, in the order of the messages."""
    at, of = tables.sets.c, tables.messages.c
    where = [at.run == run, of.run == run, of.message == at.message]
    query = select(at.set_name).where(*where).order_by(of.position, of.message, at.position)
    return list(connection.scalars(query))


def sorts(connection: Connection, run: str) -> list[str]:
    """Of the entities of a run."""
    at = tables.entities.c
    return list(
        connection.scalars(select(at.sort).where(at.run == run).distinct().order_by(at.sort))
    )


def _holds(column: ColumnElement[Any], search: str) -> ColumnElement[bool]:
    return func.strpos(func.lower(column), search.lower()) > 0


def _says(search: str) -> ColumnElement[bool]:
    """By name, by a description, or by a value of a slot."""
    at, of = tables.entities.c, tables.slot_values.c
    value = exists().where(
        of.run == at.run, of.message == at.message, of.entity == at.entity, _holds(of.value, search)
    )
    words = cast(at.descriptions, Text)
    return or_(_holds(at.name, search), _holds(words, search), value)


def _count(connection: Connection, where: list[ColumnElement[bool]]) -> int:
    counted = select(func.count()).where(*where)
    return connection.execute(counted).scalar_one()


def _keyed(connection: Connection, run: str, names: list[str]) -> dict[str, int]:
    """How many sets of each message somebody has keyed."""
    at = tables.keys.c
    query = (
        select(at.message, func.count(at.set_name.distinct()))
        .where(at.run.in_(family(connection, run)), at.message.in_(names))
        .group_by(at.message)
    )
    return {row[0]: row[1] for row in connection.execute(query)}


def _values(
    connection: Connection, run: str, rows: Sequence[Any]
) -> dict[tuple[str, str], list[Any]]:
    at = tables.slot_values.c
    wanted = [(row["message"], row["entity"]) for row in rows]
    query = (
        select(tables.slot_values)
        .where(at.run == run, tuple_(at.message, at.entity).in_(wanted))
        .order_by(at.message, at.entity, at.position)
    )
    found: dict[tuple[str, str], list[Any]] = {}
    for row in connection.execute(query).mappings():
        found.setdefault((row["message"], row["entity"]), []).append(row)
    return found
