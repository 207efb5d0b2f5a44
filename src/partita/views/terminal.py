"""A distribution as plain text for a terminal: configurations with bars, pairs before and after."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np

from partita.formats.results import in_text_order
from partita.records import Distribution, Listed
from partita.views.layout import (
    BAR,
    bar,
    bold,
    clean,
    coloured,
    columns,
    cut,
    indented,
    padded,
    wrapped,
)
from partita.views.words import counted, figure, how, left_out, number, obtained, proof, ranged

PAIRS = 15


def text(distribution: Distribution, width: int = 80, colour: bool = False) -> str:
    """Everything a person wants to see of one set, at most `width` columns wide."""
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
    told = textwrap.wrap(f"{title} {', '.join(map(clean, names))}", width, subsequent_indent="  ")
    return "\n".join(told) + "\n"


def heading(distribution: Distribution, width: int) -> str:
    """The set, its size, and by which model."""
    name = clean(distribution.set.name)
    size = len(distribution.set)
    title = f"Set {name}: " if name else ""
    return cut(f"{title}{size} templates, {counted(distribution)}, {distribution.model}", width)


def _templates(distribution: Distribution, width: int) -> list[str]:
    """The expressions, where the templates have any."""
    said = [t for t in distribution.set.templates if t.text]
    wide = max((columns(clean(t.id)) for t in said), default=0)
    return [cut(f"  {padded(clean(t.id), wide)}  {clean(t.text)}", width) for t in said]


def configuration_rows(distribution: Distribution, width: int, colour: bool) -> list[str]:
    """The listed configurations with their probabilities and bars."""
    shown = [_shown(distribution, one) for one in distribution.configurations]
    figures = [ranged(one.probability, one.interval) for one in distribution.configurations]
    right = max(map(len, figures), default=0)
    room = max(width - right - BAR - 6, 20)
    wide = min(max(map(columns, shown), default=0), room)
    lines = []
    for cells, told, one in zip(shown, figures, distribution.configurations, strict=True):
        first, *more = wrapped(cells, room)
        drawn = coloured(bar(one.probability), colour)
        lines.append(f"  {padded(first, wide)}  {told:>{right}}  {drawn}".rstrip())
        lines += [f"    {rest}" for rest in more]
    return lines


def _shown(distribution: Distribution, listed: Listed) -> str:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    cells = in_text_order(listed.configuration, place)
    return " ".join(f"({' '.join(map(clean, cell))})" for cell in cells)


def _pairs(distribution: Distribution, width: int) -> list[str]:
    """Pairs as given and as they came out; of many those that changed most."""
    ids = [clean(name) for name in distribution.set.ids]
    given, came = distribution.probabilities, distribution.marginals
    left, right = np.nonzero(np.triu(given > 0.0, 1))
    change = np.abs(came.value[left, right] - given[left, right])
    chosen = np.sort(np.argsort(-change, kind="stable")[:PAIRS]).tolist()
    rows = []
    for n in chosen:
        at = (left[n], right[n])
        spread = None if came.kind == "exact" else (float(came.low[at]), float(came.high[at]))
        told = ranged(float(came.value[at]), spread)
        rows.append((f"{ids[at[0]]} = {ids[at[1]]}", f"{number(float(given[at]))} → {told}"))
    wide = min(max((columns(name) for name, _ in rows), default=0), max(width - 44, 10))
    lines = [f"  {padded(cut(name, wide), wide)}  {told}" for name, told in rows]
    if len(left) > len(chosen):
        lines.append(f"  {len(left) - len(chosen):,} more pairs changed less")
    return ["Pairs, as given → given everything else", *lines] if lines else ["No pair may corefer"]


def _facts(distribution: Distribution, width: int) -> list[str]:
    facts = [f"entropy {figure(distribution.entropy_bits)} bits"]
    if distribution.conflict is not None:
        facts.append(f"conflict κ {distribution.conflict:.5f}")
    cost = f"pruning cost {distribution.pruned:.3g}" if distribution.pruned else ""
    told = filter(None, [", ".join(facts), how(distribution), proof(distribution), cost])
    return [row for fact in told for row in textwrap.wrap(fact, width)]
