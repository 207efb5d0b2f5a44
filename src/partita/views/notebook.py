"""Distributions and tables as HTML for notebooks, and a knowledge base as one page.

Every text is escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from partita.core import Distribution, Listed
from partita.core.configurations import in_text_order
from partita.views.layout import (
    configuration_count,
    figure_text,
    method_text,
    optimality_note,
    remainder_text,
)
from partita.views.markup import (
    STYLE,
    Html,
    document,
    element,
    table_element,
    table_row,
    tinted,
)

if TYPE_CHECKING:
    from partita.collection.knowledge import Knowledge

MAX_ROWS = 20  # of a table
MAX_CONFIGURATIONS = 20
MAX_MATRIX = 30  # templates
WIDTH = 12  # of a bar for probability 1, in em
MIN_SHOWN = 0.00005  # what is smaller would be shown as 0.0000


def share_text(p: float) -> str:
    """Format a probability with four digits; only 0 is 0.0000."""
    return f"{p:.4f}" if p == 0.0 or p >= MIN_SHOWN else "<0.0001"


def table_html(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return the first rows of a table; numbers from 0 to 1 have a bar."""
    shown = {name: column[:MAX_ROWS] for name, column in columns.items()}
    total = len(next(iter(columns.values()), ()))
    head = element("tr", *(element("th", name) for name in shown))
    cells = [
        [_bar_cell(value) for value in column] if _are_shares(column) else list(map(_cell, column))
        for column in shown.values()
    ]
    rows = (element("tr", *row) for row in zip(*cells, strict=True))
    more = (element("p", f"{total - MAX_ROWS:,} more rows"),) if total > MAX_ROWS else ()
    return element("div", table_element([head, *rows]), *more, class_="partita")


def _are_shares(column: Sequence[Any]) -> bool:
    return len(column) > 0 and all(isinstance(v, float) and 0.0 <= v <= 1.0 for v in column)


def _bar_cell(p: float) -> Html:
    """Return a cell with the number, and a bar of its size behind it."""
    bar = f"linear-gradient(90deg,{tinted('fill', 0.35)} {p:.1%},transparent {p:.1%})"
    return element("td", share_text(p), style=f"background:{bar};min-width:5em;text-align:right")


def _cell(value: Any) -> Html:
    if isinstance(value, float):
        return element("td", f"{value:.4f}", style="text-align:right")
    if isinstance(value, list | tuple):
        return element("td", ", ".join(map(str, value)))
    return element("td", "" if value is None else str(value))


def distribution_html(distribution: Distribution) -> str:
    """Return a distribution: its size, its configurations and the matrix of its pairs."""
    parts = [_caption(distribution), _configurations(distribution), _matrix(distribution)]
    return element("div", *parts, class_="partita")


def _caption(distribution: Distribution) -> Html:
    facts = [
        f"{len(distribution.set)} templates",
        configuration_count(distribution),
        f"{distribution.model}, {method_text(distribution)}",
        f"entropy {figure_text(distribution.figures.entropy_bits)} bits",
    ]
    if distribution.conflict is not None:
        facts.append(f"conflict κ {distribution.conflict:.5f}")
    facts += filter(None, [optimality_note(distribution)])
    name = (element("b", distribution.set.name), " ") if distribution.set.name else ()
    return element("p", *name, " · ".join(facts), title=distribution.reason)


def _configurations(distribution: Distribution) -> Html:
    place = {name: n for n, name in enumerate(distribution.set.ids)}
    shown = distribution.configurations[:MAX_CONFIGURATIONS]
    rows = (_configuration(one, place) for one in shown)
    hidden = len(distribution.configurations) - len(shown)
    more = f"{hidden} more listed; " if hidden else ""
    rest = element("tr", element("td", more + remainder_text(distribution), colspan=3))
    head = element("tr", *(element("th", name) for name in ("configuration", "probability", "")))
    return table_element([head, *rows, rest])


def _configuration(listed: Listed, place: dict[str, int]) -> Html:
    cells = " ".join(
        f"({' '.join(map(str, c))})" for c in in_text_order(listed.configuration, place)
    )
    size = f"height:.8em;width:{listed.probability * WIDTH:.2f}em"
    bar = element("div", style=f"background:{tinted('fill', 1.0)};{size}")
    return table_row(cells, _share(listed), bar)


def _share(listed: Listed) -> str:
    """Return a probability, with its interval if that is wide enough to show."""
    p = share_text(listed.probability)
    if listed.interval is None:
        return p
    low, high = (share_text(min(max(end, 0.0), 1.0)) for end in listed.interval)
    return p if low == high else f"{p} [{low}, {high}]"


def _matrix(distribution: Distribution) -> Html:
    """Return the matrix of pair marginals; the tooltip shows the pair alone."""
    ids = distribution.set.ids
    if len(ids) > MAX_MATRIX:
        return element("p", f"{len(ids)} templates: the matrix of pairs is not shown")
    titles = [element("th", str(name)) for name in ids]
    pairs = ([_pair(distribution, a, b) for b in range(len(ids))] for a in range(len(ids)))
    rows = (element("tr", title, *row) for title, row in zip(titles, pairs, strict=True))
    return table_element([element("tr", element("th"), *titles), *rows])


def _pair(distribution: Distribution, a: int, b: int) -> Html:
    if a == b:
        return element("td")
    p = float(distribution.marginals.value[a, b])
    alone = share_text(float(distribution.probabilities[a, b]))
    ink = "#fff" if p > 0.6 else "inherit"
    style = f"background:{tinted('accent', p)};color:{ink}"
    return element("td", share_text(p), style=style, title=f"pair alone {alone}")


CARDS = 2000  # entities of the page, the largest first


def knowledge_page(kb: Knowledge) -> Iterator[str]:
    """Yield one page that needs nothing else: a card for each entity."""
    from partita.collection.exports import entity_rows

    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    own = f"style-src 'sha256-{digest}'"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    page = document("Knowledge base", STYLE, policy, element("main", ""))
    before, _, after = page.rpartition("</main>")
    yield before
    yield f"<h1>{len(kb.members):,} entities in {len(kb.documents):,} documents</h1>"
    for row in list(entity_rows(kb))[:CARDS]:
        yield _card(kb, row)
    if len(kb.members) > CARDS:
        yield f"<p>The other {len(kb.members) - CARDS:,} entities are in the tables.</p>"
    yield f"</main>{after}"


def _card(kb: Knowledge, row: Mapping[str, Any]) -> str:
    also = f" — also {escape(', '.join(row['aliases'][:8]))}" if row["aliases"] else ""
    places = "".join(
        f"<li>{escape(kb.records[n].label)} in {escape(kb.records[n].document)}"
        f" ({kb.membership[n]:.2f})</li>"
        for n in kb.members[row["entity"]][:20]
    )
    return (f'<section id="{row["entity"]}"><h2>{escape(row["name"])}</h2>'
            f"<p>{row['entity']}, {escape(row['type'] or 'unknown')}, in {row['documents']} "
            f"documents, certainty {row['certainty']:.2f}{also}</p><ul>{places}</ul>"
            "</section>")  # fmt: skip
