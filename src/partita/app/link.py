"""Link records: from tables to clusters with probabilities."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, overload

from partita.app.cluster import Clusters, cluster_scores, sets_to_review
from partita.core import Budget, Id
from partita.core.tabular import Columns
from partita.errors import InputError
from partita.linkage.cluster_tables import ClusterSummary, ExpectedValue, possible_recall
from partita.linkage.engines import open_engine
from partita.linkage.record_columns import Column
from partita.linkage.record_tables import (
    SEPARATOR,
    LinkageEngine,
    Progress,
    RecordTable,
    Scored,
    Settings,
    read_records,
    repeated_ids,
)
from partita.linkage.reference import ReferenceMatches, matched
from partita.linkage.splink_engine import read_settings, splink_errors
from partita.options import ClusteringOptions, ClusterOptions, LinkOptions, described
from partita.tables import Table

# Log-odds of the intervals of precision and recall without labels, and more where estimates of the
# number of matches disagree; an upper end above `NEARLY` is 1. The interval score (Gneiting and
# Raftery 2007) of precision is best with 1.5 below for all of the panel and without eight of its
# nine families, that of recall with .5 without any of them: 1 is for other kinds of tables, and no
# less than for precision where the result is not reliable.
WIDTH, BELOW_RECALL, WIDTH_BY_DOUBT, NEARLY = 1.5, 1.0, 0.5, 0.95
MATTERS = 0.5  # P(probable pairs are different because of a column with unrelated values): a choice


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinkedRecords(Clusters):
    """Clusters of records, with the trained model and what was noted on the way.

    `settings` is the model as JSON: `partita link --settings` reads it, and `splink.Linker` that
    of Splink. `compared` counts the pairs that the engine compared.
    """

    settings: Settings
    notes: tuple[str, ...]
    compared: int
    _engine: LinkageEngine | None
    _unmatched: Mapping[str, float]

    def _record_columns(self) -> Columns:
        """Return the records; no cluster is surer than that its records match no others."""
        columns = Clusters._record_columns(self)
        names, exact = columns["cluster"], columns["exact"]
        kept = 1.0 - MATTERS * float(self.settings.get("unrelated", 0.0))
        chance = {name: kept if often > 1 else 1.0 for name, often in Counter(names).items()}
        for record, name in zip(columns["record"], names, strict=True):
            chance[name] *= self._unmatched.get(str(record), 1.0)
        return {
            **columns,
            "exact": [p * chance[name] for p, name in zip(exact, names, strict=True)],
        }

    def _tables(self) -> Mapping[str, Callable[[], Columns]]:
        """Return the tables; records that were numbered, as their ids repeat, have these too."""
        every = dict(Clusters._tables(self))
        clusters = every["clusters"]
        table = None if self._engine is None else self._engine.table
        if table is not None and (given := repeated_ids(table)):
            place = {str(name): n for n, name in enumerate(table.ids)}
            every["clusters"] = lambda: _with_ids(clusters(), place, given)
        return every

    def weights(self, left: Id, right: Id) -> list[tuple[str, float]]:
        """Return what each column says about two records, as log-odds; the first is the prior."""
        if self._engine is None:
            return []
        names = {str(name): n for n, name in enumerate(self._engine.table.ids)}
        return self._engine.weights(self.settings, names[str(left)], names[str(right)])


def _with_ids(columns: Columns, place: Mapping[str, int], given: Columns) -> Columns:
    rows = [place[str(record)] for record in columns["record"]]
    return {**columns, **{name: [values[n] for n in rows] for name, values in given.items()}}


@overload
def link(records: Any, *, reference: None = None, **options: Any) -> LinkedRecords: ...


@overload
def link(records: Any, *, reference: Any, **options: Any) -> ReferenceMatches: ...


@described(LinkOptions)  # type: ignore[misc]  # the keywords are those of the options
def link(
    records: Any,
    *,
    unique_id: str | None = None,
    ignore: Sequence[str] = (),
    settings: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    one_to_one: bool = False,
    reference: Any = None,
    target_precision: float | None = None,
    cautious: float | None = None,
    link_above: float = 0.01,
    labels: Any = None,
    assume: Sequence[str] = (),
    parameters: str | os.PathLike[str] | None = None,
    previous: Any = None,
    worlds: int | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    note: Callable[[str], None] | None = None,
    errors: str = "raise",
) -> LinkedRecords | ReferenceMatches:
    """Deduplicate a table of records, or link several, with a probability for every cluster.

    `records` is a file (CSV, JSONL, Parquet or Arrow), a data frame, a list of dicts, or a list of
    files and data frames that are linked; or a Splink linker, whose predictions are clustered.
    Records are compared by nearest neighbours and a pair model that transfers. Columns are compared
    as their headers and values suggest, except those in `ignore`, and the model is trained without
    labels. `settings` are Splink settings, by which Splink compares on DuckDB, and which are
    trained, or a trained model of either, which is taken as it is; a dict or a JSON file.

    With `one_to_one` no table has duplicates: two records of one table are never the same. With
    `reference` each record is matched with one record of that table, or none; it has no duplicates
    and is not changed, and records may share one of its own. The other options are those of
    `cluster`.
    """
    if reference is not None:
        return match_tables(records, LinkOptions.of(locals()))
    return link_tables(records, LinkOptions.of(locals()))


def link_tables(records: Any, options: LinkOptions) -> LinkedRecords:
    """Deduplicate or link tables of records, as options ask for."""
    if _is_linker(records):
        return _from_linker(records, options)
    notes: list[str] = []
    noted, report = _collected(notes, options.note), options.progress or _silent
    settings = given_settings(options.settings)
    report("reading records")
    table = read_records(listed_tables(records), options.unique_id, options.ignore, noted)
    _refuse_scores(table)
    if options.one_to_one and len(table.source_names) < 2:
        raise InputError("--one-to-one needs at least two tables, each without duplicates")
    if settings is None:
        noted(guessed_types(table.to_compare))
    engine = open_engine(table, settings, options.one_to_one, options.seed)
    return link_table(engine, settings, options, noted, notes)


ENDS = ({"left", "right"}, {"id_1", "id_2"}, {"unique_id_l", "unique_id_r"})
SCORES = {"probability", "match_probability", "score", "match_weight"}


def _refuse_scores(table: RecordTable) -> None:
    """Raise an error for a table of pair scores, which would be taken for records."""
    names = {name.lower() for name in table.columns}
    if names & SCORES and any(ends <= names for ends in ENDS):
        problem = "looks like pair scores, not records; use partita cluster"
        raise InputError(problem, file=table.source_names[0])


def review_tables(
    tables: Sequence[Table], labels: Sequence[tuple[str, str, int]], limit: int
) -> dict[str, Any]:
    """Link tables and return the sets of records to review, as `review_records` does; each record
    has its values as `shown`."""
    found = sets_to_review(link_tables([*tables], LinkOptions(labels=labels or None)), None, limit)
    table = read_records(listed_tables([*tables]))
    rows = zip(*table.columns.values(), strict=True)
    shown = {
        str(key): ", ".join(filter(None, row)) for key, row in zip(table.ids, rows, strict=True)
    }
    for one in found["sets"]:
        for record in one["records"]:
            record["shown"] = shown.get(str(record["record"]), "")
    return found


def match_tables(records: Any, options: LinkOptions) -> ReferenceMatches:
    """Match the records of tables with those of a reference table, as options ask for."""
    for name in ("previous", "one_to_one"):
        if getattr(options, name):
            raise InputError(f"{name} is not for matches with a reference table")
    notes: list[str] = []
    noted, report = _collected(notes, options.note), options.progress or _silent
    settings = given_settings(options.settings)
    report("reading records")
    tables = [*listed_tables(records), options.reference]
    table = read_records(tables, options.unique_id, options.ignore, noted)
    if settings is None:
        noted(guessed_types(table.to_compare))
    engine = open_engine(table, settings, one_to_one=True, seed=options.seed)
    model = engine.fit(settings, report, noted)
    report("scoring pairs")
    scored = engine.score(model, options.link_above)
    report(f"matching {len(table):,} records")
    return matched(scored, table, options, model, notes)


def given_settings(settings: Mapping[str, Any] | str | os.PathLike[str] | None) -> Settings | None:
    """Return given settings or those of a JSON file."""
    if settings is None or isinstance(settings, Mapping):
        return None if settings is None else dict(settings)
    return read_settings(Path(settings))


def link_table(
    engine: LinkageEngine,
    settings: Settings | None,
    options: LinkOptions,
    note: Callable[[str], None] = lambda text: None,
    notes: Sequence[str] = (),
    known: Callable[[Scored], Scored] = lambda scored: scored,
) -> LinkedRecords:
    """Train an engine's model, score the pairs of its table, and cluster the records.

    `known` changes the scores of pairs about which more is known than their values.
    """
    report, table = options.progress or _silent, engine.table
    model = engine.fit(settings, report, note)
    report("scoring pairs")
    scored = known(engine.score(model, options.link_above))
    report(f"clustering {len(table):,} records")
    apart = engine.apart(model)
    sources = None if apart is None else list(apart)
    clusters = _clustered(score_table(scored, table), list(table.ids), options, sources)
    if options.labels is None and "disagreement" in model:
        sizes = [len(members) for members in clusters.clusters.values()]
        reported = sum(size * (size - 1) // 2 for size in sizes)
        clusters = replace(clusters, summary=doubted(clusters.summary, reported, model))
    unmatched = dict(zip(map(str, table.ids), engine.unmatched().tolist(), strict=True))
    return linked(clusters, model, notes, scored.compared, engine, unmatched)


def doubted(summary: ClusterSummary, reported: int, model: Settings) -> ClusterSummary:
    """Return a summary whose intervals include the doubt about the model.

    `reported` counts the pairs within clusters. The recall counts matches that are expected beyond
    the compared pairs. Nothing is added where quality is unknown already, and it is unknown where
    chance explains all that records have in common. Probable pairs with unrelated values in a
    column may all be wrong.
    """
    if model.get("unknown"):
        return replace(summary, precision=None, recall=None)
    if summary.precision is None or summary.recall is None:
        return replace(summary, recall=None)
    doubt = WIDTH_BY_DOUBT * float(model["disagreement"])
    below = doubt + (WIDTH if model.get("doubts") else BELOW_RECALL)
    right = summary.precision.value * reported
    true = right / max(summary.recall.value, 1e-9)
    recall = summary.recall.value * true / (true + float(model["missed"]))
    precision = _widened(summary.precision.value, WIDTH + doubt, WIDTH + doubt)
    if unrelated := float(model.get("unrelated", 0.0)):
        least = precision.low * _widened(1.0 - unrelated, WIDTH_BY_DOUBT, 0.0).low
        value = precision.value * (1.0 - MATTERS * unrelated)
        precision = replace(precision, value=value, low=least)
    return replace(
        summary,
        precision=precision,
        recall=possible_recall(_widened(recall, below, WIDTH + doubt), true),
    )


def _widened(value: float, below: float, above: float) -> ExpectedValue:
    """Return a value with the interval of some log-odds around it, up to 1 where that is near."""
    odds = math.log(min(max(value, 1e-4), 1 - 1e-4)) - math.log1p(-min(max(value, 1e-4), 1 - 1e-4))
    low, high = (1.0 / (1.0 + math.exp(-(odds + more))) for more in (-below, above))
    return ExpectedValue(value, min(low, value), 1.0 if high > NEARLY else max(high, value))


def _clustered(
    scores: Any, records: Sequence[Id], options: LinkOptions, sources: Sequence[str] | None = None
) -> Clusters:
    shared = {one.name: getattr(options, one.name) for one in fields(ClusteringOptions)}
    given = shared | {"records": records, "sources": sources, "note": None}
    return cluster_scores(scores, ClusterOptions(**given), calibrated=True)


def _silent(_: str) -> None:
    return


def _collected(notes: list[str], note: Callable[[str], None] | None) -> Callable[[str], None]:
    def collect(text: str) -> None:
        notes.append(text)
        if note is not None:
            note(text)

    return collect


def guessed_types(columns: Iterable[Column]) -> str:
    """Return one line that says which columns are compared, and as what."""
    return f"comparing {', '.join(f'{column.name} ({column.kind})' for column in columns)}"


def listed_tables(records: Any) -> list[Any]:
    """Return one table, or the tables of a list; a list of dicts is one table."""
    many = isinstance(records, list | tuple) and records and not isinstance(records[0], Mapping)
    return list(records) if many else [records]


def score_table(scored: Scored, table: RecordTable) -> Any:
    """Return scores by the ids of records, as `cluster` takes them."""
    ids = table.ids
    left, right = ([ids[n] for n in ends.tolist()] for ends in (scored.left, scored.right))
    columns = {"left": left, "right": right, "probability": scored.probability}
    if not left:  # all records are alone
        columns = {"left": [ids[0]], "right": [ids[-1]], "probability": [0.0]}
    try:
        import pyarrow
    except ImportError:  # the default engine needs no extra
        return list(zip(*columns.values(), strict=True))
    return pyarrow.table(columns)


def linked(
    clusters: Clusters,
    model: Settings,
    notes: Iterable[str],
    compared: int,
    engine: LinkageEngine | None = None,
    unmatched: Mapping[str, float] | None = None,
) -> LinkedRecords:
    """Return clusters together with the model that scored them."""
    values = {field.name: getattr(clusters, field.name) for field in fields(Clusters)}
    return LinkedRecords(
        **values, settings=model, notes=tuple(notes), compared=compared, _engine=engine,
        _unmatched=unmatched or {},
    )  # fmt: skip


def _is_linker(records: Any) -> bool:
    return hasattr(records, "inference") and hasattr(records, "misc")


def _from_linker(linker: Any, options: LinkOptions) -> LinkedRecords:
    """Cluster the predictions of a trained Splink linker; all its records are in the result."""
    with splink_errors():
        scores = linker.inference.predict(warning_mode="never").as_pyarrow_table()
        model = linker.misc.save_model_to_json()
    if not scores.num_rows:
        raise InputError("the linker predicts no pairs")
    return linked(_clustered(scores, _linker_ids(linker), options), model, (), scores.num_rows)


def _linker_ids(linker: Any) -> list[Id]:
    """Return the ids of a linker's records as its predictions spell them."""
    settings = linker.misc.save_model_to_json()
    name = settings.get("unique_id_column_name", "unique_id")
    tables = linker._input_tables_dict
    several = settings["link_type"] != "dedupe_only"
    ids: list[Id] = []
    for source, table in tables.items():
        values = table.as_pyarrow_table().column(name).to_pylist()
        ids += [f"{source}{SEPARATOR}{value}" if several else value for value in values]
    return ids
