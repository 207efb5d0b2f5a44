"""Charts as Altair objects: they show themselves in a notebook and save themselves as SVG."""

from __future__ import annotations

from typing import Any

from partita.errors import Unavailable
from partita.records import Distribution


def configurations_chart(found: Distribution) -> Any:
    """The listed configurations and the remainder as bars."""
    alt = _altair()
    rows = [(str(item.configuration), item.probability) for item in found.configurations]
    if found.remainder.count != 0:
        rows.append(("all others", found.remainder.probability))
    data = alt.Data(values=[{"configuration": name, "probability": p} for name, p in rows])
    bars = (
        alt.Chart(data)
        .mark_bar()
        .encode(
            x=alt.X("probability:Q", title="probability", scale=alt.Scale(domainMin=0)),
            y=alt.Y("configuration:N", title=None, sort=[name for name, _ in rows]),
        )
    )
    numbers = bars.mark_text(align="left", dx=4).encode(
        text=alt.Text("probability:Q", format=".4f")
    )
    return (bars + numbers).properties(width=360)


def _altair() -> Any:
    try:
        import altair
    except ImportError as error:
        raise Unavailable("charts need Altair: pip install 'partita[charts]'") from error
    return altair
