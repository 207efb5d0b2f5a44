"""Stored keys: each saved key is a row, and the newest of each author counts unless withdrawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from partita.errors import Unknown
from partita.store import tables
from partita.store.shapes import Row

if TYPE_CHECKING:
    from sqlalchemy import Connection


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
