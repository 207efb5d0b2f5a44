"""Read and write clusters and lists of records."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from partita.errors import InputError, Unavailable
from partita.files.rows import Rows, csv_rows, jsonl_rows
from partita.files.strict import Place
from partita.files.text import Lines, opened
from partita.linkage.grouping import TemplateList
from partita.records import Distribution, FloatArray, Template
from partita.results.result_lines import in_text_order
from partita.results.template_json import INTEGERS, template_of

HEADER = ("id", "cluster", "probability")
TABLE_LIMIT = 14  # templates of which all groups are added up: 16,384
ROUNDING = 1e-12

Cluster = tuple[int, ...]
Row = tuple[str, str, float]


def cluster_rows(
    distribution: Distribution, cautious: float | None = None, prefix: str = ""
) -> list[Row]:
    """A row for every template in text order; a cluster is called by its first template.

    The clusters are the cells of the most probable configuration or, with `cautious`, merge only
    what is together with at least that probability.
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
    """Pairs from the most probable one on, each merged if the whole group stays probable enough."""
    home: dict[int, Cluster] = {n: (n,) for n in range(len(marginals))}
    left, right = np.nonzero(np.triu(marginals >= least - ROUNDING, 1))
    for at in np.lexsort((right, left, -marginals[left, right])).tolist():
        a, b = home[int(left[at])], home[int(right[at])]
        if a != b and together(union := tuple(sorted(a + b))) >= least - ROUNDING:
            home.update(dict.fromkeys(union, union))
    return sorted(set(home.values()))


def _together(distribution: Distribution) -> Callable[[Cluster], float]:
    """How probable it is that some templates all corefer: exactly if possible, else at least."""
    if len(distribution.set) <= TABLE_LIMIT:
        try:
            table = _supersets(distribution)
        except Unavailable:
            return lambda members: _tree_bound(distribution, members)
        return lambda members: _probability(float(table[_mask(members)]), members)
    return lambda members: _tree_bound(distribution, members)


def _supersets(distribution: Distribution) -> FloatArray:
    """For every group of templates, as a mask, the sum over the cells that hold it."""
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
    """With the tree that loses least, grown from the first template (Prim)."""
    marginals = distribution.marginals
    least = marginals.low if marginals.kind == "interval" else marginals.value
    inside = least[np.ix_(members, members)]
    reached, loss = inside[0].copy(), 0.0
    reached[0] = -1.0
    for _ in members[1:]:
        nearest = int(reached.argmax())
        loss += 1.0 - float(reached[nearest])
        reached = np.where(reached < 0.0, -1.0, np.maximum(reached, inside[nearest]))
        reached[nearest] = -1.0
    return _probability(1.0 - loss, members)


IDS = ("id", "unique_id", "record", "template")
CLUSTERS = ("cluster", "cluster_id")
MESSAGE = "message"


@dataclass(frozen=True, slots=True)
class Clustered:
    """For each template of a message, by its id, the cluster that it was put into."""

    message: str
    clusters: Mapping[str, str]


def read_clusters(path: str | Path) -> list[Clustered]:
    """The messages of a file of clusters; without a column for it, all rows are one message."""
    found: dict[str, dict[str, str]] = {}
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as stream:
            rows = csv.DictReader(stream)
            name, cluster = (_column(rows.fieldnames, names, path) for names in (IDS, CLUSTERS))
            for row in rows:
                _keep(row, name, cluster, found, path, rows.line_num)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=str(path)) from error
    if not found:
        raise InputError("has no clusters; expected one row per template", file=str(path))
    return [Clustered(message, clusters) for message, clusters in found.items()]


def _column(header: object, names: tuple[str, ...], path: str | Path) -> str:
    given = list(header) if isinstance(header, list | tuple) else []
    for name in names:
        if name in given:
            return name
    raise InputError(f"has no column {' or '.join(names)}", file=str(path), line=1)


def _keep(
    row: Mapping[str, str | None],
    name: str,
    cluster: str,
    found: dict[str, dict[str, str]],
    path: str | Path,
    line: int,
) -> None:
    template, home = row[name], row[cluster]
    if not template or home is None:
        raise InputError("a row needs an id and a cluster", file=str(path), line=line)
    clusters = found.setdefault(row.get(MESSAGE) or "", {})
    if clusters.setdefault(template, home) != home:
        raise InputError(f"template {template} is in two clusters", file=str(path), line=line)


def read_templates(path: str | Path) -> TemplateList:
    """The templates of a file; in a CSV every other column must be a field of a template."""
    form = jsonl_rows if Path(path).suffix.lower() in (".jsonl", ".ndjson") else csv_rows
    with opened(path) as stream:
        found = dict(_templates(form(Lines(stream, str(path))), str(path)))
    if not found:
        raise InputError("has no rows; expected at least one template", file=str(path))
    return TemplateList(str(path), tuple(found.values()))


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
    given = dict(zip(rows.columns, (column[n] for column in rows.values), strict=True))
    return template_of(_typed(given), place)


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    """A CSV knows only text: blanks say nothing, digits are whole numbers where one is expected."""
    said = {name: value for name, value in given.items() if value != ""}
    for name in (*INTEGERS, "number"):
        if isinstance(value := said.get(name), str) and value.strip().isdecimal():
            said[name] = int(value)
    if isinstance(said.get("id"), str):
        said["id"] = said["id"].strip()
    return said
