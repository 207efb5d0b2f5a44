"""Cluster records by the scores of their pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.app.batch import Forms
from partita.app.solve import (
    TOP,
    Pairs,
    Solver,
    default_memory,
    learned_parameters,
    pair_table,
    parameters_path,
)
from partita.app.solve_batch import solve_sets
from partita.errors import InputError
from partita.linkage.clusters import IDS, read_templates
from partita.linkage.frames import IntegerIds, frame_rows, is_frame
from partita.linkage.grouping import LINK_ABOVE, Evidence, TemplateList, group
from partita.linkage.pairs import id_text
from partita.linkage.sets import conditioned
from partita.records import Budget, Id, Template
from partita.records.tables import Columns, Tabular

if TYPE_CHECKING:
    from partita.app.train import TrainedModel


@dataclass(frozen=True, slots=True)
class ClusteredRecord:
    """A record, its cluster, and the probability that all records of the cluster are the same.

    A cluster is called by its first record. `set` is the set of the input, where it names any.
    """

    record: Id
    cluster: Id
    probability: float
    set: str = ""


@dataclass(frozen=True, slots=True)
class Clusters(Tabular):
    """Records with their clusters: a sequence of `ClusteredRecord`, and one table, `records`."""

    records: tuple[ClusteredRecord, ...]

    @property
    def clusters(self) -> dict[Id, list[Id]]:
        """The records of each cluster, by its name."""
        members: dict[Id, list[Id]] = {}
        for one in self.records:
            members.setdefault(one.cluster, []).append(one.record)
        return members

    def to_dict(self) -> dict[str, Any]:
        """Return the records as dicts."""
        return {"records": [asdict(one) for one in self.records]}

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        return {"records": self._record_columns}

    def _record_columns(self) -> Columns:
        names = ["record", "cluster", "probability"]
        names += ["set"] if any(one.set for one in self.records) else []
        return {name: [getattr(one, name) for one in self.records] for name in names}

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[ClusteredRecord]:
        return iter(self.records)

    def __repr__(self) -> str:
        return f"Clusters({len(self):,} records in {len(self.clusters):,} clusters)"


def cluster(
    scores: Pairs,
    records: Any = None,
    *,
    cautious: float | None = None,
    model: str = "forest",
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    missing: float | None = None,
    soft: bool = False,
    link_above: float = LINK_ABOVE,
    assume: Sequence[str] = (),
    budget: Budget | None = None,
    method: str = "auto",
    seed: int = 0,
    workers: int = 1,
) -> Clusters:
    """Cluster records by the scores of their pairs, with a probability for every cluster.

    `scores` is what `solve` accepts; every connected component is a set of its own, or every
    value of a column `set`. By default they are evidence for the forest model: 0 and 1 are strong
    and never certain, two records that were not compared have the default of the model, and scores
    up to `link_above` connect no sets. With `missing`, or with another model, 0 and 1 and pairs
    that are not listed mean what they mean in `solve`.

    `records` lists all records: a data frame with a column id or unique_id, a list of ids or of
    dicts, or a file. Every record is in the result, in that order, also where no pair mentions it.

    The clusters are those of the most probable configuration of every set. With `cautious`, such
    as .95, records are merged only if they are the same with at least that probability. The
    answers of a model other than forest are those of `partita solve --clusters`.
    """
    table, ids = pair_table(scores, "scores")
    listed = None if records is None else _listed(records, ids)
    learned = learned_parameters(model, parameters_path(parameters))
    evidence = None
    if model == "forest" and missing is None:
        evidence = Evidence(learned.unlisted_probability, link_above)
    grouped = group(table, missing=missing, soft=soft, listed=listed, evidence=evidence)
    sets = conditioned(grouped, assume)
    for error in sets.failed.values():
        raise error
    limits = budget or Budget(memory=default_memory())
    solver = Solver(model, learned, TOP, None, limits, seed, method)
    rows: list[ClusteredRecord] = []
    forms = Forms(clusters=True, cautious=cautious)
    for outcome in solve_sets(sets, solver, forms, workers=workers):
        if outcome.error:
            raise InputError(outcome.error)
        rows += [_clustered(row, ids) for row in outcome.clusters]
    if listed is not None and not sets.named:
        order = {ids.original(one.id): n for n, one in enumerate(listed.templates)}
        rows.sort(key=lambda row: order[row.record])
    return Clusters(tuple(rows))


def _clustered(row: tuple[Any, ...], ids: IntegerIds) -> ClusteredRecord:
    record, cluster, probability, *name = row
    return ClusteredRecord(ids.original(record), ids.original(cluster), probability, *name)


def _listed(records: Any, ids: IntegerIds) -> TemplateList:
    """Read the ids of records from a file, a data frame, dicts or a list of ids."""
    if isinstance(records, str | os.PathLike):
        return read_templates(Path(records))
    names = list(_record_ids(records))
    ids.note(names)
    listed = [Template(id_text(name)) for name in names]
    if "" in (template.id for template in listed):
        row = [template.id for template in listed].index("") + 1
        raise InputError("has no id (expected a text or an integer)", file=f"records, row {row}")
    if len({template.id for template in listed}) < len(listed):
        raise InputError("an id is listed twice (expected each record once)", file="records")
    return TemplateList("records", tuple(listed))


def _record_ids(records: Any) -> Iterable[Any]:
    if is_frame(records):
        blocks = list(frame_rows(records))
        name = _id_column(blocks[0].columns)
        return [value for rows in blocks for value in rows.column(name)]
    if not isinstance(records, Iterable):
        expected = "a data frame, a file, or a list of ids or dicts"
        raise TypeError(f"records must be {expected}, not {type(records).__name__}")
    rows = list(records)
    if rows and isinstance(rows[0], Mapping):
        name = _id_column(tuple(rows[0]))
        return [row.get(name) for row in rows]
    return rows


def _id_column(columns: Sequence[str]) -> str:
    for name in IDS:
        if name in columns:
            return name
    problem = f"has no column {' or '.join(IDS)}; found {', '.join(map(str, columns))}"
    raise InputError(problem, file="records")
