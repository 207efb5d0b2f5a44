"""Compare records by settings of Splink, on DuckDB or Spark: train, score pairs."""

from __future__ import annotations

import json
import logging
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray, linked_components
from partita.errors import InputError, Unavailable
from partita.files.strict import json_problem
from partita.files.text import whole_text
from partita.linkage.record_tables import NEAREST, Progress, RecordTable, Scored, Settings
from partita.tables import Note

ITERATIONS = 500
CONVERGED = 1e-5
PRIOR = 0.3  # weight of the starting values, in matches per record
EQUAL = 0.85  # of pairs that match, the share that agree in a column, to start with
BETTER = 1.0  # by which the log-likelihood of the second fit must be higher
MIN_LEVEL_PROBABILITY = 1e-6  # probability of a level that no random pair has


@dataclass(frozen=True, slots=True)
class Patterns:
    """Distinct patterns of agreement of the compared pairs, and how many pairs have each.

    `levels` has a row for each pattern and a column for each comparison, −1 where a value is
    missing; `adjustment` is the natural log of what the frequencies of equal values add.
    """

    levels: IntArray
    adjustment: FloatArray
    count: FloatArray

    @property
    def pairs(self) -> float:
        return float(self.count.sum())


@dataclass(frozen=True, slots=True)
class PatternFit:
    """Fitted probabilities: of a match, and of each level given a match."""

    match: float
    m: list[FloatArray]
    iterations: int
    converged: bool


def fit_patterns(
    patterns: Patterns, u: Sequence[FloatArray], records: int, total_pairs: float
) -> PatternFit:
    """Fit the share of matches among all pairs and the probabilities of levels given a match.

    Pairs that blocking did not compare count as different, and `u` is that of random pairs, so
    the share is not inflated by the agreement that blocking selects. The starting values weigh as
    much as `PRIOR` matches per record: without them, the class of matches drifts to whatever
    columns agree together, such as city and trade, where matches are few. A second fit starts from
    many matches that are similar in most columns; it holds if it is clearly more likely.
    """
    start = [_start(len(one)) for one in u]
    few, many = max(10.0, 0.1 * records), 0.3 * records
    best = _climb(patterns, u, start, start, few, records, total_pairs)
    other = _climb(patterns, u, start, [_graded(len(m)) for m in u], many, records, total_pairs)
    unlike = total_pairs - patterns.pairs
    gain = _likelihood(patterns, other, u, start, records, unlike)
    gain -= _likelihood(patterns, best, u, start, records, unlike)
    return other if gain > BETTER else best


def _climb(
    patterns: Patterns,
    u: Sequence[FloatArray],
    prior: Sequence[FloatArray],
    m: Sequence[FloatArray],
    matches: float,
    records: int,
    total_pairs: float,
) -> PatternFit:
    """Raise the likelihood from given values on until nothing changes."""
    match = min(0.1, matches / total_pairs)
    for iteration in range(1, ITERATIONS + 1):
        weights = patterns.count * _posterior(patterns, match, m, u)
        before, match = match, float(np.clip(weights.sum() / total_pairs, 0.1 / total_pairs, 0.5))
        fitted = [
            _shares(patterns, n, weights, PRIOR * records * one) for n, one in enumerate(prior)
        ]
        change = max(float(np.abs(a - b).max()) for a, b in zip(m, fitted, strict=True))
        m = fitted
        if max(change, abs(match - before) / before) < CONVERGED:
            return PatternFit(match, list(m), iteration, True)
    return PatternFit(match, list(m), ITERATIONS, False)


def _likelihood(
    patterns: Patterns,
    fit: PatternFit,
    u: Sequence[FloatArray],
    prior: Sequence[FloatArray],
    records: int,
    unlike: float,
) -> float:
    """Return the log-likelihood with the prior, up to a constant that `u` decides.

    `unlike` counts the pairs that were not compared.
    """
    odds = _log_odds(patterns, fit.match, fit.m, u)
    pairs = float((patterns.count * np.logaddexp(0.0, odds)).sum())
    pairs += (patterns.pairs + unlike) * float(np.log1p(-fit.match))
    return pairs + sum(
        PRIOR * records * float((one * np.log(m)).sum())
        for one, m in zip(prior, fit.m, strict=True)
    )


def _start(levels: int) -> FloatArray:
    """Return starting values from the lowest level to the highest."""
    values = np.full(levels, (1.0 - EQUAL) / (levels - 1))
    values[-1] = EQUAL
    return values


