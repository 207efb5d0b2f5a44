"""Engines that compare records: what each of them offers, and which one is used.

An engine chooses candidate pairs, compares their values, fits a model without labels and scores
the pairs. What follows is the same for all of them: `cluster` makes clusters of the scores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.linkage.record_tables import RecordTable
from partita.tables.table import Note

SPLINK, OWN = "splink", "own"
ENGINES = (SPLINK, OWN)

Progress = Callable[[str], None]
Settings = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Scored:
    """Scored pairs by the numbers of their records, with log₂ of their odds.

    `compared` counts all pairs that were compared; the scored ones are those within connected sets.
    """

    left: IntArray
    right: IntArray
    weight: FloatArray
    compared: int

    @property
    def probability(self) -> FloatArray:
        return np.asarray(1.0 / (1.0 + np.exp2(-np.clip(self.weight, -1000.0, 1000.0))))


class LinkageEngine(Protocol):
    """A table of records, and a way to compare them."""

    table: RecordTable

    def fit(self, settings: Settings | None, progress: Progress, note: Note) -> Settings:
        """Return a trained model as JSON holds it: `settings` if they are trained already."""

    def score(self, model: Settings, link_above: float) -> Scored:
        """Return the scores of all pairs within sets that scores above `link_above` connect."""

    def weights(self, model: Settings, left: int, right: int) -> list[tuple[str, float]]:
        """Return what each column says about two records as log-odds, after the prior."""

    def apart(self, model: Settings) -> Sequence[str] | None:
        """Return a label of every record such that equal ones are never the same, or None."""


def default_engine() -> str:
    """Return Splink where it is installed, and our own engine elsewhere."""
    return SPLINK if find_spec("splink") and find_spec("duckdb") else OWN


def chosen_engine(name: str | None, settings: Mapping[str, Any] | None = None) -> str:
    """Return the engine of this name, that of given settings, or the default."""
    if name is not None and name not in ENGINES:
        raise InputError(f"unknown engine {name} (expected {' or '.join(ENGINES)})")
    if settings is None:
        return name or default_engine()
    made_by = OWN if settings.get("engine") == OWN else SPLINK
    if name not in (None, made_by):
        raise InputError(f"the settings are those of the engine {made_by}, not {name}")
    return made_by


def open_engine(
    name: str,
    table: RecordTable,
    one_to_one: bool = False,
    seed: int = 0,
    reliabilities: Mapping[str, float] | None = None,
) -> LinkageEngine:
    """Return an engine for a table; Splink knows no reliabilities of sources."""
    if name == OWN:
        from partita.linkage.own_engine import OwnEngine

        return OwnEngine(table, one_to_one, reliabilities or {})
    from partita.linkage.splink_engine import DuckEngine

    return DuckEngine(table, one_to_one, seed)
