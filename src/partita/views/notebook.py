"""A distribution as HTML for a notebook: configurations with bars, and the matrix of pairs."""

from __future__ import annotations

from html import escape

from partita.formats.results import in_text_order
from partita.records import Distribution, Listed
from partita.views.words import counted, figure, left_out, number, obtained, proof, ranged

CONFIGURATIONS = 20
MATRIX = 30


def html(distribution: Distribution) -> str:
    """One block of HTML that needs nothing from elsewhere; every text in it is escaped."""
    parts = [_caption(distribution), _configurations(distribution), _matrix(distribution)]
    return f'<div class="partita">{"".join(parts)}</div>'


def _caption(distribution: Distribution) -> str:
    facts = [
        f"{len(distribution.set)} templates",
        counted(distribution),
        f"{distribution.model}, {obtained(distribution)}",
        f"entropy {figure(distribution.entropy_bits)} bits",
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
    cells = " ".join(f"({' '.join(c)})" for c in in_text_order(listed.configuration, place))
    bar = (
        f'<div style="background:#4c78a8;height:.8em;width:{listed.probability * 12:.2f}em"></div>'
    )
    told = escape(ranged(listed.probability, listed.interval))
    return f"<tr><td>{escape(cells)}</td><td>{told}</td><td>{bar}</td></tr>"


def _matrix(distribution: Distribution) -> str:
    """Marginals of pairs; hovering tells what was given."""
    ids = distribution.set.ids
    if len(ids) > MATRIX:
        return f"<p>{len(ids)} templates: the matrix of pairs is not shown</p>"
    head = "".join(f"<th>{escape(name)}</th>" for name in ids)
    rows = ""
    for a, name in enumerate(ids):
        cells = "".join(_pair(distribution, a, b) for b in range(len(ids)))
        rows += f"<tr><th>{escape(name)}</th>{cells}</tr>"
    return f"<table><tr><th></th>{head}</tr>{rows}</table>"


def _pair(distribution: Distribution, a: int, b: int) -> str:
    if a == b:
        return "<td></td>"
    p = float(distribution.marginals.value[a, b])
    given = number(float(distribution.probabilities[a, b]))
    ink = "#fff" if p > 0.5 else "inherit"
    style = f"background:rgba(76,120,168,{p:.3f});color:{ink}"
    return f'<td style="{style}" title="given {given}">{number(p)}</td>'
