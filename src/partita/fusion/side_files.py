"""Read truths, reliabilities, hierarchies and objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from partita.errors import InputError
from partita.fusion.claim_files import add_reliability, read_claims
from partita.fusion.claims import checked_reliabilities
from partita.fusion.hierarchy import Nesting, find_cycle
from partita.tables import Table, named, read_table
from partita.tables.columns import ids_of
from partita.templates.slots import symbol

Truths = dict[tuple[str, str], str]
ID_COLUMNS = ("id", "node")
NAME_COLUMNS = ("name", "value", "child")
PARENT_COLUMNS = ("parentid", "parent_id", "parent")


def read_truths(source: Any, slots: list[str]) -> Truths:
    """Return the true value by object and slot; the slot column is optional for one slot."""
    table = read_table(source, name=named(source, "truth"), tuples=[("object", "value")])
    claims = read_claims(table, headed=False)
    truths: Truths = {}
    for n in range(len(claims)):
        slot = claims.slots[claims.slot[n]]
        if slot not in slots:
            slot = _single_slot(slots, slot, table.name)
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


def read_reliabilities(source: Any) -> dict[str, float]:
    """Read reliabilities from a mapping, or a table with the columns source and reliability."""
    reliabilities: dict[str, float] = {}
    if isinstance(source, Mapping):
        return checked_reliabilities(source)
    table = _side_table(source, "reliability", ("source", "reliability"))
    for row, texts in enumerate(_texts(table)):
        name = _required(texts, ("source", "src"), row, table)
        number = _required(texts, ("reliability",), row, table)
        add_reliability(number, name, reliabilities, table.place(row))
    return reliabilities


def read_nesting(source: Any) -> Nesting:
    """Read a hierarchy from a table with id, name and parent id, or with name and parent.

    A single node above all the others is left out.
    """
    names: dict[str, str] = {}
    parents: dict[str, str] = {}
    rows: dict[str, int] = {}
    table = _side_table(source, "hierarchy", ("name", "parent"))
    for row, texts in enumerate(_texts(table)):
        name = symbol(_required(texts, NAME_COLUMNS, row, table))
        node = texts.get(next((key for key in ID_COLUMNS if key in texts), ""), name)
        if node in names:
            raise table.error(row, f"lists {node} again")
        names[node], rows[node] = name, row
        parents[node] = next((texts[key] for key in PARENT_COLUMNS if key in texts), "")
    if not any(key in names for key in parents.values()):
        parents = {node: symbol(parent) for node, parent in parents.items()}
        names |= {parent: parent for parent in parents.values() if parent}
    kept = {n: p for n, p in parents.items() if p in names}
    if cycle := find_cycle(kept):
        shown = " > ".join(names[node] for node in (*cycle, cycle[0]))
        raise table.error(rows[cycle[0]], f"values form a cycle: {shown}")
    return _without_root(names, kept)


def is_hierarchy(columns: Sequence[str]) -> bool:
    """Return whether these are the columns of a hierarchy."""
    names = {name.lower() for name in columns}
    parents = ({"id", "name", parent} for parent in PARENT_COLUMNS)
    return names == {"name", "parent"} or names in parents


def _without_root(names: dict[str, str], parents: dict[str, str]) -> Nesting:
    tops = [node for node in names if node not in parents]
    if len(tops) == 1 and len(names) > 1:
        names = {node: name for node, name in names.items() if node != tops[0]}
        parents = {node: parent for node, parent in parents.items() if parent != tops[0]}
    return Nesting.of(names, parents)


def read_objects(source: Any) -> set[str]:
    """Read the allowed objects, one per row."""
    table = _side_table(source, "objects", ("object",))
    roles = ("object", "obj", "id", "question")
    return {_required(texts, roles, row, table) for row, texts in enumerate(_texts(table))}


def _side_table(source: Any, what: str, columns: Sequence[str]) -> Table:
    return read_table(source, name=named(source, what), tuples=[columns])


def _texts(table: Table) -> Iterator[dict[str, str]]:
    """Yield rows as texts by column name in lower case."""
    names = [name.lower() for name in table.columns]
    for texts in zip(*(ids_of(table, name) for name in table.columns), strict=True):
        yield dict(zip(names, texts, strict=True))


def _required(texts: dict[str, str], names: tuple[str, ...], row: int, table: Table) -> str:
    text = next((texts[name] for name in names if texts.get(name)), "")
    if not text:
        raise table.error(row, f"has no {' or '.join(names)}; found {', '.join(texts)}")
    return text
