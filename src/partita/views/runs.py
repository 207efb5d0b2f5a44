"""The runs of a store, a line each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from partita.views.layout import clean, cut, padded

HEADINGS = ("run", "messages", "sets", "keyed", "bits", "outcome")
LEFT = ("run", "outcome")  # the others are numbers
NARROW, WIDE = 20, 40


def table(runs: Sequence[Mapping[str, Any]], width: int = 80) -> str:
    """In the order in which they were begun."""
    if not runs:
        return "no runs\n"
    rows = [HEADINGS, *map(_row, runs)]
    wide = [max(len(row[n]) for row in rows) for n in range(len(HEADINGS))]
    wide[0] = max(NARROW, min(wide[0], WIDE))
    return "".join(f"{cut(_line(row, wide).rstrip(), width)}\n" for row in rows)


def _row(run: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = [f"{run[name]:,}" for name in ("messages", "sets", "keyed")]
    return clean(run["name"]), *numbers, f"{run['entropy_bits']:,.2f}", clean(run["outcome"])


def _line(row: Sequence[str], wide: Sequence[int]) -> str:
    cells = [
        padded(cut(one, room), room) if name in LEFT else one.rjust(room)
        for name, one, room in zip(HEADINGS, row, wide, strict=True)
    ]
    return "  ".join(cells)
