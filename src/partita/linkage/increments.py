"""Clusters after an earlier run: ids that persist, a log of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np

from partita.linkage.clusters import CLUSTERS, IDS, clustered_rows
from partita.tables import Table, read_table
from partita.tables.columns import decimal_values

FIGURES = ("membership", "exact")


@dataclass(frozen=True, slots=True, eq=False)
class Previous:
    """Clusters of an earlier run: the cluster of each record, and membership and exact if known."""

    cluster: Mapping[str, str]
    figures: Mapping[str, tuple[float, float]]
    file: str

    def anchors(self) -> dict[str, str]:
        """Return for the record that stands for a cluster its id.

        It is the record of that name or, if the cluster does not have it, its first.
        """
        first: dict[str, str] = {}
        for record, cluster in self.cluster.items():
            first.setdefault(cluster, record)
        named = {c: c if self.cluster.get(c) == c else record for c, record in first.items()}
        return {record: cluster for cluster, record in named.items()}

    def sizes(self) -> dict[str, int]:
        """Return the number of records of each cluster."""
        return Counter(self.cluster.values())


def read_previous(previous: Any) -> Previous:
    """Read clusters from a file, a data frame or dicts with the columns record and cluster."""
    table = read_table(previous, "previous", tuples=[(IDS[2], CLUSTERS[0])])
    if not (table.first(IDS) and table.first(CLUSTERS)):
        raise table.error(None, f"has no columns record and cluster; found {table.found}")
    cluster: dict[str, str] = {}
    for row, record, home in clustered_rows(table.filled("the clusters of an earlier run")):
        if record in cluster:
            raise table.error(row, f"lists record {record} again")
        cluster[record] = home
    return Previous(cluster, _figures(table, [*cluster]), table.name)


def _figures(table: Table, records: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return membership and exact of each record, if the table has them."""
    if not {*FIGURES} <= {*table.columns}:
        return {}
    columns = [table.column(name) for name in FIGURES]
    numbers = np.array([decimal_values(column, table.separator) for column in columns])
    for row in np.flatnonzero(~((numbers >= 0) & (numbers <= 1)).all(axis=0)).tolist():
        problem = f"membership and exact are {columns[0][row]!r} and {columns[1][row]!r}"
        raise table.error(row, f"{problem} (expected numbers from 0 to 1)")
    return dict(zip(records, map(tuple, numbers.T.tolist()), strict=True))


def persistent_ids(
    records: Sequence[str], clusters: Sequence[str], previous: Previous
) -> dict[str, str]:
    """Return the id of every cluster: a previous one that it goes on with, or one of its records.

    A cluster goes on with a previous one if it has the record that stands for it; of several, the
    largest. A new id is the first record whose name is not the id of another cluster.
    """
    anchors, sizes = previous.anchors(), previous.sizes()
    members: dict[str, list[str]] = {}
    for record, cluster in zip(records, clusters, strict=True):
        members.setdefault(cluster, []).append(record)
    ids: dict[str, str] = {}
    for cluster, own in members.items():
        kept = [anchors[record] for record in own if record in anchors]
        if kept:
            ids[cluster] = max(kept, key=lambda name: sizes[name])
    used = {*ids.values(), *sizes}
    for cluster, own in members.items():
        if cluster not in ids:
            ids[cluster] = _unused(own, used)
            used.add(ids[cluster])
    return ids


def _unused(records: Sequence[str], used: set[str]) -> str:
    numbered = (f"{records[0]}-{number}" for number in count(2))
    return next(name for name in chain(records, numbered) if name not in used)


@dataclass(frozen=True, slots=True)
class ClusterChange:
    """One thing that happened to a cluster; `previous` are the clusters that it comes from."""

    cluster: str
    change: str
    previous: list[str]
    size_before: int
    size: int


def changes(
    records: Sequence[str], clusters: Sequence[str], previous: Previous
) -> Iterator[ClusterChange]:
    """Yield the changes: created, grown, split, merged, and removed.

    A cluster is split if it has a part of a previous one, merged if it has records of several, and
    grown if it has records that no previous cluster had; it may be all of these. `size_before`
    counts the records of the previous clusters.
    """
    sizes = previous.sizes()
    before: dict[str, dict[str, int]] = {}
    total: dict[str, int] = {}
    for record, cluster in zip(records, clusters, strict=True):
        total[cluster] = total.get(cluster, 0) + 1
        counts = before.setdefault(cluster, {})
        if (old := previous.cluster.get(record)) is not None:
            counts[old] = counts.get(old, 0) + 1
    there = {*records}
    gone: dict[str, int] = {}
    for record, old in previous.cluster.items():
        if record not in there:
            gone[old] = gone.get(old, 0) + 1
    for cluster, counts in before.items():
        old_size = sum(sizes[old] for old in counts)
        split = any(number + gone.get(old, 0) < sizes[old] for old, number in counts.items())
        happened = {
            "created": not counts,
            "split": split,
            "merged": len(counts) > 1,
            "grown": bool(counts) and total[cluster] > sum(counts.values()),
            "shrunk": any(old in gone for old in counts),
        }
        for name, holds in happened.items():
            if holds:
                yield ClusterChange(cluster, name, list(counts), old_size, total[cluster])
    present = {old for counts in before.values() for old in counts}
    for old, size in sizes.items():
        if old not in present:
            yield ClusterChange(old, "removed", [old], size, 0)
