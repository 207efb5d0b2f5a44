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
    """Which column says what; `datasets` are Splink's, whose names go before the ids."""

    left: str
    right: str
    probability: str
    set: str | None = None
    datasets: tuple[str, str] | None = None


def naming(columns: Sequence[str]) -> Naming | str:
    """The naming in use, or what is wrong with it."""
    here = set(columns)
    if here & set(SPLINK) and not here & set(PLAIN):
        return _splink(here)
    if missing := [name for name in PLAIN if name not in here]:
        found = ", ".join(columns) or "nothing"
        return (
            f"has no column {' or '.join(missing)}; expected {', '.join(PLAIN)} "
            f"(or Splink's {', '.join(SPLINK)}) and found {found}"
        )
    if unknown := [name for name in columns if name not in {*PLAIN, SET}]:
        named = ", ".join(map(repr, unknown))
        return f"has unknown columns {named}; expected {', '.join(PLAIN)} and optionally {SET}"
    return Naming(*PLAIN, SET if SET in here else None)


def _splink(here: set[str]) -> Naming | str:
    """Splink adds many columns of its own (match_weight, gamma_…, bf_…): they are let be."""
    if missing := [name for name in SPLINK if name not in here]:
        return f"has Splink's columns but no {' or '.join(missing)}"
    datasets = DATASETS if here.issuperset(DATASETS) else None
    return Naming(*SPLINK, SET if SET in here else None, datasets)


Unit = Literal["line", "row"]
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Problem:
    """A row that cannot be used, and whatever is known of the templates and the set it spoils."""

    line: int
    text: str
    left: int = UNKNOWN
    right: int = UNKNOWN
    set: int = UNKNOWN


@dataclass(frozen=True, slots=True, eq=False)
class PairTable:
    """Pairs and probabilities: `left` and `right` point into `names`, `sets` into `set_names`.

    Names are in the order of their first appearance. `unit` says what `lines` counts.
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
    """An error that says where: by line in text files, by row in tables."""
    if unit == "line":
        return InputError(text, file=file, line=line)
    return InputError(text, file=f"{file}, row {line}")
