"""A distribution as plain text and as HTML for notebooks."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from html import escape

import numpy as np

from partita.records import Distribution, Listed
from partita.results.result_lines import in_text_order
from partita.views.layout import (
    BAR,
    bar,
    bold,
    clean,
    coloured,
    columns,
    counted,
    cut,
    figure,
    how,
    indented,
    left_out,
    number,
    obtained,
    padded,
    proof,
    ranged,
    wrapped,
)

PAIRS = 15


def text(distribution: Distribution, width: int = 80, colour: bool = False) -> str:
    """A distribution as plain text, at most `width` columns wide."""
    parts = [
        bold(heading(distribution, width), colour),
        *_templates(distribution, width),
        "",
        *configuration_rows(distribution, width, colour),
        *indented(left_out(distribution), width),
        "",
        *_pairs(distribution, width),
        "",
        *_facts(distribution, width),
    ]
    return "\n".join(parts) + "\n"


def line(distribution: Distribution, width: int = 80) -> str:
    """One set in one line: its most probable configuration."""
    first = distribution.configurations[0]
    start = f"{clean(distribution.set.name)}  {number(first.probability)}  "
    if distribution.method != "exact":
        start += f"{obtained(distribution)}  "
    return cut(start + _shown(distribution, first), width)


def names_text(title: str, names: Sequence[str], width: int = 80) -> str:
    """A list of ids, wrapped."""
    lines = textwrap.wrap(f"{title} {', '.join(map(clean, names))}", width, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


def heading(distribution: Distribution, width: int) -> str:
    """The set, its size, and by which model."""
    name = clean(distribution.set.name)
    size = len(distribution.set)
    title = f"Set {name}: " if name else ""
    return cut(f"{title}{size} templates, {counted(distribution)}, {distribution.model}", width)


def _templates(distribution: Distribution, width: int) -> list[str]:
    """The expressions, where the templates have any."""
    members = [t for t in distribution.set.templates if t.text]
    wide = max((columns(clean(t.id)) for t in members), default=0)
    return [cut(f"  {padded(clean(t.id), wide)}  {clean(t.text)}", width) for t in members]


def configuration_rows(distribution: Distribution, width: int, colour: bool) -> list[str]:
    """The listed configurations with their probabilities and bars."""
    shown = [_shown(distribution, one) for one in distribution.configurations]
    figures = [ranged(one.probability, one.interval) for one in distribution.configurations]
    right = max(map(len, figures), default=0)
    room = max(width - right - BAR - 6, 20)
    wide = min(max(map(columns, shown), default=0), room)
    lines = []
    for cells, share, one in zip(shown, figures, distribution.configurations, strict=True):
        first, *more = wrapped(cells, room)
        drawn = coloured(bar(one.probability), colour)
        lines.append(f"  {padded(first, wide)}  {share:>{right}}  {drawn}".rstrip())
        lines += [f"    {rest}" for rest in more]
    return lines


def _shown(distribution: Distribution, listed: Listed) -> str:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    cells = in_text_order(listed.configuration, place)
    return " ".join(f"({' '.join(map(clean, cell))})" for cell in cells)


def _pairs(distribution: Distribution, width: int) -> list[str]:
    """Pairs alone and given the whole set; of many, those that changed most."""
    ids = [clean(name) for name in distribution.set.ids]
    alone, marginals = distribution.probabilities, distribution.marginals
    left, right = np.nonzero(np.triu(alone > 0.0, 1))
    change = np.abs(marginals.value[left, right] - alone[left, right])
    chosen = np.sort(np.argsort(-change, kind="stable")[:PAIRS]).tolist()
    rows = []
    for n in chosen:
        at = (left[n], right[n])
        spread = (
            None
            if marginals.kind == "exact"
            else (float(marginals.low[at]), float(marginals.high[at]))
        )
        share = ranged(float(marginals.value[at]), spread)
        rows.append((f"{ids[at[0]]} = {ids[at[1]]}", f"{number(float(alone[at]))} → {share}"))
    wide = min(max((columns(name) for name, _ in rows), default=0), max(width - 44, 10))
    lines = [f"  {padded(cut(name, wide), wide)}  {share}" for name, share in rows]
    if len(left) > len(chosen):
        lines.append(f"  {len(left) - len(chosen):,} more pairs changed less")
    return ["Pairs, alone → given the whole set", *lines] if lines else ["No pair can corefer"]


def _facts(distribution: Distribution, width: int) -> list[str]:
    facts = [f"entropy {figure(distribution.figures.entropy_bits)} bits"]
    if distribution.conflict is not None:
        facts.append(f"conflict κ {distribution.conflict:.5f}")
    cost = f"pruning cost {distribution.pruned:.3g}" if distribution.pruned else ""
    parts = filter(None, [", ".join(facts), how(distribution), proof(distribution), cost])
    return [row for fact in parts for row in textwrap.wrap(fact, width)]


CONFIGURATIONS = 20
MATRIX = 30


def html(distribution: Distribution) -> str:
    """A self-contained block of HTML; every text in it is escaped."""
    parts = [_caption(distribution), _configurations(distribution), _matrix(distribution)]
    return f'<div class="partita">{"".join(parts)}</div>'


def _caption(distribution: Distribution) -> str:
    facts = [
        f"{len(distribution.set)} templates",
        counted(distribution),
        f"{distribution.model}, {obtained(distribution)}",
        f"entropy {figure(distribution.figures.entropy_bits)} bits",
    ]
    if distribution.conflict is not None:
        facts.append(f"conflict κ {distribution.conflict:.5f}")
    facts += filter(None, [proof(distribution)])
    name = f"<b>{escape(distribution.set.name)}</b> " if distribution.set.name else ""
    return f'<p title="{escape(distribution.reason)}">{name}{escape(" · ".join(facts))}</p>'


def _configurations(distribution: Distribution) -> str:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    shown = distribution.configurations[:CONFIGURATIONS]
    rows = "".join(_configuration(one, place) for one in shown)
    hidden = len(distribution.configurations) - len(shown)
    more = f"{hidden} more listed; " if hidden else ""
    rest = f'<tr><td colspan="3">{escape(more + left_out(distribution))}</td></tr>'
    head = "<tr><th>configuration</th><th>probability</th><th></th></tr>"
    return f"<table>{head}{rows}{rest}</table>"


def _configuration(listed: Listed, place: dict[str, int]) -> str:
    cells = " ".join(
        f"({' '.join(map(str, c))})" for c in in_text_order(listed.configuration, place)
    )
    bar = (
        f'<div style="background:#4c78a8;height:.8em;width:{listed.probability * 12:.2f}em"></div>'
    )
    share = escape(ranged(listed.probability, listed.interval))
    return f"<tr><td>{escape(cells)}</td><td>{share}</td><td>{bar}</td></tr>"


def _matrix(distribution: Distribution) -> str:
    """Marginals of pairs; hovering shows the probability of the pair alone."""
    ids = distribution.set.ids
    if len(ids) > MATRIX:
        return f"<p>{len(ids)} templates: the matrix of pairs is not shown</p>"
    head = "".join(f"<th>{escape(str(name))}</th>" for name in ids)
    rows = ""
    for a, name in enumerate(ids):
        cells = "".join(_pair(distribution, a, b) for b in range(len(ids)))
        rows += f"<tr><th>{escape(str(name))}</th>{cells}</tr>"
    return f"<table><tr><th></th>{head}</tr>{rows}</table>"


def _pair(distribution: Distribution, a: int, b: int) -> str:
    if a == b:
        return "<td></td>"
    p = float(distribution.marginals.value[a, b])
    alone = number(float(distribution.probabilities[a, b]))
    ink = "#fff" if p > 0.5 else "inherit"
    style = f"background:rgba(76,120,168,{p:.3f});color:{ink}"
    return f'<td style="{style}" title="pair alone {alone}">{number(p)}</td>'
