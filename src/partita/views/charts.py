"""Charts of distributions, pairs, calibration and learning."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from partita.core import Distribution
from partita.errors import InputError, Unavailable
from partita.evaluation.calibration import ReliabilityBin
from partita.evaluation.rows import CalibrationRow, ModelRow
from partita.results.saved_results import Result
from partita.views.explanation import ExplainedPair, influence_label, score_probability
from partita.views.palette import categories, colour

EXTENSIONS = (".svg", ".html", ".png", ".json")


def coloured(chart: Any) -> Any:
    """Return a whole chart in the colours of the page; a part of another chart cannot have them."""
    return chart.configure(
        range={"category": categories()},
        mark={"color": colour("fill")},
        text={"color": colour("ink")},
        title={"color": colour("ink")},
        axis={
            "gridColor": colour("rule"),
            "labelColor": colour("quiet"),
            "titleColor": colour("quiet"),
        },
    )


def configurations_chart(distribution: Distribution | Result) -> Any:
    """Return a bar chart of the listed configurations and the remainder."""
    alt = altair()
    rows = [(str(item.configuration), item.probability) for item in distribution.configurations]
    if distribution.remainder.count != 0:
        rows.append(("all others", distribution.remainder.probability))
    bars = alt.Chart(
        alt.Data(values=[{"configuration": name, "probability": p} for name, p in rows])
    ).encode(
        x=alt.X("probability:Q", title="probability", scale=alt.Scale(domainMin=0)),
        y=alt.Y("configuration:N", title=None, sort=[name for name, _ in rows]),
    )
    return _with_numbers(alt, bars, "probability:Q", ".4f", width=360)


def _with_numbers(alt: Any, chart: Any, field: str, form: str, **properties: Any) -> Any:
    """Return a chart as bars, with a number at the end of each."""
    bars = chart.mark_bar()
    numbers = bars.mark_text(align="left", dx=4).encode(text=alt.Text(field, format=form))
    return coloured((bars + numbers).properties(**properties))


def save(chart: Any, path: Path) -> None:
    """Write a chart atomically; the format follows from the extension."""
    if path.suffix not in EXTENSIONS:
        raise InputError(
            f"unknown extension {path.suffix!r}; expected {', '.join(EXTENSIONS)}", file=str(path)
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


def bins_of(bins: Iterable[ReliabilityBin | Mapping[str, Any]]) -> list[ReliabilityBin]:
    """Return bins sorted by stated probability; mappings call it `stated` or `predicted`."""
    converted = (bin_ if isinstance(bin_, ReliabilityBin) else _bin(bin_) for bin_ in bins)
    return sorted(converted, key=lambda bin_: bin_.stated)


def _bin(mapping: Mapping[str, Any]) -> ReliabilityBin:
    stated = mapping["stated"] if "stated" in mapping else mapping["predicted"]
    return ReliabilityBin(int(mapping["count"]), float(stated), float(mapping["observed"]))


Bins = Iterable[ReliabilityBin | Mapping[str, Any]]


def reliability_chart(bins: Mapping[str, Bins], title: str = "Reliability") -> Any:
    """Return a chart of stated probability against observed frequency, by name.

    The area of a dot is its count; points on the dashed line are well calibrated.
    """
    return coloured(_reliability(altair(), bins, title))


def _reliability(alt: Any, bins: Mapping[str, Bins], title: str) -> Any:
    values = [
        {"name": name, "stated": one.stated, "observed": one.observed, "count": one.count}
        for name, named_bins in bins.items()
        for one in bins_of(named_bins)
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
    ideal = alt.Chart(ends).mark_line(color=colour("edge"), strokeDash=[4, 3]).encode(**axes)
    lines = base.mark_line(opacity=0.5)
    return (ideal + lines + dots).properties(title=title, width=360, height=360)


def learning_chart(points: Sequence[Mapping[str, float]]) -> Any:
    """Return a chart of bits per template on held-out keys by number of training keys.

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
    return coloured((band + line).properties(title="Learning curve", width=420, height=260))


