"""What a database refuses, as one clear line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from partita.errors import StoreTrouble

# what databases say, in their words, and what it means for a person
MEANING = (
    ("file is not a database", "is no database; expected a file that Partita has made"),
    ("file is encrypted", "is no database; expected a file that Partita has made"),
    ("malformed", "is damaged ({said}); restore a copy, or export what can still be read"),
    ("database or disk is full", "the disk is full; make room, and the same command goes on"),
    ("No space left on device", "the disk is full; make room, and the same command goes on"),
    ("disk I/O error", "the disk refuses ({said}); what was finished is stored"),
    ("is locked", "is locked by another process; end it or wait, and the same command goes on"),
    ("readonly database", "cannot be written; expected a file that you may write"),
    ("unable to open database file", "cannot be opened; expected a file that you may write"),
    ("could not translate host name", "the server is not found ({said})"),
    ("Connection refused", "no server answers there; is it running?"),
    ("password authentication failed", "the server refuses this user or password"),
    ("fe_sendauth", "the server asks for a password"),
    ("does not exist", "{said}"),
    ("permission denied", "{said}"),
    ("connection", "the database went away ({said}); what was finished is stored"),
    ("terminating", "the database went away ({said}); what was finished is stored"),
    ("consuming input failed", "the database went away ({said}); what was finished is stored"),
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
    """The meaning of what a database said, or its own words."""
    line = " ".join(said.split())
    short = line if len(line) <= LONGEST else f"{line[:LONGEST]}…"
    for part, meaning in MEANING:
        if part in line:
            return meaning.format(said=short)
    return short
