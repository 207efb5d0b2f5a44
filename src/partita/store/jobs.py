"""Background jobs as rows, so that they survive a restart of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from partita.errors import Unknown
from partita.store import tables
from partita.store.shapes import Row

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
    row = connection.execute(query).mappings().one_or_none()
    if row is None:
        raise Unknown(f"no job with id {job}")
    return dict(row)


def open_jobs(connection: Connection) -> list[Row]:
    """Return the jobs that have not ended, oldest first."""
    at = tables.jobs.c
    query = select(tables.jobs).where(at.state.in_(OPEN)).order_by(at.created, at.job)
    return [dict(row) for row in connection.execute(query).mappings()]
