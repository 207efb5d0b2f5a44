"""Is what is stated true: stated probability against the frequency observed, with counts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from partita.evaluation.calibration import Bin
from partita.views.markup import Html, element, joined
from partita.views.svg import drawing, line, polyline, words

SIDE, LEFT, TOP, BELOW = 240.0, 52.0, 14.0, 42.0
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
LARGE = 10.0  # radius of the bin with the highest count


def reliability(bins: Sequence[Bin], label: str) -> Html:
    """A dot for every bin, its area the count; on the dashed line all is true."""
    most = max((one.count for one in bins), default=1)
    dots = (_dot(one, most) for one in bins)
    path = [(_x(one.stated), _y(one.observed)) for one in bins]
    return drawing(
        LEFT + SIDE + 14,
        TOP + SIDE + BELOW,
        label,
        joined(map(_tick, TICKS)),
        line(_x(0.0), _y(0.0), _x(1.0), _y(1.0), "ideal"),
        polyline(path, "curve"),
        joined(dots),
        words(_x(0.5), TOP + SIDE + 36, "stated", "axis", "middle"),
        element(
            "text", "observed", class_="axis", text_anchor="middle",
            transform=f"translate(11 {_y(0.5):.1f}) rotate(-90)",
        ),
    )  # fmt: skip


def _dot(one: Bin, most: int) -> Html:
    radius = max(2.5, LARGE * math.sqrt(one.count / most))
    told = f"stated {one.stated:.3f}, observed {one.observed:.3f}, {one.count:,} statements"
    x, y = _x(one.stated), _y(one.observed)
    dot = element("circle", element("title", told), cx=x, cy=y, r=radius, class_="dot")
    inward = one.stated > 0.5
    at = x - radius - 2 if inward else x + radius + 2
    count = words(at, y - 6, f"{one.count:,}", "tick", "end" if inward else "start")
    return joined([dot, count])


def _tick(p: float) -> Html:
    grid = [line(_x(p), _y(0.0), _x(p), _y(1.0), "grid")]
    grid += [line(_x(0.0), _y(p), _x(1.0), _y(p), "grid")]
    below = words(_x(p), TOP + SIDE + 20, f"{p:g}", "tick", "middle")
    beside = words(LEFT - 12, _y(p) + 3.5, f"{p:g}", "tick", "end")
    return joined([*grid, below, beside])


def _x(p: float) -> float:
    return LEFT + SIDE * p


def _y(p: float) -> float:
    return TOP + SIDE * (1 - p)
