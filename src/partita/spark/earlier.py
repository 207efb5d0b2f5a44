"""Clusters of an earlier run on Spark: sets that are kept, ids that persist, a log of changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from partita.errors import InputError
from partita.linkage.clusters import CLUSTERS, IDS
from partita.linkage.increments import FIGURES
from partita.spark.scores import as_spark

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

FILE = "previous"


def joined_scores(old: DataFrame, new: DataFrame) -> DataFrame:
    """Return the pairs of both; of a pair in both the new score holds."""
    from pyspark.sql import functions

    def keyed(frame: DataFrame) -> DataFrame:
        low, high = functions.least("left", "right"), functions.greatest("left", "right")
        return frame.withColumn("low", low).withColumn("high", high)

    again = keyed(new).select("low", "high").distinct()
    kept = keyed(old).join(again, ["low", "high"], "anti").select("left", "right", "probability")
    return kept.union(new).persist()


@dataclass(frozen=True, slots=True, eq=False)
class EarlierClusters:
    """Clusters of an earlier run: record, `old` (its cluster), perhaps membership and exact."""

    frame: DataFrame
    has_figures: bool
    file: str = FILE

    @classmethod
    def of(cls, previous: Any, pairs: DataFrame) -> EarlierClusters:
        """Read the clusters of an earlier result, or of a data frame with its columns."""
        from pyspark.sql import functions

        frame = as_spark(getattr(previous, "clusters", previous))
        found = [next((n for n in names if n in frame.columns), None) for names in (IDS, CLUSTERS)]
        if None in found:
            existing = ", ".join(frame.columns)
            problem = f"has no columns record and cluster; found {existing}"
            raise InputError(problem, file=FILE)
        kind = pairs.schema["left"].dataType.simpleString()
        has_figures = {*FIGURES} <= {*frame.columns}
        figures = FIGURES if has_figures else ()
        record, old = (functions.col(str(name)).try_cast(kind) for name in found)
        earlier = frame.select(record.alias("record"), old.alias("old"), *figures).persist()
        _check(earlier)
        return cls(earlier, has_figures)

    def sizes(self) -> DataFrame:
        """Return every previous cluster with its size and the record that stands for it."""
        from pyspark.sql import functions

        record = functions.col("record")
        own = functions.max(functions.when(record == functions.col("old"), record))
        return self.frame.groupBy("old").agg(
            functions.count("*").alias("size_of_old"),
            functions.coalesce(own, functions.min("record")).alias("anchor"),
        )

    def untouched(self, homes: DataFrame, again: DataFrame) -> DataFrame:
        """Return the records of components that are as they were, with the component.

        They have no new record or score, and whole previous clusters.
        """
        from pyspark.sql import functions

        scored = again.select("left").union(again.select("right")).toDF("record").distinct()
        scored = scored.withColumn("again", functions.lit(1))
        nodes = homes.toDF("record", "component").join(scored, "record", "left")
        nodes = nodes.join(self.frame.select("record", "old"), "record", "left").persist()
        sizes = self.sizes().select("old", "size_of_old")
        whole = (
            nodes.where("old IS NOT NULL")
            .groupBy("old")
            .agg(
                functions.count("*").alias("members"),
                functions.countDistinct("component").alias("parts"),
            )
            .join(sizes, "old")
            .where("parts = 1 AND members = size_of_old")
            .select("old", functions.lit(1).alias("whole"))
        )
        same = functions.col("again").isNull() & functions.col("whole").isNotNull()
        touched = nodes.join(whole, "old", "left").where(~same).select("component").distinct()
        return nodes.select("record", "component").join(touched, "component", "anti")

    def rows(self, kept: DataFrame) -> DataFrame:
        """Return the rows of kept records; a cluster is called by its first record."""
        from pyspark.sql import functions

        rows = self.frame.join(kept.select("record"), "record")
        first = rows.groupBy("old").agg(functions.min("record").alias("cluster"))
        return rows.join(first, "old").select("record", "cluster", *FIGURES)

    def named(self, clusters: DataFrame) -> tuple[DataFrame, DataFrame]:
        """Return the clusters with ids that persist, and the id of each by its first record.

        A cluster goes on with a previous one if it has the record that stands for it; of several,
        with the largest. A new id is the first record whose name is not a previous id.
        """
        from pyspark.sql import functions

        kind = clusters.schema["record"].dataType.simpleString()
        sizes = self.sizes()
        anchors = sizes.select(functions.col("anchor").alias("record"), "old", "size_of_old")
        best = functions.min(functions.struct(-functions.col("size_of_old"), "record", "old"))
        kept = clusters.join(anchors, "record").groupBy("cluster").agg(best.alias("best"))
        used = sizes.select(functions.col("old").alias("record"))
        free = clusters.select("record", "cluster").join(used, "record", "anti")
        new = free.groupBy("cluster").agg(functions.min("record").alias("fresh"))
        every = clusters.groupBy("cluster").agg(functions.min("record").alias("first"))
        numbered = functions.concat(functions.col("first").cast("string"), functions.lit("-2"))
        if kind != "string":
            numbered = functions.lit(None)
        chosen = functions.coalesce(functions.col("best.old"), functions.col("fresh"), numbered)
        ids = every.join(kept, "cluster", "left").join(new, "cluster", "left")
        ids = ids.select("cluster", chosen.cast(kind).alias("id")).persist()
        _check_ids(ids)
        renamed = clusters.join(ids, "cluster").select(
            "record", functions.col("id").alias("cluster"), *FIGURES
        )
        return renamed, ids

    def renamed(self, alternatives: DataFrame, ids: DataFrame) -> DataFrame:
        """Return alternatives by the ids that persist."""
        from pyspark.sql import functions

        columns = alternatives.columns
        for name in ("cluster", "with"):
            named = ids.toDF(name, "named")
            joined = alternatives.join(named, name, "left")
            alternatives = joined.withColumn(name, functions.col("named")).drop("named")
        return alternatives.select(*(f"`{name}`" for name in columns))

    def changes(self, clusters: DataFrame) -> DataFrame:
        """Return what happened to clusters: created, grown, split, merged, shrunk and removed."""
        from pyspark.sql import functions

        sizes = self.sizes().select("old", "size_of_old")
        records = clusters.select("record", "cluster")
        lost = self.frame.join(records, "record", "anti").groupBy("old")
        lost_counts = lost.agg(functions.count("*").alias("gone"))
        before = records.join(self.frame.select("record", "old"), "record", "left")
        parts = before.groupBy("cluster", "old").agg(
            functions.count("*").alias("n"), functions.min("record").alias("first")
        )
        parts = parts.join(sizes, "old", "left").join(lost_counts, "old", "left").persist()
        rows = _happened(parts)
        removed = sizes.join(parts.select("old").distinct(), "old", "anti").select(
            functions.col("old").alias("cluster"),
            functions.lit("removed").alias("change"),
            functions.array("old").alias("previous"),
            functions.col("size_of_old").alias("size_before"),
            functions.lit(0).cast("bigint").alias("size"),
        )
        return rows.union(removed)


def _check(earlier: DataFrame) -> None:
    from pyspark.sql import functions

    empty = functions.col("record").isNull() | functions.col("old").isNull()
    missing = earlier.agg(functions.count("*"), functions.sum(empty.cast("bigint"))).collect()[0]
    if not missing[0]:
        raise InputError("has no rows; expected the clusters of an earlier run", file=FILE)
    if missing[1]:
        problem = "a row needs a record and a cluster, of the type of the ids in scores"
        raise InputError(problem, file=FILE)
    twice = earlier.groupBy("record").count().where("count > 1").limit(1).collect()
    if twice:
        raise InputError(f"lists record {twice[0]['record']} again", file=FILE)


def _check_ids(ids: DataFrame) -> None:
    """Refuse ids that cannot be given: all names of a new cluster are ids of others."""
    from pyspark.sql import functions

    unnamed = ids.where("id IS NULL").limit(1).collect()
    twice = ids.groupBy("id").agg(functions.count("*").alias("n")).where("n > 1").limit(1).collect()
    for row in unnamed or twice:
        problem = f"no new id for the cluster of {row[0]}: its names are ids of other clusters"
        raise InputError(problem, file=FILE)


def _happened(parts: DataFrame) -> DataFrame:
    from pyspark.sql import functions

    known = functions.col("old").isNotNull()
    gone = functions.coalesce(functions.col("gone"), functions.lit(0))
    old_first = functions.when(known, functions.struct("first", "old"))
    grouped = parts.groupBy("cluster").agg(
        functions.sum("n").alias("size"),
        functions.sum(functions.when(known, functions.col("n")).otherwise(0)).alias("known"),
        functions.count("old").alias("olds"),
        functions.coalesce(functions.sum("size_of_old"), functions.lit(0)).alias("size_before"),
        functions.max(functions.col("n") + gone < functions.col("size_of_old")).alias("is_split"),
        functions.max(known & (gone > 0)).alias("is_shrunk"),
        functions.sort_array(functions.collect_list(old_first)).getField("old").alias("previous"),
    )
    holds: dict[str, Column] = {
        "created": functions.col("olds") == 0,
        "split": functions.col("is_split"),
        "merged": functions.col("olds") > 1,
        "grown": (functions.col("olds") > 0) & (functions.col("size") > functions.col("known")),
        "shrunk": functions.col("is_shrunk"),
    }
    named = [functions.when(test, functions.lit(name)) for name, test in holds.items()]
    listed = functions.array_compact(functions.array(*named))
    rows = grouped.withColumn("change", functions.explode(listed))
    return rows.select("cluster", "change", "previous", "size_before", "size")
