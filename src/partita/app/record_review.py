"""What a person reviews of clusters of records: the most uncertain first."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from partita.app.cluster import Clusters, cluster
from partita.core import Id
from partita.errors import InputError
from partita.linkage.increments import Previous, read_previous

JOINED = 0.05  # probability from which two records are reviewed together

Path = str | os.PathLike[str]
Row = dict[str, Any]
Label = tuple[str, str, int]


def review_records(
    scores: Path | None, clusters: Path | None, labels: Sequence[Label], limit: int
) -> dict[str, Any]:
    """Return the sets of records to review, the most uncertain first, at most `limit` of them.

    `scores` are pair scores, `clusters` the clusters that somebody has; one of them may be None. A
    set has records with their clusters (`given`: as in `clusters`), pairs with scores and
    probabilities, alternatives to its clusters, and questions for a person; `bits` is how much
    their answers are expected to tell, and `differs` whether the given clusters are others.
    """
    given = None if clusters is None else read_previous(clusters)
    if scores is None:
        if given is None:
            raise InputError("no scores and no clusters (expected at least one of them)")
        return _given_sets(given, limit)
    return _solved_sets(cluster(scores, labels=labels or None), given, limit)


def _solved_sets(clusters: Clusters, given: Previous | None, limit: int) -> dict[str, Any]:
    tables = clusters.to_dict()
    if given is not None:
        for row in tables["clusters"]:
            row["given"] = given.cluster.get(str(row["record"]))
    home = _components(tables)
    sets: dict[Any, Row] = {}
    for row in tables["clusters"]:
        empty: Row = {"records": [], "pairs": [], "alternatives": [], "questions": []}
        sets.setdefault(home(row["record"]), empty)["records"].append(row)
    for name, table, end in (
        ("pairs", "pairs", "left"),
        ("alternatives", "alternatives", "cluster"),
        ("questions", "review", "left"),
    ):
        for row in tables[table]:
            if home(row[end]) == home(row.get("right", row[end])):
                sets[home(row[end])][name].append(row)
    for one in sets.values():
        one["bits"] = sum(row["bits"] for row in one["questions"])
        one["differs"] = given is not None and _differ(one["records"])
    found = sorted((one for one in sets.values() if len(one["records"]) > 1), key=_most_bits)
    summary = tables["summary"]
    if given is not None:
        summary["differing_sets"] = sum(one["differs"] for one in sets.values())
    return {"summary": summary, "total": len(found), "sets": found[:limit]}


def _given_sets(given: Previous, limit: int) -> dict[str, Any]:
    """Return given clusters of several records, those least probably right first."""
    members: dict[str, list[Row]] = {}
    for record, name in given.cluster.items():
        row: Row = {"record": record, "cluster": name, "given": name}
        if record in given.figures:
            row["membership"], row["exact"] = given.figures[record]
        members.setdefault(name, []).append(row)
    several = [rows for rows in members.values() if len(rows) > 1]
    several.sort(key=lambda rows: (rows[0].get("exact", 1.0), -len(rows), rows[0]["record"]))
    nothing: Row = {"pairs": [], "alternatives": [], "questions": [], "bits": 0.0, "differs": False}
    return {
        "summary": {"records": len(given.cluster), "clusters": len(members)},
        "total": len(several),
        "sets": [{"records": rows, **nothing} for rows in several[:limit]],
    }


def _differ(records: Sequence[Row]) -> bool:
    """Tell whether the given clusters divide records otherwise than the computed ones."""
    pairs = {(row["cluster"], row["given"]) for row in records if row["given"] is not None}
    return any(len({pair[side] for pair in pairs}) < len(pairs) for side in (0, 1))


def _most_bits(one: Mapping[str, Any]) -> tuple[bool, float, str]:
    return not one["differs"], -one["bits"], str(one["records"][0]["record"])


def _components(tables: Mapping[str, Any]) -> Callable[[Id], Hashable]:
    """Return a function that gives what stands for the records that are reviewed together."""
    parent: dict[Hashable, Hashable] = {}

    def home(record: Hashable) -> Hashable:
        parent.setdefault(record, record)
        while parent[record] != record:
            parent[record] = record = parent[parent[record]]
        return record

    for row in tables["pairs"]:
        if row["probability"] > JOINED:
            parent[home(row["right"])] = home(row["left"])
    for row in tables["clusters"]:
        parent[home(row["cluster"])] = home(row["record"])
        if row.get("given") is not None:
            parent[home(("given", row["given"]))] = home(row["record"])
    return home
