"""Distributions and tables as HTML for notebooks, with bars; every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from partita.core import Distribution, Listed
from partita.core.configurations import in_text_order
from partita.views.layout import (
    configuration_count,
    figure_text,
    method_text,
    optimality_note,
    remainder_text,
)
from partita.views.palette import tinted

MAX_ROWS = 20  # of a table
MAX_CONFIGURATIONS = 20
MAX_MATRIX = 30  # templates
WIDTH = 12  # of a bar for probability 1, in em
MIN_SHOWN = 0.00005  # what is smaller would be shown as 0.0000


def share_text(p: float) -> str:
    """Format a probability with four digits; only 0 is 0.0000."""
    return f"{p:.4f}" if p == 0.0 or p >= MIN_SHOWN else "&lt;0.0001"


def table_html(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return the first rows of a table; numbers from 0 to 1 have a bar."""
    shown = {name: column[:MAX_ROWS] for name, column in columns.items()}
    total = len(next(iter(columns.values()), ()))
    head = "".join(f"<th>{escape(name)}</th>" for name in shown)
    cells = [
        [_bar_cell(value) for value in column] if _are_shares(column) else list(map(_cell, column))
        for column in shown.values()
    ]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    more = f"<p>{total - MAX_ROWS:,} more rows</p>" if total > MAX_ROWS else ""
    return f'<div class="partita"><table><tr>{head}</tr>{body}</table>{more}</div>'


def _are_shares(column: Sequence[Any]) -> bool:
    return len(column) > 0 and all(isinstance(v, float) and 0.0 <= v <= 1.0 for v in column)


def _bar_cell(p: float) -> str:
    """Return a cell with the number, and a bar of its size behind it."""
    bar = f"linear-gradient(90deg,{tinted('fill', 0.35)} {p:.1%},transparent {p:.1%})"
    return f'<td style="background:{bar};min-width:5em;text-align:right">{share_text(p)}</td>'


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f'<td style="text-align:right">{value:.4f}</td>'
    if isinstance(value, list | tuple):
        return f"<td>{escape(', '.join(map(str, value)))}</td>"
    return f"<td>{escape('' if value is None else str(value))}</td>"


def distribution_html(distribution: Distribution) -> str:
    """Return a distribution: its size, its configurations and the matrix of its pairs."""
    parts = [_caption(distribution), _configurations(distribution), _matrix(distribution)]
    return f'<div class="partita">{"".join(parts)}</div>'


def _caption(distribution: Distribution) -> str:
    facts = [
        f"{len(distribution.set)} templates",
        configuration_count(distribution),
        f"{distribution.model}, {method_text(distribution)}",
        f"entropy {figure_text(distribution.figures.entropy_bits)} bits",
    ]
    if distribution.conflict is not None:
        facts.append(f"conflict κ {distribution.conflict:.5f}")
    facts += filter(None, [optimality_note(distribution)])
    name = f"<b>{escape(distribution.set.name)}</b> " if distribution.set.name else ""
    return f'<p title="{escape(distribution.reason)}">{name}{escape(" · ".join(facts))}</p>'


def _configurations(distribution: Distribution) -> str:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    shown = distribution.configurations[:MAX_CONFIGURATIONS]
    rows = "".join(_configuration(one, place) for one in shown)
    hidden = len(distribution.configurations) - len(shown)
    more = f"{hidden} more listed; " if hidden else ""
    rest = f'<tr><td colspan="3">{escape(more + remainder_text(distribution))}</td></tr>'
    head = "<tr><th>configuration</th><th>probability</th><th></th></tr>"
    return f"<table>{head}{rows}{rest}</table>"


def _configuration(listed: Listed, place: dict[str, int]) -> str:
    cells = " ".join(
        f"({' '.join(map(str, c))})" for c in in_text_order(listed.configuration, place)
    )
    size = f"height:.8em;width:{listed.probability * WIDTH:.2f}em"
    bar = f'<div style="background:{tinted("fill", 1.0)};{size}"></div>'
    return f"<tr><td>{escape(cells)}</td><td>{_share(listed)}</td><td>{bar}</td></tr>"


def _share(listed: Listed) -> str:
    """Return a probability, with its interval if that is wide enough to show."""
    p = share_text(listed.probability)
    if listed.interval is None:
        return p
    low, high = (share_text(min(max(end, 0.0), 1.0)) for end in listed.interval)
    return p if low == high else f"{p} [{low}, {high}]"


def _matrix(distribution: Distribution) -> str:
    """Return the matrix of pair marginals; the tooltip shows the pair alone."""
    ids = distribution.set.ids
    if len(ids) > MAX_MATRIX:
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
    alone = share_text(float(distribution.probabilities[a, b]))
    ink = "#fff" if p > 0.6 else "inherit"
    style = f"background:{tinted('accent', p)};color:{ink}"
    return f'<td style="{style}" title="pair alone {alone}">{share_text(p)}</td>'
