"""Link records on Spark: on the driver, or by Splink's Spark backend with clusters on Spark."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from typing import Any

from numpy.typing import NDArray
from pyarrow import RecordBatch
from pyspark.sql import DataFrame, functions

from partita.app.link import given_settings, link_tables
from partita.core import Budget
from partita.errors import InputError, Unavailable
from partita.linkage.engines import is_for_splink
from partita.linkage.record_columns import SAMPLE, cell_text
from partita.linkage.record_tables import (
    SEPARATOR,
    Settings,
    id_column,
    iso_dates,
    read_records,
)
from partita.linkage.splink_engine import TABLE, SplinkEngine, link_type, splink_errors
from partita.options import LinkOptions, described
from partita.spark.clusters import SparkClustering, SparkClusters, on_driver
from partita.spark.scores import as_spark, identifier

ON_DRIVER = 200_000  # records that are compared on the driver: as many as one machine is for
SPELLED = (  # functions that DuckDB and Spark spell differently
    ("jaro_winkler_similarity", "jaro_winkler"),
    ("list_intersect", "array_intersect"),
    ("len", "size"),
    ("unnest", "explode"),
)


@dataclass(frozen=True, slots=True, eq=False)
class LinkedOnSpark(SparkClusters):
    """Clusters of records on Spark, with the trained model and what was noted on the way."""

    settings: Settings
    notes: tuple[str, ...]


@described(LinkOptions)
def link(
    records: Any,
    *,
    unique_id: str | None = None,
    ignore: Sequence[str] = (),
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    one_to_one: bool = False,
    target_precision: float | None = None,
    cautious: float | None = None,
    link_above: float = 0.01,
    labels: Any = None,
    assume: Sequence[str] = (),
    parameters: str | os.PathLike[str] | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> LinkedOnSpark:
    """Deduplicate a Spark data frame of records, or link a list of them.

    It is `partita.link`. Without settings up to 200,000 records are read on the driver, in order of
    their ids, and the rows are those of one machine. With Splink settings any number is compared by
    Splink's Spark backend. A column of unique ids is needed.
    """
    options = LinkOptions.of(locals(), budget=budget or Budget())
    tables = [
        as_spark(one) for one in (records if isinstance(records, list | tuple) else [records])
    ]
    if one_to_one and len(tables) < 2:
        raise InputError("one_to_one needs at least two tables, each without duplicates")
    ids = [_id_column(table, unique_id, n) for n, table in enumerate(tables, 1)]
    notes: list[str] = []
    progress("reading records")
    given = given_settings(settings)
    if not is_for_splink(given):
        if sum(table.count() for table in tables) > ON_DRIVER:
            raise InputError(f"more than {ON_DRIVER:,} records (expected Splink settings)")
        ordered = [one.orderBy(name).toArrow() for one, name in zip(tables, ids, strict=True)]
        return _on_driver(ordered, options, tables[0].sparkSession)
    splink = SparkEngine(tables, unique_id, ignore, one_to_one, seed, notes.append)
    model = splink.fit(_for_spark(given), progress, notes.append)
    progress("scoring pairs")
    scores = splink.score(model).persist()
    nodes = splink.frame.select("record", "source") if one_to_one else splink.frame.select("record")
    progress("clustering")
    found = SparkClustering.of(options, scores, nodes).clusters(across=False)
    values = {field.name: getattr(found, field.name) for field in fields(found)}
    return LinkedOnSpark(**values, settings=model, notes=tuple(notes))


def _on_driver(tables: Sequence[Any], options: LinkOptions, session: Any) -> LinkedOnSpark:
    """Link tables that were read on the driver, and return the answer as Spark data frames."""
    found = link_tables(tables, replace(options, labels=on_driver(options.labels)))
    frames = {
        name: session.createDataFrame(found.to_arrow(name))
        for name in ("clusters", "alternatives", "pairs", "review")
    }
    return LinkedOnSpark(
        found.summary, **frames, _cached=(), settings=found.settings, notes=found.notes
    )


def _for_spark(given: Settings | None) -> Settings | None:
    """Return settings with Spark's quotes, and names of functions that DuckDB calls otherwise."""
    if given is None:
        return None
    text = json.dumps(given).replace(r"\"", "`")
    for old, new in SPELLED:
        text = re.sub(rf"\b{old}\(", f"{new}(", text)
    found: Settings = json.loads(text)
    return found | {"sql_dialect": "spark"}


