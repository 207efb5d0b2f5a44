"""The sources of a fusion: each is read once, and its kind is decided by what was read."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from partita.errors import InputError
from partita.files.strict import Place, json_lines
from partita.files.text import STANDARD_INPUT, opened
from partita.fusion.claim_files import claim_columns, claim_table
from partita.fusion.side_files import is_hierarchy
from partita.tables import Table

REPORTS, RECORDS, CLAIMS = "reports", "records", "claims"
JUDGEMENTS, BELIEFS, HIERARCHY = "judgements", "beliefs", "hierarchy"
SOURCES = (REPORTS, RECORDS, CLAIMS, JUDGEMENTS, BELIEFS)
SNIFFED_BYTES = 1 << 16  # of a file, to recognise results and beliefs
JSON_FIELDS = ("set", "singletons", "masses", "distribution")


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
        if (kind := forced or json_kind(value)) in (REPORTS, BELIEFS):
            return FuseSource(name, kind, value)
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
    """Return "reports" or "beliefs" by the fields of the first line of JSON, else ""."""
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
    if "version" in fields and fields & {"set", "singletons"}:
        return REPORTS
    return BELIEFS if fields & {"masses", "distribution"} and "version" not in fields else ""
