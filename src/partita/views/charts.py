"""Charts as Altair objects: they show themselves in a notebook and save themselves as SVG."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from partita.errors import InputError, Unavailable
from partita.formats.saved import Result
from partita.records import Distribution

ENDINGS = (".svg", ".html", ".png", ".json")


def configurations_chart(found: Distribution | Result) -> Any:
    """The listed configurations and the remainder as bars."""
    alt = altair()
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


def save(chart: Any, path: Path) -> None:
    """Write a chart beside its place and rename it; the file's ending says in which format."""
    if path.suffix not in ENDINGS:
        raise InputError(f"ends in {path.suffix!r}; expected {', '.join(ENDINGS)}", file=str(path))
    beside = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        chart.save(str(beside))
        beside.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
    finally:
        beside.unlink(missing_ok=True)


def altair() -> Any:
    """The library, which is an extra."""
    try:
        import altair
    except ImportError as error:
        raise Unavailable("charts need Altair: pip install 'partita[charts]'") from error
    return altair
