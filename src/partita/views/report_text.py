"""The text of a message with its templates marked, however they lie in each other.

Marks that cross are cut where the other one begins or ends, so that the page stays a tree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from partita.records import Template
from partita.views.markup import Html, element, joined
from partita.views.report_colours import Colours
from partita.views.report_records import ReportMessage

MOST = 40_000  # characters of a message
DEPTH = 3  # marks in each other that are told apart
DEEPEST = 20  # and that are drawn at all


def marked_text(message: ReportMessage, colours: Colours) -> Html:
    """The text, or the expressions alone where there is no text."""
    if message.text is None:
        return _expressions(message, colours)
    text = message.text[:MOST]
    inside = [t for t in message.templates if t.start < t.end <= len(text)]
    placed = shallow(inside)
    parts = [element("div", marked(text, placed, colours), class_="message", dir="auto")]
    if hidden := len(message.text) - len(text):
        parts.append(element("p", f"{hidden:,} more characters are not shown", class_="left-out"))
    if deep := len(inside) - len(placed):
        told = f"{deep:,} more lie in {DEEPEST} others and are not marked"
        parts.append(element("p", told, class_="left-out"))
    if lost := len(message.templates) - len(inside):
        told = f"{lost:,} {'template has' if lost == 1 else 'templates have'} no place in this text"
        parts.append(element("p", told, class_="left-out"))
    return joined(parts)


def shallow(templates: Sequence[Template]) -> list[Template]:
    """Those that begin in fewer than so many others: of more nobody sees anything."""
    kept: list[Template] = []
    open_: list[int] = []
    for one in sorted(templates, key=lambda t: (t.start, -t.end)):
        open_ = [end for end in open_ if end > one.start]
        if len(open_) < DEEPEST:
            open_.append(one.end)
            kept.append(one)
    return kept


def marked(text: str, templates: Sequence[Template], colours: Colours) -> Html:
    """The whole text, with an element for every stretch of every template."""
    spans = sorted(templates, key=lambda t: (t.start, -t.end))
    edges = sorted({0, len(text), *(t.start for t in spans), *(t.end for t in spans)})
    return joined(_inside(text, spans, edges, colours))


def _inside(
    text: str, spans: Sequence[Template], edges: Sequence[int], colours: Colours
) -> Iterator[Html]:
    """What lies between edges: plain text, or the outermost template there with what is in it.

    Both are sorted, so what has ended is passed once and what begins too late ends the search.
    """
    n = first = 0
    while n < len(edges) - 1:
        start, end = edges[n], edges[n + 1]
        while first < len(spans) and spans[first].end <= start:
            first += 1
        if first == len(spans) or spans[first].start > start:
            yield joined([text[start:end]])
            n += 1
            continue
        outer = spans[first]
        stop = bisect_left(edges, min(outer.end, edges[-1]))
        last = bisect_left(spans, edges[stop], lo=first, key=lambda one: one.start)
        rest = [one for one in spans[first + 1 : last] if one.end > start]
        within = joined(_inside(text, rest, edges[n : stop + 1], colours))
        yield _mark(outer, within, _depth(rest), colours, ends=edges[stop] == outer.end)
        n = stop


def _depth(inner: Sequence[Template]) -> int:
    """How many lie in each other here, so that their lines do not run into each other."""
    points = sorted({t.start for t in inner})
    return max((sum(t.start <= at < t.end for t in inner) for at in points), default=0)


def _mark(template: Template, inside: Html, depth: int, colours: Colours, ends: bool) -> Html:
    known = colours.classes.get(template.id, "none")
    name = colours.cells.get(template.id, "")
    label = (element("sub", name),) if name and ends else ()
    return element(
        "mark",
        inside,
        *label,
        class_=f"{known} d{min(depth, DEPTH)}",
        title=colours.hints.get(template.id),
    )


def _expressions(message: ReportMessage, colours: Colours) -> Html:
    """In text order, as far as that is known."""
    told = [_expression(template, colours) for template in message.templates[:MOST]]
    return element("ul", joined(told), class_="expressions")


def _expression(template: Template, colours: Colours) -> Html:
    known = colours.classes.get(template.id, "none")
    text = template.text or template.id
    return element("li", element("mark", text, class_=known, title=colours.hints[template.id]))
