"""The pairs of a set before and after, as a chart: each template against each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from partita.formats.saved import Result
from partita.records import Distribution
from partita.views.charts import altair

BEFORE, AFTER = "pair probabilities", "given everything else"
NUMBERS = 12  # templates: of more, squares have no room for a number
SIDE = 280


def pairs_chart(found: Distribution | Result) -> Any:
    """Two triangles side by side; a pair that is incompatible has a cross."""
    alt = altair()
    rows = list(pair_rows(found))
    chart = alt.Chart(alt.InlineData(values=rows))
    return alt.hconcat(*(_triangle(alt, chart, found, when) for when in (BEFORE, AFTER)))


def pair_rows(found: Distribution | Result) -> Iterator[dict[str, Any]]:
    """One object for each pair, before and after."""
    ids = found.set.ids
    for column, left in enumerate(ids):
        for row, right in enumerate(ids[column + 1 :], column + 1):
            given = float(found.probabilities[row, column])
            came = float(found.marginals.value[row, column])
            for when, p in ((BEFORE, given), (AFTER, came)):
                yield {
                    "left": left, "right": right, "when": when, "probability": p,
                    "told": "×" if given == 0.0 else f"{p:.2f}",
                    "apart": given == 0.0,
                }  # fmt: skip


def _triangle(alt: Any, chart: Any, found: Distribution | Result, when: str) -> Any:
    ids = list(found.set.ids)
    base = chart.transform_filter(alt.datum.when == when).encode(
        x=alt.X(
            "left:N",
            sort=ids,
            scale=alt.Scale(domain=ids[:-1]),
            title=None,
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y("right:N", sort=ids, scale=alt.Scale(domain=ids[1:]), title=None),
    )
    shade = alt.Color(
        "probability:Q",
        scale=alt.Scale(domain=[0, 1], range=["#ffffff", "#2f6db3"], interpolate="rgb"),
        title="probability",
    )
    hints = ["left:N", "right:N", alt.Tooltip("probability:Q", format=".4f")]
    drawn = base.mark_rect(stroke="#dfe4ea").encode(color=shade, tooltip=hints)
    if len(ids) <= NUMBERS:
        ink = alt.condition(alt.datum.probability > 0.5, alt.value("#fff"), alt.value("#1b2430"))
        drawn += base.mark_text(fontSize=11).encode(text="told:N", color=ink)
    return drawn.properties(title=when, width=SIDE, height=SIDE)
