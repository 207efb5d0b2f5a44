"""Cluster records by pair scores on Spark."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, functions
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from partita.app.cluster import (
    MIN_MERGE_PROBABILITY,
    RecordKnowledge,
    clustering_solver,
    first_rule,
)
from partita.app.solve import Solver
from partita.configurations.forest.batch_kernels import MergeRule
from partita.core import Budget, linked_components
from partita.errors import InputError
from partita.linkage.cluster_tables import (
    FIXED,
    ClusterSummary,
    Merges,
    Totals,
    alone,
    chosen_threshold,
    cluster_summary,
)
from partita.linkage.labels import Labels, PairCalibration, read_labels
from partita.linkage.pairs import Chosen
from partita.linkage.sets import Assumption, parse_assumption, readings
from partita.options import ClusteringOptions, ClusterOptions, described
from partita.spark.scores import (
    PAYLOAD,
    ClusteringTask,
    all_records,
    components,
    ends_of,
    named_scores,
    read_table,
)

PAIRS_PER_TASK = 20_000  # of small components that are solved together


@dataclass(frozen=True, slots=True, eq=False)
class SparkClusters:
    """Clusters of records as Spark data frames, with the columns that `partita.Clusters` has.

    The answers are cached on Spark, so that every table can be read without solving again;
    `unpersist` frees them. Rows have no order, except in
    `alternatives` and `review`.
    """

    summary: ClusterSummary
    clusters: DataFrame
    alternatives: DataFrame
    pairs: DataFrame
    review: DataFrame
    _cached: tuple[DataFrame, ...]

    def unpersist(self) -> None:
        """Free what is cached on Spark; a table that is read afterwards is solved again."""
        for frame in self._cached:
            frame.unpersist()

    def __repr__(self) -> str:
        found = self.summary
        return f"SparkClusters({found.records:,} records in {found.clusters:,} clusters)"


@described(ClusterOptions)
def cluster(
    scores: Any,
    records: Any = None,
    *,
    unique_id: str | None = None,
    columns: Chosen = (None, None, None),
    target_precision: float | None = None,
    cautious: float | None = None,
    parameters: str | os.PathLike[str] | None = None,
    link_above: float = 1e-4,
    labels: Any = None,
    assume: Sequence[str] = (),
    source: str | None = None,
    budget: Budget | None = None,
    seed: int = 0,
) -> SparkClusters:
    """Cluster records by a Spark data frame of pair scores.

    The columns of `scores` are left, right and probability, or Splink's, or those that `columns`
    names. `records` lists all records in the column `unique_id`, or id. The tables are those of
    `partita.cluster(scores, records=sorted ids)` to the byte, and the options are the same:
    `labels` are read on the driver; `source` names the column of `records` with the source of each
    record, where no source has duplicates. The limits of `budget` hold for each task.

    Connected components are found on Spark. Small ones are solved many at a time, each large one
    by itself.
    """
    options = ClusterOptions.of(
        locals(), budget=budget or Budget(), sources=None if source is None else (source,)
    )
    pairs = named_scores(scores, columns)
    nodes = all_records(pairs, records, unique_id, source)
    return SparkClustering.of(options, pairs, nodes, records is not None).clusters()


def on_driver(table: Any) -> Any:
    """Return a small table on the driver."""
    return table.toArrow() if hasattr(table, "sparkSession") else table


@dataclass(frozen=True, slots=True, eq=False)
class SparkClustering:
    """Pairs and records, the options, and what is read for them: the model and labels.

    `listed` says whether `nodes` may have records that no pair mentions.
    """

    options: ClusteringOptions
    pairs: DataFrame
    nodes: DataFrame
    solver: Solver
    labels: Labels | None
    listed: bool

    @classmethod
    def of(
        cls,
        options: ClusteringOptions,
        pairs: DataFrame,
        nodes: DataFrame,
        listed: bool = True,
    ) -> SparkClustering:
        """Return a run with its parameters and labels read."""
        labels = None if options.labels is None else read_labels(on_driver(options.labels))
        solver = clustering_solver(options)
        return cls(options, pairs, nodes, solver, labels, listed)

    @property
    def link_above(self) -> float:
        return self.options.link_above

    def clusters(self, across: bool = True) -> SparkClusters:
        """Solve all components; compared pairs between them count if `across`."""
        homes = self._homes()
        target = self.options.target_precision
        job = ClusteringTask(
            self.solver,
            self.link_above,
            RecordKnowledge(self.labels),
            tuple(self._assumptions(homes)),
            first_rule(self.options.cautious, self.labels),
        )
        near = _near(self.pairs, homes, self.link_above).persist()
        weak = self._weak(homes)
        tasks = self._tasks(near if weak is None else near.union(_within(weak)), homes)
        if self.labels is not None:
            job = replace(job, calibration=_calibration(tasks, job))
        solved, total = _solved(tasks, job)
        if target is not None:
            job = replace(job, rule=MergeRule.fixed(_threshold(solved, target)))
            solved.unpersist()
            solved, total = _solved(tasks, job)
        single = self._single(homes, weak).persist()
        apart = _across(weak).persist() if across and weak is not None else None
        outside = alone(single.count(), *((0, 0) if apart is None else _lost(apart)))
        told = cluster_summary(
            total + outside,
            job.rule,
            target,
            self.solver.parameters,
            0 if self.labels is None else len(self.labels.pairs),
        )
        cached = [self.pairs, self.nodes, homes, near, weak, solved, single, apart]
        frames = tuple(frame for frame in cached if frame is not None)
        return self._tables(told, solved, single, apart, frames)

    def _homes(self) -> DataFrame:
        """Return the component of every record that has one; pairs that are the same join them."""
        homes = components(self.pairs.where(functions.col("probability") > self.link_above))
        if self.labels is None:
            return homes.persist()
        names = {name for both in self.labels.pairs for name in both}
        unknown = names - self._existing(names)
        if unknown:
            problem = f"labels {min(unknown)}, which is neither in the scores nor in the records"
            raise InputError(problem, file=self.labels.file)
        home = _homes_of(homes, names)
        return _joined(homes, home, self.labels.same()).persist()

    def _weak(self, homes: DataFrame) -> DataFrame | None:
        """Return the pairs whose scores connect nothing, with the components of both ends."""
        weak = self.pairs.where(functions.col("probability") <= self.link_above)
        return None if weak.isEmpty() else _placed(weak, homes).persist()

    def _single(self, homes: DataFrame, weak: DataFrame | None) -> DataFrame:
        """Return the records without a component; without a list, only weak pairs have any."""
        if weak is None and not self.listed:
            return self.nodes.select("record").where("false")
        nodes = self.nodes if weak is None or self.listed else ends_of(weak)
        return nodes.select("record").join(homes.toDF("record", "component"), "record", "anti")

    def _existing(self, names: set[str]) -> set[str]:
        """Return which of some names are records."""
        found = self.nodes.select("record").where(_among("record", names)).collect()
        return {str(row["record"]) for row in found}

    def _assumptions(self, homes: DataFrame) -> Iterator[Assumption]:
        """Yield the assumptions; two records that are the same must be in one component."""
        if not self.options.assume:
            return
        possible = [one for text in self.options.assume for one in readings(text)]
        names = self._existing({name for one in possible for name in (one.left, one.right)})
        home = _homes_of(homes, names)
        for text in self.options.assume:
            one = parse_assumption(text, names)
            together = home.get(one.left, 0) == home.get(one.right, 1)
            if one.same and not together:
                raise InputError(
                    f"{one.left} and {one.right} are in different sets, so they cannot "
                    "be the same; the file lists no chance of it",
                    file="scores",
                )
            yield one

    def _tasks(self, inside: DataFrame, homes: DataFrame) -> Any:
        """Return the pairs within components, grouped into tasks.

        Small components share a task, and a large one has its own. With labels or sources a row
        without a right end is a record.
        """
        if "source" in self.nodes.columns or self.labels is not None:
            inside = _with_records(inside, self.nodes, homes)
        rows, large = _large(inside)
        count = max(1, -(-rows // PAIRS_PER_TASK))
        shared = functions.pmod(functions.xxhash64("component"), functions.lit(count))
        own = functions.xxhash64("component") % 2**40 + 2**41
        alone = functions.col("component").isin(large)
        task = functions.when(alone, own).otherwise(shared)
        packed = inside.withColumn("task", task).drop("component")
        return packed.repartition(count + len(large), "task").groupBy("task")

    def _tables(
        self,
        told: ClusterSummary,
        solved: DataFrame,
        single: DataFrame,
        apart: DataFrame | None,
        cached: tuple[DataFrame, ...],
    ) -> SparkClusters:
        kind = self.pairs.schema["left"].dataType.simpleString()
        one = functions.lit(1.0)
        clusters = _decoded(solved, "clusters", RECORDS.format(kind))
        clusters = clusters.union(single.select("record", "record", one, one))
        alternatives = _decoded(solved, "alternatives", ALTERNATIVES.format(kind))
        pairs = _decoded(solved, "pairs", PAIRS.format(kind))
        if apart is not None:
            p = functions.col("low")
            more = apart.select("left", "right", p, p, functions.lit(0.0))
            pairs = pairs.union(more)
        questions = _decoded(solved, "review", REVIEW.format(kind))
        return SparkClusters(
            told,
            clusters,
            alternatives.orderBy(functions.desc("probability"), "change", "cluster", "with"),
            pairs,
            questions.orderBy(functions.desc("bits"), functions.desc("pairs"), "left", "right"),
            cached,
        )


RECORDS = "record {0}, cluster {0}, membership double, exact double"
ALTERNATIVES = "cluster {0}, change string, `with` {0}, records array<{0}>, probability double"
PAIRS = "left {0}, right {0}, score double, probability double, error double"
REVIEW = "left {0}, right {0}, probability double, bits double, together boolean, pairs bigint"


def _among(column: str, names: Iterable[str]) -> Any:
    return functions.col(column).cast("string").isin(sorted(names))


def _homes_of(homes: DataFrame, names: set[str]) -> dict[str, Any]:
    """Return the components of some records, where they have one."""
    rows = homes.where(_among("node", names)).collect()
    return {str(row["node"]): row["component"] for row in rows}


def _joined(homes: DataFrame, home: dict[str, Any], same: Sequence[tuple[str, str]]) -> DataFrame:
    """Return the components where records that are the same are in one; each is its least."""
    kind = homes.schema["node"].dataType.simpleString()
    record = int if kind == "bigint" else str
    ends = [[home.get(name, record(name)) for name in both] for both in same]
    values = sorted({one for both in ends for one in both})
    number = {one: n for n, one in enumerate(values)}
    left, right = (np.array([number[both[n]] for both in ends], np.int64) for n in (0, 1))
    least = linked_components(len(values), left, right)
    first: dict[int, Any] = {}
    for n, one in enumerate(values):
        first.setdefault(int(least[n]), one)
    moved = [(one, first[int(least[n])]) for n, one in enumerate(values)]
    new = [record(name) for both in same for name in both if name not in home]
    session = homes.sparkSession
    added = session.createDataFrame([(one, one) for one in {*new}], homes.schema)
    moves = session.createDataFrame(moved, f"component {kind}, target {kind}")
    joined = homes.union(added).join(functions.broadcast(moves), "component", "left")
    return joined.select("node", functions.coalesce("target", "component").alias("component"))


def _large(inside: DataFrame) -> tuple[int, list[Any]]:
    """Return the number of rows, and the components that have more than a task has."""
    size, sizes = functions.col("count"), inside.groupBy("component").count()
    large = functions.collect_list(
        functions.when(size > PAIRS_PER_TASK, functions.col("component"))
    )
    rows, names = sizes.agg(functions.sum(size), large).collect()[0]
    return rows or 0, list(names)


def _near(pairs: DataFrame, homes: DataFrame, link_above: float) -> DataFrame:
    """Return the pairs whose scores connect both ends, with their component."""
    linked = pairs.where(pairs["probability"] > link_above)
    joined = linked.join(homes.toDF("left", "component"), "left")
    return joined.select("left", "right", "probability", "component")


def _placed(pairs: DataFrame, homes: DataFrame, how: str = "left") -> DataFrame:
    """Return the pairs with the components of both ends; a record without one is its own."""
    left, right = homes.toDF("left", "component"), homes.toDF("right", "other")
    joined = pairs.join(left, "left", how).join(right, "right", how)
    return joined.select(
        "left",
        "right",
        "probability",
        functions.coalesce("component", "left").alias("component"),
        functions.coalesce("other", "right").alias("other"),
    )


def _within(placed: DataFrame) -> DataFrame:
    return placed.where("component = other").drop("other")


def _with_records(inside: DataFrame, nodes: DataFrame, homes: DataFrame) -> DataFrame:
    """Return the pairs and, as rows without a right end, the records with their sources."""
    kind = inside.schema["left"].dataType.simpleString()
    known = "source" in nodes.columns
    source = functions.col("source") if known else functions.lit(None).cast("string")
    none = functions.lit(None)
    rows = nodes.join(homes.toDF("record", "component"), "record").select(
        functions.col("record").alias("left"),
        none.cast(kind).alias("right"),
        none.cast("double").alias("probability"),
        "component",
        source.alias("source"),
    )
    both = inside.withColumn("source", none.cast("string")).select(rows.columns).union(rows)
    return both if known else both.drop("source")


def _solved(tasks: Any, job: ClusteringTask) -> tuple[DataFrame, Totals]:
    """Solve all tasks; return their tables, which are cached, and the sum of their totals."""
    solved = tasks.applyInArrow(lambda table: job(table), PAYLOAD).persist()
    total = alone(0)
    for payload in _payloads(solved, "totals"):
        values = json.loads(payload)
        total += Totals(**(values | {"draws": tuple(map(tuple, values["draws"]))}))
    return solved, total


def _calibration(tasks: Any, job: ClusteringTask) -> PairCalibration | None:
    """Return what labels make of the probabilities that all tasks state without them."""
    job = replace(job, judging=True)
    found = tasks.applyInArrow(lambda table: job(table), PAYLOAD).persist()
    stated = np.frombuffer(b"".join(_payloads(found, "stated")))
    judged = np.frombuffer(b"".join(_payloads(found, "judged"))).reshape(-1, 2)
    found.unpersist()
    return PairCalibration.fitted(stated, judged[:, 0], judged[:, 1])


def _payloads(solved: DataFrame, name: str) -> list[bytes]:
    """Return what tasks returned under a name; raise the first error."""
    rows = solved.where(f"name IN ('{name}', 'error')").collect()
    for row in rows:
        if row["name"] == "error":
            raise InputError(bytes(row["payload"]).decode())
    return [bytes(row["payload"]) for row in rows]


def _threshold(solved: DataFrame, target: float) -> float:
    """Return the threshold from which the expected precision reaches the target."""
    tables = [read_table(payload) for payload in _payloads(solved, "merges")]
    height, between = (
        np.concatenate([np.zeros(0), *(table.column(name).to_numpy() for table in tables)])
        for name in ("height", "between")
    )
    certain = sum(int(payload) for payload in _payloads(solved, "certain"))
    return chosen_threshold(Merges(height, between, certain), target, MIN_MERGE_PROBABILITY)


def _across(placed: DataFrame) -> DataFrame:
    """Return the compared pairs between components, each once, with its least and largest score."""
    first = functions.col("component") < functions.col("other")
    left = functions.when(first, functions.col("left")).otherwise(functions.col("right"))
    right = functions.when(first, functions.col("right")).otherwise(functions.col("left"))
    pairs = placed.where("component <> other").select(
        left.alias("left"), right.alias("right"), "probability"
    )
    low, high = functions.min("probability"), functions.max("probability")
    return pairs.groupBy("left", "right").agg(low.alias("low"), high.alias("high"))


def _lost(apart: DataFrame) -> tuple[int, int]:
    """Return the number of pairs between components and the sum of their scores."""
    twice = functions.col("low") < functions.col("high")
    row = functions.struct("left", "right", "low", "high")
    found = apart.agg(
        functions.count("*"),
        functions.sum(functions.bround(functions.col("low") * FIXED).cast("bigint")),
        functions.min(functions.when(twice, row)),
    ).collect()[0]
    if found[2] is not None:
        left, right, low, high = found[2]
        problem = f"the probability of {left} and {right} is {high}, and {low} in another row"
        raise InputError(problem, file="scores")
    return int(found[0]), int(found[1] or 0)


def _decoded(solved: DataFrame, name: str, schema: str) -> DataFrame:
    """Return one of the tables that tasks returned as bytes."""
    return solved.where(f"name = '{name}'").select("payload").mapInArrow(_decoder(schema), schema)


def _decoder(schema: str) -> Callable[[Iterable[Any]], Iterator[Any]]:
    fields = StructType.fromDDL(schema)
    assert isinstance(fields, StructType)
    types = to_arrow_schema(fields)

    def decode(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for payload in batch.column(0):
                yield from read_table(payload.as_py(), types).to_batches()

    return decode
