"""Read messages, sets and entities of a run, and export its tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Double,
    Integer,
    Select,
    Table,
    Text,
    cast,
    exists,
    func,
    or_,
    select,
    tuple_,
)

from partita.errors import InputError, Unavailable, Unknown
from partita.files.writing import replacing, replacing_bytes, write_errors
from partita.store import runs, tables
from partita.store.runs import Row, entity_object, family
from partita.tables.writing import csv_text


def read_message(connection: Connection, run: str, message: str) -> Row:
    """Return everything about a message except its keys."""
    at = tables.messages.c
    row = connection.execute(
        select(tables.messages).where(at.run == run, at.message == message)
    ).mappings()
    message_row = row.one_or_none()
    if message_row is None:
        raise Unknown(f"run {run} has no message {message}")
    templates, entities = _templates(connection, run, message), _entities(connection, run, message)
    return {
        "run": run,
        "message": message,
        "title": message_row["title"],
        "place": message_row["place"],
        "text": message_row["text"],
        "text_hash": message_row["text_hash"],
        "fields": message_row["fields"],
        "error": message_row["error"],
        "sets": _sets(connection, run, message, templates, entities),
        "singletons": [one for home, one in templates if home is None],
        "entities": [one for _, one in entities],
    }


def read_set(connection: Connection, run: str, name: str) -> Row:
    """Return one set as a line of results."""
    at = tables.sets.c
    message = connection.execute(
        select(at.message).where(at.run == run, at.set_name == name)
    ).scalar_one_or_none()
    if message is None:
        raise Unknown(f"run {run} has no set {name}")
    templates, entities = _templates(connection, run, message), _entities(connection, run, message)
    return _sets(connection, run, message, templates, entities, name)[0]


def template_sets(connection: Connection, run: str, names: Sequence[str]) -> dict[str, Row]:
    """Return sets by name with their templates and constraints, without their distributions."""
    at, of = tables.sets.c, tables.templates.c
    columns = (at.set_name, at.message, at.entropy_bits, at.incompatible, at.more)
    query = select(*columns).where(at.run == run, at.set_name.in_(names))
    rows = {row["set_name"]: row for row in connection.execute(query).mappings()}
    messages = {row["message"] for row in rows.values()}
    where = (of.run == run, of.message.in_(list(messages)))
    templates = rows_by(_rows(connection, tables.templates, *where, by="position"), "message")
    of_set = tables.antecedents.c
    where = (of_set.run == run, of_set.message.in_(list(messages)))
    rows_ = _rows(connection, tables.antecedents, *where, by="rank")
    antecedents = rows_by(rows_, "message", "template")
    return {
        name: {
            "set": name,
            "message": row["message"],
            "entropy_bits": row["entropy_bits"],
            "incompatible": row["incompatible"],
            "must": row["more"].get("must", []),
            "templates": [
                runs.template_again(one, antecedents.get((row["message"], one["template"]), ()))
                for one in templates.get(row["message"], ())
                if _holds(row, one["set_name"], one["template"])
            ],
        }
        for name in names
        if (row := rows.get(name)) is not None
    }


def uncertain_sets(
    connection: Connection, run: str, without: Sequence[str], limit: int
) -> list[Row]:
    """Return the least certain sets with their sizes, except some."""
    at, of = tables.sets.c, tables.templates.c
    size = select(func.count()).where(of.run == at.run, of.set_name == at.set_name)
    query = (
        select(at.set_name, at.message, at.entropy_bits, size.scalar_subquery().label("templates"))
        .where(at.run == run, at.entropy_bits > 0, at.set_name.not_in(without))
        .order_by(at.entropy_bits.desc(), at.set_name)
        .limit(limit)
    )
    return [dict(row) for row in connection.execute(query).mappings()]


Homed = list[tuple[str | None, Row]]  # objects with the name of their set


def _rows(connection: Connection, table: Table, *where: ColumnElement[bool], by: str) -> list[Any]:
    query = select(table).where(*where).order_by(table.c[by])
    return list(connection.execute(query).mappings())


def _templates(connection: Connection, run: str, message: str) -> Homed:
    """Return the templates in text order."""
    template_rows, antecedent_rows = (
        _rows(connection, table, table.c.run == run, table.c.message == message, by=by)
        for table, by in ((tables.templates, "position"), (tables.antecedents, "rank"))
    )
    by_template = rows_by(antecedent_rows, "template")
    return [
        (row["set_name"], runs.template_again(row, by_template.get(row["template"], ())))
        for row in template_rows
    ]


def _entities(connection: Connection, run: str, message: str) -> Homed:
    entity_rows, values = (
        _rows(connection, table, table.c.run == run, table.c.message == message, by="position")
        for table in (tables.entities, tables.slot_values)
    )
    by_entity = rows_by(values, "entity")
    return [
        (row["set_name"], runs.entity_object(row, by_entity.get(row["entity"], ())))
        for row in entity_rows
    ]


def _sets(
    connection: Connection,
    run: str,
    message: str,
    templates: Homed,
    entities: Homed,
    name: str | None = None,
) -> list[Row]:
    at = tables.sets.c
    conditions = [at.set_name == name] if name is not None else []
    rows = _rows(
        connection, tables.sets, at.run == run, at.message == message, *conditions, by="position"
    )
    names = [row["set_name"] for row in rows]
    pairs, listed = (
        rows_by(_inside(connection, table, run, names), "set_name")
        for table in (tables.pairs, tables.configurations)
    )
    found = []
    for row in rows:
        own = [one for home, one in templates if _holds(row, home, one["id"])]
        of_set = listed.get(row["set_name"], ())
        inside = {
            "templates": own,
            "pairs": runs.pair_objects(pairs.get(row["set_name"], ()), own),
            "configurations": [runs.object_of("configurations", one) for one in of_set],
            "entities": [one for home, one in entities if home == row["set_name"]],
        }
        found.append(runs.set_object(row, inside))
    return found


def _holds(row: Any, home: str | None, template: str) -> bool:
    """Whether a template is in a set: in that which is its home, or in a later window."""
    return home == row["set_name"] or template in row["more"].get("again", ())


def _inside(connection: Connection, table: Table, run: str, names: Sequence[str]) -> list[Any]:
    key = list(table.primary_key.columns)
    query = select(table).where(table.c.run == run, table.c.set_name.in_(names)).order_by(*key)
    return list(connection.execute(query).mappings())


def rows_by(rows: Iterable[Any], *names: str) -> dict[Any, list[Any]]:
    """Return rows by the values of columns (a tuple, if several are named), in their order."""
    groups: dict[Any, list[Any]] = {}
    for row in rows:
        values = tuple(row[name] for name in names)
        groups.setdefault(values if len(names) > 1 else values[0], []).append(row)
    return groups


def list_messages(
    connection: Connection, run: str, search: str, uncertain: bool, offset: int, limit: int
) -> Row:
    """Return messages in order, or the least certain first."""
    at = tables.messages.c
    where = [at.run == run]
    for word in search.split():
        where.append(or_(*(_contains(column, word) for column in (at.message, at.title, at.text))))
    order = (at.entropy_bits.desc(), at.position) if uncertain else (at.position,)
    columns = (at.message, at.title, at.entropy_bits, at.templates, at.sets, at.entities, at.error)
    query = select(*columns).where(*where).order_by(*order, at.message)
    rows = connection.execute(query.offset(offset).limit(limit)).mappings().all()
    keyed = _keyed(connection, run, [row["message"] for row in rows])
    messages = [dict(row) | {"keyed": keyed.get(row["message"], 0)} for row in rows]
    return {"total": _count(connection, where), "messages": messages}


def list_entities(
    connection: Connection,
    run: str,
    search: str,
    entity_type: str,
    offset: int,
    limit: int,
    order: str = "text",
) -> Row:
    """Return entities in the order of messages and text, or ordered by name, type or mentions.

    The `confidence` of an entity is the mean probability of the pairs of its mentions.
    """
    at, of = tables.entities.c, tables.messages.c
    where = [at.run == run, of.run == run, of.message == at.message]
    if entity_type:
        where.append(at.sort == entity_type)
    where += [_matches_search(word) for word in search.split()]
    first: dict[str, list[Any]] = {
        "name": [func.lower(at.name) == "", func.lower(at.name)],
        "type": [at.sort],
        "mentions": [func.json_array_length(at.templates).desc()],
    }
    ordered = (*first.get(order, []), of.position, of.message, at.position)
    query = select(tables.entities).where(*where).order_by(*ordered)
    rows = connection.execute(query.offset(offset).limit(limit)).mappings().all()
    values = _values(connection, run, rows)
    return {
        "total": _count(connection, where),
        "entities": [
            entity_object(dict(row), values.get((row["message"], row["entity"]), ()))
            | {"message": row["message"], "set": row["set_name"]}
            | {"confidence": _confidence(connection, run, row["set_name"], row["templates"])}
            for row in rows
        ],
    }


def grouped_differently(
    connection: Connection, run: str, other: str, offset: int, limit: int
) -> Row:
    """Return mentions that one of two runs puts together and the other keeps apart.

    Only mentions that both runs found count, in texts that both have.
    """
    ours, theirs = (_homes(connection, name) for name in (run, other))
    both = [
        row | {f"other_{name}": theirs[place][name] for name in ("template", "entity")}
        for place, row in ours.items()
        if place in theirs
    ]
    found = []
    for name, whole, part in ((run, "entity", "other_entity"), (other, "other_entity", "entity")):
        for (message, _), mentions in rows_by(both, "message", whole).items():
            apart = [*rows_by(mentions, part).values()]
            if len(apart) > 1:
                found.append({"message": message, "together": name, "apart": apart})
    page = found[offset : offset + limit]
    return {"mentions": len(both), "total": len(found), "differences": page}


def _homes(connection: Connection, run: str) -> dict[tuple[Any, ...], Row]:
    """Return the mentions of a run by message, hash of its text, and place, with their entities."""
    at, of, whole = tables.templates.c, tables.messages.c, tables.entities.c
    members = select(whole.message, whole.entity, whole.templates).where(whole.run == run)
    home = {(row[0], id_): row[1] for row in connection.execute(members) for id_ in row[2]}
    query = select(at.message, of.text_hash, at.start_at, at.end_at, at.template, at.text)
    query = query.where(at.run == run, of.run == run, of.message == at.message)
    found = {}
    for *place, id_, text in connection.execute(query.order_by(of.position, at.position)):
        row = {"message": place[0], "template": id_, "text": text}
        found[tuple(place)] = row | {"entity": home.get((place[0], id_), id_)}
    return found


MAX_MENTIONS = 40  # of an entity, whose pairs give its confidence


def _confidence(connection: Connection, run: str, name: str | None, mentions: list[str]) -> float:
    """Return the mean probability of the pairs of an entity's first mentions; of one mention 1."""
    some, at = mentions[:MAX_MENTIONS], tables.pairs.c
    if name is None or len(some) < 2:
        return 1.0
    where = [at.run == run, at.set_name == name]
    where += [at.left_template.in_(some), at.right_template.in_(some)]
    total = connection.execute(select(func.sum(at.marginal)).where(*where)).scalar() or 0.0
    return float(total) / (len(some) * (len(some) - 1) / 2)


