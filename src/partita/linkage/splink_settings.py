"""Write Splink settings for a table of records: comparisons and blocking rules from its columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from partita.linkage.record_columns import Column
from partita.linkage.record_tables import Settings

Level = dict[str, Any]

ALL_PAIRS = 500_000  # a table with no more pairs is compared without blocking
PAIRS_PER_RECORD = 150  # blocking rules are chosen to compare about this many pairs per record
MOST_PAIRS = 30_000_000
RULES = 16  # blocking rules, at most


@dataclass(frozen=True, slots=True)
class Dialect:
    """The names of functions that DuckDB and Spark spell differently."""

    jaro_winkler: str
    intersection: str
    size: str
    explode: str


DUCKDB = Dialect("jaro_winkler_similarity", "list_intersect", "len", "unnest")
SPARK = Dialect("jaro_winkler", "array_intersect", "size", "explode")


def comparison(column: Column, dialect: Dialect = DUCKDB) -> dict[str, Any]:
    """Return the comparison of a column: its levels from equal to different."""
    levels = _LEVELS.get(column.kind, _word)(column, dialect)
    return {
        "output_column_name": column.label,
        "comparison_description": f"{column.name} ({column.kind})",
        "comparison_levels": [_null(column), *levels, _else()],
    }


def _null(column: Column) -> Level:
    condition = f"{column.clean}_l IS NULL OR {column.clean}_r IS NULL"
    return {"sql_condition": condition, "label_for_charts": "missing", "is_null_level": True}


def _else() -> Level:
    return {"sql_condition": "ELSE", "label_for_charts": "different"}


def _level(condition: str, label: str) -> Level:
    return {"sql_condition": condition, "label_for_charts": label}


def _equal(column: Column) -> Level:
    """Return the level of equal values; rare values count for more than frequent ones."""
    level = _level(f"{column.clean}_l = {column.clean}_r", "equal")
    return level | {"tf_adjustment_column": column.clean, "tf_adjustment_weight": 1.0}


def _similar(column: Column, dialect: Dialect, least: float) -> Level:
    similarity = f"{dialect.jaro_winkler}({column.clean}_l, {column.clean}_r)"
    return _level(f"{similarity} >= {least}", f"Jaro-Winkler similarity at least {least}")


def _edits(column: Column, most: int) -> Level:
    distance = f"levenshtein({column.clean}_l, {column.clean}_r)"
    return _level(f"{distance} <= {most}", f"at most {most} edit{'s' if most > 1 else ''}")


def _word(column: Column, dialect: Dialect) -> list[Level]:
    return [_equal(column), _similar(column, dialect, 0.92), _similar(column, dialect, 0.82)]


def _given_name(column: Column, dialect: Dialect) -> list[Level]:
    left, right = f"{column.clean}_l", f"{column.clean}_r"
    initial = (
        f"substr({left}, 1, 1) = substr({right}, 1, 1) AND (length({left}) = 1 OR "
        f"length({right}) = 1)"
    )
    equal, *similar = _word(column, dialect)
    return [equal, similar[0], _level(initial, "equal initial"), similar[1]]


def _phrase(column: Column, dialect: Dialect) -> list[Level]:
    left, right = f"{column.tokens}_l", f"{column.tokens}_r"
    shared = f"{dialect.size}({dialect.intersection}({left}, {right}))"
    shorter = f"least({dialect.size}({left}), {dialect.size}({right}))"
    together = f"({dialect.size}({left}) + {dialect.size}({right}) - {shared})"
    similar = _similar(column, dialect, 0.92)
    return [
        _equal(column),
        _level(
            f"{similar['sql_condition']} OR {shared} >= 0.75 * {together}",
            "Jaro-Winkler similarity at least 0.92, or three quarters of the words shared",
        ),
        _level(
            f"{shared} >= 0.5 * {together} OR ({shared} = {shorter} AND {shared} > 0)",
            "half of the words shared, or one contains the other",
        ),
        _level(f"{shared} >= 0.25 * {together}", "a quarter of the words shared"),
    ]


def _date(column: Column, _: Dialect) -> list[Level]:
    left, right = f"{column.clean}_l", f"{column.clean}_r"
    same_year = f"substr({left}, 1, 4) = substr({right}, 1, 4)"
    swapped = (
        f"substr({left}, 6, 2) = substr({right}, 9, 2) AND "
        f"substr({left}, 9, 2) = substr({right}, 6, 2)"
    )
    return [
        _equal(column),
        _level(
            f"levenshtein({left}, {right}) <= 1 OR ({same_year} AND {swapped})",
            "one edit, or day and month exchanged",
        ),
        _level(f"levenshtein({left}, {right}) <= 2", "at most 2 edits"),
        _level(same_year, "same year"),
    ]


def _email(column: Column, dialect: Dialect) -> list[Level]:
    left, right = f"{column.clean}_l", f"{column.clean}_r"
    user = f"split_part({left}, '@', 1) = split_part({right}, '@', 1)"
    levels = [_equal(column), _level(user, "same user name"), _similar(column, dialect, 0.92)]
    return [*levels, _similar(column, dialect, 0.85)]


def _code(column: Column, _: Dialect) -> list[Level]:
    return [_equal(column), _edits(column, 1), _edits(column, 2)]


def _year(column: Column, _: Dialect) -> list[Level]:
    return [_equal(column), _edits(column, 1)]


def _number(column: Column, _: Dialect) -> list[Level]:
    left, right = f"{column.clean}_l", f"{column.clean}_r"
    larger = f"greatest(abs({left}), abs({right}))"
    return [
        _equal(column),
        _level(f"abs({left} - {right}) <= 0.01 * {larger}", "within 1 %"),
        _level(f"abs({left} - {right}) <= 0.1 * {larger}", "within 10 %"),
    ]


def _category(column: Column, _: Dialect) -> list[Level]:
    return [_equal(column)]


_LEVELS: Mapping[str, Callable[[Column, Dialect], list[Level]]] = {
    "given name": _given_name,
    "surname": _word,
    "word": _word,
    "phrase": _phrase,
    "text": _phrase,
    "date": _date,
    "email": _email,
    "phone": _code,
    "postcode": _code,
    "identifier": _code,
    "year": _year,
    "number": _number,
    "category": _category,
}


@dataclass(frozen=True, slots=True)
class BlockingRule:
    """A blocking rule: expressions over one record that must be equal, and a list to explode."""

    parts: tuple[str, ...]
    columns: tuple[str, ...]
    exploded: str | None = None

    def to_splink(self) -> dict[str, Any]:
        """Return the rule as Splink's settings have it."""
        equal = [f"{_side(part, 'l')} = {_side(part, 'r')}" for part in self.parts]
        rule: dict[str, Any] = {"blocking_rule": " AND ".join(equal)}
        return rule | ({"arrays_to_explode": [self.exploded]} if self.exploded else {})


