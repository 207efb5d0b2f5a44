"""Open a store, and translate database errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.errors import StoreTrouble

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

# fragments of database errors, and what they mean
MEANING = (
    ("file is not a database", "is not a database; expected a file that Partita created"),
    ("file is encrypted", "is not a database; expected a file that Partita created"),
    ("malformed", "is damaged ({said}); restore a copy, or export what can still be read"),
    (
        "database or disk is full",
        "the disk is full; free some space and run the same command again to continue",
    ),
    (
        "No space left on device",
        "the disk is full; free some space and run the same command again to continue",
    ),
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
    ("connection", "the connection to the database was lost ({said}); what was finished is stored"),
    (
        "terminating",
        "the connection to the database was lost ({said}); what was finished is stored",
    ),
    (
        "consuming input failed",
        "the connection to the database was lost ({said}); what was finished is stored",
    ),
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
