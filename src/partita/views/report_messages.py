"""Messages: all of them in a table, some of them in full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from partita.views.markup import Html, cut, element, joined
from partita.views.message import counted
from partita.views.report_colours import colours_by_set
from partita.views.report_entities import entities_table
from partita.views.report_records import MessageRow, ReportMessage
from partita.views.report_sets import left_out, set_section
from partita.views.report_text import marked_text
from partita.views.svg_bars import bar

ROWS = 5000


def place_of(n: int) -> str:
    """The anchor of the n-th message that is shown; names of messages go into no address."""
    return f"m{n}"


def message_section(n: int, message: ReportMessage, most: int) -> Html:
    """The text, then the entities, then every set; of many sets the most uncertain ones."""
    colours, own = colours_by_set(message)
    order = sorted(range(len(message.sets)), key=lambda k: (-message.sets[k].entropy.value, k))
    chosen = sorted(order[:most])
    bits = sum(one.entropy.value for one in message.sets)
    size = counted(len(message.templates), len(message.sets), message.things)
    small = element("small", f"{size} · {bits:.2f} bits")
    back = element("a", "up", href="#summary", class_="back")
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
    told = (
        joined([element("dt", cut(name, 40)), element("dd", cut(str(value), 200))])
        for name, value in list(fields.items())[:20]
    )
    return element("dl", joined(told), class_="fields")


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
        *(element("td", one, class_="number") for one in numbers),
        element("td", bar(row.entropy_bits / highest), class_="drawn"),
    )
