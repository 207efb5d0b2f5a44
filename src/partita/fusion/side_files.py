"""Read truths, reliabilities, hierarchies and objects, and recognise the kinds of files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from partita.errors import InputError
from partita.files.strict import Place
from partita.files.text import STANDARD_INPUT, opened
from partita.fusion.claim_files import claim_columns, read_claims, rows_of
from partita.fusion.hierarchy import Nesting, find_cycle
from partita.templates.words import symbol

Truths = dict[tuple[str, str], str]
ID_COLUMNS = ("id", "node")
NAME_COLUMNS = ("name", "value", "child")
PARENT_COLUMNS = ("parentid", "parent_id", "parent")


def read_truths(path: str | Path, slots: list[str]) -> Truths:
    """Return the true value by object and slot; the slot column is optional for one slot."""
    claims = read_claims(path)
    truths: Truths = {}
    for n in range(len(claims)):
        slot = claims.slots[claims.slot[n]]
        if slot not in slots:
            slot = _single_slot(slots, slot, str(path))
        key = (claims.objects[claims.object[n]], slot)
        value = claims.values[claims.value[n]]
        if key in truths and claims.kinds.get(claims.slots[claims.slot[n]]) == "several":
            value = f"{truths[key]}; {value}"
        elif truths.get(key, value) != value:
            raise claims.located(n, f"{key[0]} is {value} here, {truths[key]} before")
        truths[key] = value
    return truths


def _single_slot(slots: list[str], name: str, file: str) -> str:
    if len(slots) == 1 and name in ("value", "truth", "answer", "label"):
        return slots[0]
    raise InputError(f"refers to slot {name!r}; the claims have {', '.join(slots)}", file=file)


def read_reliabilities(path: str | Path) -> dict[str, float]:
    """Read reliabilities from a table with the columns source and reliability."""
    reliabilities: dict[str, float] = {}
    for place, row in _table(path):
        source, number = (
            _required(row, ("source", "src"), place),
            _required(row, ("reliability",), place),
        )
        try:
            reliabilities[source] = float(number)
        except ValueError:
            place.refuse(f"reliability {number!r} of {source} is not a number from 0 to 1")
        if not 0 <= reliabilities[source] <= 1:
            place.refuse(f"reliability {number} of {source} is not a number from 0 to 1")
    return reliabilities


def read_nesting(path: str | Path) -> Nesting:
    """Read a hierarchy from a table with id, name and parent id, or with name and parent.

    A single node above all the others is left out.
    """
    names: dict[str, str] = {}
    parents: dict[str, str] = {}
    lines: dict[str, int | None] = {}
    for place, row in _table(path):
        name = symbol(_required(row, NAME_COLUMNS, place))
        node = row.get(next((key for key in ID_COLUMNS if key in row), ""), name)
        if node in names:
            place.refuse(f"lists {node} again")
        names[node], lines[node] = name, place.line
        parents[node] = next((row[key] for key in PARENT_COLUMNS if key in row), "")
    if not any(key in names for key in parents.values()):
        parents = {node: symbol(parent) for node, parent in parents.items()}
        names |= {parent: parent for parent in parents.values() if parent}
    kept = {n: p for n, p in parents.items() if p in names}
    if cycle := find_cycle(kept):
        shown = " > ".join(names[node] for node in (*cycle, cycle[0]))
        Place(str(path), lines[cycle[0]]).refuse(f"values form a cycle: {shown}")
    return _without_root(names, kept)


def is_nesting(path: str | Path) -> bool:
    """Return whether the file has the columns of a hierarchy."""
    if Path(path).suffix.lower() != ".csv":
        return False
    first = next(rows_of(path), None)
    columns = set() if first is None else {name.lower() for name in first.columns}
    return columns in ({"id", "name", parent} for parent in PARENT_COLUMNS) or columns == {
        "name",
        "parent",
    }


def _without_root(names: dict[str, str], parents: dict[str, str]) -> Nesting:
    tops = [node for node in names if node not in parents]
    if len(tops) == 1 and len(names) > 1:
        names = {node: name for node, name in names.items() if node != tops[0]}
        parents = {node: parent for node, parent in parents.items() if parent != tops[0]}
    return Nesting.of(names, parents)


def read_objects(path: str | Path) -> set[str]:
    """Read the allowed objects, one per row."""
    return {
        _required(row, ("object", "obj", "id", "question"), place) for place, row in _table(path)
    }


def _table(path: str | Path) -> Iterator[tuple[Place, dict[str, str]]]:
    """Yield rows as texts by column name in lower case."""
    for rows in rows_of(path):
        for n, line in enumerate(rows.lines):
            place = Place(str(path), line)
            if n in rows.problems:
                place.refuse(rows.problems[n])
            cells: list[Any] = [column[n] for column in rows.values]
            texts = ("" if cell is None else str(cell).strip() for cell in cells)
            yield place, dict(zip((c.lower() for c in rows.columns), texts, strict=True))


def _required(row: dict[str, str], names: tuple[str, ...], place: Place) -> str:
    text = next((row[name] for name in names if row.get(name)), "")
    if not text:
        place.refuse(f"has no {' or '.join(names)}; found {', '.join(row)}")
    return text


SOURCES = ("reports", "records", "claims", "judgements", "beliefs")
SNIFFED_BYTES = 1 << 16  # of a file, to recognise results and beliefs


def source_kind(path: str | Path) -> str:
    """Return the kind of a file by its first line of JSON or its column names."""
    if str(path) == STANDARD_INPUT:
        return "claims"  # standard input can be read only once
    if kind := json_kind(path):
        return kind
    first = next(rows_of(path), None)
    if first is None or not first.columns:
        return "claims"  # its reader reports what is missing
    roles = claim_columns(first.columns)
    if isinstance(roles, str):
        return "records"
    if roles.left is not None and roles.right is not None:
        return "judgements"
    return "claims" if roles.value is not None else "records"


def json_kind(path: str | Path) -> str:
    """Return "reports" or "beliefs" by the fields of the first line of JSON, else ""."""
    if str(path) == STANDARD_INPUT:
        return ""
    with opened(path) as stream:
        start = stream.read(SNIFFED_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return ""
    line = start.split(b"\n", 1)[0].decode(errors="replace")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):  # a long line was cut, or its reader reports an error
        fields = {
            name for name in ("set", "singletons", "masses", "distribution") if f'"{name}":' in line
        }
        fields |= {"version"} if line.startswith('{"version":') else set()
    else:
        fields = set(first) if isinstance(first, dict) else set()
    if "version" in fields and fields & {"set", "singletons"}:
        return "reports"
    return "beliefs" if fields & {"masses", "distribution"} and "version" not in fields else ""
