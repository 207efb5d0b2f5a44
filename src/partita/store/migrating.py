"""The version of a store, and its migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita.errors import StoreTrouble
from partita.store.store import Store

if TYPE_CHECKING:
    from sqlalchemy import Connection

VERSION = "0003"  # of the tables, as the newest script of migrations/versions says
TABLE = "partita_version"
SCRIPTS = "partita.store:migrations"
LOCK = 1997  # of PostgreSQL, held by whoever makes or changes the tables


def bring_up_to_date(store: Store) -> None:
    """Create or migrate the tables if necessary."""
    with store.reading() as connection:
        version = _version(store, connection)
    if version == VERSION:
        return
    with store.writing() as connection:
        _lock(connection)
        if _version(store, connection) != VERSION:  # another process may have migrated it
            _upgrade(connection)


def _version(store: Store, connection: Connection) -> str | None:
    """Return the version, None without tables; a foreign or newer store is an error."""
    from sqlalchemy import inspect, text

    table_names = set(inspect(connection).get_table_names())
    if TABLE not in table_names:
        _refuse_foreign(store, table_names)
        return None
    version = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar()
    if version not in {None, *known()}:
        problem = f"has version {version} (expected {VERSION}); use a newer version of Partita"
        raise StoreTrouble(store.name, problem)
    return None if version is None else str(version)


def _refuse_foreign(store: Store, table_names: set[str]) -> None:
    """Raise an error for a file with other tables, or a server with clashing ones."""
    from partita.store.tables import metadata

    clash = table_names if store.file else table_names & set(metadata.tables)
    if clash:
        problem = f"holds a table {min(clash)} that Partita did not create; expected a store"
        raise StoreTrouble(store.name, problem)


def known() -> tuple[str, ...]:
    """Return the versions that can be read or migrated."""
    return tuple(f"{number:04}" for number in range(1, int(VERSION) + 1))


def _lock(connection: Connection) -> None:
    from sqlalchemy import text

    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))


def _upgrade(connection: Connection) -> None:
    """Run all missing migrations in the open transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", SCRIPTS)
    config.set_main_option("path_separator", "os")
    command.upgrade(config, "head")
