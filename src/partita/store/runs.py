"""Runs, their messages, models, keys and background jobs in the store.

Each saved key is a row, and the newest of each author counts unless withdrawn.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Select, Table, func, select

from partita.errors import Unknown
from partita.store import shapes, tables
from partita.store.shapes import Object, Row
from partita.store.store import Store


def add_if_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless it exists; return whether it was inserted."""
    insert = _insert_of(connection)(table).values(**row).on_conflict_do_nothing()
    added = connection.execute(insert.returning(*table.primary_key.columns))
    return added.first() is not None


def _insert_of(connection: Connection) -> Any:
    """Return the dialect's insert, which supports ON CONFLICT."""
    from sqlalchemy.dialects import postgresql, sqlite

    return postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert


TOTALS = ("templates", "sets", "entities", "entropy_bits")


def only_row(connection: Connection, query: Select[Any], problem: str) -> Row:
    """Return the only row of a query; without one, the problem is raised."""
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise Unknown(problem)
    return dict(row)


def read_run(connection: Connection, name: str) -> Row:
    """Return the row of a run."""
    query = select(tables.runs).where(tables.runs.c.run == name)
    return only_row(connection, query, f"the store has no run {name}")


def list_runs(connection: Connection, name: str | None = None) -> list[Row]:
    """Return all runs with their sizes, in the order in which they were started."""
    at = tables.runs.c
    query = select(tables.runs).order_by(at.started, at.run)
    if name is not None:
        query = query.where(at.run == name)
    sizes, keyed = _sizes(connection, name), _keyed(connection)
    rows = connection.execute(query).mappings()
    return [
        dict(row)
        | sizes.get(row["run"], _none())
        | {"keyed": len(set().union(*(keyed.get(r, ()) for r in family(connection, row["run"]))))}
        for row in rows.all()
    ]


def _sizes(connection: Connection, name: str | None) -> dict[str, Row]:
    at = tables.messages.c
    totals = [func.sum(at[total]).label(total) for total in TOTALS]
    failed = func.count().filter(at.error != "").label("failed")
    query = select(at.run, func.count().label("messages"), failed, *totals).group_by(at.run)
    if name is not None:
        query = query.where(at.run == name)
    rows = connection.execute(query).mappings()
    return {row["run"]: {one: row[one] for one in _none()} for row in rows}


def _none() -> Row:
    return dict.fromkeys(("messages", "failed", *TOTALS), 0)


def _keyed(connection: Connection) -> dict[str, set[str]]:
    sets_by_run: dict[str, set[str]] = {}
    at = tables.keys.c
    query = select(at.run, at.set_name).where(at.withdrawn.is_(None)).distinct()
    for run, name in connection.execute(query):
        sets_by_run.setdefault(run, set()).add(name)
    return sets_by_run


def change_run(connection: Connection, name: str, **values: Any) -> None:
    connection.execute(tables.runs.update().where(tables.runs.c.run == name).values(**values))


def add_tables(connection: Connection, run: Row, contents: Mapping[str, str]) -> bool:
    """Insert a run that holds tables as its messages; return whether it was new."""
    if not add_if_new(connection, tables.runs, run):
        return False
    for position, (name, content) in enumerate(contents.items()):
        message: Row = {"message": name, "fields": {}, "error": "", "place": name, "text": content}
        message["text_hash"] = hashlib.sha256(content.encode("utf-8", "replace")).hexdigest()
        message |= {"sets": [], "entities": [], "singletons": []}
        row = _message_row(message, run["run"], position)
        connection.execute(tables.messages.insert().values(**row))
    return True


def delete_run(connection: Connection, name: str) -> None:
    """Delete a run with its texts, answers and labels; runs that were trained from it stay."""
    at = tables.runs.c
    connection.execute(tables.runs.update().where(at.parent == name).values(parent=None))
    connection.execute(tables.keys.delete().where(tables.keys.c.run == name))
    connection.execute(tables.runs.delete().where(at.run == name))


STORED = ("message", "position", "text_hash", "error")
READ = ("message", "text", "place", "fields")


def message_rows(connection: Connection, run: str, columns: Sequence[str] = STORED) -> list[Row]:
    """Return some columns of the messages that a run has, in order."""
    at = tables.messages.c
    query = select(*(at[name] for name in columns)).where(at.run == run)
    rows = connection.execute(query.order_by(at.position, at.message))
    return [dict(row) for row in rows.mappings()]


def failed(connection: Connection, run: str) -> int:
    """Return how many messages of a run failed."""
    at = tables.messages.c
    query = select(func.count()).where(at.run == run, at.error != "")
    return connection.execute(query).scalar_one()


def model_of(connection: Connection, run: Mapping[str, Any]) -> Row | None:
    """Return the parameters of a run, or None for the uniform model."""
    name = run["model_id"]
    query = select(tables.models).where(tables.models.c.id == name)
    return only_row(connection, query, f"the store has no model {name}") if name else None


