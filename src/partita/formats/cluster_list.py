"""Hard answers of any tool: CSV with a template and its cluster a row, and perhaps its message."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from partita.errors import InputError

IDS = ("id", "unique_id", "template")
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
        raise InputError("holds no clusters; expected a row for each template", file=str(path))
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
