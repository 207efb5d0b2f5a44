"""Open, create or migrate a store from a path or URL."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.errors import InputError, StoreTrouble, Unavailable
from partita.store.store import WRITES, Store, told

if TYPE_CHECKING:
    from sqlalchemy import Connection

VARIABLE = "PARTITA_STORE"
DEFAULT = "partita.db"
WAIT = 30.0  # seconds for another writer to finish a message
SQLITE = "sqlite:///"
POSTGRES = ("postgresql://", "postgres://", "postgresql+psycopg://")


def default_store() -> str:
    """Return the store named by the environment, or the default file."""
    return os.environ.get(VARIABLE) or DEFAULT


def open_store(url: str | Path | None = None, *, create: bool = True, wait: float = WAIT) -> Store:
    """Open the store at a path (SQLite) or a PostgreSQL URL; `create` a missing file."""
    address = str(url) if url else default_store()
    if address.startswith(POSTGRES):
        store = _postgres(address, wait)
    elif "://" in address and not address.startswith(SQLITE):
        raise InputError(
            f"{address.split('://')[0]}:// is not a supported store; expected a file or postgresql://"
        )
    else:
        store = _sqlite(Path(address.removeprefix(SQLITE)), create, wait)
    from partita.store.migrating import bring_up_to_date

    try:
        bring_up_to_date(store)
    except BaseException:
        store.close()
        raise
    return store


def _sqlite(path: Path, create: bool, wait: float) -> Store:
    from sqlalchemy import create_engine, event

    name = str(path)
    if not path.resolve().parent.is_dir():
        raise StoreTrouble(name, f"there is no folder {path.parent}")
    if path.is_dir():
        raise StoreTrouble(name, "is a folder; expected a file")
    if not path.exists():
        if not create:
            raise StoreTrouble(name, "does not exist; partita run INPUT --store creates it")
        _touch(path, name)
    engine = create_engine(
        f"sqlite:///{path.resolve()}", connect_args={"timeout": wait}, json_serializer=_json
    )
    event.listen(engine, "connect", _sqlite_settings)
    event.listen(engine, "begin", _sqlite_begin)
    return Store(engine, name, path.resolve())


def _json(value: Any) -> str:
    """Return JSON with non-ASCII letters as they are, so that texts can be searched."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _touch(path: Path, name: str) -> None:
    """Create the file, since SQLite does not say why it cannot."""
    try:
        path.touch()
    except OSError as error:
        raise StoreTrouble(name, f"cannot be made: {error.strerror}") from error


def _sqlite_settings(connection: Any, _record: object) -> None:
    """Set WAL mode, explicit transactions, and Unicode search as in PostgreSQL."""
    connection.isolation_level = None
    connection.create_function("lower", 1, _lower, deterministic=True)
    connection.create_function("strpos", 2, _place, deterministic=True)
    cursor = connection.cursor()
    for pragma in ("journal_mode = WAL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _place(text: str | None, part: str) -> int | None:
    return None if text is None else text.find(part) + 1


def _sqlite_begin(connection: Connection) -> None:
    """Begin a transaction; a writer takes the lock at once.

    Two transactions that have both read could not both upgrade to writing. Waiting for the disk
    takes longer than resolving a small message, so `hurried` writes do not.
    """
    writes = connection.get_execution_options().get(WRITES)
    wait = "NORMAL" if writes == "hurried" else "FULL"
    connection.exec_driver_sql(f"PRAGMA synchronous = {wait}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgres(address: str, wait: float) -> Store:
    from sqlalchemy import create_engine, make_url

    name = address.split("@")[-1]
    with told(name):
        url = make_url(address).set(drivername="postgresql+psycopg")
        name = url.render_as_string(hide_password=True).replace("+psycopg", "")
    try:
        engine = create_engine(
            url,
            pool_pre_ping=True,
            connect_args={"connect_timeout": max(2, int(wait))},
            json_serializer=_json,
        )
    except ImportError as error:
        raise Unavailable("PostgreSQL needs psycopg; install partita[store]") from error
    return _check_connection(Store(engine, name))


def _check_connection(store: Store) -> Store:
    """Connect once, so that an unreachable server is reported at once."""
    with told(store.name), store.engine.connect():
        return store
