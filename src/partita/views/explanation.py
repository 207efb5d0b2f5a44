"""Why two templates were (not) thought to be the same: text of 80 columns, and a waterfall."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from partita.pairs.explanation import Influence, PairExplanation, SetExplanation
from partita.views.charts import altair
from partita.views.layout import number

WIDTH = 80
FIRM = 40.0  # log-odds beyond which a chart shows no difference


@dataclass(frozen=True, slots=True)
class Told:
    """A pair, its own probability and what became of it."""

    left: str
    right: str
    probability: float
    marginal: float


def text(
    told: Told,
    pair: PairExplanation | None,
    rest: SetExplanation | None = None,
    expressions: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    width: int = WIDTH,
) -> str:
    """The features with their weights, then the influence of the other templates."""
    said = expressions or {}
    lines = [_cut(f"{_named(told.left, said)} = {_named(told.right, said)}", width)]
    for note in notes:
        lines += textwrap.wrap(note, width)
    if pair is not None:
        lines += ["", *_features(pair, width)]
    lines += ["", *(_rest(rest, said, width) if rest is not None else _ends(told, width))]
    return "\n".join(lines) + "\n"


def _ends(told: Told, width: int) -> Iterator[str]:
    yield f"{_padded('the pair alone', width - 12)} {number(told.probability):>11}"
    yield f"{_padded('given the whole set', width - 12)} {number(told.marginal):>11}"


def _features(pair: PairExplanation, width: int) -> Iterator[str]:
    room = width - 22
    yield f"{'feature':{room}} {'weight':>9} {'so far':>10}"
    total = 0.0
    weighing = [one for one in pair.contributions if one.weight]
    for one in weighing:
        total += one.weight
        yield f"{_padded(one.feature, room)} {one.weight:+9.4f} {number(_logistic(total)):>10}"
    if idle := len(pair.contributions) - len(weighing):
        yield f"{idle} more characteristics have weight 0"
    label = "the pair alone (sum of the weights, probability)"
    yield f"{_padded(label, room)} {pair.log_odds:+9.4f} {number(pair.probability):>10}"


def _rest(rest: SetExplanation, said: Mapping[str, str], width: int) -> Iterator[str]:
    room = width - 22
    yield f"{'influence of the other templates':{room}} {'change':>9} {'so far':>10}"
    yield f"{_padded('the pair alone', room)} {'':9} {number(rest.probability):>10}"
    for step in rest.influences:
        change = step.after - step.before
        yield f"{_padded(_who(step, said), room)} {change:+9.4f} {number(step.after):>10}"
    change = rest.marginal - rest.probability
    label = "given the whole set"
    yield f"{_padded(label, room)} {change:+9.4f} {number(rest.marginal):>10}"


def chart(told: Told, pair: PairExplanation | None, rest: SetExplanation | None = None) -> Any:
    """A waterfall of log-odds: each bar begins where the one before it ended."""
    alt = altair()
    data = alt.InlineData(values=list(bars(told, pair, rest)))
    base = alt.Chart(data).encode(y=alt.Y("label:N", sort=alt.SortField("order"), title=None))
    colours = alt.Scale(domain=["for", "against", "sum"], range=["#4c78a8", "#e45756", "#72736e"])
    drawn = base.mark_bar().encode(
        x=alt.X("from:Q", title="log-odds"),
        x2="to:Q",
        color=alt.Color("sign:N", scale=colours, title=None),
        tooltip=["label:N", "from:Q", "to:Q", "probability:Q"],
    )
    numbers = base.mark_text(align="left", dx=4).encode(
        x="end:Q", text=alt.Text("probability:Q", format=".3f")
    )
    return (drawn + numbers).properties(title=f"{told.left} = {told.right}")


def bars(
    told: Told, pair: PairExplanation | None, rest: SetExplanation | None = None
) -> Iterator[dict[str, Any]]:
    """From, to and the probability reached, for each feature and then for each other template."""
    at, order = 0.0, 0
    for one in (c for c in pair.contributions if c.weight) if pair is not None else ():
        yield _bar(order, one.feature, at, at + one.weight)
        at, order = at + one.weight, order + 1
    alone = _firm(told.probability) if pair is None else pair.log_odds
    yield _bar(order, "the pair alone", 0.0, alone, "sum")
    for step in rest.influences if rest is not None else ():
        order += 1
        yield _bar(order, f"with {_who(step, {})}", _firm(step.before), _firm(step.after))
    yield _bar(order + 1, "given the whole set", 0.0, _firm(told.marginal), "sum")


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