def _graded(levels: int) -> FloatArray:
    """Return other starting values, for matches that are often similar and not equal."""
    values = np.linspace(0.3, 1.0, levels) ** 3
    return np.asarray(values / values.sum())


def _log_odds(
    patterns: Patterns, match: float, m: Sequence[FloatArray], u: Sequence[FloatArray]
) -> FloatArray:
    odds = np.log(match) - np.log1p(-match) + patterns.adjustment
    for n, (same, different) in enumerate(zip(m, u, strict=True)):
        level = patterns.levels[:, n]
        odds += np.where(level >= 0, np.log(same / different)[level], 0.0)
    return np.asarray(np.clip(odds, -700.0, 700.0))


def _posterior(
    patterns: Patterns, match: float, m: Sequence[FloatArray], u: Sequence[FloatArray]
) -> FloatArray:
    return np.asarray(1.0 / (1.0 + np.exp(-_log_odds(patterns, match, m, u))))


def _shares(patterns: Patterns, n: int, weights: FloatArray, prior: FloatArray) -> FloatArray:
    level = patterns.levels[:, n]
    known = level >= 0
    counted = np.bincount(level[known], weights[known], len(prior)) + prior
    return np.asarray(counted / counted.sum())


def levels_of(comparison: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the levels of a comparison that are not for missing values, the lowest first."""
    levels = [one for one in comparison["comparison_levels"] if not one.get("is_null_level")]
    return levels[::-1]


def random_shares(model: Settings) -> list[FloatArray]:
    """Return the probabilities of levels for random pairs, for every comparison of a model."""
    shares = []
    for comparison in model["comparisons"]:
        known = [one.get("u_probability") or 0.0 for one in levels_of(comparison)]
        values = np.maximum(np.array(known, dtype=np.float64), MIN_LEVEL_PROBABILITY)
        shares.append(values / values.sum())
    return shares


def with_fit(model: Settings, fit: PatternFit, u: Sequence[FloatArray]) -> Settings:
    """Return a model with fitted probabilities."""
    for comparison, m, other in zip(model["comparisons"], fit.m, u, strict=True):
        for level, same, different in zip(levels_of(comparison), m, other, strict=True):
            level["m_probability"], level["u_probability"] = float(same), float(different)
    return model | {"probability_two_random_records_match": fit.match}


RANDOM_PAIRS = 2e6  # by which the agreement of random pairs is estimated
TABLE = "partita_records"
LINK_ONLY = "link_only"  # Splink's word for tables without duplicates


class SplinkEngine(ABC):
    """A table of records in a database, compared by Splink: how it is trained.

    A subclass has the database. It has the records in the table `TABLE`, numbered in the column
    record.
    """

    link_type: str
    sizes: Sequence[int]  # of the sources
    seed: int

    @abstractmethod
    def linker(self, settings: Settings) -> Any:
        """Return a Splink linker over the table."""

    @abstractmethod
    def query(self, sql: str) -> Mapping[str, NDArray[Any]]:
        """Return the columns of a small result."""

    def fit(self, settings: Settings | None, progress: Progress, note: Note) -> Settings:
        """Return a trained model: the one given, or given settings after training."""
        if settings is None:
            raise InputError("Splink needs settings")
        own = {"unique_id_column_name": "record", "source_dataset_column_name": "source"}
        given = settings | own | {"link_type": self.link_type}
        return given if is_trained(given) else self._train(given, progress, note)

    def _train(self, settings: Settings, progress: Progress, note: Note) -> Settings:
        """Return settings with trained probabilities."""
        retained = ("retain_matching_columns", "retain_intermediate_calculation_columns")
        linker = self.linker(settings | dict.fromkeys(retained, True))
        progress("estimating how often random pairs agree")
        with splink_errors():
            linker.training.estimate_u_using_random_sampling(RANDOM_PAIRS, seed=self.seed + 1)
            model = linker.misc.save_model_to_json()
            del model["linker_uid"]  # random
        progress("comparing pairs to train the model")
        u = random_shares(model)
        patterns = self._patterns(linker, model)
        progress(f"fitting the model to {patterns.pairs:,.0f} pairs")
        fit = fit_patterns(patterns, u, sum(self.sizes), self.total_pairs)
        if not fit.converged:
            note(f"the model did not converge in {fit.iterations} rounds; check the clusters")
        return with_fit(model, fit, u) | {name: settings.get(name, False) for name in retained}

    def _patterns(self, linker: Any, model: Settings) -> Patterns:
        names = [one["output_column_name"] for one in model["comparisons"]]
        adjusted = [one["output_column_name"] for one in model["comparisons"] if _is_adjusted(one)]
        with splink_errors():
            scored = linker.inference.predict(warning_mode="never").physical_name
        levels = ", ".join(f"gamma_{name}" for name in names)
        added = " + ".join(f"coalesce(mw_tf_adj_{name}, 0)" for name in adjusted) or "0"
        found = self.query(
            f"SELECT {levels}, round(2 * ({added})) / 2 AS added, count(*) AS pairs "
            f"FROM {scored} GROUP BY {levels}, added ORDER BY {levels}, added"
        )
        level = np.stack([np.asarray(found[f"gamma_{name}"], np.int64) for name in names], axis=1)
        adjustment = np.asarray(found["added"], np.float64) * np.log(2.0)
        return Patterns(level, adjustment, np.asarray(found["pairs"], np.float64))

    @property
    def total_pairs(self) -> int:
        """How many pairs there are, whether compared or not."""
        count = sum(self.sizes)
        pairs = count * (count - 1) // 2
        if self.link_type == LINK_ONLY:
            pairs -= sum(size * (size - 1) // 2 for size in self.sizes)
        return max(pairs, 1)


def link_type(sources: int, one_to_one: bool) -> str:
    """Return Splink's word for what is done with one table or several."""
    if sources < 2:
        return "dedupe_only"
    return LINK_ONLY if one_to_one else "link_and_dedupe"


class DuckEngine(SplinkEngine):
    """A table of records in DuckDB."""

    def __init__(self, table: RecordTable, one_to_one: bool, seed: int) -> None:
        self.duckdb, self.splink = _modules()
        self.table, self.seed = table, seed
        self.sizes = [table.sources.count(name) for name in table.source_names]
        self.link_type = link_type(len(self.sizes), one_to_one)
        self.connection = self.duckdb.connect()
        self._create_tables()

    def query(self, sql: str) -> Mapping[str, NDArray[Any]]:
        """Return the columns of a result."""
        columns: Mapping[str, NDArray[Any]] = self.connection.execute(sql).fetchnumpy()
        return columns

    def _create_tables(self) -> None:
        import pyarrow

        frame = pyarrow.table(dict(self.table.for_splink()))
        self.connection.register("partita_frame", frame)
        self.connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM partita_frame")
        self.connection.unregister("partita_frame")

    def linker(self, settings: Settings, threads: int = 1) -> Any:
        """Return a Splink linker over the table; one thread keeps sums in order."""
        self.connection.execute(f"SET threads = {threads}")
        api = self.splink.DuckDBAPI(self.connection)
        sources = self.table.source_names
        tables = [api.register(TABLE)] if len(sources) == 1 else []
        for n, source in enumerate(sources if len(sources) > 1 else ()):
            part = f"{TABLE}_{n}"
            name = source.replace("'", "''")
            query = f"SELECT * FROM {TABLE} WHERE source = '{name}'"
            self.connection.execute(f"CREATE OR REPLACE TABLE {part} AS {query}")
            tables.append(api.register(part, dataset_display_name=source))
        with splink_errors():
            return self.splink.Linker(tables, settings, log_level=logging.ERROR)

    def unmatched(self) -> FloatArray:
        """Return 1 for every record: nothing is known about pairs that were not compared."""
        return np.ones(len(self.table))

    def apart(self, model: Settings) -> Sequence[str] | None:
        """Return the sources of the records if no table has duplicates."""
        return self.table.sources if self.link_type == LINK_ONLY else None

    def score(self, model: Settings, link_above: float, threads: int = 2) -> Scored:
        """Score the pairs of the blocking rules; keep those within connected sets of records."""
        linker = self.linker(model, threads)
        with splink_errors():
            scored = linker.inference.predict(warning_mode="never").physical_name
        least = float(np.log2(link_above / (1.0 - link_above)))
        query = f"SELECT record_l AS a, record_r AS b FROM {scored} WHERE match_weight > {least!r}"
        links = self.query(query)
        left, right = (np.asarray(links[end], np.int64) for end in "ab")
        home = linked_components(len(self.table), left, right)
        compared = int(self.query(f"SELECT count(*) AS n FROM {scored}")["n"][0])
        return self._within(scored, home, compared)

    def weights(self, model: Settings, left: int, right: int) -> list[tuple[str, float]]:
        """Return the match weights of two records, column by column, as natural logarithms.

        The first is the prior, that of two random records. A frequent or a rare value has a weight
        of its own.
        """
        pair = f"least(l.record, r.record) = {min(left, right)} AND "
        pair += f"greatest(l.record, r.record) = {max(left, right)}"
        own = {"blocking_rules_to_generate_predictions": [{"blocking_rule": pair}]}
        retained = ("retain_matching_columns", "retain_intermediate_calculation_columns")
        linker = self.linker(model | dict.fromkeys(retained, True) | own)
        with splink_errors():
            scored = linker.inference.predict(warning_mode="never").physical_name
        columns = self.query(f"SELECT * FROM {scored}")
        prior = model["probability_two_random_records_match"]
        weights = [("two random records", float(np.log(prior) - np.log1p(-prior)))]
        for comparison in model["comparisons"]:
            name = comparison["output_column_name"]
            level = _level_label(comparison, int(columns[f"gamma_{name}"][0]))
            weights.append((f"{name}: {level}", float(columns[f"mw_{name}"][0])))
            if _is_adjusted(comparison) and (more := columns[f"mw_tf_adj_{name}"][0]):
                weights.append((f"{name}: how frequent the value is", float(more)))
        return [weights[0], *((label, weight * float(np.log(2))) for label, weight in weights[1:])]

    def _within(self, scored: str, home: IntArray, compared: int) -> Scored:
        """Return the scored pairs whose records have the same home."""
        import pyarrow

        frame = pyarrow.table({"record": np.arange(len(home)), "home": home})
        self.connection.register("partita_homes", frame)
        query = (
            f"SELECT least(record_l, record_r) AS a, greatest(record_l, record_r) AS b, "
            f"match_weight AS weight FROM {scored} JOIN partita_homes x ON record_l = x.record "
            f"JOIN partita_homes y ON record_r = y.record WHERE x.home = y.home ORDER BY a, b"
        )
        rows = self.query(query)
        self.connection.unregister("partita_homes")
        left, right = (np.asarray(rows[end], np.int64) for end in "ab")
        return Scored(left, right, np.asarray(rows["weight"], np.float64), compared)


def _level_label(comparison: Mapping[str, Any], gamma: int) -> str:
    """Return the label of a level: they count from the last one, and a missing value is −1."""
    levels = comparison["comparison_levels"]
    empty = [level for level in levels if level.get("is_null_level")]
    others = [level for level in levels if not level.get("is_null_level")]
    level = empty[0] if gamma < 0 and empty else others[len(others) - 1 - gamma]
    return str(level.get("label_for_charts") or level["sql_condition"])


def _is_adjusted(comparison: Mapping[str, Any]) -> bool:
    return any("tf_adjustment_column" in level for level in comparison["comparison_levels"])


def is_trained(settings: Mapping[str, Any]) -> bool:
    """Return whether settings have the probabilities of a trained model."""
    levels = [
        level
        for comparison in settings.get("comparisons", ())
        for level in comparison.get("comparison_levels", ())
        if not level.get("is_null_level")
    ]
    return bool(levels) and all("m_probability" in level for level in levels)


def read_settings(path: str | Path) -> Settings:
    """Read Splink settings or a trained model from a JSON file."""
    try:
        settings = json.loads(whole_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(json_problem(error), file=str(path)) from error
    if isinstance(settings, dict) and settings.get("engine") == NEAREST:
        return settings
    if not isinstance(settings, dict) or "comparisons" not in settings:
        raise InputError("is not Splink settings (expected comparisons)", file=str(path))
    for comparison in _objects(settings, "comparisons", path):
        _objects(comparison, "comparison_levels", path)
    return settings


def _objects(holder: Mapping[str, Any], name: str, path: str | Path) -> list[Mapping[str, Any]]:
    """Return a field that is a list of objects; it may be absent."""
    items = holder.get(name, [])
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise InputError(f"{name} of Splink settings is not a list of objects", file=str(path))
    return items


@contextmanager
def splink_errors() -> Iterator[None]:
    """Turn the errors of Splink and DuckDB into one line, and keep their warnings quiet."""
    import duckdb
    from splink.internals.exceptions import SplinkException

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (SplinkException, duckdb.Error, ValueError, TypeError, KeyError) as error:
        lines = [line for line in str(error).splitlines() if line.strip()]
        reason = next((line for line in lines if "Error" in line), lines[0] if lines else "")
        raise InputError(f"Splink could not use the settings: {reason.strip()[:200]}") from error


def _modules() -> tuple[Any, Any]:
    try:
        import duckdb
        import splink
    except ImportError as error:
        raise Unavailable("link needs Splink; pip install 'partita[link]'") from error
    return duckdb, splink
