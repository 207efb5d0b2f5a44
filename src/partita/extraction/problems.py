"""What is wrong, or might be, at one place of a rule file."""

from __future__ import annotations

from dataclasses import dataclass

from partita.extraction.domain import At


@dataclass(frozen=True, slots=True)
class Problem:
    """An error, or with `error=False` a warning."""

    at: At
    said: str
    error: bool = True
