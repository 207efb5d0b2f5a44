"""Tables of pair scores: column names, rows as numbers, the line of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from partita.core import FloatArray, IntArray
from partita.errors import Unit
from partita.tables.columns import UNKNOWN

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
