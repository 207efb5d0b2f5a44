"""Runs and models in the store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from partita.errors import Unknown
from partita.store import tables
from partita.store.keys import family
from partita.store.shapes import Row

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table


def add_if_new(connection: Connection, table: Table, row: Mapping[str, Any]) -> bool:
    """Whether the row was added; PostgreSQL makes the second writer wait until that is known."""
    insert = _insert_of(connection)(table).values(**row).on_conflict_do_nothing()
    added = connection.execute(insert.returning(*table.primary_key.columns))
    return added.first() is not None


def _insert_of(connection: Connection) -> Any:
    """SQL has no common word for what is to happen where a row is there already."""
    from sqlalchemy.dialects import postgresql, sqlite

    return postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert


TOTALS = ("templates", "sets", "entities", "entropy_bits")


def read_run(connection: Connection, name: str) -> Row:
    """The row of a run."""
    found = connection.execute(select(tables.runs).where(tables.runs.c.run == name)).mappings()
    row = found.one_or_none()
    if row is None:
        raise Unknown(f"the store has no run {name}")
    return dict(row)


def list_runs(connection: Connection, name: str | None = None) -> list[Row]:
    """Every run with how much it holds, in the order in which they were begun."""
    at = tables.runs.c
    query = select(tables.runs).order_by(at.started, at.run)
    if name is not None:
        query = query.where(at.run == name)
    sizes, keyed = _sizes(connection, name), _keyed(connection)
    rows = connection.execute(query).mappings()
    return [
        dict(row)
        | sizes.get(row["run"], _none())
        | {"keyed": len(_keyed_in(family(connection, row["run"]), keyed))}
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
    found: dict[str, set[str]] = {}
    for run, name in connection.execute(select(tables.keys.c.run, tables.keys.c.set_name)):
        found.setdefault(run, set()).add(name)
    return found


def _keyed_in(runs: Iterable[str], keyed: Mapping[str, set[str]]) -> set[str]:
    """The sets that have been keyed in any of some runs."""
    return {name for run in runs for name in keyed.get(run, ())}


def add_run(connection: Connection, row: Mapping[str, Any]) -> bool:
    """Whether it is new: another writer may have been quicker."""
    return add_if_new(connection, tables.runs, row)


def change_run(connection: Connection, name: str, **values: Any) -> None:
    connection.execute(tables.runs.update().where(tables.runs.c.run == name).values(**values))


def stored(connection: Connection, run: str) -> list[Row]:
    """Which messages a run holds already, in its order."""
    at = tables.messages.c
    columns = (at.message, at.position, at.text_hash, at.error)
    query = select(*columns).where(at.run == run).order_by(at.position, at.message)
    return [dict(row) for row in connection.execute(query).mappings()]


def texts(connection: Connection, run: str) -> list[Row]:
    """The messages as they were given, in their order."""
    at = tables.messages.c
    columns = (at.message, at.text, at.place, at.fields)
    query = select(*columns).where(at.run == run).order_by(at.position, at.message)
    return [dict(row) for row in connection.execute(query).mappings()]


def failed(connection: Connection, run: str) -> int:
    """How many messages of a run have an error instead of results."""
    at = tables.messages.c
    query = select(func.count()).where(at.run == run, at.error != "")
    return connection.execute(query).scalar_one()


def add_model(connection: Connection, row: Mapping[str, Any]) -> None:
    """A model is known by its hash: the first row of it stays."""
    add_if_new(connection, tables.models, row)


def read_model(connection: Connection, name: str) -> Row:
    found = connection.execute(select(tables.models).where(tables.models.c.id == name)).mappings()
    row = found.one_or_none()
    if row is None:
        raise Unknown(f"the store has no model {name}")
    return dict(row)


def model_of(connection: Connection, run: Mapping[str, Any]) -> Row | None:
    """The parameters of a run; uniform has none."""
    return read_model(connection, run["model_id"]) if run["model_id"] else None


def count_methods(connection: Connection, run: str) -> Counter[tuple[str, bool]]:
    """By method, and whether chains that were drawn disagree."""
    at = tables.sets.c
    rows = connection.execute(select(at.method, at.more).where(at.run == run))
    return Counter((method, more.get("converged") is False) for method, more in rows)
