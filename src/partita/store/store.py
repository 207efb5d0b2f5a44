"""A store that is open: transactions to read in and transactions to write in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.errors import StoreTrouble
from partita.store.trouble import told

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

ONE_VIEW: dict[str, Any] = {"isolation_level": "REPEATABLE READ"}
WRITES = "partita_writes"  # the option of a connection whose transaction begins with the lock


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """A database and the name by which it is told of, which holds no password."""

    engine: Engine
    name: str
    file: Path | None = None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """One view of the store: what others write meanwhile is not seen."""
        self._refuse_gone()
        with told(self.name), self.engine.connect() as plain:
            # SQLite reads so in any case; of PostgreSQL every statement would have its own view
            connection = plain if self.file else plain.execution_options(**ONE_VIEW)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self, *, hurried: bool = False) -> Iterator[Connection]:
        """A transaction that is kept whole, or not at all where anything is raised. A power cut
        may take one that was `hurried`, for what can be done again; no end of a process can."""
        self._refuse_gone()
        with told(self.name), self.engine.connect() as plain:
            connection = plain.execution_options(**{WRITES: "hurried" if hurried else "safe"})
            with connection.begin():
                yield connection
                self._refuse_gone()

    def close(self) -> None:
        self.engine.dispose()

    def _refuse_gone(self) -> None:
        """SQLite would go on writing into a file that somebody has removed."""
        if self.file is not None and not self.file.exists():
            raise StoreTrouble(self.name, "the file is no longer there")
