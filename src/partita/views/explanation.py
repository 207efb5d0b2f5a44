"""Why two templates were (not) thought to be the same: text of 80 columns, and a waterfall."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from partita.pairs.explanation import Influence, PairExplanation, SetExplanation
from partita.views.words import number

WIDTH = 80
FIRM = 40.0  # log-odds beyond which a chart shows no difference


def text(
    pair: PairExplanation,
    rest: SetExplanation | None = None,
    expressions: Mapping[str, str] | None = None,
    width: int = WIDTH,
) -> str:
    """The features with their weights, then what the rest of the set did."""
    said = expressions or {}
    lines = [_cut(f"{_named(pair.left, said)} = {_named(pair.right, said)}", width), ""]
    lines += list(_features(pair, width))
    if rest is not None:
        lines += ["", *_rest(rest, said, width)]
    return "\n".join(lines) + "\n"


def _features(pair: PairExplanation, width: int) -> Iterator[str]:
    room = width - 22
    yield f"{'feature':{room}} {'weight':>9} {'so far':>10}"
    total = 0.0
    weighing = [one for one in pair.contributions if one.weight]
    for one in weighing:
        total += one.weight
        yield f"{_padded(one.feature, room)} {one.weight:+9.4f} {number(_logistic(total)):>10}"
    if idle := len(pair.contributions) - len(weighing):
        yield f"{idle} more characteristics weigh nothing"
    label = "the pair alone (sum of the weights, probability)"
    yield f"{_padded(label, room)} {pair.log_odds:+9.4f} {number(pair.probability):>10}"


def _rest(rest: SetExplanation, said: Mapping[str, str], width: int) -> Iterator[str]:
    room = width - 22
    yield f"{'what the rest of the set did':{room}} {'change':>9} {'so far':>10}"
    for step in rest.influences:
        change = step.after - step.before
        yield f"{_padded(_who(step, said), room)} {change:+9.4f} {number(step.after):>10}"
    change = rest.marginal - rest.probability
    label = "given everything else"
    yield f"{_padded(label, room)} {change:+9.4f} {number(rest.marginal):>10}"


def chart(pair: PairExplanation, rest: SetExplanation | None = None) -> Any:
    """A waterfall of log-odds: each bar begins where the one before it ended."""
    import altair as alt

    data = alt.InlineData(values=list(bars(pair, rest)))
    base = alt.Chart(data).encode(y=alt.Y("label:N", sort=alt.SortField("order"), title=None))
    colours = alt.Scale(domain=["for", "against", "sum"], range=["#4c78a8", "#e45756", "#72736e"])
    drawn = base.mark_bar().encode(
        x=alt.X("from:Q", title="log-odds"),
        x2="to:Q",
        color=alt.Color("sign:N", scale=colours, title=None),
        tooltip=["label:N", "from:Q", "to:Q", "probability:Q"],
    )
    told = base.mark_text(align="left", dx=4).encode(
        x="end:Q", text=alt.Text("probability:Q", format=".3f")
    )
    return (drawn + told).properties(title=f"{pair.left} = {pair.right}")


def bars(pair: PairExplanation, rest: SetExplanation | None = None) -> Iterator[dict[str, Any]]:
    """From, to and the probability reached, for each feature and then for each other template."""
    at, order = 0.0, 0
    for one in (c for c in pair.contributions if c.weight):
        yield _bar(order, one.feature, at, at + one.weight)
        at, order = at + one.weight, order + 1
    yield _bar(order, "the pair alone", 0.0, pair.log_odds, "sum")
    for step in rest.influences if rest is not None else ():
        order += 1
        yield _bar(order, f"with {_who(step, {})}", _firm(step.before), _firm(step.after))
    if rest is not None:
        yield _bar(order + 1, "given everything else", 0.0, _firm(rest.marginal), "sum")


def _bar(order: int, label: str, start: float, end: float, sign: str = "") -> dict[str, Any]:
    return {
        "order": order,
        "label": label,
        "from": start,
        "to": end,
        "end": max(start, end),
        "probability": _logistic(end),
        "sign": sign or ("for" if end >= start else "against"),
    }


def _firm(p: float) -> float:
    """Log-odds, kept finite."""
    if 0.0 < p < 1.0:
        return max(-FIRM, min(FIRM, math.log(p) - math.log1p(-p)))
    return FIRM if p >= 1.0 else -FIRM


def _logistic(score: float) -> float:
    return (1 + math.tanh(score / 2)) / 2


def _who(step: Influence, said: Mapping[str, str]) -> str:
    if len(step.templates) == 1:
        return _named(step.templates[0], said)
    return f"{len(step.templates)} other templates"


def _named(template: str, said: Mapping[str, str]) -> str:
    expression = " ".join(said.get(template, "").split())
    return f"{template} “{expression}”" if expression else template


def _padded(words: str, room: int) -> str:
    return f"{_cut(words, room):{room}}"


def _cut(words: str, room: int) -> str:
    shown = "".join(c if c.isprintable() else "·" for c in words)
    return shown if len(shown) <= room else f"{shown[: room - 1]}…"
