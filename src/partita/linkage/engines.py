"""Engines that compare records: which one is used.

An engine chooses candidate pairs, compares their values, fits a model without labels and scores
the pairs. What follows is the same for all of them: `cluster` makes clusters of the scores.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partita.errors import InputError
from partita.linkage.record_tables import NEAREST, LinkageEngine, RecordTable


def is_for_splink(settings: Mapping[str, Any] | None) -> bool:
    """Return whether settings are those of Splink, and not of the engine of ours."""
    if settings is None or settings.get("engine") == NEAREST:
        return False
    if "engine" in settings:
        raise InputError(f"settings of an unknown engine {settings['engine']}")
    return True


def open_engine(
    table: RecordTable,
    settings: Mapping[str, Any] | None,
    one_to_one: bool = False,
    seed: int = 0,
) -> LinkageEngine:
    """Return an engine for a table: that of given settings, or nearest neighbours."""
    if not is_for_splink(settings):
        from partita.linkage.nearest_engine import NearestEngine

        return NearestEngine(table, one_to_one)
    from partita.linkage.splink_engine import DuckEngine

    return DuckEngine(table, one_to_one, seed)
