"""Save keys, and resolve disagreement between authors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from partita.app.recording import now
from partita.core import Configuration
from partita.core.keys import Alternative, Key
from partita.errors import InputError, Unknown
from partita.files.strict import Place, fields, integer_of, list_of, number_of, text_of
from partita.results.template_json import template_of
from partita.store import keys, reading, runs
from partita.store.shapes import PLACE as STORED
from partita.store.store import Store
from partita.text.messages import valid_unicode

if TYPE_CHECKING:
    from sqlalchemy import Connection

Row = Mapping[str, Any]


def keys_of_run(connection: Connection, run: str) -> dict[str, Key]:
    """Return the keys by name of set, in the order in which the sets were first keyed."""
    rows_by_set = keys.by_set(keys.counting(keys.select_keys(connection, run)))
    lines = reading.template_sets(connection, run, list(rows_by_set))
    keyed = {}
    for name, rows in rows_by_set.items():
        if name not in lines:
            raise Unknown(f"run {run} has no set {name}")
        line = lines[name]
        templates = tuple(template_of(template, STORED) for template in line["templates"])
        ids = {template.id for template in templates}
        valid = [row for row in rows if set(row["templates"]) == ids]
        if valid:
            best = merge_votes(valid)
            keyed[name] = Key(line["message"], templates, *best)
    return keyed


def merge_votes(rows: Sequence[Row]) -> tuple[Configuration, str, str, tuple[Alternative, ...]]:
    """Return the configuration with most votes, and the alternatives.

    Their weights are relative to the votes of the first. Of equals the one that agrees best with
    all keys is first, then the one that was saved first; the other keeps the same weight.
    """
    (best, most), *others = _votes(rows)
    rest = tuple(Alternative(cells, vote / most) for cells, vote in others)
    authors = ", ".join(dict.fromkeys(row["author"] for row in rows))
    return best, authors, rows[-1]["time"], rest


def key_agreement(rows: Sequence[Row]) -> dict[str, Any]:
    """Return how the authors of a set agree: every configuration with its votes and authors.

    A set is disputed if no configuration has more votes than every other.
    """
    votes = _votes(rows) if rows else []
    authors = {
        cells: [row["author"] for row in rows if Configuration(row["cells"]) == cells]
        for cells, _ in votes
    }
    disputed = len(votes) > 1 and votes[0][1] - votes[1][1] < EQUAL
    return {
        "authors": len(rows),
        "disputed": disputed,
        "votes": [
            {"cells": [list(cell) for cell in cells], "votes": vote, "authors": authors[cells]}
            for cells, vote in votes
        ],
    }


def _votes(rows: Sequence[Row]) -> list[tuple[Configuration, float]]:
    """Return the configurations of all keys with their votes, the one that counts first."""
    votes: dict[Configuration, float] = {}
    for row in rows:
        for cells, share in _vote_shares(row):
            votes[cells] = votes.get(cells, 0.0) + share
    return sorted(votes.items(), key=lambda item: (-round(item[1], 9), _distance(item[0], votes)))


def _distance(one: Configuration, votes: Mapping[Configuration, float]) -> float:
    """Return the mean number of pairs by which a configuration differs from the keys."""
    pairs = _joined(one)
    return sum(vote * len(pairs ^ _joined(other)) for other, vote in votes.items())


def _joined(cells: Configuration) -> frozenset[tuple[str, str]]:
    return frozenset((a, b) for cell in cells for a in cell for b in cell if a < b)


def _vote_shares(row: Row) -> list[tuple[Configuration, float]]:
    weighted = [
        (row["cells"], 1.0),
        *((one["cells"], one["weight"]) for one in row["alternatives"]),
    ]
    total = sum(weight for _, weight in weighted)
    return [(Configuration(cells), weight / total) for cells, weight in weighted]


PLACE = Place("the key")
EQUAL = 1e-9  # votes that differ by less are equal
LONGEST = 200  # characters of an author
LARGEST = 2**31 - 1  # number of a key


def save_key(
    store: Store,
    run: str,
    name: str,
    cells: Sequence[Sequence[str]],
    author: str,
    alternatives: Iterable[Mapping[str, Any]] = (),
    based_on: int | None = None,
    override: bool = False,
) -> dict[str, Any]:
    """Save a key; return its number and the conflicting keys that its author has not seen.

    A key that contradicts what is known of its templates is refused, unless `override`.
    """
    with store.writing() as connection:
        runs.read_run(connection, run)
        line = reading.read_set(connection, run, name)
        ids = [template["id"] for template in line["templates"]]
        key = {
            "set_name": name,
            "message": line["message"],
            "templates": ids,
            "cells": configuration(cells, ids),
            "alternatives": [_alternative(alternative, ids) for alternative in alternatives],
            "author": _author(author),
            "time": now(),
            "based_on": None if based_on is None else _key_number(based_on),
        }
        if not override:
            for listed in (key, *key["alternatives"]):
                _refuse_contradiction(listed["cells"], line)
        number, conflicts = keys.insert_key(connection, run, key)
    return {"key": number, "conflicts": conflicts}


def _key_number(based_on: int) -> int:
    """Return the number of a key; databases store no larger ones."""
    if integer_of(based_on, "based_on", PLACE) > LARGEST:
        PLACE.refuse(f"based_on is above {LARGEST:,}; expected the number of a key")
    return based_on


def withdraw_keys(store: Store, run: str, name: str, author: str) -> dict[str, Any]:
    """Withdraw the keys of an author for a set; they stay in the store and no longer count."""
    with store.writing() as connection:
        runs.read_run(connection, run)
        count = keys.mark_withdrawn(connection, run, name, _author(author), now())
    if not count:
        raise Unknown(f"{author} has no key for set {name}")
    return {"withdrawn": count}


def _refuse_contradiction(cells: Sequence[Sequence[str]], line: Row) -> None:
    """Refuse cells that join templates known to differ, or part templates known to be the same."""
    cell_of = {template: n for n, cell in enumerate(cells) for template in cell}
    known = (("incompatible", True, "differ"), ("must", False, "be the same"))
    for name, together, said in known:
        for left, right in line[name]:
            if (cell_of[left] == cell_of[right]) is together:
                problem = f"{left} and {right} are known to {said}"
                PLACE.refuse(f"{problem}; set override to save the key nevertheless")


def configuration(cells: Any, ids: Sequence[str]) -> list[list[str]]:
    """Return cells in text order; refuse them unless each template is in exactly one."""
    parsed = [
        [text_of(one, "a template of a cell", PLACE) for one in list_of(cell, "a cell", PLACE)]
        for cell in list_of(_as_lists(cells), "cells", PLACE)
    ]
    if not all(parsed):
        PLACE.refuse("a cell is empty; expected templates in each")
    members = [one for cell in parsed for one in cell]
    if unknown := [one for one in members if one not in ids]:
        PLACE.refuse(f"names {unknown[0]}; expected templates of the set: {', '.join(ids)}")
    if missing := [one for one in ids if one not in members]:
        PLACE.refuse(f"template {missing[0]} is in no cell (expected every template in one cell)")
    try:
        Configuration(parsed)
    except InputError as error:
        PLACE.refuse(error.problem)
    ordered = [sorted(cell, key=ids.index) for cell in parsed]
    return sorted(ordered, key=lambda cell: ids.index(cell[0]))


def _as_lists(cells: Any) -> Any:
    """Convert tuples to lists."""
    if not isinstance(cells, list | tuple):
        return cells
    return [list(cell) if isinstance(cell, tuple) else cell for cell in cells]


def _alternative(value: Any, ids: Sequence[str]) -> dict[str, Any]:
    alternative = fields(value, "an alternative", PLACE, needed=("cells", "weight"))
    weight = number_of(alternative["weight"], "weight", PLACE)
    if weight <= 0:
        PLACE.refuse(f"weight of an alternative is {weight}; expected more than 0")
    return {"cells": configuration(alternative["cells"], ids), "weight": weight}


def _author(author: Any) -> str:
    name = text_of(author, "author", PLACE).strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        PLACE.refuse(f"author is {name[:20]!r}; expected a name of up to {LONGEST} letters")
    return valid_unicode(name, "author")
