"""Is what is stated true, and what do keys teach: charts of reliability and of learning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from partita.evaluation.calibration import Bin
from partita.views.charts import altair
from partita.views.reliability import bins_of

Bins = Iterable[Bin | Mapping[str, Any]]


def reliability_chart(bins: Mapping[str, Bins], title: str = "Reliability") -> Any:
    """Stated probability against the frequency observed, for each name; the area of a dot is its
    count, and on the dashed line all is true."""
    alt = altair()
    values = [
        {"name": name, "stated": one.stated, "observed": one.observed, "count": one.count}
        for name, some in bins.items()
        for one in bins_of(some)
    ]
    axes = {
        "x": alt.X("stated:Q", title="stated", scale=alt.Scale(domain=[0, 1])),
        "y": alt.Y("observed:Q", title="observed", scale=alt.Scale(domain=[0, 1])),
    }
    named = alt.Color("name:N", title=None, sort=list(bins))
    base = alt.Chart(alt.InlineData(values=values)).encode(**axes, color=named)
    size = alt.Size("count:Q", title="count", scale=alt.Scale(rangeMin=12))
    hints = ["name:N", "stated:Q", "observed:Q", "count:Q"]
    dots = base.mark_circle(opacity=0.85).encode(size=size, tooltip=hints)
    ends = alt.InlineData(values=[{"stated": n, "observed": n} for n in (0, 1)])
    ideal = alt.Chart(ends).mark_line(color="#999999", strokeDash=[4, 3]).encode(**axes)
    lines = base.mark_line(opacity=0.5)
    return (ideal + lines + dots).properties(title=title, width=360, height=360)


def learning_chart(points: Sequence[Mapping[str, float]]) -> Any:
    """Bits per template of keys that were held out, after so many others, with their interval:
    objects with `keys`, `bits`, `low` and `high`, as the curve of a workspace has them."""
    alt = altair()
    base = alt.Chart(alt.InlineData(values=[dict(one) for one in points])).encode(
        x=alt.X("keys:Q", title="keys", axis=alt.Axis(tickMinStep=1, format="d"))
    )
    bits = alt.Y("low:Q", title="bits per template", scale=alt.Scale(zero=False))
    band = base.mark_area(opacity=0.2).encode(y=bits, y2="high:Q")
    hints = [
        "keys:Q",
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("bits", "low", "high")),
    ]
    line = base.mark_line(point=True).encode(y="bits:Q", tooltip=hints)
    return (band + line).properties(title="What keys teach", width=420, height=260)
