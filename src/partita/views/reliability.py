"""Bins of statements of about the same probability, as records or as objects of JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from partita.evaluation.calibration import Bin


def bins_of(given: Iterable[Bin | Mapping[str, Any]]) -> list[Bin]:
    """In the order of what they state; objects call that `stated` or `predicted`."""
    found = (one if isinstance(one, Bin) else _bin(one) for one in given)
    return sorted(found, key=lambda one: one.stated)


def _bin(one: Mapping[str, Any]) -> Bin:
    stated = one["stated"] if "stated" in one else one["predicted"]
    return Bin(int(one["count"]), float(stated), float(one["observed"]))
