"""Tables of pair scores: their columns, rows as numbers, and how they are read."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.errors import InputError, Unit
from partita.files.strict import first_too_long, shortened
from partita.tables import Note, Table, noted, table_blocks
from partita.tables.columns import (
    UNKNOWN,
    Codes,
    IntegerIds,
    decimal_values,
    id_problem,
    id_text,
    id_texts,
    is_blank,
)

PLAIN = ("left", "right", "probability")
SPLINK = ("unique_id_l", "unique_id_r", "match_probability")
WEIGHT = "match_weight"  # Splink's log₂ of the odds
OTHERS = (("id_1", "id_2", "score"), ("id1", "id2", "score"), ("left_id", "right_id", "score"))
DATASETS = ("source_dataset_l", "source_dataset_r")
SET = "set"

Chosen = tuple[str | None, str | None, str | None]  # columns that the user names


@dataclass(frozen=True, slots=True)
class Naming:
    """The columns in use; `datasets` are Splink's, whose values prefix the ids.

    `weight` says that the scores are log₂ of odds.
    """

    left: str
    right: str
    probability: str
    set: str | None = None
    datasets: tuple[str, str] | None = None
    weight: bool = False


def naming(columns: Sequence[str], chosen: Chosen = (None, None, None)) -> Naming | str:
    """Return the columns in use, or a description of what is wrong with them."""
    present = set(columns)
    if any(chosen):
        return _chosen(columns, chosen)
    if present & {*SPLINK, WEIGHT} and not present & set(PLAIN):
        return _splink(present)
    for names in OTHERS:
        if present.issuperset(names):
            return Naming(*names, SET if SET in present else None)
    if missing := [name for name in PLAIN if name not in present]:
        existing = ", ".join(columns) or "nothing"
        return (
            f"has no column {' or '.join(missing)}; expected {', '.join(PLAIN)} "
            f"(or Splink's {', '.join(SPLINK)}, or {', '.join(OTHERS[0])}) and found {existing}"
        )
    if unknown := [name for name in columns if name not in {*PLAIN, SET}]:
        named = ", ".join(map(repr, unknown))
        return f"has unknown columns {named}; expected {', '.join(PLAIN)} and optionally {SET}"
    return Naming(*PLAIN, SET if SET in present else None)


def _splink(present: set[str]) -> Naming | str:
    """Return Splink's columns; its many other columns are ignored."""
    weight = SPLINK[2] not in present and WEIGHT in present
    names = (*SPLINK[:2], WEIGHT if weight else SPLINK[2])
    if missing := [name for name in names if name not in present]:
        return f"has Splink's columns but no {' or '.join(missing)}"
    datasets = DATASETS if present.issuperset(DATASETS) else None
    return Naming(*names, SET if SET in present else None, datasets, weight)


def _chosen(columns: Sequence[str], chosen: Chosen) -> Naming | str:
    """Return the columns that the user names, the others by their usual names."""
    usual = next((names for names in (SPLINK, PLAIN, *OTHERS) if names[2] in columns), PLAIN)
    left, right, score = (name or default for name, default in zip(chosen, usual, strict=True))
    names = (left, right, score)
    if missing := [name for name in names if name not in columns]:
        return f"has no column {' or '.join(missing)}; found {', '.join(columns) or 'nothing'}"
    return Naming(*names, SET if SET in columns else None, weight=score == WEIGHT)


