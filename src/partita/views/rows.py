"""Rows of an experiment as charts: is what is stated true, and what do sets of each size cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from partita.evaluation.rows import Row
from partita.views.charts import altair
from partita.views.charts_learning import reliability_chart as drawn


def reliability_chart(rows: Sequence[Row]) -> Any:
    """Stated probability of pairs against the frequency observed; on the line all is true."""
    bins = {row.model: row.pair_reliability for row in rows}
    return drawn(bins, "Reliability of pair probabilities between .05 and .95")


def sizes_chart(rows: Sequence[Row]) -> Any:
    """Bits per set by the size of sets, a bar for each model."""
    alt = altair()
    values = [
        {"model": row.model, "size": one.size, "bits": one.bits_per_set}
        for row in rows
        for one in row.sizes
    ]
    sizes = list(dict.fromkeys(one.size for row in rows for one in row.sizes))
    models = [row.model for row in rows]
    return (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("size:N", sort=sizes, title="templates in the set"),
            xOffset=alt.XOffset("model:N", sort=models),
            y=alt.Y("bits:Q", title="bits per set", scale=alt.Scale(type="symlog")),
            color=alt.Color("model:N", sort=models, title=None),
        )
        .properties(title="Bits per set by size", width=420, height=300)
    )
