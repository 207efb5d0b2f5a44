"""Rows that the first of several writers adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

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
