"""The version of a store, and the steps from any older version to this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.errors import StoreTrouble
from partita.store.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Connection

VERSION = "0001"  # of the tables, as the newest script of migrations/versions says
TABLE = "partita_version"
SCRIPTS = "partita.store:migrations"
LOCK = 1997  # of PostgreSQL, held by whoever makes or changes the tables


def bring_up_to_date(store: Store) -> None:
    """Make the tables, or change them; one that is up to date is only looked at."""
    with store.reading() as connection:
        found = _version(store, connection)
    if found == VERSION:
        return
    with store.writing() as connection:
        _lock(connection)
        if _version(store, connection) != VERSION:  # another process may have been quicker
            _upgrade(connection)


def _version(store: Store, connection: Connection) -> str | None:
    """None of a store without tables; one that is not ours, or too new, is refused."""
    from sqlalchemy import inspect, text

    there = set(inspect(connection).get_table_names())
    if TABLE not in there:
        _refuse_foreign(store, there)
        return None
    found = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar()
    if found not in {None, *known()}:
        problem = f"has version {found} (expected {VERSION}); use a newer version of Partita"
        raise StoreTrouble(store.name, problem)
    return None if found is None else str(found)


def _refuse_foreign(store: Store, there: set[str]) -> None:
    """A file of something else is left alone; a server may hold other tables beside ours."""
    from partita.store.tables import metadata

    clash = there if store.file else there & set(metadata.tables)
    if clash:
        problem = f"holds a table {min(clash)} that Partita did not create; expected a store"
        raise StoreTrouble(store.name, problem)


def known() -> tuple[str, ...]:
    """The versions that this Partita can read, or bring up to date."""
    return tuple(f"{number:04}" for number in range(1, int(VERSION) + 1))


def _lock(connection: Connection) -> None:
    from sqlalchemy import text

    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))


def _upgrade(connection: Connection) -> None:
    """All scripts that are missing, in the transaction that is open."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")