class SparkEngine(SplinkEngine):
    """A table of records on Spark, whose values are cleaned as on one machine."""

    def __init__(
        self,
        tables: Sequence[DataFrame],
        unique_id: str | None,
        ignore: Sequence[str],
        one_to_one: bool,
        seed: int,
        note: Callable[[str], None],
    ) -> None:
        self.api, self.splink = _splink(tables[0].sparkSession)
        self.seed, self.names = seed, [f"table_{n}" for n in range(1, len(tables) + 1)]
        self.link_type = link_type(len(tables), one_to_one)
        ids = [_id_column(table, unique_id, n) for n, table in enumerate(tables, 1)]
        samples = [
            table.orderBy(name).limit(SAMPLE).toArrow()
            for table, name in zip(tables, ids, strict=True)
        ]
        for table, sample, name in zip(tables, samples, ids, strict=True):
            if not sample.num_rows:
                raise InputError("has no rows; expected records", file="records")
            _check_ids(table, name)
        guessed = read_records(samples, unique_id, ignore, note)
        self.frame = self._prepared(tables, ids, [*guessed.columns], guessed.month_first).persist()
        self.frame.createOrReplaceTempView(TABLE)
        rows = self.frame.groupBy("source").count().collect()
        counts = {row["source"]: row["count"] for row in rows}
        self.sizes = [counts[name] for name in self.names]
        parts = [(name, self.frame.where(f"source = '{name}'")) for name in self.names]
        self.tables = [self.api.register(one, dataset_display_name=name) for name, one in parts]

    def _prepared(
        self,
        tables: Sequence[DataFrame],
        ids: Sequence[str],
        columns: Sequence[str],
        month_first: Set[tuple[str, str]],
    ) -> DataFrame:
        """Return all records with their ids, sources and values."""
        parts = []
        shared = _share_ids(tables, ids)
        for table, name, source in zip(tables, ids, self.names, strict=True):
            record = identifier(table, name)
            if shared:
                record = functions.concat(functions.lit(source + SEPARATOR), record.cast("string"))
            values = [_as_text(table, column).alias(column) for column in columns]
            parts.append(
                table.select(record.alias("record"), functions.lit(source).alias("source"), *values)
            )
        kinds = {part.schema["record"].dataType.simpleString() for part in parts}
        kind = "string" if len(kinds) > 1 else next(iter(kinds))
        frame = parts[0]
        for part in parts[1:]:
            frame = frame.union(part)
        frame = frame.withColumn("record", functions.col("record").cast(kind))
        types = [f"record {kind}, source string", *(f"`{one}` string" for one in columns)]
        schema = ", ".join(types)
        return frame.mapInArrow(_cleaner(month_first), schema)

    def linker(self, settings: Settings) -> Any:
        """Return a Splink linker over the table."""
        with splink_errors():
            return self.splink.Linker(self.tables, settings, log_level=logging.ERROR)

    def query(self, sql: str) -> Mapping[str, NDArray[Any]]:
        """Return the columns of a small result."""
        table = self.api.spark.sql(sql).toArrow()
        return {name: table.column(name).to_numpy() for name in table.column_names}

    def score(self, model: Settings) -> DataFrame:
        """Return the pairs of the blocking rules with their probabilities."""
        linker = self.linker(model)
        with splink_errors():
            scored = linker.inference.predict(warning_mode="never").as_spark_dataframe()
        names = ("record_l", "record_r", "match_probability")
        pairs: DataFrame = scored.select(*names).toDF("left", "right", "probability")
        return pairs


def _splink(session: Any) -> tuple[Any, Any]:
    """Return Splink's Spark backend, with its functions for similarity, and Splink."""
    try:
        import splink
        from splink.backends.spark import SparkAPI, similarity_jar_location
    except ImportError as error:
        raise Unavailable("link needs Splink; pip install 'partita[link,spark]'") from error
    session.sql(f"ADD JAR '{similarity_jar_location()}'")
    make: Any = SparkAPI
    return make(spark_session=session, break_lineage_method="persist"), splink


def _id_column(table: DataFrame, unique_id: str | None, number: int) -> str:
    file = f"records {number}" if number > 1 else "records"
    if unique_id is not None and unique_id not in table.columns:
        found = ", ".join(table.columns)
        raise InputError(f"has no column {unique_id} of ids; found {found}", file=file)
    name = unique_id or id_column(table.columns)
    if name is None:
        raise InputError("has no column of unique ids; name it by unique_id", file=file)
    return name


def _check_ids(table: DataFrame, name: str) -> None:
    """Refuse a column of ids with missing or repeated values."""
    ids = table.select(identifier(table, name).alias("id"))
    missing = functions.sum(functions.col("id").isNull().cast("bigint"))
    if ids.agg(missing).collect()[0][0]:
        raise InputError(f"a record has no {name} (expected a unique id)", file="records")
    twice = ids.groupBy("id").count().where("count > 1").orderBy("id").limit(1).collect()
    if twice:
        problem = f"the {name} is {twice[0]['id']} in {twice[0]['count']} records"
        raise InputError(f"{problem} (expected a unique id)", file="records")


def _share_ids(tables: Sequence[DataFrame], ids: Sequence[str]) -> bool:
    """Return whether two tables have an id in common."""
    if len(tables) < 2:
        return False
    names = [
        table.select(identifier(table, name).cast("string").alias("id"))
        for table, name in zip(tables, ids, strict=True)
    ]
    every = names[0]
    for one in names[1:]:
        every = every.union(one)
    return bool(every.groupBy("id").agg(functions.count("*").alias("n")).where("n > 1").take(1))


def _as_text(table: DataFrame, column: str) -> Any:
    known = column in table.columns
    return (
        functions.col(f"`{column}`").cast("string") if known else functions.lit(None).cast("string")
    )


def _cleaner(month_first: Set[tuple[str, str]]) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def clean(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            values = {name: batch.column(name).to_pylist() for name in batch.schema.names}
            texts = {
                name: iso_dates(name, [*map(cell_text, column)], values["source"], month_first)
                for name, column in values.items()
                if name not in ("record", "source")
            }
            found = {"record": values["record"], "source": values["source"], **texts}
            yield RecordBatch.from_pydict(found)

    return clean
