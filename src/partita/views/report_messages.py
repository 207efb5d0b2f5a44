"""The messages of a report: text, entities and sets."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from partita.records import Entity, Figure, SlotValue, Template
from partita.views.layout import ranged
from partita.views.markup import Html, bar, cut, element, joined
from partita.views.message import counted
from partita.views.report_records import Colours, MessageRow, ReportMessage, colours_by_set, shown
from partita.views.report_sets import left_out, set_section

ENTITIES = 100
VALUES = 6
SURE = 0.99995  # what rounds to 1 needs no number


def entities_table(entities: Sequence[Entity], alone: Sequence[Template], colours: Colours) -> Html:
    """Merged entities first, then the templates that corefer with no other."""
    rows = [_entity(entity, colours) for entity in entities[:ENTITIES]]
    rows += [_alone(template, colours) for template in alone[: max(ENTITIES - len(rows), 0)]]
    if not rows:
        return joined([])
    titles = ("entity", "templates", "probability", "slots")
    head = element("tr", *(element("th", title) for title in titles))
    parts = [
        element("table", element("thead", head), element("tbody", joined(rows)), class_="entities")
    ]
    if hidden := len(entities) + len(alone) - len(rows):
        parts.append(element("p", f"{hidden:,} more are not shown", class_="left-out"))
    return element("div", element("h4", "Entities"), *parts)


def _entity(entity: Entity, colours: Colours) -> Html:
    name = entity.name or next(iter(entity.descriptions), "")
    colour = colours.classes.get(entity.anchor, "none")
    title = joined(
        [
            element("span", cut(entity.id, 40), class_=f"chip {colour}"),
            element("b", cut(name, 80), dir="auto"),
            element("small", cut(entity.sort, 60)),
        ],
        " ",
    )
    share = joined([_probability(entity.figure), bar(*_spread(entity.figure))])
    return element(
        "tr",
        element("td", title),
        element("td", colours.cell(list(entity.templates))),
        element("td", share, class_="share-of-cell"),
        element("td", _slots(entity)),
    )


def _alone(template: Template, colours: Colours) -> Html:
    """A template in no set: it has no probability."""
    title = joined(
        [
            element("b", cut(template.text, 80), dir="auto"),
            element("small", cut(template.sort, 60)),
        ],
        " ",
    )
    slots = [_slot(name, joined([shown(value)])) for name, value in template.slots.items()]
    return element(
        "tr",
        element("td", title),
        element("td", colours.cell([template.id])),
        element("td", element("small", "alone")),
        element("td", joined(slots)),
    )


def _slots(entity: Entity) -> Html:
    return joined(_slot(name, _values(values)) for name, values in entity.slots.items())


def _slot(name: str, values: Html) -> Html:
    return element("span", element("small", cut(name, 40)), " ", values, class_="slot")


def _values(values: Sequence[SlotValue]) -> Html:
    shown_values = [_value(value) for value in values[:VALUES]]
    if hidden := len(values) - VALUES if len(values) > VALUES else 0:
        shown_values.append(joined([f"{hidden} more"]))
    return joined(shown_values, ", ")


def _value(value: SlotValue) -> Html:
    text = element("span", shown(value.value), class_="unknown" if value.value is None else "value")
    if value.probability >= SURE:
        return text
    return joined([text, element("span", f" {_probability(value.figure)}", class_="number")])


def _probability(figure: Figure) -> str:
    return ranged(*_spread(figure))


def _spread(figure: Figure) -> tuple[float, tuple[float, float] | None]:
    return figure.value, None if figure.kind == "exact" else (figure.low, figure.high)


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
        note = f"{deep:,} more are nested in over {DEEPEST} templates and not marked"
        parts.append(element("p", note, class_="left-out"))
    if lost := len(message.templates) - len(inside):
        note = (
            f"{lost:,} {'template has' if lost == 1 else 'templates have'} no position in this text"
        )
        parts.append(element("p", note, class_="left-out"))
    return joined(parts)


def shallow(templates: Sequence[Template]) -> list[Template]:
    """The templates that are nested in fewer than `DEEPEST` others."""
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
    colour = colours.classes.get(template.id, "none")
    name = colours.cells.get(template.id, "")
    label = (element("sub", name),) if name and ends else ()
    return element(
        "mark",
        inside,
        *label,
        class_=f"{colour} d{min(depth, DEPTH)}",
        title=colours.hints.get(template.id),
    )


def _expressions(message: ReportMessage, colours: Colours) -> Html:
    """In text order, as far as that is known."""
    items = [_expression(template, colours) for template in message.templates[:MOST]]
    return element("ul", joined(items), class_="expressions")


def _expression(template: Template, colours: Colours) -> Html:
    colour = colours.classes.get(template.id, "none")
    text = template.text or template.id
    return element("li", element("mark", text, class_=colour, title=colours.hints[template.id]))


ROWS = 5000


def place_of(n: int) -> str:
    """The anchor of the n-th message shown."""
    return f"m{n}"


def message_section(n: int, message: ReportMessage, most: int) -> Html:
    """The text, then the entities, then every set; of many sets the most uncertain ones."""
    colours, own = colours_by_set(message)
    order = sorted(range(len(message.sets)), key=lambda k: (-message.sets[k].entropy.value, k))
    chosen = sorted(order[:most])
    bits = sum(one.entropy.value for one in message.sets)
    size = counted(len(message.templates), len(message.sets), message.things)
    small = element("small", f"{size} · {bits:.2f} bits")
    back = element("a", "top", href="#summary", class_="back")
    title = element("h3", cut(message.id, 80) or "results", " ", small, back)
    sets = joined(set_section(message.sets[k], own[k]) for k in chosen)
    more = left_out(len(message.sets) - len(chosen), "set")
    entities = entities_table(message.entities, message.alone, colours)
    return element(
        "article", title, _fields(message.fields), marked_text(message, colours), entities, sets,
        *more, id=place_of(n),
    )  # fmt: skip


def _fields(fields: Mapping[str, str]) -> Html:
    if not fields:
        return joined([])
    entries = (
        joined([element("dt", cut(name, 40)), element("dd", cut(str(value), 200))])
        for name, value in list(fields.items())[:20]
    )
    return element("dl", joined(entries), class_="fields")


def message_table(rows: Sequence[MessageRow], shown: Mapping[int, int]) -> Html:
    """Every message in a row; `shown` leads from a row to the message in full."""
    highest = max((row.entropy_bits for row in rows), default=0.0) or 1.0
    lines = [_row(row, shown.get(n), highest) for n, row in enumerate(rows[:ROWS])]
    head = ("message", "templates", "sets", "entities", "bits", "")
    titles = element("tr", *(element("th", name, class_=_side(n)) for n, name in enumerate(head)))
    table = element(
        "table", element("thead", titles), element("tbody", joined(lines)), class_="index"
    )
    return joined([table, *left_out(len(rows) - len(lines), "message")])


def _side(n: int) -> str | None:
    return "number" if 0 < n < 5 else None


def _row(row: MessageRow, place: int | None, highest: float) -> Html:
    name = cut(row.id, 60) or "results"
    title = name if place is None else element("a", name, href=f"#{place_of(place)}")
    if row.error:
        return element(
            "tr",
            element("td", title),
            element("td", cut(row.error, 300), colspan=5, class_="warning"),
        )
    numbers = (
        f"{row.templates:,}",
        f"{row.sets:,}",
        f"{row.entities:,}",
        f"{row.entropy_bits:.2f}",
    )
    return element(
        "tr",
        element("td", title),
        *(element("td", count, class_="number") for count in numbers),
        element("td", bar(row.entropy_bits / highest), class_="drawn"),
    )
