"""Pair scores in Spark data frames: checks, components, and the task that solves some of them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow
import pyarrow.compute as compute
from pyspark.sql import Column, DataFrame, functions

from partita.app.batch import Failures
from partita.app.cluster import (
    MIN_MERGE_PROBABILITY,
    RecordKnowledge,
    answered,
    judged_probabilities,
)
from partita.app.solve import Solver
from partita.configurations.forest.batch_kernels import MergeRule
from partita.core import Template, linked_components
from partita.errors import InputError, PartitaError
from partita.linkage.cluster_tables import (
    alternatives,
    pair_columns,
    possible_merges,
    record_columns,
    review,
    totals,
)
from partita.linkage.clusters import named_id_column
from partita.linkage.grouping import Evidence, TemplateList, group
from partita.linkage.labels import Labels, PairCalibration
from partita.linkage.pairs import SEPARATOR, SET, Chosen, Naming, PairTable, naming
from partita.linkage.sets import Assumption
from partita.options import default_memory
from partita.tables.columns import IntegerIds

WHOLE = ("tinyint", "smallint", "int", "bigint")
BLANKS = " \t\n\x0b\f\r"
EXPECTED = "expected a number from 0 to 1"
IN_ONE_TASK = 10_000_000  # links that one task joins


def named_scores(scores: Any, chosen: Chosen, what: str = "scores") -> DataFrame:
    """Return the pairs with the columns left, right and probability, checked."""
    scores = as_spark(scores)
    names = naming(scores.columns, chosen)
    if isinstance(names, str):
        raise InputError(names, file=what)
    if names.set is not None:
        raise InputError(f"a column {SET} is not supported on Spark: drop it", file=what)
    left, right = (
        identifier(scores, name, None if names.datasets is None else names.datasets[n])
        for n, name in enumerate((names.left, names.right))
    )
    found = scores.select(
        left.alias("left"), right.alias("right"), _probability(names).alias("probability")
    )
    kinds = {field.dataType.simpleString() for field in found.schema.fields[:2]}
    if len(kinds) > 1:
        both = [functions.col(name).cast("string").alias(name) for name in ("left", "right")]
        found = found.select(*both, "probability")
    checked: DataFrame = found.persist()
    _check_scores(checked, what)
    return checked


def as_spark(table: Any) -> DataFrame:
    """Return a table as a Spark data frame: Splink's, or any that Spark can take."""
    if hasattr(table, "as_spark_dataframe"):
        frame: DataFrame = table.as_spark_dataframe()
        return frame
    if not hasattr(table, "sparkSession"):
        raise TypeError(f"expected a Spark data frame, not {type(table).__name__}")
    return table  # type: ignore[no-any-return]


def identifier(frame: DataFrame, name: str, dataset: str | None = None) -> Column:
    """Return an id: a whole number, or a text without outer blanks, with Splink's dataset."""
    kind = frame.schema[name].dataType.simpleString()
    if kind not in (*WHOLE, "string"):
        raise InputError(f"column {name} is {kind} (expected string or an integer type)")
    if kind in WHOLE and dataset is None:
        return functions.col(name).cast("bigint")
    text = functions.btrim(functions.col(name).cast("string"), functions.lit(BLANKS))
    if dataset is None:
        return text
    return functions.concat(functions.trim(functions.col(dataset)), functions.lit(SEPARATOR), text)


def _probability(names: Naming) -> Column:
    score = functions.col(names.probability).try_cast("double")
    if not names.weight:
        return score
    return 1.0 / (1.0 + functions.pow(functions.lit(2.0), -score))


def _check_scores(scores: DataFrame, what: str) -> None:
    """Refuse invalid rows: the first that is found, and how many more there are."""
    p = functions.col("probability")
    empty = [functions.col(n).isNull() | (functions.col(n) == "") for n in ("left", "right")]
    if scores.schema["left"].dataType.simpleString() != "string":
        empty = [functions.col(n).isNull() for n in ("left", "right")]
    bad = empty[0] | empty[1] | (functions.col("left") == functions.col("right"))
    bad = bad | p.isNull() | functions.isnan(p) | (p < 0.0) | (p > 1.0)
    row = functions.struct("left", "right", "probability")
    found = scores.agg(
        functions.count("*"),
        functions.sum(bad.cast("bigint")),
        functions.min(functions.when(bad, row)),
    ).collect()[0]
    if not found[0]:
        raise InputError("has no rows; expected at least one pair", file=what)
    if found[1]:
        more = f" (and {found[1] - 1:,} more rows)" if found[1] > 1 else ""
        raise InputError(_problem(*found[2]) + more, file=what)


