"""Read truths, reliabilities, hierarchies and objects, and recognise kinds of files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from partita.errors import InputError
from partita.files.strict import Place
from partita.files.text import STANDARD_INPUT, opened
from partita.fusion.claim_files import claim_columns, read_claims, rows_of
from partita.fusion.hierarchy import Nesting
from partita.templates.words import symbol

Truths = dict[tuple[str, str], str]
IDS = ("id", "node")
NAMES = ("name", "value", "child")
PARENTS = ("parentid", "parent_id", "parent")


def read_truths(path: str | Path, slots: list[str]) -> Truths:
    """The true value by object and slot; a file without a slot column speaks of the only one."""
    claims = read_claims(path)
    truths: Truths = {}
    for n in range(len(claims)):
        slot = claims.slots[claims.slot[n]]
        if slot not in slots:
            slot = _only(slots, slot, str(path))
        key = (claims.objects[claims.object[n]], slot)
        value = claims.values[claims.value[n]]
        if key in truths and claims.kinds.get(claims.slots[claims.slot[n]]) == "several":
            value = f"{truths[key]}; {value}"
        elif truths.get(key, value) != value:
            raise claims.located(n, f"{key[0]} is {value} here, {truths[key]} before")
        truths[key] = value
    return truths


def _only(slots: list[str], named: str, file: str) -> str:
    if len(slots) == 1 and named in ("value", "truth", "answer", "label"):
        return slots[0]
    raise InputError(f"refers to slot {named!r}; the claims have {', '.join(slots)}", file=file)


def read_reliabilities(path: str | Path) -> dict[str, float]:
    """Reliabilities by source, from a table with the columns source and reliability."""
    found: dict[str, float] = {}
    for place, row in _table(path):
        source, number = _one(row, ("source", "src"), place), _one(row, ("reliability",), place)
        try:
            found[source] = float(number)
        except ValueError:
            place.refuse(f"reliability {number!r} of {source} is not a number from 0 to 1")
        if not 0 <= found[source] <= 1:
            place.refuse(f"reliability {number} of {source} is not a number from 0 to 1")
    return found


def read_nesting(path: str | Path) -> Nesting:
    """A hierarchy, from a table with id, name and parent id, or with name and parent.

    One node that is above all others says nothing and is left out.
    """
    names: dict[str, str] = {}
    parents: dict[str, str] = {}
    for place, row in _table(path):
        name = symbol(_one(row, NAMES, place))
        node = row.get(next((key for key in IDS if key in row), ""), name)
        if node in names:
            place.refuse(f"lists {node} again")
        names[node] = name
        parents[node] = next((row[key] for key in PARENTS if key in row), "")
    if not any(key in names for key in parents.values()):
        parents = {node: symbol(parent) for node, parent in parents.items()}
        names |= {parent: parent for parent in parents.values() if parent}
    return _rooted(names, {n: p for n, p in parents.items() if p in names})


def is_nesting(path: str | Path) -> bool:
    """The file's columns are those of a hierarchy, and not of claims."""
    if Path(path).suffix.lower() != ".csv":
        return False
    first = next(rows_of(path), None)
    columns = set() if first is None else {name.lower() for name in first.columns}
    return columns in ({"id", "name", parent} for parent in PARENTS) or columns == {
        "name",
        "parent",
    }


def _rooted(names: dict[str, str], parents: dict[str, str]) -> Nesting:
    tops = [node for node in names if node not in parents]
    if len(tops) == 1 and len(names) > 1:
        names = {node: name for node, name in names.items() if node != tops[0]}
        parents = {node: parent for node, parent in parents.items() if parent != tops[0]}
    return Nesting.of(names, parents)


def read_objects(path: str | Path) -> set[str]:
    """The objects that may be spoken of, one in each row."""
    return {_one(row, ("object", "obj", "id", "question"), place) for place, row in _table(path)}


def _table(path: str | Path) -> Iterator[tuple[Place, dict[str, str]]]:
    """Rows as texts by column, in lower case."""
    for rows in rows_of(path):
        for n, line in enumerate(rows.lines):
            place = Place(str(path), line)
            if n in rows.problems:
                place.refuse(rows.problems[n])
            cells: list[Any] = [column[n] for column in rows.values]
            texts = ("" if cell is None else str(cell).strip() for cell in cells)
            yield place, dict(zip((c.lower() for c in rows.columns), texts, strict=True))


def _one(row: dict[str, str], names: tuple[str, ...], place: Place) -> str:
    found = next((row[name] for name in names if row.get(name)), "")
    if not found:
        place.refuse(f"has no {' or '.join(names)}; found {', '.join(row)}")
    return found


SOURCES = ("reports", "records", "claims", "judgements")
START = 1 << 16  # bytes in which the first line of JSON is looked for


def source_kind(path: str | Path) -> str:
    """By its first line of JSON or by the names of its columns."""
    if str(path) == STANDARD_INPUT:
        return "claims"  # it can be read only once
    if _is_results(path):
        return "reports"
    first = next(rows_of(path), None)
    if first is None:
        return "claims"  # whose reader says what is missing
    roles = claim_columns(first.columns)
    if isinstance(roles, str):
        return "records"
    if roles.left is not None and roles.right is not None:
        return "judgements"
    return "claims" if roles.value is not None else "records"


def _is_results(path: str | Path) -> bool:
    with opened(path) as stream:
        start = stream.read(START).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return False
    line = start.split(b"\n", 1)[0].decode(errors="replace")
    try:
        first = json.loads(line)
    except ValueError:  # a long line of results: its first fields tell
        return line.startswith('{"version":') and ('"set":' in line or '"singletons":' in line)
    return isinstance(first, dict) and "version" in first and (
        "set" in first or "singletons" in first
    )  # fmt: skip
