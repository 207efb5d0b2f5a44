"""How the sets of a run were answered, counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlalchemy import select

from partita.store import tables

if TYPE_CHECKING:
    from sqlalchemy import Connection


def count_methods(connection: Connection, run: str) -> Counter[tuple[str, bool]]:
    """By method, and whether chains that were drawn disagree."""
    at = tables.sets.c
    rows = connection.execute(select(at.method, at.more).where(at.run == run))
    return Counter((method, more.get("converged") is False) for method, more in rows)
