"""Cluster records by the scores of their pairs."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.app.batch import Failure, Failures
from partita.app.solve import (
    Pairs,
    Progress,
    Solver,
    chosen_sets,
    learned_parameters,
    pair_table,
    parameters_source,
    warned,
)
from partita.configurations.forest.batch_kernels import MergeRule
from partita.core import Budget, FloatArray, Id, IntArray
from partita.core.tabular import Columns, SummarisedTables
from partita.errors import InputError
from partita.linkage.answers import (
    SAMPLED,
    Clustering,
    cluster_sets,
    draw_worlds,
)
from partita.linkage.cluster_tables import (
    ClusterSummary,
    alternatives,
    chosen_threshold,
    cluster_summary,
    pair_columns,
    possible_merges,
    record_columns,
    review,
    totals,
    world_columns,
)
from partita.linkage.clusters import read_record_ids
from partita.linkage.grouping import Evidence, TemplateList, group
from partita.linkage.increments import (
    FIGURES,
    Previous,
    changes,
    persistent_ids,
    read_previous,
)
from partita.linkage.labels import (
    TO_LABEL,
    Labels,
    PairCalibration,
    judged_rows,
    labelled,
    pairs_to_label,
    read_labels,
    stated_probabilities,
)
from partita.linkage.sets import Assumption, Sets, apart_within, conditioned
from partita.linkage.similarities import SIMILARITIES, look_like_similarities
from partita.options import (
    ClusteringOptions,
    ClusterOptions,
    default_memory,
    described,
    world_count,
)
from partita.tables import Table
from partita.tables.columns import IntegerIds

if TYPE_CHECKING:
    from partita.app.train import TrainedModel


# Merging raises the expected F1 from half of that F1 on, which is .8 on a usual table. Chosen with
# a look at the panel: many pairs of imdb-tmdb score .41, so that .45 costs it .27 of F1.
MIN_MERGE_PROBABILITY = 0.4
LOWERED = 4 / 9  # of this where several pairs lie between: there the mean is cautious


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
class Clusters(SummarisedTables):
    """Records with their clusters: a sequence of `ClusteredRecord`.

    The tables are `clusters` (the default), `alternatives`, `pairs`, `review`, `to_label` (pairs
    whose labels calibrate best; fill in `same` and pass it as labels) and, with previous clusters,
    `changes`, with `worlds` those draws.
    """

    summary: ClusterSummary
    _clustering: Clustering
    _order: Mapping[str, int]
    _ids: IntegerIds
    _previous: Previous | None
    failures: tuple[Failure, ...]
    _worlds: Callable[[], IntArray] | None

    @property
    def clusters(self) -> dict[Id, list[Id]]:
        """The records of each cluster, by its name."""
        members: dict[Id, list[Id]] = {}
        columns = self._record_columns()
        for record, cluster in zip(columns["record"], columns["cluster"], strict=True):
            members.setdefault(cluster, []).append(record)
        return members

    @property
    def solved_sets(self) -> Sets:
        """The sets that were solved, as arrays."""
        return self._clustering.sets

    @property
    def pair_probabilities(self) -> FloatArray:
        """The probability of each compared pair of the sets, row by row."""
        return self._clustering.answers.pair

    @property
    def records(self) -> tuple[ClusteredRecord, ...]:
        """All records with their clusters."""
        return tuple(self)

    def weights(self, left: Id, right: Id) -> list[tuple[str, float]]:
        """Return what each column says about two records: nothing, if only scores are known."""
        return []

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        tables: dict[str, Callable[[], Columns]] = {
            "clusters": self._record_columns,
            "alternatives": self._alternatives,
            "pairs": lambda: pair_columns(self._clustering, self._ids.originals),
            "review": lambda: review(self._clustering, self._ids.originals),
            "to_label": self._to_label,
        }
        if self._previous is not None:
            tables["changes"] = self._changes
        if (worlds := self._worlds) is not None:
            sets, originals = self._clustering.sets, self._ids.originals
            tables["worlds"] = lambda: world_columns(sets, worlds(), originals)
        return tables

    def _to_label(self) -> Columns:
        columns = pair_columns(self._clustering, self._ids.originals)
        rows = pairs_to_label(self.pair_probabilities, TO_LABEL)
        names = ("left", "right", "score", "probability")
        chosen = {name: [columns[name][n] for n in rows.tolist()] for name in names}
        return {**chosen, "same": [None] * len(rows)}

    def _record_columns(self) -> Columns:
        if self._previous is None:
            return record_columns(self._clustering, self._order, self._ids.originals)
        columns, ids = self._with_previous()
        named = [ids[name] for name in columns["cluster"]]
        return {
            **columns,
            "record": self._ids.originals(columns["record"]),
            "cluster": self._ids.originals(named),
        }

    def _with_previous(self) -> tuple[Columns, dict[str, str]]:
        """Return the columns of all records by their own names, and the id of each cluster."""
        assert self._previous is not None
        columns = record_columns(self._clustering, {}, list)
        places = np.array([self._order[name] for name in columns["record"]], dtype=np.int64)
        order = np.argsort(places, kind="stable").tolist()
        columns = {name: [values[n] for n in order] for name, values in columns.items()}
        return columns, persistent_ids(columns["record"], columns["cluster"], self._previous)

    def _alternatives(self) -> Columns:
        if self._previous is None:
            return alternatives(self._clustering, self._ids.originals)
        columns, ids = alternatives(self._clustering, list), self._with_previous()[1]
        original = self._ids.original
        return {
            **columns,
            "cluster": [original(ids[name]) for name in columns["cluster"]],
            "with": [name if name is None else original(ids[name]) for name in columns["with"]],
            "records": [[original(name) for name in names] for names in columns["records"]],
        }

    def _changes(self) -> Columns:
        assert self._previous is not None
        columns, ids = self._with_previous()
        named = [ids[name] for name in columns["cluster"]]
        rows = list(changes(columns["record"], named, self._previous))
        return {
            "cluster": self._ids.originals([row.cluster for row in rows]),
            "change": [row.change for row in rows],
            "previous": [list(self._ids.originals(row.previous)) for row in rows],
            "size_before": [row.size_before for row in rows],
            "size": [row.size for row in rows],
        }

    def __len__(self) -> int:
        return self.summary.records

    def __iter__(self) -> Iterator[ClusteredRecord]:
        for row in zip(*self._record_columns().values(), strict=True):
            yield ClusteredRecord(*row)

    def __repr__(self) -> str:
        return f"Clusters({len(self):,} records in {self.summary.clusters:,} clusters)"


@described(ClusterOptions)
def cluster(
    scores: Pairs,
    records: Any = None,
    *,
    unique_id: str | None = None,
    columns: tuple[str | None, str | None, str | None] = (None, None, None),
    target_precision: float | None = None,
    cautious: float | None = None,
    parameters: str | os.PathLike[str] | TrainedModel | None = None,
    link_above: float = 1e-4,
    labels: Any = None,
    assume: Sequence[str] = (),
    sources: Sequence[str] | None = None,
    previous: Any = None,
    worlds: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    note: Callable[[str], None] | None = None,
    errors: str = "raise",
) -> Clusters:
    """Cluster records by the scores of their pairs, with a probability for every cluster.

    `scores` is what `solve` accepts, also Splink's data frame of predictions; `columns` names the
    columns of both ids and of the score where they are called otherwise. Every connected component
    is a set of its own, or every value of a column `set`. Scores are evidence for the forest
    model: 0 and 1 are strong and never certain, two records that were not compared have the
    default of the model, and scores up to `link_above` connect no sets.

    `records` lists all records: a data frame with a column id or unique_id (or `unique_id`), a
    list of ids or of dicts, or a file. Every record is in the result, in that order, also where no
    pair mentions it. `sources` names the source of each of them where sources have no duplicates:
    two records of one source are then never the same.

    Where scores look like similarities rather than probabilities, `note` gets a line that says so.

    Ten or more `labels` calibrate the probabilities of the other pairs.

    Records are merged while the mean probability between two clusters is at least .4, which is
    best for the expected F1 of pairs where that is .8 (the best threshold is half of it). It is
    less where several pairs lie between the two, down to .18, for there the mean is cautious unless
    labels correct it. With `cautious` it is at least that, with `target_precision` the lowest from
    .4 on that is expected to reach the target; `summary` has the expected recall.

    `previous` are the clusters of an earlier run: a result of `cluster`, or a data frame or a file
    with the columns record and cluster. Their ids persist: a cluster that has the record by which a
    previous one is called goes on with its id. `scores` are all scores, those of that run too.

    With `worlds` there is a table of that many independent draws of all clusters together, so that
    what is computed from each draw has the uncertainty of the clusters.

    Files that are not UTF-8 are read as spreadsheets save them (Windows-1252 or UTF-16). `note`
    gets a line that says so, by default as a warning.

    A set that fails, such as one in which a pair has two scores, raises its error. With
    `errors="report"` the others are clustered: the result has `failures`, each with `name` (of
    the set) and `error`, and a warning counts them. Records of those sets are not in it. An error
    while a set is solved is reported in the same way.
    """
    return cluster_scores(scores, ClusterOptions.of(locals()))


def cluster_scores(scores: Pairs, options: ClusterOptions, calibrated: bool = False) -> Clusters:
    """Cluster records by the scores of their pairs, as options ask for.

    Whether scores are probabilities is looked at unless they are known to be `calibrated`.
    """
    failures = Failures(options.errors)
    note, progress = options.note or warned, options.progress
    table, ids = pair_table(scores, "scores", options.columns, note)
    before = None if options.previous is None else read_previous(_previous_table(options.previous))
    listed = None
    if options.records is not None:
        listed = read_record_ids(options.records, options.unique_id, ids, note)
    known = _knowledge(options, listed, note)
    solver = clustering_solver(options)
    evidence = Evidence(solver.parameters.unlisted_probability, options.link_above)
    if known.labels is not None:
        evidence = replace(evidence, joined=known.labels.same())
    sets = known.applied(group(table, listed=listed, evidence=evidence), failures)
    stated, p, same = judged_probabilities(sets, known.labels, solver)
    if (calibration := PairCalibration.fitted(stated, p, same)) is not None:
        sets = calibration.moved(sets, stated, solver.parameters.scale)
    order = _order(sets, listed, before)
    rule, target = first_rule(options.cautious, known.labels), options.target_precision
    clustering = answered_or_failed(
        sets, partial(answered, solver=solver, rule=rule, progress=progress), failures
    )
    in_doubt = not calibrated and _unexplained(options)
    if in_doubt and look_like_similarities(clustering.sets.probability, clustering.answers.pair):
        note(SIMILARITIES)
    if target is not None:
        merges = possible_merges(clustering, MIN_MERGE_PROBABILITY)
        rule = MergeRule.fixed(chosen_threshold(merges, target, MIN_MERGE_PROBABILITY))
        clustering = answered(clustering.sets, solver, rule, progress)
    judged = 0 if known.labels is None else len(known.labels.pairs)
    figures = cluster_summary(totals(clustering), rule, target, solver.parameters, judged)
    count = world_count(options.worlds)
    worlds = None if count is None else _draws_of(clustering.sets, solver, count)
    failed = failures.warned("set")
    return Clusters(figures, clustering, order, ids, before, failed, worlds)


def _unexplained(options: ClusterOptions) -> bool:
    """Tell whether nothing but the scores says how they are to be taken."""
    given = (options.labels, options.parameters, options.sources)
    return not options.assume and all(one is None for one in given)


def _draws_of(sets: Sets, solver: Solver, count: int) -> Callable[[], IntArray]:
    """Return a function that draws the clusters of all records."""
    return lambda: draw_worlds(sets, solver.parameters, count, solver.budget, solver.seed)


def _knowledge(
    options: ClusterOptions, listed: TemplateList | None, note: Callable[[str], None]
) -> RecordKnowledge:
    """Return what the options say about pairs beside their scores."""
    labels = None if options.labels is None else read_labels(options.labels, note)
    if options.sources is None or listed is None:
        return RecordKnowledge(labels, options.assume)
    names = [template.id for template in listed.templates]
    return RecordKnowledge(labels, options.assume, dict(zip(names, options.sources, strict=True)))


def clustering_solver(options: ClusteringOptions) -> Solver:
    """Return the solver of sets of records, with its parameters read."""
    learned = learned_parameters("forest", parameters_source(options.parameters))
    budget = options.budget or Budget(memory=default_memory())
    return Solver("forest", learned, 1, None, budget, options.seed)


def first_rule(cautious: float | None, labels: Labels | None) -> MergeRule:
    """Return the rule by which clusters are merged, unless a target says more."""
    if cautious is not None:
        return MergeRule.fixed(cautious)
    return MergeRule(MIN_MERGE_PROBABILITY, LOWERED if labels is None else 1.0)


@dataclass(frozen=True, slots=True)
class RecordKnowledge:
    """What is known about pairs beside their scores: labels, assumptions and sources.

    `sources` has the source of every record where no source has duplicates.
    """

    labels: Labels | None = None
    assume: Sequence[str | Assumption] = ()
    sources: Mapping[str, str] | None = None

    def applied(self, sets: Sets, failures: Failures) -> Sets:
        """Return the sets with what is known about their pairs; those that contradict it fail."""
        if self.labels is not None:
            sets = labelled(sets, self.labels)
        sets = conditioned(sets, self.assume)
        if self.sources is not None:
            sets = apart_within(sets, self.sources)
        for k, error in sets.failed.items():
            failures.add(sets.names[k], error)
        return chosen_sets(sets, [k for k in range(len(sets)) if k not in sets.failed])


def judged_probabilities(
    sets: Sets, labels: Labels | None, solver: Solver
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the probabilities of all rows without labels, of the labelled rows, and which of
    these are the same; nothing without labels."""
    if labels is None:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    stated = stated_probabilities(sets, solver.parameters, solver.seed)
    rows, same = judged_rows(sets, labels)
    return stated, stated[rows], same