@dataclass(frozen=True, slots=True)
class RowProblem:
    """An invalid row, with the templates and the set it affects, if known."""

    line: int
    text: str
    left: int = UNKNOWN
    right: int = UNKNOWN
    set: int = UNKNOWN


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Pairs with probabilities; `left` and `right` index `names`, `sets` indexes `set_names`.

    Names are in the order of first appearance. `unit` is what `lines` counts.
    """

    file: str
    names: Sequence[str]
    left: IntArray
    right: IntArray
    probability: FloatArray
    lines: IntArray
    sets: IntArray | None = None
    set_names: Sequence[str] = ()
    problems: tuple[RowProblem, ...] = ()
    unit: Unit = "line"


SEPARATOR = "-__-"  # Splink's separator of dataset and id
USUAL: Chosen = (None, None, None)


def read_pairs(
    source: Any,
    *,
    name: str | None = None,
    chosen: Chosen = USUAL,
    ids: IntegerIds | None = None,
    note: Note = lambda text: None,
) -> PairTable:
    """Read pairs from anything that holds a table, triples, or a mapping from two ids to a score.

    `chosen` names columns that are called otherwise; `ids` notes those that are integers, and
    `note` gets a line on an encoding that is not UTF-8.
    """
    wanted = None if any(chosen) else _pair_columns
    blocks = table_blocks(source, name=name, tuples=[PLAIN], wanted=wanted)
    return gather_pairs(blocks, chosen, ids, note)


def _pair_columns(names: list[str]) -> list[str]:
    """Return the columns of pairs to read: of Splink's dozens only a few, of other files all."""
    splink = {*SPLINK, *DATASETS, SET, WEIGHT, *(name for three in OTHERS for name in three)}
    return names if isinstance(naming(names), str) else [n for n in names if n in splink | {*PLAIN}]


def gather_pairs(
    blocks: Iterable[Table],
    chosen: Chosen = USUAL,
    ids: IntegerIds | None = None,
    note: Note = lambda text: None,
) -> PairTable:
    """Collect all rows into one table; an invalid row affects only its sets."""
    builder: _TableBuilder | None = None
    for rows in blocks:
        if builder is None:
            builder = _TableBuilder(rows, _first_naming(rows, chosen), chosen, ids)
        builder.add(rows)
    if builder is None or not builder.rows:
        name = None if builder is None else builder.first.name
        raise InputError("has no rows; expected at least one pair", file=name)
    noted(builder.first, note)
    return builder.table()


def _first_naming(rows: Table, chosen: Chosen) -> Naming:
    """Return the naming of the first rows; wrong columns are an error for the whole table."""
    names = naming(rows.columns, chosen)
    if not isinstance(names, str):
        return names
    raise rows.error(0, rows.problems[0]) if 0 in rows.problems else rows.error(None, names)


