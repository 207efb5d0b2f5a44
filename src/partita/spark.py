"""Clusters and texts on Spark, with the same answers as on one machine.

Needs `pip install 'partita[spark]'` and Java.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from partita.errors import InputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["cluster", "components", "run"]

NAMES = (
    ("left", "right", "probability"),
    ("unique_id_l", "unique_id_r", "match_probability"),
    ("id_1", "id_2", "score"),
)
PAIRS_PER_TASK = 20_000  # of small components that are solved together
ROUNDS = 50


def cluster(
    scores: DataFrame,
    records: DataFrame | None = None,
    *,
    unique_id: str = "unique_id",
    cautious: float | None = None,
    link_above: float = 1e-4,
    seed: int = 0,
) -> DataFrame:
    """Cluster records by a Spark data frame of pair scores.

    The columns of `scores` are left, right and probability, or Splink's. `records` lists all
    records in the column `unique_id`. The result has the columns record, cluster, membership and
    exact, and its rows are those of `partita.cluster(scores, records=sorted ids)`, in no order.
    Connected components are found on Spark; small ones are solved many at a time, each large one by
    itself.
    """
    from pyspark.sql import functions

    pairs = _named(scores).persist()
    kind = pairs.schema["left"].dataType.simpleString()
    homes = components(pairs.where(functions.col("probability") > link_above)).persist()
    inside = _within(pairs, homes).persist()
    tasks = max(1, -(-inside.count() // PAIRS_PER_TASK))
    solve = _solver(cautious, link_above, seed)
    schema = f"record {kind}, cluster {kind}, membership double, exact double"
    solved = _packed(inside, tasks).groupBy("task").applyInPandas(solve, schema)
    ids = pairs.select("left").union(pairs.select("right")).toDF("record")
    if records is not None:
        ids = ids.union(records.select(functions.col(unique_id).alias("record")))
    alone = ids.distinct().join(
        homes.select(functions.col("node").alias("record")), "record", "anti"
    )
    one = functions.lit(1.0)
    return solved.union(alone.select("record", functions.col("record"), one, one))


def _named(scores: DataFrame) -> DataFrame:
    """Return the pairs with the columns left, right and probability."""
    for names in NAMES:
        if {*names} <= {*scores.columns}:
            return scores.select(*names).toDF("left", "right", "probability")
    raise InputError(
        f"scores have no columns {', '.join(NAMES[0])}; found {', '.join(scores.columns)}"
    )


def components(links: DataFrame) -> DataFrame:
    """Return the connected component of every linked record: `node` and `component`, its least.

    Every round joins each record to the least of its neighbours (large star) and then the lesser
    neighbours of each record to the least of them (small star), until nothing changes.
    """
    from pyspark.sql import functions

    edges = links.select(
        functions.greatest("left", "right").alias("a"), functions.least("left", "right").alias("b")
    ).distinct()
    before = None
    for _ in range(ROUNDS):
        edges = _small_star(_large_star(edges)).localCheckpoint()
        state = edges.agg(functions.count("*"), functions.sum(functions.xxhash64("a", "b") % 2**31))
        if (now := tuple(state.collect()[0])) == before:
            break
        before = now
    stars = edges.toDF("node", "component")
    roots = stars.select("component").distinct().select("component", "component")
    return stars.union(roots.toDF("node", "component"))


def _large_star(edges: DataFrame) -> DataFrame:
    from pyspark.sql import functions

    both = edges.union(edges.select("b", "a"))
    least = both.groupBy("a").agg(functions.min("b").alias("m"))
    least = least.select("a", functions.least("a", "m").alias("m"))
    joined = both.join(least, "a").where("b > a").select("b", "m")
    return joined.toDF("a", "b").where("a <> b").distinct()


def _small_star(edges: DataFrame) -> DataFrame:
    from pyspark.sql import functions

    least = edges.groupBy("a").agg(functions.min("b").alias("m"))
    joined = edges.join(least, "a")
    moved = joined.select("b", "m").union(joined.select("a", "m"))
    return moved.toDF("a", "b").where("a <> b").distinct()


def _within(pairs: DataFrame, homes: DataFrame) -> DataFrame:
    """Return the pairs within components, with their component."""
    left, right = homes.toDF("left", "component"), homes.toDF("right", "other")
    joined = pairs.join(left, "left").join(right, "right").where("component = other")
    return joined.select("left", "right", "probability", "component")


def _packed(pairs: DataFrame, tasks: int) -> DataFrame:
    """Return the pairs with a task: small components share one, a large one has its own."""
    from pyspark.sql import functions

    sizes = pairs.groupBy("component").count()
    shared = functions.pmod(functions.xxhash64("component"), functions.lit(tasks)).cast("string")
    own = functions.concat(functions.lit("component "), functions.col("component").cast("string"))
    task = functions.when(functions.col("count") > PAIRS_PER_TASK, own).otherwise(shared)
    return pairs.join(sizes, "component").select("left", "right", "probability", task.alias("task"))


def _solver(cautious: float | None, link_above: float, seed: int) -> Callable[[Any], Any]:
    def solve(pairs: Any) -> Any:
        from partita.app.cluster import cluster as cluster_locally

        ids = sorted({*pairs["left"].tolist(), *pairs["right"].tolist()})
        found = cluster_locally(
            pairs[["left", "right", "probability"]],
            records=ids,
            cautious=cautious,
            link_above=link_above,
            seed=seed,
        )
        return found.to_pandas()

    return solve


def run(texts: DataFrame, *, text: str = "text", **options: Any) -> DataFrame:
    """Extract entities and resolve coreference in a data frame of texts.

    `text` names the column of texts, and the options are those of `partita.run`. The result has
    the columns of `texts` and `result`, the answer for each text as JSON.
    """

    def resolve(frames: Iterable[Any]) -> Iterator[Any]:
        from partita.app.run import run as run_locally

        for frame in frames:
            found = [run_locally(one, **options).to_dict() for one in frame[text]]
            yield frame.assign(result=[json.dumps(one) for one in found])

    from pyspark.sql.types import StringType, StructField, StructType

    if text not in texts.columns:
        raise InputError(f"texts have no column {text}; found {', '.join(texts.columns)}")
    schema = StructType([*texts.schema.fields, StructField("result", StringType())])
    return texts.mapInPandas(resolve, schema)