def entropy_chart(bits: Mapping[str, float], most: int = 30) -> Any:
    """Return a bar chart of the entropy of messages, the most uncertain first."""
    alt = altair()
    order = sorted(bits, key=lambda name: (-bits[name], name))
    shown = order[:most]
    values = [{"message": name, "bits": bits[name]} for name in shown]
    bars = alt.Chart(alt.InlineData(values=values)).encode(
        x=alt.X("bits:Q", title="bits"),
        y=alt.Y("message:N", sort=shown, title=None, axis=alt.Axis(labelLimit=240)),
        tooltip=["message:N", alt.Tooltip("bits:Q", format=".3f")],
    )
    hidden = len(order) - len(shown)
    more = f"; {hidden:,} less uncertain not shown" if hidden else ""
    title = f"Entropy of messages{more}"
    return _with_numbers(alt, bars, "bits:Q", ".2f", title=title, width=360)


BEFORE, AFTER = "pairs alone", "given the whole set"
MAX_NUMBERED = 12  # templates; squares of larger matrices are too small for numbers
SIDE = 280


def pairs_chart(distribution: Distribution | Result) -> Any:
    """Return the pairs alone and given the whole set, as two triangles.

    Incompatible pairs have a cross.
    """
    alt = altair()
    rows = list(pair_rows(distribution))
    chart = alt.Chart(alt.InlineData(values=rows))
    sides = (_triangle(alt, chart, distribution, when) for when in (BEFORE, AFTER))
    return coloured(alt.hconcat(*sides))


def pair_rows(distribution: Distribution | Result) -> Iterator[dict[str, Any]]:
    """Yield one row for each pair, before and after."""
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
        scale=alt.Scale(
            domain=[0, 1], range=[colour("surface"), colour("accent")], interpolate="rgb"
        ),
        title="probability",
    )
    hints = ["left:N", "right:N", alt.Tooltip("probability:Q", format=".4f")]
    squares = base.mark_rect(stroke=colour("rule")).encode(color=shade, tooltip=hints)
    if len(ids) <= MAX_NUMBERED:
        ink = alt.condition(
            alt.datum.probability > 0.5, alt.value(colour("on-accent")), alt.value(colour("ink"))
        )
        squares += base.mark_text(fontSize=11).encode(text="text:N", color=ink)
    return squares.properties(title=when, width=SIDE, height=SIDE)


def experiment_reliability_chart(rows: Sequence[ModelRow]) -> Any:
    """Return a reliability chart of pair probabilities, for each model."""
    bins = {row.model: row.pair_reliability for row in rows}
    return reliability_chart(bins, "Reliability of pair probabilities between .05 and .95")


def calibration_chart(row: ModelRow) -> Any:
    """Return the reliability of pairs, cells and configurations, and the errors by group."""
    alt = altair()
    bins = {
        "pairs": row.pair_reliability,
        "cells": row.cell_reliability,
        "configurations": row.configuration_reliability,
    }
    groups = [one for one in row.calibration if one.by != "all" and one.interval is not None]
    chart = _reliability(alt, {name: some for name, some in bins.items() if some}, "Reliability")
    return coloured(alt.hconcat(chart, _errors_chart(alt, groups)) if groups else chart)


