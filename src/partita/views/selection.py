"""The selection of features as a table for a person, and as a chart."""

from __future__ import annotations

import textwrap
from typing import Any

from partita.learning.selection import Selection, Step
from partita.views.charts import altair

WIDTH = 80


def text(selection: Selection, width: int = WIDTH) -> str:
    """Order, gain, weight and sign of every selected feature, one line each."""
    title = f"{len(selection.steps)} features selected from {selection.pairs:,} pairs"
    room = width - 43
    head = f"{'':>4} {'feature':{room}} {'gain':>7} {'bits':>7} {'held out':>8} {'weight':>8}"
    rows = [_row(n, step, room) for n, step in enumerate(selection.steps, 1)]
    why = textwrap.wrap(
        f"Stopped: {selection.stopped}. Gain, bits and held out are bits per pair; a weight above "
        "0 speaks for coreference, one below 0 against it.",
        width,
    )
    return "\n".join([title, "", head, *rows, "", *why]) + "\n"


def _row(number: int, step: Step, room: int) -> str:
    held = "" if step.held_out is None else f"{step.held_out:.4f}"
    name = step.feature if len(step.feature) <= room else f"{step.feature[: room - 1]}…"
    figures = f"{step.gain:7.4f} {step.bits:7.4f} {held:>8} {step.weight:+8.3f}"
    return f"{number:>3}. {name:{room}} {figures}"


def records(selection: Selection) -> list[dict[str, Any]]:
    """One plain object for each step, for charts and machines."""
    return [
        {
            "order": number,
            "feature": step.feature,
            "approximate_gain": step.approximate,
            "gain": step.gain,
            "bits": step.bits,
            "held_out": step.held_out,
            "weight": step.weight,
            "sign": "for" if step.weight > 0 else "against",
        }
        for number, step in enumerate(selection.steps, 1)
    ]


def chart(selection: Selection) -> Any:
    """Weights as bars in the order of selection, beside the bits per pair that remain."""
    alt = altair()
    data = alt.InlineData(values=records(selection))
    order = alt.Y(
        "feature:N", sort=alt.SortField("order"), title=None, axis=alt.Axis(labelLimit=320)
    )
    colour = alt.Color(
        "sign:N", scale=alt.Scale(domain=["for", "against"], range=["#4c78a8", "#e45756"])
    )
    weights = (
        alt.Chart(data, title="weight")
        .mark_bar()
        .encode(x=alt.X("weight:Q", title="weight"), y=order, color=colour)
    )
    plain = alt.Y("feature:N", sort=alt.SortField("order"), axis=None)
    left = alt.Chart(data).encode(y=plain)
    trained = left.mark_line(point=True).encode(x=alt.X("bits:Q", title="bits per pair"))
    held = left.mark_line(point=True, strokeDash=[4, 3]).encode(x="held_out:Q")
    remaining = trained if _none_held(selection) else trained + held
    return weights | remaining.properties(title="bits per pair (dashed: held out)")


def _none_held(selection: Selection) -> bool:
    return all(step.held_out is None for step in selection.steps)