def _problem(left: Any, right: Any, probability: float | None) -> str:
    if left in (None, "") or right in (None, ""):
        partner = next((str(one) for one in (left, right) if one not in (None, "")), "nothing")
        return f"pairs {partner} with nothing; expected two ids"
    if left == right:
        return f"pairs {left} with itself"
    if probability is None:
        return f"the probability of {left} and {right} is missing; {EXPECTED}"
    wrong = "not a number" if probability != probability else "outside 0 to 1"
    return f"the probability of {left} and {right} is {probability}, {wrong}; {EXPECTED}"


def all_records(
    pairs: DataFrame, records: Any, unique_id: str | None, source: str | None
) -> DataFrame:
    """Return every record once, in the column record, with its source if a column has it.

    `records` must list every record of the pairs, and each once.
    """
    kind = pairs.schema["left"].dataType.simpleString()
    if records is None:
        if source is not None:
            raise InputError("source needs records with that column")
        return ends_of(pairs)
    table = as_spark(records)
    if source is not None:
        named_id_column(table.columns, source, "records")
    at = named_id_column(table.columns, unique_id, "records")
    ids = identifier(table, at).cast(kind).alias("record")
    origin = functions.lit("") if source is None else functions.col(source).cast("string")
    listed = table.select(ids, functions.lit(1).alias("times"), origin.alias("source"))
    scored = ends_of(pairs).select("record", functions.lit(0), functions.lit(None).cast("string"))
    counted = listed.union(scored).groupBy("record")
    nodes = counted.agg(
        functions.sum("times").alias("times"), functions.max("source").alias("source")
    ).persist()
    _check_records(nodes)
    return nodes.select("record", "source") if source is not None else nodes.select("record")


def ends_of(pairs: DataFrame) -> DataFrame:
    """Return every record of some pairs once, in the column record."""
    return pairs.select("left").union(pairs.select("right")).toDF("record").distinct()


def _check_records(nodes: DataFrame) -> None:
    record, times = functions.col("record"), functions.col("times")
    blank = record.isNull() | (record.cast("string") == "")
    problems = [blank, (times == 0) & ~blank, (times > 1) & ~blank, record.isNotNull()]
    columns = [functions.min(functions.when(one, record.cast("string"))) for one in problems]
    counts = [functions.sum(one.cast("bigint")) for one in problems]
    row = nodes.agg(*columns, *counts).collect()[0]
    if row[4]:
        raise InputError("a record has no id (expected a text or an integer)", file="records")
    if row[5]:
        problem = f"refers to {row[1]}, which records does not list"
        raise InputError(problem + _more(row[5]), file="scores")
    if row[6]:
        problem = f"lists record {row[2]} again (expected each record once)"
        raise InputError(problem + _more(row[6]), file="records")


def _more(count: int) -> str:
    return f" (and {count - 1:,} more)" if count > 1 else ""


def components(links: DataFrame) -> DataFrame:
    """Return the connected component of every linked record: `node` and `component`, its least.

    Every partition first reduces its links to one for each record. If few are left, one task joins
    them. Else every round joins each record to the least of its neighbours (large star) and then
    the lesser neighbours of each record to the least of them (small star), until nothing changes.
    """
    kind = links.schema["left"].dataType.simpleString()
    schema = f"a {kind}, b {kind}"
    stars = links.select("left", "right").mapInArrow(_stars, schema)
    edges = stars.where("a <> b").localCheckpoint()  # the least is in the links of the others
    if edges.count() <= IN_ONE_TASK:
        joined = edges.repartition(1).mapInArrow(_stars, schema).toDF("node", "component")
        return joined.repartition("node")
    edges = edges.distinct()
    before: tuple[int, ...] | None = None
    now: tuple[int, ...] = ()
    while now != before:
        edges = _small_star(_large_star(edges)).localCheckpoint()
        state = edges.agg(functions.count("*"), functions.sum(functions.xxhash64("a", "b") % 2**31))
        before, now = now, tuple(state.collect()[0])
    stars = edges.toDF("node", "component")
    roots = stars.select("component").distinct().select("component", "component")
    return stars.union(roots.toDF("node", "component"))