def _order(sets: Sets, listed: TemplateList | None, previous: Previous | None) -> dict[str, int]:
    """Return the place of every record: that in the list or, beside previous clusters, in sets."""
    if previous is not None and sets.named:
        raise InputError("previous clusters need scores without a column set")
    names: list[str] = []
    if listed is not None and not sets.named:
        names = [template.id for template in listed.templates]
    elif previous is not None:
        names = [*sets.ids, *(template.id for template in sets.singletons)]
    return {name: n for n, name in enumerate(names)}


def _previous_table(previous: Any) -> Any:
    return previous.to_arrow() if isinstance(previous, Clusters) else previous


def answered_or_failed(
    sets: Sets, answer: Callable[[Sets], Clustering], failures: Failures
) -> Clustering:
    """Return the answers for all sets but those that fail, which are found by halving.

    Few of many fail: one of them costs four times the work, and no failure nothing.
    """
    try:
        return answer(sets)
    except Exception:
        if not failures.kept:
            raise
    failing = dict(_failing(sets, answer, 0))
    for k, error in failing.items():
        failures.add(sets.names[k], error)
    return answer(chosen_sets(sets, [k for k in range(len(sets)) if k not in failing]))


def _failing(
    sets: Sets, answer: Callable[[Sets], Clustering], first: int
) -> Iterator[tuple[int, Exception]]:
    """Yield the sets that fail by their numbers, counted from `first`, and their errors."""
    try:
        answer(sets)
    except Exception as error:
        if len(sets) == 1:
            yield first, error
            return
        half = len(sets) // 2
        yield from _failing(sets.slice(0, half), answer, first)
        yield from _failing(sets.slice(half, len(sets)), answer, first + half)


def answered(
    sets: Sets, solver: Solver, rule: MergeRule, progress: Progress | None = None
) -> Clustering:
    """Return the answers for all sets."""
    limits = replace(solver.budget, work=solver.budget.work or SAMPLED)
    return cluster_sets(sets, solver.parameters, rule, limits, solver.seed, progress)


JOINED = 0.05  # probability from which two records are reviewed together

Row = dict[str, Any]
Label = tuple[str, str, int]


def review_records(
    scores: Table | None, clusters: Table | None, labels: Sequence[Label], limit: int
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
    return sets_to_review(cluster(scores, labels=labels or None), given, limit)


def sets_to_review(clusters: Clusters, given: Previous | None, limit: int) -> dict[str, Any]:
    """Return clusters as sets for a person to review; see `review_records`."""
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
    names = ("record", "cluster", *FIGURES)
    rows = [[row[name] for name in names] for row in tables["clusters"]]
    return {"summary": summary, "total": len(found), "sets": found[:limit], "clusters": rows}


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
