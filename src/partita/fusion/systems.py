"""A system as a source of templates: what its answers are expected to be worth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trusted:
    """How many templates and fills it gives, what share of them is expected to be right, what share
    of the truth that is, how much its word counts beside systems that agree with it too often."""

    source: str
    templates: int
    fills: int
    precision: float
    recall: float
    f: float
    weight: float
