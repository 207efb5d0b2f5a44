"""A probability as a bar, with a whisker where only an interval is known."""

from __future__ import annotations

from partita.views.markup import Html, element
from partita.views.svg import line, rectangle

WIDE, HIGH = 100.0, 10.0


def bar(p: float, interval: tuple[float, float] | None = None, class_: str = "share") -> Html:
    """As wide as its place: a whole bar is probability 1."""
    share = min(max(p, 0.0), 1.0)
    parts = [
        rectangle(0.0, 0.0, WIDE, HIGH, "track"),
        rectangle(0.0, 0.0, WIDE * share, HIGH, class_),
    ]
    if interval is not None:
        low, high = (WIDE * min(max(end, 0.0), 1.0) for end in interval)
        parts += [line(low, HIGH / 2, high, HIGH / 2, "whisker")]
        parts += [line(end, 2.0, end, HIGH - 2.0, "whisker") for end in (low, high)]
    return element(
        "svg",
        *parts,
        viewBox=f"0 0 {WIDE:g} {HIGH:g}",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )
