"""Pages of messages and of entities: searched, ordered, a part at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Text, cast, exists, func, or_, select, tuple_

from partita.store import tables
from partita.store.keys import family
from partita.store.shapes import Row, entity_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Connection


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
