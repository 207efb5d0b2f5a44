"""Knowledge bases on Spark: workers read texts, compare the entities of documents and make trees.

The driver keeps the documents, the pairs that may be the same and the trees, and makes the tables.
A worker gets the documents whose records it compares, never all of them. Everything is that of one
machine to the last bit: products by which candidates are found are sums of numbers with few binary
places, exact in any order, and ties are broken as `nearest_rows` breaks them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow
from pyspark.sql import DataFrame, functions

from partita.app.batch import Failure
from partita.app.build import KnowledgeBase, completed, extracted
from partita.collection.comparison import (
    ACROSS,
    HOPELESS,
    SIMILAR_DOCUMENTS,
    WITHIN,
    RecordComparison,
    rounded_weight,
    salient_records,
    search_weight,
    search_words,
    second_features,
    topic_order,
    topic_weight,
)
from partita.collection.documents import SourceDocument
from partita.collection.files import (
    BuildState,
    document_json,
    read_documents,
    write_documents,
    writing,
)
from partita.collection.resolution import (
    TREES,
    LikelyPairs,
    Resolution,
    noise_starts,
    shipped_model,
)
from partita.collection.tree import Joined
from partita.core import IntArray
from partita.errors import InputError
from partita.linkage.neighbours import READ
from partita.options import BuildOptions
from partita.spark.scores import as_spark, components
from partita.text.raw_messages import RawMessage

DOCUMENTS_PER_TASK = 256  # whose records are compared with those of other documents
READ_TEXTS = "document string, body string, error string"
PLACES = "document string, home long, first long"  # of a document, and of its first record
TERMS = "kind string, row long, term string, rank int, weight double"
ROWS = "row long, home long, type string, salient boolean, place int, scale double, square double"
SCORES = "left long, right long, odds double, conflict int"
JOINS = (
    "component long, tree int, number int, first long, second long, mean double, "
    "pairs double, listed double"
)
# What each row shares with others, by its rarest terms as far as their lists are read.
PRODUCTS = """
with listed as (select *, count(*) over (partition by kind, term) as often from {terms}),
lists as (select *, sum(often) over (partition by kind, row order by rank) as spent
          from listed where often > 1)
select a.kind, a.row, b.row as other, sum(a.weight * b.weight) as product, min(a.rank) as rank
from lists a join listed b on a.kind = b.kind and a.term = b.term and a.row <> b.row
where a.spent <= {read} or a.spent = a.often
group by a.kind, a.row, b.row
"""
# The nearest rows by own terms and those of documents, and by the nearest documents alone.
CANDIDATES = """
with own as (select * from {products} where kind = 'own'),
near as (select row as home, other, product, rank from {products} where kind = 'topic'),
closest as (
    select n.*, row_number() over (partition by n.home
                                   order by n.product * r.scale desc, n.rank, n.other) as number
    from near n join {rows} r on r.home = n.other and r.place = 0),
listed as (
    select c.home, r.row as other, c.product * r.scale as score,
        row_number() over (partition by c.home
                           order by c.product * r.scale desc, c.number, r.place) as number
    from closest c join {rows} r on r.home = c.other where c.number <= {across}),
scored as (
    select p.row, p.other, a.home = b.home as within, 0 as phase, p.rank, p.other as tie,
        (p.product + if(a.home = b.home, a.square, coalesce(n.product, 0))) * b.scale as score
    from own p join {rows} a on a.row = p.row join {rows} b on b.row = p.other
    left join near n on n.home = a.home and n.other = b.home
    union all
    select a.row, m.other, false, 1, m.number, 0, m.score
    from {rows} a join listed m on m.home = a.home and m.number <= {across}
    left anti join own p on p.row = a.row and p.other = m.other
    union all
    select a.row, b.row, true, 1, b.place, 0, a.square * b.scale
    from {rows} a join {rows} b on a.home = b.home and a.row <> b.row
    left anti join own p on p.row = a.row and p.other = b.row),
ranked as (
    select *, row_number() over (partition by row, within
                                 order by score desc, phase, rank, tie) as number from scored),
