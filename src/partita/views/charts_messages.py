"""How uncertain messages are, as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partita.views.charts import altair


def entropy_chart(bits: Mapping[str, float], most: int = 30) -> Any:
    """The entropy of messages by name, the most uncertain first; what is left out is said."""
    alt = altair()
    order = sorted(bits, key=lambda name: (-bits[name], name))
    shown = order[:most]
    values = [{"message": name, "bits": bits[name]} for name in shown]
    bars = (
        alt.Chart(alt.InlineData(values=values))
        .mark_bar()
        .encode(
            x=alt.X("bits:Q", title="bits"),
            y=alt.Y("message:N", sort=shown, title=None, axis=alt.Axis(labelLimit=240)),
            tooltip=["message:N", alt.Tooltip("bits:Q", format=".3f")],
        )
    )
    numbers = bars.mark_text(align="left", dx=4).encode(text=alt.Text("bits:Q", format=".2f"))
    hidden = len(order) - len(shown)
    more = f"; {hidden:,} more are less uncertain" if hidden else ""
    return (bars + numbers).properties(title=f"Entropy of messages{more}", width=360)