def model_kind(connection: Connection, name: str | None) -> str | None:
    """Return the kind of some parameters; None if there are none."""
    at = tables.models.c
    return connection.execute(select(at.kind).where(at.id == name)).scalar()


def count_methods(connection: Connection, run: str) -> Counter[tuple[str, bool]]:
    """Count the sets by method and by whether chains have not converged."""
    at = tables.sets.c
    rows = connection.execute(select(at.method, at.more).where(at.run == run))
    return Counter((method, more.get("converged") is False) for method, more in rows)


OPEN = ("waiting", "running")
MAX_KEPT = 200  # jobs that have ended and can still be read


def add_job(connection: Connection, row: Row) -> None:
    """Insert a job, and delete the oldest of those that have ended."""
    connection.execute(tables.jobs.insert().values(**row))
    at = tables.jobs.c
    ended = select(at.job).where(at.state.not_in(OPEN)).order_by(at.created.desc(), at.job)
    old = list(connection.scalars(ended.offset(MAX_KEPT)))
    connection.execute(tables.jobs.delete().where(at.job.in_(old)))


def change_job(connection: Connection, job: str, **values: Any) -> None:
    """Change the state, progress, result or error of a job."""
    connection.execute(tables.jobs.update().where(tables.jobs.c.job == job).values(**values))


def read_job(connection: Connection, job: str) -> Row:
    """Return a job by its id."""
    query = select(tables.jobs).where(tables.jobs.c.job == job)
    return only_row(connection, query, f"no job with id {job}")


def open_jobs(connection: Connection) -> list[Row]:
    """Return the jobs that have not ended, oldest first."""
    at = tables.jobs.c
    query = select(tables.jobs).where(at.state.in_(OPEN)).order_by(at.created, at.job)
    return [dict(row) for row in connection.execute(query).mappings()]


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


SHOWN = ("message", "templates", "cells", "alternatives", "author", "time", "based_on")


def family(connection: Connection, run: str) -> list[str]:
    """Return a run and its ancestors, whose keys are about the same templates."""
    runs_: list[str] = []
    at = tables.runs.c
    parent: str | None = run
    while parent is not None and parent not in runs_:
        runs_.append(parent)
        parent = connection.execute(select(at.parent).where(at.run == parent)).scalar()
    return runs_


def select_keys(connection: Connection, run: str, sets: Sequence[str] | None = None) -> list[Row]:
    """Return the keys, oldest first; `counts` marks the newest of each author, if not withdrawn."""
    table = tables.keys
    query = select(table).where(table.c.run.in_(family(connection, run))).order_by(table.c.id)
    if sets is not None:
        query = query.where(table.c.set_name.in_(sets))
    rows = list(connection.execute(query).mappings())
    newest = {(row["set_name"], row["author"]): row["id"] for row in rows}
    counting_ids = set(newest.values())
    return [
        {"key": row["id"], "run": row["run"], "set": row["set_name"]}
        | {name: row[name] for name in (*SHOWN, "withdrawn")}
        | {"counts": row["id"] in counting_ids and row["withdrawn"] is None}
        for row in rows
    ]


def counting(keys: Iterable[Row]) -> list[Row]:
    """Return the newest key of each author, oldest first."""
    return [key for key in keys if key["counts"]]


def insert_key(connection: Connection, run: str, key: Mapping[str, Any]) -> tuple[int, list[Row]]:
    """Add a key; return its number and the keys of others that its author has not seen."""
    _lock(connection, run, key["set_name"])
    current = counting(select_keys(connection, run, [key["set_name"]]))
    written = connection.execute(tables.keys.insert().values(run=run, **key))
    (number,) = written.inserted_primary_key or (0,)
    last_seen = key["based_on"] or 0
    unseen = [
        other for other in current if other["key"] > last_seen and other["author"] != key["author"]
    ]
    return int(number), unseen


def mark_withdrawn(connection: Connection, run: str, name: str, author: str, time: str) -> int:
    """Mark the keys of an author for a set as withdrawn; return how many counted until now."""
    _lock(connection, run, name)
    table = tables.keys
    where = (
        table.c.run.in_(family(connection, run)),
        table.c.set_name == name,
        table.c.author == author,
        table.c.withdrawn.is_(None),
    )
    return connection.execute(table.update().where(*where).values(withdrawn=time)).rowcount


def _lock(connection: Connection, run: str, name: str) -> None:
    """Lock the set, so that another author waits and then sees this key."""
    at = tables.sets.c
    query = select(at.set_name).where(at.run == run, at.set_name == name).with_for_update()
    if connection.execute(query).scalar() is None:
        raise Unknown(f"run {run} has no set {name}")
