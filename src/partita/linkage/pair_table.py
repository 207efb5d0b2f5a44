"""Tables of pair scores: column names, rows as numbers, the line of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from partita.errors import InputError
from partita.records import FloatArray, IntArray

PLAIN = ("left", "right", "probability")
SPLINK = ("unique_id_l", "unique_id_r", "match_probability")
DATASETS = ("source_dataset_l", "source_dataset_r")
SET = "set"


@dataclass(frozen=True, slots=True)
class Naming:
    """The columns in use; `datasets` are Splink's, whose values prefix the ids."""

    left: str
    right: str
    probability: str
    set: str | None = None
    datasets: tuple[str, str] | None = None


def naming(columns: Sequence[str]) -> Naming | str:
    """Return the columns in use, or a description of what is wrong with them."""
    present = set(columns)
    if present & set(SPLINK) and not present & set(PLAIN):
        return _splink(present)
    if missing := [name for name in PLAIN if name not in present]:
        existing = ", ".join(columns) or "nothing"
        return (
            f"has no column {' or '.join(missing)}; expected {', '.join(PLAIN)} "
            f"(or Splink's {', '.join(SPLINK)}) and found {existing}"
        )
    if unknown := [name for name in columns if name not in {*PLAIN, SET}]:
        named = ", ".join(map(repr, unknown))
        return f"has unknown columns {named}; expected {', '.join(PLAIN)} and optionally {SET}"
    return Naming(*PLAIN, SET if SET in present else None)


def _splink(present: set[str]) -> Naming | str:
    """Return Splink's columns; its many other columns are ignored."""
    if missing := [name for name in SPLINK if name not in present]:
        return f"has Splink's columns but no {' or '.join(missing)}"
    datasets = DATASETS if present.issuperset(DATASETS) else None
    return Naming(*SPLINK, SET if SET in present else None, datasets)


Unit = Literal["line", "row"]
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Problem:
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
    problems: tuple[Problem, ...] = ()
    unit: Unit = "line"


def located(file: str, unit: Unit, line: int, text: str) -> InputError:
    """Return an error with its place: a line of a text file or a row of a table."""
    if unit == "line":
        return InputError(text, file=file, line=line)
    return InputError(text, file=f"{file}, row {line}")
