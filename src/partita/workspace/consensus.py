"""One key for each set: what most of its authors hold, each by the newest key of their own.

An author's vote of 1 goes to the cells and to the alternatives in the ratio 1 : their weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from partita.formats.template_json import template_of
from partita.learning.keyed import Alternative, Key
from partita.records import Configuration
from partita.store import keys, reading
from partita.store.shapes import PLACE

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = Mapping[str, Any]


def keyed_sets(connection: Connection, run: str) -> dict[str, Key]:
    """By the names of sets, in the order in which the sets were keyed first."""
    told = keys.by_set(keys.counting(keys.read_keys(connection, run)))
    found = {}
    for name, rows in told.items():
        line = reading.read_set(connection, run, name)
        templates = tuple(template_of(one, PLACE) for one in line["templates"])
        ids = {template.id for template in templates}
        fitting = [row for row in rows if set(row["templates"]) == ids]
        if fitting:
            best = winner(fitting)
            found[name] = Key(line["message"], templates, *best)
    return found


def winner(rows: Sequence[Row]) -> tuple[Configuration, str, str, tuple[Alternative, ...]]:
    """The configuration with most votes, the newest of equals; the others stay as alternatives."""
    votes: dict[Configuration, float] = {}
    for row in reversed(rows):
        for cells, share in _shares(row):
            votes[cells] = votes.get(cells, 0.0) + share
    best = max(votes, key=lambda cells: votes[cells])
    rest = tuple(Alternative(cells, vote) for cells, vote in votes.items() if cells != best)
    authors = ", ".join(dict.fromkeys(row["author"] for row in rows))
    return best, authors, rows[-1]["time"], rest


def _shares(row: Row) -> list[tuple[Configuration, float]]:
    told = [(row["cells"], 1.0), *((one["cells"], one["weight"]) for one in row["alternatives"])]
    total = sum(weight for _, weight in told)
    return [(Configuration(cells), weight / total) for cells, weight in told]
