"""How many messages are how uncertain: counts in classes of bits."""

from __future__ import annotations

from collections.abc import Sequence

from partita.views.markup import Html, joined
from partita.views.svg import drawing, line, rectangle, words

EDGES = (0.0, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)  # bits; the last class is open
WIDE, HIGH, STEP = 26.0, 90.0, 30.0


def classes(bits: Sequence[float]) -> list[tuple[str, int]]:
    """The classes from the first to the last that anything is in, with what is in them."""
    counts = [0] * len(EDGES)
    for one in bits:
        counts[sum(one >= edge for edge in EDGES[1:])] += 1
    last = max((n for n, count in enumerate(counts) if count), default=0)
    return [(_name(n), counts[n]) for n in range(last + 1)]


def _name(n: int) -> str:
    if n == 0:
        return f"< {EDGES[1]:g}"
    return f"{EDGES[n]:g}+" if n == len(EDGES) - 1 else f"{EDGES[n]:g}–{EDGES[n + 1]:g}"


def histogram(bits: Sequence[float], label: str) -> Html:
    """A column for every class, with its count."""
    found = classes(bits)
    most = max(count for _, count in found) or 1
    columns = (
        _column(n, name, count, HIGH * count / most) for n, (name, count) in enumerate(found)
    )
    wide = 8 + 44.0 * len(found)
    ground = line(0.0, HIGH + 16, wide, HIGH + 16, "ground")
    axis = words(wide / 2, HIGH + 46, "bits of a message", "axis", "middle")
    return drawing(max(wide, 120.0), HIGH + 52, label, joined(columns), ground, axis)


def _column(n: int, name: str, count: int, high: float) -> Html:
    left = 8 + 44.0 * n
    told = f"{count:,} of {name} bits"
    return joined(
        [
            rectangle(left, HIGH + 16 - high, WIDE + 8, high, "share", told),
            words(left + 17, HIGH + 11 - high, f"{count:,}", "tick", "middle"),
            words(left + 17, HIGH + 30, name, "tick", "middle"),
        ]
    )
