"""Read clusters and lists of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from partita.core import Template
from partita.errors import InputError
from partita.linkage.grouping import TemplateList
from partita.results.result_lines import INTEGERS, template_of
from partita.tables import Note, Table, read_table
from partita.tables.columns import IntegerIds, ids_of

IDS = ("id", "unique_id", "record", "template")
CLUSTERS = ("cluster", "cluster_id")
MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Clustered:
    """The cluster of each template of a message, by id."""

    message: str
    clusters: Mapping[str, str]


def read_clusters(source: Any) -> list[Clustered]:
    """Read a table of clusters; without a message column, all rows are one message."""
    table = read_table(source, "clusters")
    messages = ids_of(table, MESSAGE) if MESSAGE in table.columns else [""] * len(table)
    clusters_by_message: dict[str, dict[str, str]] = {}
    for row, template, cluster in clustered_rows(table):
        clusters = clusters_by_message.setdefault(messages[row], {})
        if clusters.setdefault(template, cluster) != cluster:
            raise table.error(row, f"template {template} is in two clusters")
    if not clusters_by_message:
        raise InputError("has no clusters; expected one row per template", file=table.name)
    return [Clustered(message, clusters) for message, clusters in clusters_by_message.items()]


def clustered_rows(table: Table) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each row, the id of its record and that of its cluster."""
    ids, clusters = (ids_of(table, table.needed(names)) for names in (IDS, CLUSTERS))
    for row, (one, cluster) in enumerate(zip(ids, clusters, strict=True)):
        if not one or not cluster:
            raise table.error(row, "a row needs an id and a cluster")
        yield row, one, cluster


def read_template_list(source: Any, note: Note = lambda text: None) -> TemplateList:
    """Read the templates of a table; a CSV has one column per field."""
    table = read_table(source, "templates", note=note).filled("at least one template")
    templates: dict[str, Template] = {}
    ids = ids_of(table, "id") if "id" in table.columns else [""] * len(table)
    for row, fields in enumerate(table.dicts()):
        template = template_of(_typed({**fields, "id": ids[row]}), table.place(row))
        if template.id in templates:
            raise table.error(row, f"lists template {template.id} again")
        templates[template.id] = template
    return TemplateList(table.name, tuple(templates.values()))


def _typed(fields: dict[str, Any]) -> dict[str, Any]:
    """Drop blank values and turn digits into integers, since CSV has only text."""
    typed = {name: value for name, value in fields.items() if value not in ("", None)}
    for name in (*INTEGERS, "number"):
        if isinstance(value := typed.get(name), str) and value.strip().isdecimal():
            typed[name] = int(value)
    return typed


def read_record_ids(
    records: Any,
    id_column: str | None = None,
    ids: IntegerIds | None = None,
    note: Note = lambda text: None,
) -> TemplateList:
    """Read the ids of records from a file, a data frame, dicts or a list of ids.

    The column is called `id_column`, or one of the usual names. `ids` notes those that are
    integers.
    """
    one = id_column or IDS[0]
    table = read_table(records, "records", tuples=[(one,)], note=note)
    name = table.needed(IDS if id_column is None else (id_column,))
    if ids is not None and table.typed:
        ids.note(table.column(name))
    seen: dict[str, int] = {}
    for row, text in enumerate(ids_of(table.filled("at least one record"), name)):
        if not text:
            raise table.error(row, f"has no {name} (expected a text or an integer)")
        if text in seen:
            problem = f"lists record {text} again, after {table.unit} {table.lines[seen[text]]}"
            raise table.error(row, f"{problem} (expected each record once)")
        seen[text] = row
    return TemplateList(table.name, tuple(map(Template, seen)))


def named_id_column(columns: Sequence[str], chosen: str | None, name: str) -> str:
    """Return the column of ids: the chosen one, or the first with a usual name."""
    return Table(name, tuple(columns), (), ()).needed(IDS if chosen is None else (chosen,))