def _side(part: str, side: str) -> str:
    """Return an expression over one side; {} stands for the side in `part`."""
    return part.format(f"{side}.")


def candidate_rules(columns: Sequence[Column]) -> list[BlockingRule]:
    """Return the rules among which blocking is chosen: one expression, then two of two columns."""
    single = [rule for column in columns for rule in _column_rules(column)]
    double = [
        BlockingRule((*one.parts, *other.parts), (*one.columns, *other.columns))
        for one, other in combinations(single, 2)
        if one.columns != other.columns and not one.exploded and not other.exploded
    ]
    return [*single, *double]


def _column_rules(column: Column) -> list[BlockingRule]:
    """Return the rules of one column: equal values, equal beginnings, a shared rare word."""
    whole = "{}" + column.clean
    rules = [BlockingRule((whole,), (column.label,))]
    if column.has_tokens:
        rules.append(BlockingRule(("{}" + column.keys,), (column.label,), column.keys))
    if column.kind in ("given name", "surname", "word", "phrase", "text"):
        rules.append(BlockingRule((f"substr({whole}, 1, 3)",), (column.label,)))
    if column.kind in ("date", "postcode", "phone", "identifier"):
        rules.append(BlockingRule((f"substr({whole}, 1, 4)",), (column.label,)))
    if column.kind == "date":
        rules.append(BlockingRule((f"substr({whole}, 6, 5)",), (column.label,)))
    return rules


def choose_rules(
    rules: Sequence[BlockingRule], pairs: Sequence[int], budget: int
) -> list[BlockingRule]:
    """Return rules that together compare at most `budget` pairs, cheap ones first.

    A rule is left out if a chosen one asks for less of the same. `pairs` counts the pairs that
    each rule compares.
    """
    chosen: dict[BlockingRule, int] = {}
    for cost, number in sorted((pairs[n], n) for n in range(len(rules)) if pairs[n] > 0):
        rule = rules[number]
        wider = {one: c for one, c in chosen.items() if not {*rule.parts} <= {*one.parts}}
        if cost + sum(wider.values()) > budget:
            break
        chosen = {**wider, rule: cost}
    return list(chosen)[:RULES]


def pair_budget(records: int) -> int:
    """Return how many pairs may be compared in a table."""
    return min(MOST_PAIRS, max(ALL_PAIRS, PAIRS_PER_RECORD * records))


def default_settings(
    columns: Sequence[Column],
    rules: Sequence[Mapping[str, Any]],
    link_type: str = "dedupe_only",
    dialect: Dialect = DUCKDB,
) -> Settings:
    """Return Splink settings for columns and blocking rules."""
    return {
        "link_type": link_type,
        "unique_id_column_name": "record",
        "source_dataset_column_name": "source",
        "comparisons": [comparison(column, dialect) for column in columns],
        "blocking_rules_to_generate_predictions": [dict(rule) for rule in rules],
        "retain_matching_columns": False,
        "retain_intermediate_calculation_columns": False,
        "probability_two_random_records_match": 0.0001,
        "em_convergence": 0.0001,
        "max_iterations": 50,
    }
