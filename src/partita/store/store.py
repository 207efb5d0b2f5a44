"""Open, create or migrate a store, and translate database errors."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.errors import InputError, StoreTrouble, Unavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

DISK_FULL = "the disk is full; free some space and run the same command again to continue"
LOST = "the connection to the database was lost ({said}); what was finished is stored"
# fragments of database errors, and what they mean
MEANING = (
    ("file is not a database", "is not a database; expected a file that Partita created"),
    ("file is encrypted", "is not a database; expected a file that Partita created"),
    ("malformed", "is damaged ({said}); restore a copy, or export what can still be read"),
    ("database or disk is full", DISK_FULL),
    ("No space left on device", DISK_FULL),
    ("disk I/O error", "the disk reports an error ({said}); what was finished is stored"),
    ("is locked", "is locked by another process; stop it or wait, then run the same command again"),
    ("readonly database", "cannot be written; expected a writable file"),
    ("unable to open database file", "cannot be opened; expected a writable file"),
    ("could not translate host name", "the server was not found ({said})"),
    ("Connection refused", "no server answers at this address; is it running?"),
    ("password authentication failed", "the server rejected this user or password"),
    ("fe_sendauth", "the server asks for a password"),
    ("does not exist", "{said}"),
    ("permission denied", "{said}"),
    ("connection", LOST),
    ("terminating", LOST),
    ("consuming input failed", LOST),
)
LONGEST = 160


@contextmanager
def told(store: str) -> Iterator[None]:
    """Errors of the database below, as trouble with this store."""
    from sqlalchemy.exc import DBAPIError, SQLAlchemyError

    try:
        yield
    except DBAPIError as error:
        raise StoreTrouble(store, problem_of(str(error.orig))) from error
    except SQLAlchemyError as error:
        raise StoreTrouble(store, problem_of(str(error))) from error


def problem_of(said: str) -> str:
    """Return the meaning of a database error, or its own text."""
    line = " ".join(said.split())
    short = line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
    for part, meaning in MEANING:
        if part in line:
            return meaning.format(said=short)
    return short


ONE_VIEW: dict[str, Any] = {"isolation_level": "REPEATABLE READ"}
WRITES = "partita_writes"  # connection option: begin the transaction with the lock


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """A database, with a name for messages that has no password."""

    engine: Engine
    name: str
    file: Path | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a snapshot of the store: later writes by others are not visible."""
        self._refuse_gone()
        with told(self.name), self.engine.connect() as plain:
            # SQLite reads so in any case; of PostgreSQL every statement would have its own view
            connection = plain if self.file else plain.execution_options(**ONE_VIEW)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self, *, hurried: bool = False) -> Iterator[Connection]:
        """Open a transaction, rolled back on any error.

        A power cut may lose a `hurried` one, which is for work that can be repeated.
        """
        self._refuse_gone()
        with told(self.name), self.engine.connect() as plain:
            connection = plain.execution_options(**{WRITES: "hurried" if hurried else "safe"})
            with connection.begin():
                yield connection
                self._refuse_gone()

    def close(self) -> None:
        self.engine.dispose()

    def _refuse_gone(self) -> None:
        """Raise an error if the file was deleted, since SQLite would go on writing."""
        if self.file is not None and not self.file.exists():
            raise StoreTrouble(self.name, "the file is no longer there")


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
    """Create the file for its owner alone; SQLite would not say why it cannot."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
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


TABLE = "partita_version"
CHANGES: Mapping[str, Sequence[str]] = {  # versions of the tables, and what each changed
    "0001": (),
    "0002": ("ALTER TABLE keys ADD COLUMN withdrawn TEXT",),
    "0003": (
        "ALTER TABLE entities ADD COLUMN denied JSON",
        "ALTER TABLE slot_values ADD COLUMN status TEXT",
    ),
    "0004": ("DROP TABLE IF EXISTS jobs",),
}
VERSION = max(CHANGES)
LOCK = 1997  # of PostgreSQL, held by whoever makes or changes the tables


def bring_up_to_date(store: Store) -> None:
    """Create or migrate the tables if necessary."""
    with store.reading() as connection:
        version = _version(store, connection)
    if version == VERSION:
        return
    with store.writing() as connection:
        _lock(connection)
        version = _version(store, connection)  # another process may have migrated it
        if version != VERSION:
            _upgrade(connection, version)


def _version(store: Store, connection: Connection) -> str | None:
    """Return the version, None without tables; a foreign or newer store is an error."""
    from sqlalchemy import inspect, text

    table_names = set(inspect(connection).get_table_names())
    if TABLE not in table_names:
        _refuse_foreign(store, table_names)
        return None
    version = connection.execute(text(f"SELECT version_num FROM {TABLE}")).scalar()
    if version not in {None, *CHANGES}:
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


def _lock(connection: Connection) -> None:
    from sqlalchemy import text

    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({LOCK})"))


def _upgrade(connection: Connection, version: str | None) -> None:
    """Make all tables of a new store, or all changes since its version, in the open transaction."""
    from sqlalchemy import text

    from partita.store.tables import metadata

    if version is None:
        metadata.create_all(connection)
        number = "version_num VARCHAR(32) NOT NULL PRIMARY KEY"
        connection.execute(text(f"CREATE TABLE IF NOT EXISTS {TABLE} ({number})"))
        connection.execute(text(f"INSERT INTO {TABLE} VALUES ('{VERSION}')"))
        return
    for newer in sorted(one for one in CHANGES if one > version):
        for change in CHANGES[newer]:
            connection.execute(text(change))
    connection.execute(text(f"UPDATE {TABLE} SET version_num = '{VERSION}'"))
