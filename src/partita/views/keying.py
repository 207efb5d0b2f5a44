"""The choice of sets to key as a chart: what each rule saves, beside chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from partita.evaluation.keying import Compared
from partita.views.charts import altair

WIDTH, HEIGHT = 300, 200
SIDES = {"keys": "after equal numbers of keys", "templates": "after equal numbers of templates"}


def choice_chart(rows: Sequence[Compared]) -> Any:
    """Differences to chance in bits per template, with intervals of 95 %; below 0 is better."""
    alt = altair()
    models = list(dict.fromkeys(one.model for one in rows))
    grid = [
        alt.hconcat(*(_panel(alt, rows, model, by) for by in SIDES)).resolve_scale(y="shared")
        for model in models
    ]
    return alt.vconcat(*grid).resolve_scale(color="shared")


def _panel(alt: Any, rows: Sequence[Compared], model: str, by: str) -> Any:
    values = [asdict(one) for one in rows if (one.model, one.by) == (model, by)]
    rules = list(dict.fromkeys(one.rule for one in rows))
    numbers = sorted({one.number for one in rows})
    base = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("number:O", sort=numbers, title="keys", axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("rule:N", sort=rules),
        color=alt.Color("rule:N", sort=rules, title="rule"),
    )
    points = base.mark_point(filled=True, size=40).encode(
        y=alt.Y("difference:Q", title="bits per template, beside chance")
    )
    ranges = base.mark_rule().encode(y="low:Q", y2="high:Q")
    title = f"{model}, {SIDES[by]}"
    return (ranges + points).properties(title=title, width=WIDTH, height=HEIGHT)
