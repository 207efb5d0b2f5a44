"""Read and write clusters and lists of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita.core import Distribution, FloatArray, IntArray, Template
from partita.core.configurations import in_text_order
from partita.errors import InputError, Unavailable
from partita.linkage.grouping import TemplateList
from partita.results.result_lines import INTEGERS, template_of
from partita.tables import Note, Table, read_table
from partita.tables.columns import IntegerIds, ids_of

HEADER = ("id", "cluster", "probability")
TABLE_LIMIT = 14  # templates; the table has 2^14 groups
ROUNDING = 1e-12

Cluster = tuple[int, ...]
Row = tuple[str, str, float]


def cluster_rows(
    distribution: Distribution, cautious: float | None = None, prefix: str = ""
) -> list[Row]:
    """Return a row for each template in text order; a cluster is named by its first template.

    The clusters are the cells of the most probable configuration or, with `cautious`, only groups
    that are together with at least that probability.
    """
    together = _together(distribution)
    clusters = (
        _most_probable(distribution)
        if cautious is None
        else _merged(distribution.marginals.value, together, cautious)
    )
    ids = distribution.set.ids
    rows: dict[int, Row] = {}
    for members in clusters:
        name, probability = prefix + ids[members[0]], together(members)
        rows.update({n: (ids[n], name, probability) for n in members})
    return [rows[n] for n in range(len(ids))]


def _most_probable(distribution: Distribution) -> list[Cluster]:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    cells = in_text_order(distribution.most_probable, place)
    return [tuple(place[name] for name in cell) for cell in cells]


def _merged(
    marginals: FloatArray, together: Callable[[Cluster], float], least: float
) -> list[Cluster]:
    """Merge pairs, the most probable first, while the whole group stays probable enough."""
    cluster_of: dict[int, Cluster] = {n: (n,) for n in range(len(marginals))}
    left, right = np.nonzero(np.triu(marginals >= least - ROUNDING, 1))
    for n in np.lexsort((right, left, -marginals[left, right])).tolist():
        a, b = cluster_of[int(left[n])], cluster_of[int(right[n])]
        if a != b and together(union := tuple(sorted(a + b))) >= least - ROUNDING:
            cluster_of.update(dict.fromkeys(union, union))
    return sorted(set(cluster_of.values()))


def _together(distribution: Distribution) -> Callable[[Cluster], float]:
    """Return a function for P(all members corefer): exact if possible, else a lower bound."""
    if (rows := getattr(distribution.posterior, "rows", None)) is not None:  # independent draws
        return lambda members: _probability(_share(rows[:, list(members)]), members)
    if len(distribution.set) <= TABLE_LIMIT:
        try:
            table = _supersets(distribution)
        except Unavailable:
            return lambda members: _tree_bound(distribution, members)
        return lambda members: _probability(float(table[_mask(members)]), members)
    return lambda members: _tree_bound(distribution, members)


def _share(labels: IntArray) -> float:
    """Return the share of draws in which all have the same label."""
    return float((labels == labels[:, :1]).all(axis=1).mean())


def _supersets(distribution: Distribution) -> FloatArray:
    """Return for each group of templates, as a mask, the total probability of cells with it."""
    n = len(distribution.set)
    table = np.zeros(1 << n)
    for cell, probability in distribution.posterior.cells():
        table[_mask(cell)] += probability
    for bit in range(n):
        halves = table.reshape(-1, 2, 1 << bit)
        halves[:, 0] += halves[:, 1]
    return table


def _mask(members: Cluster) -> int:
    return sum(1 << n for n in members)


def _probability(value: float, members: Cluster) -> float:
    return 1.0 if len(members) == 1 else min(max(value, 0.0), 1.0)


def _tree_bound(distribution: Distribution, members: Cluster) -> float:
    """Return a lower bound on P(all corefer) by the best spanning tree (Prim)."""
    marginals = distribution.marginals
    lowest = marginals.low if marginals.kind == "interval" else marginals.value
    between = lowest[np.ix_(members, members)]
    reached, loss = between[0].copy(), 0.0
    reached[0] = -1.0
    for _ in members[1:]:
        nearest = int(reached.argmax())
        loss += 1.0 - float(reached[nearest])
        reached = np.where(reached < 0.0, -1.0, np.maximum(reached, between[nearest]))
        reached[nearest] = -1.0
    return _probability(1.0 - loss, members)


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
