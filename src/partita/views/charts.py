"""Charts of distributions, pairs, calibration and learning."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from partita.errors import InputError, Unavailable
from partita.evaluation.calibration import Bin
from partita.evaluation.label_study import Compared
from partita.evaluation.rows import Row
from partita.records import Distribution
from partita.results.saved_results import Result

ENDINGS = (".svg", ".html", ".png", ".json")


def configurations_chart(distribution: Distribution | Result) -> Any:
    """The listed configurations and the remainder as bars."""
    alt = altair()
    rows = [(str(item.configuration), item.probability) for item in distribution.configurations]
    if distribution.remainder.count != 0:
        rows.append(("all others", distribution.remainder.probability))
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
    """Write a chart atomically; the format follows from the extension."""
    if path.suffix not in ENDINGS:
        raise InputError(
            f"unknown extension {path.suffix!r}; expected {', '.join(ENDINGS)}", file=str(path)
        )
    beside = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        chart.save(str(beside))
        beside.replace(path)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
    finally:
        beside.unlink(missing_ok=True)


def altair() -> Any:
    """Import Altair, which is an optional dependency."""
    try:
        import altair
    except ImportError as error:
        raise Unavailable("charts need Altair: pip install 'partita[charts]'") from error
    return altair


def bins_of(bins: Iterable[Bin | Mapping[str, Any]]) -> list[Bin]:
    """Sort bins by stated probability; mappings may call it `stated` or `predicted`."""
    converted = (bin_ if isinstance(bin_, Bin) else _bin(bin_) for bin_ in bins)
    return sorted(converted, key=lambda bin_: bin_.stated)


def _bin(mapping: Mapping[str, Any]) -> Bin:
    stated = mapping["stated"] if "stated" in mapping else mapping["predicted"]
    return Bin(int(mapping["count"]), float(stated), float(mapping["observed"]))


Bins = Iterable[Bin | Mapping[str, Any]]


def reliability_chart(bins: Mapping[str, Bins], title: str = "Reliability") -> Any:
    """Stated probability against the frequency observed, for each name; the area of a dot is its
    count; points on the dashed line are well calibrated."""
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
    """Bits per template on held-out keys by number of training keys, with intervals.

    A point has `keys`, `bits`, `low` and `high`, as in `Workspace.curve`.
    """
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
    return (band + line).properties(title="Learning curve", width=420, height=260)


def entropy_chart(bits: Mapping[str, float], most: int = 30) -> Any:
    """The entropy of messages, the most uncertain first; the title counts those left out."""
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
    more = f"; {hidden:,} less uncertain not shown" if hidden else ""
    return (bars + numbers).properties(title=f"Entropy of messages{more}", width=360)


BEFORE, AFTER = "pairs alone", "given the whole set"
NUMBERS = 12  # templates: of more, squares have no room for a number
SIDE = 280


def pairs_chart(distribution: Distribution | Result) -> Any:
    """Two triangles side by side; a pair that is incompatible has a cross."""
    alt = altair()
    rows = list(pair_rows(distribution))
    chart = alt.Chart(alt.InlineData(values=rows))
    return alt.hconcat(*(_triangle(alt, chart, distribution, when) for when in (BEFORE, AFTER)))


def pair_rows(distribution: Distribution | Result) -> Iterator[dict[str, Any]]:
    """One object for each pair, before and after."""
    ids = distribution.set.ids
    for column, left in enumerate(ids):
        for row, right in enumerate(ids[column + 1 :], column + 1):
            alone = float(distribution.probabilities[row, column])
            marginal = float(distribution.marginals.value[row, column])
            for when, p in ((BEFORE, alone), (AFTER, marginal)):
                yield {
                    "left": left, "right": right, "when": when, "probability": p,
                    "text": "×" if alone == 0.0 else f"{p:.2f}",
                    "apart": alone == 0.0,
                }  # fmt: skip


def _triangle(alt: Any, chart: Any, distribution: Distribution | Result, when: str) -> Any:
    ids = list(distribution.set.ids)
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
        drawn += base.mark_text(fontSize=11).encode(text="text:N", color=ink)
    return drawn.properties(title=when, width=SIDE, height=SIDE)


def experiment_reliability_chart(rows: Sequence[Row]) -> Any:
    """Stated probability of pairs against observed frequency, for each model."""
    bins = {row.model: row.pair_reliability for row in rows}
    return reliability_chart(bins, "Reliability of pair probabilities between .05 and .95")


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


WIDTH, HEIGHT = 300, 200
SIDES = {"keys": "after equal numbers of keys", "templates": "after equal numbers of templates"}


def choice_chart(rows: Sequence[Compared]) -> Any:
    """Differences to random choice in bits per template, with 95% intervals; lower is better."""
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
        y=alt.Y("difference:Q", title="bits per template, difference to random choice")
    )
    ranges = base.mark_rule().encode(y="low:Q", y2="high:Q")
    title = f"{model}, {SIDES[by]}"
    return (ranges + points).properties(title=title, width=WIDTH, height=HEIGHT)
