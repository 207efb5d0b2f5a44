"""Read the sources of a fusion, of whatever kind, and the truths and hierarchies beside them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from partita.errors import InputError
from partita.files.strict import Place, json_lines
from partita.files.text import STANDARD_INPUT, opened
from partita.fusion.claim_files import add_reliability, claim_columns, claim_table, read_claims
from partita.fusion.claims import checked_reliabilities
from partita.fusion.hierarchy import Nesting, find_cycle
from partita.tables import Table, read_table
from partita.tables.columns import ids_of
from partita.templates.slots import StateGroup, checked_groups, symbol

REPORTS, RECORDS, CLAIMS = "reports", "records", "claims"
JUDGEMENTS, HIERARCHY = "judgements", "hierarchy"
SOURCES = (REPORTS, RECORDS, CLAIMS, JUDGEMENTS)
SNIFFED_BYTES = 1 << 16  # of a file, to recognise results
JSON_FIELDS = ("set", "singletons")


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a file in memory, and its name.

    A run of the store is its lines of results, one after another, under NAME.jsonl.
    """

    name: str
    content: str | bytes


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table in memory, or a file, under the name of its source."""

    name: str
    content: Any


@dataclass(frozen=True, slots=True, eq=False)
class FuseSource:
    """A source as it was read: its kind, and a table or the content of a file of JSON."""

    name: str
    kind: str
    content: Table | bytes

    @property
    def table(self) -> Table:
        assert isinstance(self.content, Table)
        return self.content

    @property
    def source(self) -> str:
        """The name of the source where its rows name none."""
        return Path(self.name).stem

    def rows(self) -> Iterator[tuple[Place, Any]]:
        """Yield every row as JSON has it, and where it is."""
        if isinstance(self.content, Table):
            for n, row in enumerate(self.content.dicts()):
                filled = {name: value for name, value in row.items() if value is not None}
                yield self.content.place(n), filled
            return
        yield from json_lines(self.name, self.content)


def read_source(
    value: Any,
    kinds: Mapping[str, str] | None = None,
    columns: Sequence[str] = (),
) -> FuseSource:
    """Read a source: a path, a data frame, a list of dicts or tuples, `Content` or `NamedTable`.

    `kinds` forces kinds by path or by name ("" for all); `columns` names those of a file of claims
    without a header.
    """
    if isinstance(value, FuseSource):
        return value
    name, forced = None, None
    if isinstance(value, NamedTable):
        name, value = value.name, value.content
    if isinstance(value, str | os.PathLike | Content):
        name, value = _bytes(value)
        forced = _forced_kind(name, kinds or {})
        if (forced or json_kind(value)) == REPORTS:
            return FuseSource(name, REPORTS, value)
    table = claim_table(value, columns, name=name)
    forced = forced or _forced_kind(table.name, kinds or {})
    return FuseSource(table.name, forced or (CLAIMS if columns else table_kind(table)), table)


def _bytes(value: str | os.PathLike[str] | Content) -> tuple[str, bytes]:
    """Return the name of a file and its content."""
    if isinstance(value, Content):
        content = value.content
        return value.name, content if isinstance(content, bytes) else content.encode()
    with opened(value) as stream:
        return "standard input" if str(value) == STANDARD_INPUT else str(value), stream.read()


def _forced_kind(name: str, forced: Mapping[str, str]) -> str | None:
    """Return the kind that is set for a source by its path, by its name, or for all sources."""
    kind = forced.get(name) or forced.get(Path(name).name) or forced.get("")
    if kind is not None and kind not in SOURCES:
        raise InputError(f"unknown kind {kind} (expected {', '.join(SOURCES)})", file=name)
    return kind


def table_kind(table: Table) -> str:
    """Return the kind of a table by the names of its columns."""
    if is_hierarchy(table.columns):
        return HIERARCHY
    if kind := _json_kind(set(table.columns)):
        return kind
    roles = claim_columns(table.columns)
    if isinstance(roles, str):
        return RECORDS
    if roles.left is not None and roles.right is not None:
        return JUDGEMENTS
    return CLAIMS if roles.value is not None else RECORDS


def json_kind(content: bytes) -> str:
    """Return "reports" if the first line of JSON has the fields of results, else ""."""
    start = content[:SNIFFED_BYTES].lstrip(b"\xef\xbb\xbf \t\r\n")
    if not start.startswith(b"{"):
        return ""
    line = start.split(b"\n", 1)[0].decode(errors="replace")
    try:
        first = json.loads(line)
    except (ValueError, RecursionError):  # a long line was cut, or its reader reports an error
        fields = {name for name in JSON_FIELDS if f'"{name}":' in line}
        fields |= {"version"} if line.startswith('{"version":') else set()
    else:
        fields = set(first) if isinstance(first, dict) else set()
    return _json_kind(fields)


def _json_kind(fields: set[str]) -> str:
    return REPORTS if "version" in fields and fields & {*JSON_FIELDS} else ""


Truths = dict[tuple[str, str], str]
ID_COLUMNS = ("id", "node")
NAME_COLUMNS = ("name", "value", "child")
PARENT_COLUMNS = ("parentid", "parent_id", "parent")


def read_truths(source: Any, slots: list[str]) -> Truths:
    """Return the true value by object and slot; the slot column is optional for one slot."""
    table = read_table(source, "truth", tuples=[("object", "value")])
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
    written: dict[str, str] = {}
    table = _side_table(source, "hierarchy", ("name", "parent"))
    for row, texts in enumerate(_texts(table)):
        text = _required(texts, NAME_COLUMNS, row, table)
        name = symbol(text)
        written.setdefault(name, " ".join(text.split()))
        node = texts.get(next((key for key in ID_COLUMNS if key in texts), ""), name)
        if node in names:
            raise table.error(row, f"lists {node} again")
        names[node], rows[node] = name, row
        parents[node] = next((texts[key] for key in PARENT_COLUMNS if key in texts), "")
    if not any(key in names for key in parents.values()):
        written = {symbol(text): text for text in parents.values()} | written
        parents = {node: symbol(parent) for node, parent in parents.items()}
        names |= {parent: parent for parent in parents.values() if parent}
    kept = {n: p for n, p in parents.items() if p in names}
    if cycle := find_cycle(kept):
        shown = " > ".join(names[node] for node in (*cycle, cycle[0]))
        raise table.error(rows[cycle[0]], f"values form a cycle: {shown}")
    return replace(_without_root(names, kept), written=written)


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


def read_states(source: Any) -> dict[str, tuple[StateGroup, ...]]:
    """Read exclusive values by slot: rows of slot, value, and optionally group and absorbing."""
    table = _side_table(source, "states", ("slot", "group", "value", "absorbing"))
    groups: dict[tuple[str, str], dict[str, bool]] = {}
    for row, texts in enumerate(_texts(table)):
        slot = _required(texts, ("slot",), row, table)
        value = symbol(_required(texts, ("value", "state"), row, table))
        stays = texts.get("absorbing", "").strip().lower()
        if stays not in ("", "0", "1", "no", "yes", "false", "true"):
            raise table.error(row, f"absorbing {stays!r} is neither yes nor no")
        groups.setdefault((slot, texts.get("group", "")), {})[value] = stays in ("1", "yes", "true")
    states: dict[str, list[StateGroup]] = {}
    for (slot, name), values in groups.items():
        absorbing = frozenset(value for value, stays_ in values.items() if stays_)
        states.setdefault(slot, []).append(StateGroup(name, tuple(sorted(values)), absorbing))
    try:
        return {slot: checked_groups(listed) for slot, listed in states.items()}
    except InputError as error:
        raise table.error(None, error.problem) from None


def _side_table(source: Any, what: str, columns: Sequence[str]) -> Table:
    return read_table(source, what, tuples=[columns])


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
