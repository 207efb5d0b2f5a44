"""Rows of pairs as numbers, with the line each stands in: what every reader of pairs gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from partita.errors import InputError
from partita.records import FloatArray, IntArray

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