def _stars(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield each record of some links with the least of its component, both ways in order."""

    parts = list(batches)
    if not any(len(part) for part in parts):
        return
    table = pyarrow.Table.from_batches(parts)
    names = pyarrow.chunked_array([*table.column(0).chunks, *table.column(1).chunks]).unique()
    names = names.take(compute.array_sort_indices(names))
    left, right = (compute.index_in(table.column(n), names).to_numpy() for n in (0, 1))
    home = linked_components(len(names), left.astype(np.int64), right.astype(np.int64))
    yield pyarrow.RecordBatch.from_arrays([names, names.take(pyarrow.array(home))], ["a", "b"])


def _large_star(edges: DataFrame) -> DataFrame:
    both = edges.union(edges.select("b", "a"))
    least = both.groupBy("a").agg(functions.min("b").alias("m"))
    least = least.select("a", functions.least("a", "m").alias("m"))
    joined = both.join(least, "a").where("b > a").select("b", "m")
    return joined.toDF("a", "b").where("a <> b").distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    least = edges.groupBy("a").agg(functions.min("b").alias("m"))
    joined = edges.join(least, "a")
    moved = joined.select("b", "m").union(joined.select("a", "m"))
    return moved.toDF("a", "b").where("a <> b").distinct()


PAYLOAD = "name string, payload binary"


@dataclass(frozen=True, slots=True)
class ClusteringTask:
    """What every task is told: the model, what is known, and how clusters are merged.

    A task returns an error as a row as well, so that it can be raised as one line. With `judging`
    it returns nothing but what is stated of its pairs without labels, and of labelled ones.
    """

    solver: Solver
    link_above: float
    known: RecordKnowledge
    assume: tuple[Assumption, ...]
    rule: MergeRule
    calibration: PairCalibration | None = None
    judging: bool = False

    def __call__(self, table: Any) -> Any:
        """Solve the components of one task; return its tables as rows of bytes."""
        try:
            rows = list(self._tables(table))
        except PartitaError as error:
            rows = [("error", str(error).encode())]
        names, payloads = zip(*rows, strict=True)
        return pyarrow.table({"name": names, "payload": payloads})

    def _tables(self, table: Any) -> Iterator[tuple[str, bytes]]:
        pairs, ids, sources = pair_table(table)
        names = set(pairs.names)
        known = replace(
            self.known,
            labels=_labels_of(self.known.labels, names),
            assume=[one for one in self.assume if {one.left, one.right} <= names],
            sources=sources,
        )
        evidence = Evidence(self.solver.parameters.unlisted_probability, self.link_above)
        if known.labels is not None:
            evidence = replace(evidence, joined=known.labels.same())
        listed = TemplateList("records", tuple(map(Template, pairs.names)))
        grouped = group(pairs, listed=listed, evidence=evidence)
        budget = replace(self.solver.budget, memory=self.solver.budget.memory or default_memory())
        sets = known.applied(grouped, Failures("raise"))
        if self.judging or self.calibration is not None:
            stated, *judged = judged_probabilities(sets, known.labels, self.solver)
            if self.calibration is None:
                yield "stated", stated.tobytes()
                yield "judged", np.stack(judged, axis=1).tobytes()
                return
            sets = self.calibration.moved(sets, stated, self.solver.parameters.scale)
        clustering = answered(sets, replace(self.solver, budget=budget), self.rule)
        original = ids.originals
        yield "totals", json.dumps(asdict(totals(clustering))).encode()
        yield "clusters", _bytes(record_columns(clustering, {}, original))
        yield "alternatives", _bytes(alternatives(clustering, original))
        yield "pairs", _bytes(pair_columns(clustering, original))
        yield "review", _bytes(review(clustering, original))
        merges = possible_merges(clustering, MIN_MERGE_PROBABILITY)
        yield "merges", _bytes({"height": merges.height, "between": merges.between})
        yield "certain", str(merges.certain).encode()


def _labels_of(labels: Labels | None, names: set[str]) -> Labels | None:
    """Return the labels of some records."""
    if labels is None:
        return None
    inside = {both: same for both, same in labels.pairs.items() if {*both} <= names}
    return replace(labels, pairs=inside)


def pair_table(table: Any) -> tuple[PairTable, IntegerIds, Mapping[str, str] | None]:
    """Return the pairs of a task, their records in order, and the sources of these if known.

    A row without a right end is a record and its source.
    """

    ends = pyarrow.chunked_array([*table.column("left").chunks, *table.column("right").chunks])
    unique = compute.drop_null(ends.unique())
    unique = unique.take(compute.array_sort_indices(unique))
    rows = table.filter(compute.is_valid(table.column("right")))
    left, right = (
        compute.index_in(rows.column(end), unique).to_numpy().astype(np.int64)
        for end in ("left", "right")
    )
    ids = IntegerIds()
    ids.note(unique.to_pylist())
    p = rows.column("probability").to_numpy()
    names = [str(one) for one in unique.to_pylist()]
    pairs = PairTable("scores", names, left, right, p, np.arange(1, len(p) + 1), unit="row")
    if "source" not in table.column_names:
        return pairs, ids, None
    single = table.filter(compute.is_null(table.column("right")))
    of = zip(single.column("left").to_pylist(), single.column("source").to_pylist(), strict=True)
    return pairs, ids, {str(name): source for name, source in of}


def _bytes(columns: Mapping[str, Any]) -> bytes:
    """Return columns as an Arrow stream."""

    table = pyarrow.table(dict(columns))
    sink = pyarrow.BufferOutputStream()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    data: bytes = sink.getvalue().to_pybytes()
    return data


def read_table(payload: bytes, schema: Any = None) -> Any:
    """Return a table of a task, with the types of a schema."""

    table = pyarrow.ipc.open_stream(payload).read_all()
    return table if schema is None else table.cast(schema)
