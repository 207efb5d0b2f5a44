"""A knowledge base as one HTML page: a graph and a card for each entity."""

from __future__ import annotations

import base64
import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from partita.collection.exports import edges_of, entity_rows
from partita.collection.knowledge import Knowledge
from partita.views.markup import document, element
from partita.views.palette import STYLE

CARDS = 2000  # entities of the page, the largest first
DRAWN = 150  # nodes of its graph


def knowledge_page(kb: Knowledge) -> Iterator[str]:
    """Yield one page that needs nothing else: a graph and a card for each entity."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    own = f"style-src 'sha256-{digest}'"
    policy = f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"
    page = document("Knowledge base", STYLE, policy, element("main", ""))
    before, _, after = page.rpartition("</main>")
    yield before
    yield f"<h1>{len(kb.members):,} entities in {len(kb.documents):,} documents</h1>"
    yield _drawing(kb)
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


def _drawing(kb: Knowledge) -> str:
    """Return a circle of the largest entities, joined where they share documents or relations."""
    names = [row["entity"] for row in entity_rows(kb) if row["type"] != "time"][:DRAWN]
    angle = {name: 2 * math.pi * n / max(len(names), 1) for n, name in enumerate(names)}
    place = {name: (400 + 330 * math.cos(a), 400 + 330 * math.sin(a)) for name, a in angle.items()}
    shared: Counter[tuple[str, str]] = Counter()
    home: dict[str, list[str]] = defaultdict(list)
    for name in names:
        for n in kb.members[name]:
            home[kb.records[n].document].append(name)
    for inside in home.values():
        own = sorted(set(inside))
        shared.update((a, b) for k, a in enumerate(own) for b in own[k + 1 :])
    shared.update((a, b) for a, b, _ in edges_of(kb) if a in place and b in place)
    lines = "".join(
        f'<line x1="{place[a][0]:.0f}" y1="{place[a][1]:.0f}" x2="{place[b][0]:.0f}" '
        f'y2="{place[b][1]:.0f}" stroke="currentColor" stroke-opacity="{min(0.1 * k, 0.6):.1f}"/>'
        for (a, b), k in shared.most_common(600)
    )
    dots = "".join(
        f'<a href="#{name}"><circle cx="{x:.0f}" cy="{y:.0f}" r="5" fill="currentColor">'
        f"<title>{escape(kb.name_of(name))}</title></circle></a>"
        for name, (x, y) in place.items()
    )
    title = "Entities that share documents or relations"
    return f'<svg viewBox="0 0 800 800" role="img" aria-label="{title}">{lines}{dots}</svg>'
