"""A message as HTML: its text with the entities in colour, and a table of them."""

from __future__ import annotations

from collections.abc import Sequence

from partita.core import Entity, Template
from partita.pipeline import Resolved
from partita.views.layout import interval_of, with_interval
from partita.views.markup import Html, bar_element, document, element, join_markup, shorten
from partita.views.palette import CELLS
from partita.views.report import policy
from partita.views.report_messages import drop_deep, mark_templates, slots_text
from partita.views.report_records import Colours
from partita.views.report_style import STYLE

MAX_TEXTS = 12  # different expressions shown of an entity


def html_frame(title: str) -> tuple[str, str]:
    """Return what stands before and after the messages of a page."""
    page = document(shorten(title, 120), STYLE, policy(), element("main", ""))
    before, _, after = page.rpartition("</main>")
    return before, f"</main>{after}"


def html_section(resolved: Resolved) -> Html:
    """Return a message: its text with every mention marked, and its entities.

    Entities of several mentions have a colour; the pointer on a mention shows the entity, its type
    and its probability.
    """
    colours = _colours(resolved)
    text = resolved.message.text
    drawn = drop_deep([one for one in resolved.templates if one.start < one.end <= len(text)])
    name = element("h3", shorten(resolved.message.id, 80))
    marked = element("div", mark_templates(text, drawn, colours), class_="message", dir="auto")
    return element("article", name, marked, _table(resolved, colours))


def _colours(resolved: Resolved) -> Colours:
    """Return the colour, label and hint of every mention, by its entity."""
    classes, labels, hints = {}, {}, {}
    several = 0
    for entity in resolved.entities:
        colour = f"c{several % CELLS}" if len(entity.templates) > 1 else "single"
        several += len(entity.templates) > 1
        for one in entity.templates:
            classes[one] = colour
            labels[one] = f"{entity.id} {shorten(entity.type, 40)}".strip()
            hints[one] = _hint(entity)
    return Colours(classes, labels, hints)


def _hint(entity: Entity) -> str:
    count = len(entity.templates)
    name = entity.name or next(iter(entity.descriptions), "")
    about = f"{count} mentions, probability {_probability(entity)}" if count > 1 else "1 mention"
    return " · ".join(filter(None, (entity.id, shorten(name, 60), entity.type, about)))


def _probability(entity: Entity) -> str:
    return with_interval(*interval_of(entity.figure))


def _table(resolved: Resolved, colours: Colours) -> Html:
    texts = {template.id: template for template in resolved.templates}
    order = sorted(resolved.entities, key=lambda entity: -len(entity.templates))
    rows = [_row(entity, [texts[one] for one in entity.templates], colours) for entity in order]
    titles = ("entity", "type", "mentions", "probability", "values")
    head = element("tr", *(element("th", title) for title in titles))
    table = element(
        "table", element("thead", head), element("tbody", join_markup(rows)), class_="entities"
    )
    return table if rows else element("p", "no mentions", class_="left-out")


def _row(entity: Entity, members: Sequence[Template], colours: Colours) -> Html:
    chip = element("span", entity.id, class_=f"chip {colours.classes[members[0].id]}")
    name = entity.name or next(iter(entity.descriptions), "") or members[0].text
    kinds = list(dict.fromkeys(shorten(one.text, 60) for one in members))
    shown = ", ".join(kinds[:MAX_TEXTS]) + (" …" if len(kinds) > MAX_TEXTS else "")
    share = join_markup([_probability(entity), bar_element(*interval_of(entity.figure))])
    return element(
        "tr",
        element("td", chip, " ", element("b", shorten(name, 80), dir="auto")),
        element("td", shorten(entity.type, 60)),
        element("td", f"{len(members)}: ", element("span", shown, dir="auto")),
        element("td", share, class_="share-of-cell"),
        element("td", slots_text(entity)),
    )
