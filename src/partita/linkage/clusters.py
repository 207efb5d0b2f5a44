"""Read and write clusters and lists of records."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from partita.core import Distribution, FloatArray, IntArray, Template
from partita.errors import InputError, Unavailable
from partita.files.rows import Rows, csv_rows, jsonl_rows
from partita.files.strict import Place
from partita.files.text import Lines, as_utf8, opened
from partita.linkage.frames import IntegerIds, is_frame, object_rows, parquet_rows
from partita.linkage.grouping import TemplateList
from partita.linkage.pair_table import Unit, located
from partita.linkage.pairs import id_text
from partita.results.result_lines import in_text_order
from partita.results.template_json import INTEGERS, template_of

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


def write_rows(stream: TextIO, rows: Iterable[Sequence[object]]) -> None:
    csv.writer(stream, lineterminator="\n").writerows(rows)


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


def read_clusters(path: str | Path) -> list[Clustered]:
    """Read a file of clusters; without a message column, all rows are one message."""
    clusters_by_message: dict[str, dict[str, str]] = {}
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            name, cluster = (_column(rows.fieldnames, names, path) for names in (IDS, CLUSTERS))
            for row in rows:
                _add_row(row, name, cluster, clusters_by_message, path, rows.line_num)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=str(path)) from error
    if not clusters_by_message:
        raise InputError("has no clusters; expected one row per template", file=str(path))
    return [Clustered(message, clusters) for message, clusters in clusters_by_message.items()]


def _column(header: object, names: tuple[str, ...], path: str | Path) -> str:
    columns = list(header) if isinstance(header, list | tuple) else []
    for name in names:
        if name in columns:
            return name
    raise InputError(f"has no column {' or '.join(names)}", file=str(path), line=1)


def _add_row(
    row: Mapping[str, str | None],
    name: str,
    cluster: str,
    clusters_by_message: dict[str, dict[str, str]],
    path: str | Path,
    line: int,
) -> None:
    template, cluster_name = row[name], row[cluster]
    if not template or cluster_name is None:
        raise InputError("a row needs an id and a cluster", file=str(path), line=line)
    clusters = clusters_by_message.setdefault(row.get(MESSAGE) or "", {})
    if clusters.setdefault(template, cluster_name) != cluster_name:
        raise InputError(f"template {template} is in two clusters", file=str(path), line=line)


def read_templates(path: str | Path) -> TemplateList:
    """Read the templates of a file; a CSV has one column per field."""
    read_rows = jsonl_rows if Path(path).suffix.lower() in (".jsonl", ".ndjson") else csv_rows
    with opened(path) as stream:
        templates = dict(_templates(read_rows(Lines(stream, str(path))), str(path)))
    if not templates:
        raise InputError("has no rows; expected at least one template", file=str(path))
    return TemplateList(str(path), tuple(templates.values()))


def read_records(
    records: Any,
    id_column: str | None = None,
    ids: IntegerIds | None = None,
    note: Callable[[str], None] | None = None,
) -> TemplateList:
    """Read the ids of records from a file, a data frame, dicts or a list of ids.

    The column is called `id_column`, or one of the usual names. `ids` notes those that are
    integers.
    """
    file = str(records) if isinstance(records, str | os.PathLike) else "records"
    seen: dict[str, int] = {}
    unit: Unit = "line"
    if not isinstance(records, str | os.PathLike) and not is_frame(records):
        records = _as_rows(records, id_column)
    for rows, unit in table_blocks(records, IDS[:1], file, note):
        name = named_id_column(rows.columns, id_column, file)
        values = rows.column(name)
        if ids is not None and not (values and isinstance(values[0], str)):
            ids.note(values)
        for n, (line, value) in enumerate(zip(rows.lines, values, strict=True)):
            if n in rows.problems:
                raise located(file, unit, line, rows.problems[n])
            if not (text := id_text(value).strip()):
                raise located(file, unit, line, f"has no {name} (expected a text or an integer)")
            if text in seen:
                problem = f"lists record {text} again, after {unit} {seen[text]}"
                raise located(file, unit, line, f"{problem} (expected each record once)")
            seen[text] = line
    if not seen:
        raise InputError("has no rows; expected at least one record", file=file)
    return TemplateList(file, tuple(map(Template, seen)))


def _as_rows(records: Any, id_column: str | None) -> list[Any]:
    """Return records as dicts; a list of ids is a table with one column."""
    if not isinstance(records, Iterable):
        expected = "a data frame, a file, or a list of ids or dicts"
        raise TypeError(f"records must be {expected}, not {type(records).__name__}")
    rows = list(records)
    if any(isinstance(row, Mapping) for row in rows):
        return rows
    return [{id_column or IDS[0]: value} for value in rows]


def table_blocks(
    table: Any, names: Sequence[str], file: str, note: Callable[[str], None] | None = None
) -> Iterator[tuple[Rows, Unit]]:
    """Yield the rows of a file, a data frame, dicts, or tuples whose values are called `names`.

    Files in encodings of spreadsheets are read where `note` can say so.
    """
    if not isinstance(table, str | os.PathLike):
        for rows in object_rows(table, names, "a row"):
            yield rows, "row"
        return
    suffix = Path(table).suffix.lower()
    with opened(Path(table)) as stream:
        if suffix in (".parquet", ".pq"):
            for rows in parquet_rows(stream, file):
                yield rows, "row"
            return
        read_rows = jsonl_rows if suffix in (".jsonl", ".ndjson") else csv_rows
        for rows in read_rows(Lines(as_utf8(stream, file, note), file)):
            yield rows, "line"


def named_id_column(columns: Sequence[str], chosen: str | None, file: str) -> str:
    """Return the column of ids: the chosen one, or the first with a usual name."""
    names = IDS if chosen is None else (chosen,)
    for name in names:
        if name in columns:
            return name
    existing = ", ".join(map(str, columns)) or "nothing"
    raise InputError(f"has no column {' or '.join(names)}; found {existing}", file=file)


def _templates(blocks: Iterable[Rows], file: str) -> Iterator[tuple[str, Template]]:
    seen: set[str] = set()
    for rows in blocks:
        for n, line in enumerate(rows.lines):
            template = _template(rows, n, Place(file, line))
            if template.id in seen:
                Place(file, line).refuse(f"lists template {template.id} again")
            seen.add(template.id)
            yield template.id, template


def _template(rows: Rows, n: int, place: Place) -> Template:
    if n in rows.problems:
        place.refuse(rows.problems[n])
    fields = dict(zip(rows.columns, (column[n] for column in rows.values), strict=True))
    return template_of(_typed(fields), place)


def _typed(fields: dict[str, Any]) -> dict[str, Any]:
    """Drop blank values and turn digits into integers, since CSV has only text."""
    typed = {name: value for name, value in fields.items() if value != ""}
    for name in (*INTEGERS, "number"):
        if isinstance(value := typed.get(name), str) and value.strip().isdecimal():
            typed[name] = int(value)
    if isinstance(typed.get("id"), str):
        typed["id"] = typed["id"].strip()
    return typed