similar as (
    select row as home, other, row_number() over (partition by row
                                                  order by product desc, rank, other) as number
    from {products} where kind = 'cosine'),
found as (
    select row, other from ranked where number <= if(within, {within}, {across}) and score > 0
    union all
    select a.row, b.row from similar s join {rows} a on a.home = s.home
    join {rows} b on b.home = s.other and b.type = a.type and b.salient
    where s.number <= {similar})
select distinct least(row, other) as left, greatest(row, other) as right from found
"""


def build(
    texts: Any,
    *,
    id: str = "id",  # noqa: A002
    text: str = "text",
    out: str | None = None,
    worlds: int = 100,
    domain: str = "general",
    seed: int = 0,
    progress: Callable[[str], None] = lambda text: None,
) -> KnowledgeBase:
    """Make a knowledge base of a Spark data frame of texts, as `partita.build` does.

    `id` and `text` name its columns. The documents are in the order of their ids, and all tables
    are those of one machine. `out` is a new folder of the driver.
    """
    texts = as_spark(texts)
    if missing := [name for name in (id, text) if name not in texts.columns]:
        raise InputError(f"texts have no column {missing[0]}; found {', '.join(texts.columns)}")
    named = texts.select(functions.col(id).cast("string").alias("document"),
                         functions.col(text).cast("string").alias("text"))  # fmt: skip
    options = BuildOptions(worlds=worlds, domain=domain, seed=seed, workers=1)
    folder = None if out is None else Path(out)
    with nullcontext() if folder is None else writing(folder):
        if folder is not None and read_documents(folder):
            raise InputError("is a knowledge base already; extend it on one machine", file=out)
        progress("reading texts")
        read = named.mapInPandas(_reader(options), READ_TEXTS).persist()
        rows = read.where("error is null").orderBy("document").select("body").toLocalIterator()
        documents = [SourceDocument.from_dict(json.loads(row.body)) for row in rows]
        failed = read.where("error is not null").orderBy("document").collect()
        failures = [Failure(row.document, InputError(row.error)) for row in failed]
        for one, other in pairwise(documents):
            if one.id == other.id:
                raise InputError(f"two documents are called {one.id}")
        if folder is not None:
            write_documents(folder, documents)
        progress(f"comparing the entities of {len(documents):,} documents")
        resolution = _SparkComparison.of(read, documents).resolution()
        read.unpersist()
        return completed(documents, resolution, BuildState(), options, folder, failures)


def _reader(options: BuildOptions) -> Callable[[Iterable[Any]], Iterator[Any]]:
    def read(frames: Iterable[Any]) -> Iterator[Any]:
        for frame in frames:
            texts = [RawMessage(str(name), text or "", "") for name, text in
                     zip(frame["document"], frame["text"], strict=True)]  # fmt: skip
            found = extracted(replace(options, source=texts), {})
            rows = [(one.name, None, str(one.error)) if isinstance(one, Failure) else
                    (one.id, document_json(one), None) for one in found]  # fmt: skip
            yield _frame(rows, READ_TEXTS)

    return read


@dataclass(frozen=True, slots=True, eq=False)
class _SparkComparison:
    """Documents on Spark with their places, their records, and what the driver has of them."""

    placed: DataFrame
    rows: DataFrame
    comparison: RecordComparison

    @classmethod
    def of(cls, read: DataFrame, documents: Sequence[SourceDocument]) -> _SparkComparison:
        starts = np.cumsum([0, *(len(one.records) for one in documents)]).tolist()
        homes = [(one.id, n, starts[n]) for n, one in enumerate(documents)]
        places = read.sparkSession.createDataFrame(homes, PLACES)
        placed = read.join(places, "document").persist()
        rows = placed.mapInPandas(_each(_rows_of, ROWS), ROWS).persist()
        return cls(placed, rows, RecordComparison.of(documents))

    def resolution(self) -> Resolution:
        """Compare records and join them in trees."""
        session, model = self.placed.sparkSession, shipped_model()
        candidates = self._candidates().persist()
        left, right, first, _ = self._scored(candidates, _first_scores)
        more = second_features(self.comparison.home, left, right, first)
        starts = np.arange(0, more.size + 1, more.shape[1], dtype=np.int32)
        rows = pyarrow.ListArray.from_arrays(starts, more.ravel())
        frame = session.createDataFrame(pyarrow.table({"left": left, "right": right, "more": rows}))
        left, right, odds, conflicts = self._scored(frame, _second_scores)
        likely = (odds > HOPELESS) | (conflicts > 0)
        pairs = LikelyPairs(left[likely], right[likely], odds[likely], conflicts[likely])
        found = Resolution.assembled(self.comparison, model, pairs, first[likely],
                                     self._trees(pairs), candidates.count())  # fmt: skip
        for one in (candidates, self.rows, self.placed):
            one.unpersist()
        return found

    def _candidates(self) -> DataFrame:
        """Return the pairs to compare, as `RecordComparison.candidates` finds them, by joins."""
        session = self.placed.sparkSession
        terms = self.placed.mapInPandas(_each(_terms_of, TERMS), TERMS)
        products = session.sql(PRODUCTS.format(read=READ, terms="{terms}"), terms=terms).persist()
        sizes = {"across": ACROSS, "within": WITHIN, "similar": SIMILAR_DOCUMENTS}
        names = {"products": "{products}", "rows": "{rows}"}
        query = CANDIDATES.format(**sizes, **names)
        return session.sql(query, products=products, rows=self.rows)

    def _scored(self, pairs: DataFrame, score: Any) -> tuple[Any, ...]:
        """Score pairs in tasks that get the documents of both ends; return columns, in order."""
        homes = self.rows.select("row", "home")
        ends = homes.toDF("left", "one"), homes.toDF("right", "two")
        task = functions.floor(functions.col("one") / DOCUMENTS_PER_TASK)
        pairs = pairs.join(ends[0], "left").join(ends[1], "right").withColumn("task", task)
        both = functions.explode(functions.array("one", "two"))
        needed = pairs.select("task", both).toDF("task", "home").distinct()
        bodies = needed.join(self.placed, "home").select("task", "home", "first", "body")
        whole = pairs.drop("one", "two").unionByName(bodies, allowMissingColumns=True)
        found = whole.groupBy("task").applyInPandas(_in_task(score), SCORES).toArrow().to_pandas()
        found = found.sort_values(["left", "right"])
        return tuple(found[name].to_numpy() for name in ("left", "right", "odds", "conflict"))

    def _trees(self, pairs: LikelyPairs) -> list[Joined]:
        """Join the records of each component in each tree."""
        starts = noise_starts([one.id for one in self.comparison.records], pairs.left, pairs.right)
        columns = {"left": pairs.left, "right": pairs.right, "odds": pairs.log_odds,
                   "conflict": pairs.conflicts, "start": starts}  # fmt: skip
        frame = self.placed.sparkSession.createDataFrame(pyarrow.table(columns))
        trees = functions.explode(functions.sequence(functions.lit(-1), functions.lit(TREES - 1)))
        parts = frame.join(components(frame).withColumnRenamed("node", "left"), "left")
        groups = parts.withColumn("tree", trees).groupBy("component", "tree")
        found = groups.applyInPandas(_joined, JOINS).toArrow().to_pandas()
        found = found.sort_values(["component", "number"])
        count = len(self.comparison.records)
        return [_whole(count, found[found["tree"] == n]) for n in range(-1, TREES)]


# --- in tasks ---


def _frame(rows: Sequence[Sequence[Any]], schema: str) -> Any:
    return pandas.DataFrame(rows, columns=[one.split()[0] for one in schema.split(", ")])


def _each(rows: Callable[..., Iterable[Any]], schema: str) -> Callable[[Any], Iterator[Any]]:
    def made(frames: Iterable[Any]) -> Iterator[Any]:
        for frame in frames:
            found: list[Any] = []
            for body, *places in zip(frame["body"], frame["home"], frame["first"], strict=True):
                found += rows(SourceDocument.from_dict(json.loads(body)), *map(int, places))
            yield _frame(found, schema)

    return made


def _terms_of(one: SourceDocument, home: int, first: int) -> Iterator[tuple[Any, ...]]:
    """Yield the words by which records and documents are found, the rarest first."""
    values = rounded_weight(RecordComparison.of([one]).documents.values, 20)
    words = topic_order(one)
    for rank, (word, value) in enumerate(zip(words, values.tolist(), strict=True)):
        yield "cosine", home, word, rank, value
    own: list[tuple[str, int, Iterable[str], Callable[[str], float]]]
    own = [("topic", home, words, topic_weight)]
    own += [("own", first + n, search_words(record), search_weight)
            for n, record in enumerate(one.records)]  # fmt: skip
    for kind, row, terms, weight in own:
        for rank, word in enumerate(sorted(terms, key=lambda word: (-weight(word), word))):
            yield kind, row, word, rank, weight(word)


def _rows_of(one: SourceDocument, home: int, first: int) -> Iterator[tuple[Any, ...]]:
    """Yield the records of a document with their places by `scale`, as `nearest_rows` has them."""
    square = sum(topic_weight(word) ** 2 for word in topic_order(one))
    sizes = [sum(search_weight(word) ** 2 for word in search_words(record))
             for record in one.records]  # fmt: skip
    scale = [float(1.0 / np.sqrt(size + square)) if size + square else 1.0 for size in sizes]
    order = sorted(range(len(scale)), key=lambda n: -scale[n])
    salient = salient_records(one.records)
    for n, record in enumerate(one.records):
        yield first + n, home, record.type, salient[n], order.index(n), scale[n], float(square)


def _in_task(score: Any) -> Callable[[Any], Any]:
    def scored(rows: Any) -> Any:
        pairs = rows[rows["body"].isna()].astype({"left": int, "right": int})
        bodies = rows[rows["body"].notna()].astype({"home": int, "first": int})
        bodies = bodies.sort_values("home")
        documents = [SourceDocument.from_dict(json.loads(one)) for one in bodies["body"]]
        sizes = zip(bodies["first"], documents, strict=True)
        numbers = np.concatenate([first + np.arange(len(one.records)) for first, one in sizes])
        ends = (np.searchsorted(numbers, pairs[side].to_numpy()) for side in ("left", "right"))
        kept, odds, conflicts = score(RecordComparison.of(documents), *ends, pairs)
        found = pairs.iloc[kept][["left", "right"]]
        return found.assign(odds=odds, conflict=conflicts)

    return scored


def _first_scores(comparison: RecordComparison, left: IntArray, right: IntArray, _: Any) -> Any:
    kept, odds = shipped_model().first_scores(comparison, left, right)
    return kept, odds, 0


def _second_scores(comparison: RecordComparison, left: IntArray, right: IntArray, rows: Any) -> Any:
    more = np.stack(rows["more"].to_numpy())
    return np.arange(len(left)), *shipped_model().second_scores(comparison, left, right, more)


def _joined(key: Any, rows: Any) -> Any:
    """Return the joins of a component in a tree; join n is called -1 - n."""
    rows = rows.sort_values(["left", "right"])
    numbers, ends = np.unique(rows[["left", "right"]].to_numpy(), return_inverse=True)
    left, right = ends.reshape(-1, 2).T.copy()
    pairs = LikelyPairs(left, right, rows["odds"].to_numpy(), rows["conflict"].to_numpy())
    found = pairs.joined(len(numbers), rows["start"].to_numpy(), int(key[1]))
    names = np.concatenate([numbers, -1 - np.arange(len(found.first))])
    columns = {"component": key[0], "tree": key[1], "number": np.arange(len(found.first)),
               "first": names[found.first], "second": names[found.second], "mean": found.mean,
               "pairs": found.pairs, "listed": found.listed}  # fmt: skip
    return pandas.DataFrame(columns)


def _whole(count: int, rows: Any) -> Joined:
    """Return the joins of all components, in order, as those of one tree."""
    starts = np.arange(len(rows)) - rows["number"].to_numpy()  # of the component of each row
    halves = [rows[name].to_numpy() for name in ("first", "second")]
    first, second = (np.where(one < 0, count + starts - 1 - one, one) for one in halves)
    rest = (rows[name].to_numpy() for name in ("mean", "pairs", "listed"))
    return Joined(count, first, second, *rest).ordered()
