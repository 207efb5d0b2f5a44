"""Clusters after an earlier run: sets that are kept, ids that persist, a log of changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

import numpy as np

from partita.core import BoolArray, IntArray
from partita.errors import InputError
from partita.linkage.clusters import CLUSTERS, IDS, clustered_rows
from partita.linkage.pairs import PairTable
from partita.linkage.sets import Sets
from partita.tables import Table, read_table
from partita.tables.columns import decimal_values

FIGURES = ("membership", "exact")


@dataclass(frozen=True, slots=True, eq=False)
class Previous:
    """Clusters of an earlier run: the cluster of each record, and membership and exact if known."""

    cluster: Mapping[str, str]
    figures: Mapping[str, tuple[float, float]]
    file: str

    @property
    def has_figures(self) -> bool:
        """Whether membership and exact are known of all records."""
        return len(self.figures) == len(self.cluster)

    def anchors(self) -> dict[str, str]:
        """Return for the record that stands for a cluster its id.

        It is the record of that name or, if the cluster does not have it, its first.
        """
        first: dict[str, str] = {}
        for record, cluster in self.cluster.items():
            first.setdefault(cluster, record)
        named = {c: c if self.cluster.get(c) == c else record for c, record in first.items()}
        return {record: cluster for cluster, record in named.items()}

    def columns(self, records: Sequence[str]) -> dict[str, list[Any]]:
        """Return the rows of some records; a cluster is called by its first record."""
        first: dict[str, str] = {}
        for record in records:
            first.setdefault(self.cluster[record], record)
        return {
            "record": list(records),
            "cluster": [first[self.cluster[record]] for record in records],
            "membership": [self.figures[record][0] for record in records],
            "exact": [self.figures[record][1] for record in records],
        }

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


def joined_tables(old: PairTable, new: PairTable) -> PairTable:
    """Return the pairs of both tables; of a pair in both the new score holds."""
    if old.sets is not None or new.sets is not None:
        raise InputError("scores with a column set cannot be added to", file=new.file)
    names = [*old.names, *(name for name in new.names if name not in set(old.names))]
    number = {name: n for n, name in enumerate(names)}
    place = np.array([number[name] for name in new.names], dtype=np.int64)
    left, right = place[new.left], place[new.right]
    again = _keys(left, right, len(names))
    kept = ~np.isin(_keys(old.left, old.right, len(names)), again)
    problems = (*old.problems, *(_moved(problem, place) for problem in new.problems))
    return replace(
        new,
        names=names,
        left=np.concatenate([old.left[kept], left]),
        right=np.concatenate([old.right[kept], right]),
        probability=np.concatenate([old.probability[kept], new.probability]),
        lines=np.concatenate([old.lines[kept], new.lines]),
        problems=problems,
    )


def _moved(problem: Any, place: IntArray) -> Any:
    left, right = (int(place[end]) if end >= 0 else end for end in (problem.left, problem.right))
    return replace(problem, left=left, right=right)


def _keys(left: IntArray, right: IntArray, names: int) -> IntArray:
    keys: IntArray = np.minimum(left, right) * names + np.maximum(left, right)
    return keys


def untouched(sets: Sets, previous: Previous, scored_again: Sequence[str]) -> BoolArray:
    """Return which sets are as they were: no new record or score, and whole previous clusters."""
    again, home = set(scored_again), np.repeat(np.arange(len(sets)), sets.sizes)
    known = [i not in again and i in previous.figures for i in sets.ids]
    sizes = previous.sizes()
    code = {cluster: n for n, cluster in enumerate(sizes)}
    of = np.array([code.get(previous.cluster.get(i, ""), len(code)) for i in sets.ids], np.int64)
    low, high = np.full(len(code) + 1, len(sets)), np.full(len(code) + 1, -1)
    np.minimum.at(low, of, home)
    np.maximum.at(high, of, home)
    members = np.bincount(of, minlength=len(code) + 1)
    whole = (low == high) & (members == np.array([*sizes.values(), -1]))
    as_before: BoolArray = np.bincount(home, ~(np.array(known) & whole[of]), len(sets)) == 0
    return as_before


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
