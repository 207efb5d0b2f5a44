"""A key that a person has written, checked and saved beside all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from partita.errors import InputError
from partita.formats.message_bytes import sound
from partita.formats.strict import Place, fields, integer_of, list_of, number_of, text_of
from partita.records import Configuration
from partita.store import keys, reading, runs
from partita.store.store import Store
from partita.workspace.recording import now

PLACE = Place("the key")
LONGEST = 200  # characters of an author


def save(
    store: Store,
    run: str,
    name: str,
    cells: Sequence[Sequence[str]],
    author: str,
    alternatives: Iterable[Mapping[str, Any]] = (),
    based_on: int | None = None,
) -> dict[str, Any]:
    """The number of the key, and what others have saved that its author has not seen."""
    with store.writing() as connection:
        runs.read_run(connection, run)
        found = reading.read_set(connection, run, name)
        ids = [template["id"] for template in found["templates"]]
        key = {
            "set_name": name,
            "message": found["message"],
            "templates": ids,
            "cells": configuration(cells, ids),
            "alternatives": [_alternative(one, ids) for one in alternatives],
            "author": _author(author),
            "time": now(),
            "based_on": None if based_on is None else integer_of(based_on, "based_on", PLACE),
        }
        number, conflicts = keys.add_key(connection, run, key)
    return {"key": number, "conflicts": conflicts}


def configuration(cells: Any, ids: Sequence[str]) -> list[list[str]]:
    """Cells that hold every template of the set exactly once, in text order."""
    given = [
        [text_of(one, "a template of a cell", PLACE) for one in list_of(cell, "a cell", PLACE)]
        for cell in list_of(_listed(cells), "cells", PLACE)
    ]
    if not all(given):
        PLACE.refuse("a cell is empty; expected templates in each")
    named = [one for cell in given for one in cell]
    if unknown := [one for one in named if one not in ids]:
        PLACE.refuse(f"names {unknown[0]}; expected templates of the set: {', '.join(ids)}")
    if missing := [one for one in ids if one not in named]:
        PLACE.refuse(f"template {missing[0]} stands in no cell; expected every template in one")
    try:
        Configuration(given)
    except InputError as error:
        PLACE.refuse(error.problem)
    ordered = [sorted(cell, key=ids.index) for cell in given]
    return sorted(ordered, key=lambda cell: ids.index(cell[0]))


def _listed(cells: Any) -> Any:
    """Tuples are as good as lists."""
    if not isinstance(cells, list | tuple):
        return cells
    return [list(cell) if isinstance(cell, tuple) else cell for cell in cells]


def _alternative(given: Any, ids: Sequence[str]) -> dict[str, Any]:
    told = fields(given, "an alternative", PLACE, needed=("cells", "weight"))
    weight = number_of(told["weight"], "weight", PLACE)
    if weight <= 0:
        PLACE.refuse(f"weight of an alternative is {weight}; expected more than 0")
    return {"cells": configuration(told["cells"], ids), "weight": weight}


def _author(author: Any) -> str:
    name = text_of(author, "author", PLACE).strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        PLACE.refuse(f"author is {name[:20]!r}; expected a name of up to {LONGEST} letters")
    return sound(name, "author")