def _errors_chart(alt: Any, groups: Sequence[CalibrationRow]) -> Any:
    values = [
        {"of": f"{one.of}s", "group": f"{one.by} {one.group}", "error": one.error}
        | ({"low": one.interval.low, "high": one.interval.high} if one.interval else {})
        for one in groups
    ]
    order = list(dict.fromkeys(value["group"] for value in values))
    kinds = list(dict.fromkeys(value["of"] for value in values))
    base = alt.Chart(alt.InlineData(values=values)).encode(
        y=alt.Y("group:N", sort=order, title=None),
        yOffset=alt.YOffset("of:N", sort=kinds),
        color=alt.Color("of:N", sort=kinds, title=None),
    )
    error = alt.X("error:Q", title="reliability error", scale=alt.Scale(domainMin=0))
    hints = [
        "of:N",
        "group:N",
        *(alt.Tooltip(f"{n}:Q", format=".3f") for n in ("error", "low", "high")),
    ]
    points = base.mark_point(filled=True).encode(x=error, tooltip=hints)
    ranges = base.mark_rule().encode(x=alt.X("low:Q", title="reliability error"), x2="high:Q")
    title = "Reliability error by size and genre, 95 % over messages"
    return (ranges + points).properties(title=title, width=300)


def sizes_chart(rows: Sequence[ModelRow]) -> Any:
    """Return a chart of bits per set by the size of sets, for each model."""
    alt = altair()
    values = [
        {"model": row.model, "size": one.size, "bits": one.bits_per_set}
        for row in rows
        for one in row.sizes
    ]
    sizes = list(dict.fromkeys(one.size for row in rows for one in row.sizes))
    models = [row.model for row in rows]
    return coloured(
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


MAX_LOG_ODDS = 40.0  # beyond, a chart shows no difference


def explanation_chart(explained: ExplainedPair) -> Any:
    """Return a waterfall of log-odds: features, then the influence of other templates."""
    alt = altair()
    data = alt.InlineData(values=list(waterfall_rows(explained)))
    base = alt.Chart(data).encode(y=alt.Y("label:N", sort=alt.SortField("order"), title=None))
    range_ = [colour(name) for name in ("up", "down", "accent")]
    colours = alt.Scale(domain=["for", "against", "sum"], range=range_)
    bars = base.mark_bar().encode(
        x=alt.X("from:Q", title="log-odds"),
        x2="to:Q",
        color=alt.Color("sign:N", scale=colours, title=None),
        tooltip=["label:N", "from:Q", "to:Q", "probability:Q"],
    )
    numbers = base.mark_text(align="left", dx=4).encode(
        x="end:Q", text=alt.Text("probability:Q", format=".3f")
    )
    return coloured((bars + numbers).properties(title=f"{explained.left} = {explained.right}"))


def waterfall_rows(explained: ExplainedPair) -> Iterator[dict[str, Any]]:
    """Yield start, end and probability for each feature and each other template."""
    pair, rest, noun = explained.pair, explained.rest, explained.noun
    position, order = 0.0, 0
    for contribution in (c for c in pair.contributions if c.weight) if pair is not None else ():
        yield _waterfall_row(order, contribution.feature, position, position + contribution.weight)
        position, order = position + contribution.weight, order + 1
    alone = _finite_log_odds(explained.probability) if pair is None else pair.log_odds
    yield _waterfall_row(order, "the pair alone", 0.0, alone, "sum")
    for step in rest.influences if rest is not None else ():
        order += 1
        yield _waterfall_row(
            order,
            f"with {influence_label(step, {}, noun)}",
            _finite_log_odds(step.before),
            _finite_log_odds(step.after),
        )
    yield _waterfall_row(
        order + 1, "given the whole set", 0.0, _finite_log_odds(explained.marginal), "sum"
    )


def _waterfall_row(
    order: int, label: str, start: float, end: float, sign: str = ""
) -> dict[str, Any]:
    return {
        "order": order,
        "label": label,
        "from": start,
        "to": end,
        "end": max(start, end),
        "probability": score_probability(end),
        "sign": sign or ("for" if end >= start else "against"),
    }


def _finite_log_odds(p: float) -> float:
    """Return log-odds within ±`MAX_LOG_ODDS`."""
    if 0.0 < p < 1.0:
        return max(-MAX_LOG_ODDS, min(MAX_LOG_ODDS, math.log(p) - math.log1p(-p)))
    return MAX_LOG_ODDS if p >= 1.0 else -MAX_LOG_ODDS