@dataclass(slots=True)
class _TableBuilder:
    """A table under construction."""

    first: Table
    naming: Naming
    chosen: Chosen
    ids: IntegerIds | None
    rows: int = 0
    names: Codes = field(default_factory=Codes)
    set_names: Codes = field(default_factory=Codes)
    parts: list[tuple[NDArray[Any], ...]] = field(default_factory=list)
    problems: list[RowProblem] = field(default_factory=list)

    def add(self, rows: Table) -> None:
        count = len(rows)
        left, right = self._ids(rows)
        self._refuse_long((left, right), rows)
        ends = self.names.of(left, right)
        sets = np.zeros(count, np.int64)
        if self.naming.set is not None:
            sets = self.set_names.of(id_texts(_column(rows, self.naming.set)))
        given = _column(rows, self.naming.probability)
        numbers = decimal_values(given, rows.separator)
        if self.naming.weight:
            numbers = 0.5 * (1.0 + np.tanh(0.5 * math.log(2.0) * numbers))
        part = (ends[0::2], ends[1::2], numbers, _line_numbers(rows.lines), sets)
        problems = self._problems(rows, part, given)
        self.rows += count
        self._add_part(part, problems, rows)

    def _ids(self, rows: Table) -> tuple[Sequence[str], Sequence[str]]:
        ends = [_column(rows, name) for name in (self.naming.left, self.naming.right)]
        if self.ids is not None and rows.typed:
            self.ids.note(ends[0])
            self.ids.note(ends[1])
        left, right = map(id_texts, ends)
        if self.naming.datasets is None:
            return left, right
        of_left, of_right = (id_texts(_column(rows, name)) for name in self.naming.datasets)
        return _prefixed(of_left, left), _prefixed(of_right, right)

    def _refuse_long(self, ends: tuple[Sequence[str], Sequence[str]], rows: Table) -> None:
        for ids in ends:
            if found := first_too_long(ids, "an id"):
                raise rows.error(*found)

    def _problems(
        self, rows: Table, part: tuple[NDArray[Any], ...], given: Sequence[Any]
    ) -> dict[int, str]:
        """Return the problem of every invalid row; "" for a blank row."""
        left, right, probability, _, sets = part
        bad = (left < 0) | (right < 0) | (left == right) | (sets < 0)
        bad |= ~((probability >= 0) & (probability <= 1))
        problems = dict(rows.problems)
        if (names := naming(rows.columns, self.chosen)) != self.naming:
            text = names if isinstance(names, str) else "has other columns than the rows before it"
            problems = dict.fromkeys(range(len(left)), text) | problems
        for n in np.flatnonzero(bad).tolist():
            row = (int(left[n]), int(right[n]), float(probability[n]), int(sets[n]))
            if n not in problems:
                blank = all(is_blank(values[n]) for values in rows.values)
                ends = [_column(rows, end)[n] for end in (self.naming.left, self.naming.right)]
                problems[n] = "" if blank else self._problem_text(row, ends, given[n])
        return problems

    def _problem_text(
        self, row: tuple[int, int, float, int], ends: Sequence[Any], given: Any
    ) -> str:
        left, right, probability, set_number = row
        names = self.names.names
        if not_ids := [value for value in ends if not is_blank(value) and not id_text(value)]:
            return id_problem(not_ids[0], "an id")
        if left < 0 or right < 0:
            partner = names[max(left, right)] if max(left, right) >= 0 else "nothing"
            return f"pairs {partner} with nothing; expected two ids"
        if set_number < 0:
            return f"names no set for {names[left]} and {names[right]}"
        if left == right:
            return f"pairs {names[left]} with itself"
        value = "missing" if is_blank(given) else shortened(str(given).strip())
        wrong = "not a number" if math.isnan(probability) else "outside 0 to 1"
        return (
            f"the probability of {names[left]} and {names[right]} is {value}"
            f"{'' if value == 'missing' else f', {wrong}'}; expected a number from 0 to 1"
        )

    def _add_part(
        self, part: tuple[NDArray[Any], ...], problems: dict[int, str], rows: Table
    ) -> None:
        left, right, _, lines, sets = part
        for n, text in problems.items():
            spoiled = (int(left[n]), int(right[n]), int(sets[n]) if self.naming.set else UNKNOWN)
            if text and max(spoiled) == UNKNOWN:
                raise rows.error(n, text)
            if text:
                self.problems.append(RowProblem(int(lines[n]), text, *spoiled))
        if problems:
            kept = np.ones(len(left), np.bool_)
            kept[list(problems)] = False
            part = tuple(column[kept] for column in part)
        self.parts.append(part)

    def table(self) -> PairTable:
        left, right, probability, lines, sets = map(np.concatenate, zip(*self.parts, strict=True))
        return PairTable(
            file=self.first.name,
            names=self.names.names,
            left=left,
            right=right,
            probability=probability,
            lines=lines,
            sets=sets if self.naming.set else None,
            set_names=self.set_names.names,
            problems=tuple(sorted(self.problems, key=lambda problem: problem.line)),
            unit=self.first.unit,
        )


def _column(rows: Table, name: str) -> Sequence[Any]:
    return rows.column(name) if name in rows.columns else [""] * len(rows)


def _line_numbers(lines: Sequence[int]) -> IntArray:
    if isinstance(lines, range):
        return np.arange(lines.start, lines.stop)
    return np.asarray(lines, np.int64)


def _prefixed(datasets: Sequence[str], ids: Sequence[str]) -> list[str]:
    return [
        f"{d.strip()}{SEPARATOR}{i.strip()}" if i.strip() else ""
        for d, i in zip(datasets, ids, strict=True)
    ]
