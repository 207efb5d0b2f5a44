"""Cluster records by the scores of their pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from partita.app.solve import (
    Pairs,
    Progress,
    Solver,
    default_memory,
    learned_parameters,
    pair_table,
    parameters_path,
    solved,
)
from partita.errors import InputError
from partita.linkage.answers import SAMPLED, Clustering, cluster_distributions, cluster_sets
from partita.linkage.cluster_tables import (
    Summary,
    alternatives,
    chosen_threshold,
    pair_columns,
    record_columns,
    review,
    summary,
)
from partita.linkage.clusters import read_records
from partita.linkage.frames import IntegerIds
from partita.linkage.grouping import LINK_ABOVE, Evidence, group
from partita.linkage.labels import fit, labelled, read_labels
from partita.linkage.sets import Sets, apart_within, conditioned
from partita.records import Budget, Id
from partita.records.tables import Columns, Tabular

if TYPE_CHECKING:
    from partita.app.train import TrainedModel

LEAST = 0.45  # mean probability from which merging raises the expected F1, where that is .9


@dataclass(frozen=True, slots=True)
class ClusteredRecord:
    """A record and its cluster, which is called by its first record.

    `membership` is the mean probability that the record is the same as another record of its
    cluster, `exact` the probability that the cluster has all records of one entity and no other.
    `set` is the set of the input, where it names any.
    """

    record: Id
    cluster: Id
    membership: float
    exact: float
    set: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters(Tabular):
    """Records with their clusters: a sequence of `ClusteredRecord`.

    The tables are `clusters` (the default), `alternatives`, `pairs` and `review`.
    """

    summary: Summary
    _clustering: Clustering
    _order: Mapping[str, int]
    _ids: IntegerIds

    @property
    def clusters(self) -> dict[Id, list[Id]]:
        """The records of each cluster, by its name."""
        members: dict[Id, list[Id]] = {}
        columns = self._record_columns()
        for record, cluster in zip(columns["record"], columns["cluster"], strict=True):
            members.setdefault(cluster, []).append(record)
        return members

    @property
    def records(self) -> tuple[ClusteredRecord, ...]:
        """All records with their clusters."""
        return tuple(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary, and every table as a list of dicts."""
        tables: dict[str, Any] = {"summary": self.summary.to_dict()}
        for name, make in self._tables().items():
            columns = make()
            rows = zip(*columns.values(), strict=True)
            tables[name] = [dict(zip(columns, row, strict=True)) for row in rows]
        return tables

    def columns(self, table: str) -> Columns:
        """Return the columns of a table."""
        return self._columns(table)

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {
            "clusters": self._record_columns,
            "alternatives": lambda: alternatives(self._clustering, self._ids.original),
            "pairs": lambda: pair_columns(self._clustering, self._ids.original),
            "review": lambda: review(self._clustering, self._ids.original),
        }

    def _record_columns(self) -> Columns:
        return record_columns(self._clustering, self._order, self._ids.original)

    def __len__(self) -> int:
        return self.summary.records

    def __iter__(self) -> Iterator[ClusteredRecord]:
        for row in zip(*self._record_columns().values(), strict=True):
            yield ClusteredRecord(*row)

    def __repr__(self) -> str:
        return f"Clusters({len(self):,} records in {self.summary.clusters:,} clusters)"


def cluster(
    scores: Pairs,
    records: Any = None,
    *,
    unique_id: str | None = None,
    columns: tuple[str | None, str | None, str | None] = (None, None, None),
    target_precision: float | None = None,
    cautious: float | None = None,
    model: str = "forest",
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    missing: float | None = None,
    soft: bool = False,
    link_above: float = LINK_ABOVE,
    labels: Any = None,
    assume: Sequence[str] = (),
    sources: Sequence[str] | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Clusters:
    """Cluster records by the scores of their pairs, with a probability for every cluster.

    `scores` is what `solve` accepts, also Splink's data frame of predictions; `columns` names the
    columns of both ids and of the score where they are called otherwise. Every connected component
    is a set of its own, or every value of a column `set`. Scores are evidence for the forest
    model: 0 and 1 are strong and never certain, two records that were not compared have the
    default of the model, and scores up to `link_above` connect no sets. With `missing`, or with
    another model, 0 and 1 and pairs that are not listed mean what they mean in `solve`.

    `records` lists all records: a data frame with a column id or unique_id (or `unique_id`), a
    list of ids or of dicts, or a file. Every record is in the result, in that order, also where no
    pair mentions it. `sources` names the source of each of them where sources have no duplicates:
    two records of one source are then never the same.

    `labels` are pairs that a person judged: rows of two ids and `same` (1 or 0), or of an id and a
    cluster. They hold exactly, and the parameters of the forest model are fitted to them, the more
    the more labels there are.

    Records are merged while the mean probability between two clusters is at least .45, which is
    best for the expected F1 of pairs where that is .9 (the best threshold is half of it); with
    `cautious`, such as .95, at least that. With `target_precision` the threshold is the lowest from
    .45 on with which the share of right pairs
    within clusters is expected to reach the target; `summary` has the expected recall.
    """
    for name, value in (("target_precision", target_precision), ("cautious", cautious)):
        if value is not None and not 0.0 <= value <= 1.0:
            raise InputError(f"{name} is {value} (expected a probability from 0 to 1)")
    table, ids = pair_table(scores, "scores", columns)
    listed = None if records is None else read_records(records, unique_id, ids)
    learned = learned_parameters(model, parameters_path(parameters))
    evidence = None
    if model == "forest" and missing is None:
        evidence = Evidence(learned.unlisted_probability, link_above)
    known = None if labels is None else read_labels(labels)
    if known is not None and evidence is None:
        raise InputError("labels need the model forest, without missing")
    if evidence is not None and known is not None:
        apart = group(table, listed=listed, evidence=evidence)
        fitted = fit(apart, known, learned, seed)
        learned = fitted.parameters
        evidence = replace(evidence, joined=known.same())
    grouped = group(table, missing=missing, soft=soft, listed=listed, evidence=evidence)
    sets = conditioned(grouped if known is None else labelled(grouped, known), assume)
    if sources is not None and listed is not None:
        names = [template.id for template in listed.templates]
        sets = apart_within(sets, dict(zip(names, sources, strict=True)))
    for error in sets.failed.values():
        raise error
    solver = Solver(model, learned, 1, None, budget or Budget(memory=default_memory()), seed)
    least = LEAST if cautious is None else cautious
    clustering = _clustering(sets, solver, least, progress)
    if target_precision is not None:
        least = chosen_threshold(clustering, target_precision, LEAST)
        clustering = _clustering(sets, solver, least, progress)
    names = [t.id for t in listed.templates] if listed and not sets.named else []
    order = {name: n for n, name in enumerate(names)}
    told = summary(
        clustering, least, target_precision, learned, 0 if known is None else len(known.pairs)
    )
    return Clusters(told, clustering, order, ids)


def _clustering(sets: Sets, solver: Solver, least: float, progress: Progress | None) -> Clustering:
    if sets.evidence:
        limits = replace(solver.budget, work=solver.budget.work or SAMPLED)
        return cluster_sets(sets, solver.parameters, least, limits, solver.seed, progress)
    return cluster_distributions(sets, list(solved(sets, solver, progress)), least, solver.seed)
