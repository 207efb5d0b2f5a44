"""Engines that compare records: which one is used.

An engine chooses candidate pairs, compares their values, fits a model without labels and scores
the pairs. What follows is the same for all of them: `cluster` makes clusters of the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partita.errors import InputError
from partita.linkage.record_tables import NEAREST, LinkageEngine, RecordTable

SPLINK = "splink"
ENGINES = (NEAREST, SPLINK)


def chosen_engine(name: str | None, settings: Mapping[str, Any] | None = None) -> str:
    """Return the engine of this name, that of given settings, or the default."""
    if name is not None and name not in ENGINES:
        raise InputError(f"unknown engine {name} (expected {' or '.join(ENGINES)})")
    if settings is None:
        return name or NEAREST
    made_by = str(settings.get("engine", SPLINK))
    if made_by not in ENGINES:
        raise InputError(f"settings of an unknown engine {made_by}")
    if name not in (None, made_by):
        raise InputError(f"the settings are those of the engine {made_by}, not {name}")
    return made_by


def open_engine(
    name: str, table: RecordTable, one_to_one: bool = False, seed: int = 0
) -> LinkageEngine:
    """Return an engine for a table."""
    if name == NEAREST:
        from partita.linkage.nearest_engine import NearestEngine

        return NearestEngine(table, one_to_one)
    from partita.linkage.splink_engine import DuckEngine

    return DuckEngine(table, one_to_one, seed)