def set_sizes(connection: Connection, run: str) -> list[tuple[str, int]]:
    """Return the names of all sets and their numbers of templates, in the order of messages."""
    at, of, has = tables.sets.c, tables.messages.c, tables.templates.c
    where = [at.run == run, of.run == run, of.message == at.message]
    query = select(at.set_name).where(*where).order_by(of.position, of.message, at.position)
    count = select(has.set_name, func.count()).where(has.run == run, has.set_name.is_not(None))
    sizes = {row[0]: row[1] for row in connection.execute(count.group_by(has.set_name))}
    return [(name, sizes.get(name, 0)) for name in connection.scalars(query)]


def entity_types(connection: Connection, run: str) -> list[str]:
    """Return the types of the entities of a run."""
    at = tables.entities.c
    return list(
        connection.scalars(select(at.sort).where(at.run == run).distinct().order_by(at.sort))
    )


def _contains(column: ColumnElement[Any], word: str) -> ColumnElement[bool]:
    return func.strpos(func.lower(column), word.lower()) > 0


LIKELY = 0.5


def _matches_search(word: str) -> ColumnElement[bool]:
    """Match the name, a description or a slot value that is more probable than not."""
    at, of = tables.entities.c, tables.slot_values.c
    value = exists().where(
        of.run == at.run,
        of.message == at.message,
        of.entity == at.entity,
        of.probability >= LIKELY,
        _contains(of.value, word),
    )
    descriptions = cast(at.descriptions, Text)
    return or_(_contains(at.name, word), _contains(descriptions, word), value)


def _count(connection: Connection, where: list[ColumnElement[bool]]) -> int:
    counted = select(func.count()).where(*where)
    return connection.execute(counted).scalar_one()


def _keyed(connection: Connection, run: str, names: list[str]) -> dict[str, int]:
    """Return the number of keyed sets of each message."""
    at = tables.keys.c
    query = (
        select(at.message, func.count(at.set_name.distinct()))
        .where(at.run.in_(family(connection, run)), at.message.in_(names), at.withdrawn.is_(None))
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
    return rows_by(connection.execute(query).mappings(), "message", "entity")


FORMS = ("csv", "jsonl", "parquet")
TABLES = tuple(table.name for table in tables.metadata.sorted_tables)
CHUNK = 1000  # rows at a time


def table_named(name: str) -> Table:
    if name not in TABLES:
        raise InputError(f"{name!r} is not a table; expected {', '.join(sorted(TABLES))}")
    return tables.metadata.tables[name]


def export_table(
    connection: Connection, run: str, name: str, form: str, out: Path, excel_safe: bool = False
) -> int:
    """Write a table to a file and return the number of rows."""
    table = table_named(name)
    if form == "parquet":
        return _parquet(table, _chunks(connection, run, table), out)
    count = 0
    with replacing(out) as stream:
        if form == "csv":
            stream.write(",".join(column.name for column in table.columns) + "\n")
        for rows in _chunks(connection, run, table):
            lines = (f"{_json(dict(row))}\n" for row in rows)
            stream.write(_csv(rows, excel_safe) if form == "csv" else "".join(lines))
            count += len(rows)
    return count


def _chunks(connection: Connection, run: str, table: Table) -> Iterator[Sequence[Any]]:
    result = connection.execution_options(yield_per=CHUNK).execute(_query(run, table))
    yield from result.mappings().partitions()


def _query(run: str, table: Table) -> Select[Any]:
    """Return the query of a run's rows, ordered by key; messages by position."""
    order = [*table.primary_key.columns]
    if table.name == "messages":
        order = [table.c.position, table.c.message]
    query = select(table).order_by(*order)
    if table.name != "models":
        return query.where(table.c.run == run)
    used = select(tables.runs.c.model_id).where(tables.runs.c.run == run)
    return query.where(table.c.id.in_(used))


def _csv(rows: Sequence[Any], excel_safe: bool) -> str:
    """Return rows as CSV, with lists, objects and booleans as JSON."""
    nested = (bool, list, dict)
    cells = ([_json(v) if isinstance(v, nested) else v for v in row.values()] for row in rows)
    return csv_text(cells, excel_safe)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _parquet(table: Table, chunks: Iterator[Sequence[Any]], out: Path) -> int:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise Unavailable("a Parquet file needs pyarrow; install partita[frames]") from error
    schema = pyarrow.schema([(column.name, _type(column, pyarrow)) for column in table.columns])
    count = 0
    with replacing_bytes(out) as stream, write_errors(out), ParquetWriter(stream, schema) as writer:
        for rows in chunks:
            flat_rows = [{name: _flat(table.c[name], row[name]) for name in row} for row in rows]
            writer.write_table(pyarrow.Table.from_pylist(flat_rows, schema=schema))
            count += len(flat_rows)
    return count


def _type(column: Column[Any], pyarrow: Any) -> Any:
    kinds = ((Boolean, "bool_"), (Integer, "int64"), (Double, "float64"))
    name = next((name for kind, name in kinds if isinstance(column.type, kind)), "string")
    return getattr(pyarrow, name)()


def _flat(column: Column[Any], value: Any) -> Any:
    """Return nested values as JSON."""
    return _json(value) if isinstance(column.type, JSON) and value is not None else value
