"""The message sections of a report: text, entities and sets."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from partita.core import Configuration, Entity, Figure, IntArray, Listed, SlotValue, Template
from partita.core.configurations import in_text_order
from partita.views.layout import (
    count_or_power,
    count_text,
    figure_text,
    interval_of,
    probability_of,
    probability_text,
    with_interval,
)
from partita.views.markup import (
    Html,
    Triangle,
    bar_element,
    element,
    join_markup,
    note_element,
    shorten,
    table_element,
    table_row,
    triangle,
)
from partita.views.message import counted
from partita.views.report_records import (
    Colours,
    MessageRow,
    ReportKey,
    ReportMessage,
    ReportSet,
    colours_by_set,
    slot_text,
)

MAX_TEMPLATES = 60
MAX_CONFIGURATIONS = 20
MAX_MATRIX = 40
LARGE = 10  # templates; for larger sets only differences are shown
MAX_LETTERS = 90


def set_section(one: ReportSet, colours: Colours, answer: Configuration | None = None) -> Html:
    """Return a collapsible section with everything about a set."""
    title = element("summary", element("b", f"Set {shorten(one.name, 60)}"), f" {facts(one)}")
    listed = element("div", configurations(one, colours, answer), *_notes(one))
    wide = "answer" if len(one.result.set) <= LARGE else None
    drawn = element("div", listed, matrices(one), class_=wide)
    return element("details", title, _templates(one, colours), drawn, class_="set", open="")


def facts(one: ReportSet) -> str:
    """Return the size, number of configurations, entropy and method of a set."""
    result = one.result
    unlisted = result.remainder.count
    count = None if unlisted is None else unlisted + len(result.configurations)
    total = np.logaddexp2(
        result.remainder.log2_count, math.log2(max(len(result.configurations), 1))
    )
    parts = [f"{len(result.set)} templates", count_or_power(count, float(total), "configuration")]
    parts += [f"entropy {figure_text(result.entropy)} bits", result.model, result.method]
    if result.converged is False:
        parts.append("NOT converged")
    return " · ".join(parts)


def _notes(one: ReportSet) -> Iterator[Html]:
    """Yield how the answer was obtained, and its caveats."""
    result = one.result
    parts = [f"{result.reason}; seed {result.seed}"]
    if result.conflict is not None:
        parts.append(f"conflict κ {result.conflict:.4f}")
    if not result.optimal:
        parts.append("the first configuration is not proven to be the most probable one")
    if result.excluded:
        parts.append(f"pruning cost {result.excluded:.3g}")
    yield note_element("; ".join(parts), "note")
    if result.converged is False:
        warning = "The chains disagree: this answer has not converged."
        yield note_element(warning, "warning")


def _templates(one: ReportSet, colours: Colours) -> Html:
    """Return a table of templates with their texts and slots."""
    members = one.result.set.templates
    if not any(t.text or t.slots for t in members):
        return join_markup([])
    rows = [
        element(
            "tr",
            element("td", colours.chip(t.id)),
            element("td", shorten(t.text, MAX_LETTERS), dir="auto"),
            element("td", t.form, class_="quiet"),
            element("td", _slots(t.slots), class_="quiet"),
        )
        for t in members[:MAX_TEMPLATES]
    ]
    return join_markup(
        [table_element(rows, "templates"), *hidden_note(len(members) - len(rows), "template")]
    )


def _slots(slots: object) -> str:
    items = slots.items() if isinstance(slots, dict) else ()
    return ", ".join(f"{shorten(name, 40)} {slot_text(value)}" for name, value in items)


def configurations(one: ReportSet, colours: Colours, answer: Configuration | None = None) -> Html:
    """Return the listed configurations and the remainder.

    Templates keep the colour of their entity, so that changes are visible. The configuration that
    is the answer is marked; the others are alternatives.
    """
    result = one.result
    place = {name: n for n, name in enumerate(result.set.ids)}
    listed = result.configurations[:MAX_CONFIGURATIONS]
    cells = [in_text_order(item.configuration, place) for item in listed]
    first = cells[0] if len(place) > LARGE else []
    rows = [
        _configuration(item, _cells(shown_cells, first if n else [], colours), one.keys, answer)
        for n, (item, shown_cells) in enumerate(zip(listed, cells, strict=True))
    ]
    hidden = result.configurations[MAX_CONFIGURATIONS:]
    if hidden:
        mass = math.fsum(item.probability for item in hidden)
        text = f"{len(hidden):,} more listed in the results"
        rows.append(_rest_row(text, mass))
    rest = result.remainder
    text = count_or_power(rest.count, rest.log2_count, "more configuration")
    if rest.count != 0:
        rows.append(_rest_row(text, rest.probability, rest.interval))
    return join_markup([table_element(rows, "configurations"), *_unlisted(one, answer)])


def _cells(cells: list[list[str]], first: list[list[str]], colours: Colours) -> Html:
    """Return all cells or, of a large set, those that are not in the first configuration."""
    other = [cell for cell in cells if cell not in first]
    if not first:
        return colours.cells_of(cells)
    same = element("small", f"as the first, except for {len(other):,} cells: ")
    return join_markup([same, colours.cells_of(other)])


def _configuration(
    item: Listed, cells: Html, keys: Sequence[ReportKey], answer: Configuration | None
) -> Html:
    authors = [key.author for key in keys if key.configuration == item.configuration]
    labels = [f"key: {shorten(', '.join(authors), 60)}"] if authors else []
    labels += ["the entities above"] if item.configuration == answer else []
    badge = [element("span", label, class_="key") for label in labels]
    share = with_interval(item.probability, item.interval)
    bar = bar_element(item.probability, item.interval)
    return table_row(join_markup([cells, *badge]), (share, "number"), (bar, "drawn"))


def _rest_row(text: str, p: float, interval: tuple[float, float] | None = None) -> Html:
    """Return the row of configurations that are not shown one by one."""
    bar = bar_element(p, interval, "rest")
    return table_row(text, (with_interval(p, interval), "number"), (bar, "drawn"), class_="rest")


def _unlisted(one: ReportSet, answer: Configuration | None) -> Iterator[Html]:
    """Yield a note if the answer is not listed, and a warning for keys that are not."""
    listed = {item.configuration for item in one.result.configurations}
    if answer is not None and answer not in listed:
        note = (
            "The entities above agree best with all configurations; those listed are alternatives."
        )
        yield note_element(note, "note")
    for key in one.keys:
        if key.configuration not in listed:
            text = f"the key of {shorten(key.author, 60)} is not among the listed configurations: "
            yield note_element(f"{text}{shorten(str(key.configuration), 400)}", "warning")


def matrices(one: ReportSet) -> Html:
    """Return the pairs alone and given the whole set, as two triangles."""
    result = one.result
    if len(result.set) < 2:
        return join_markup([])
    chosen = _most_uncertain(one)
    before, after = _triangle(one, chosen, False), _triangle(one, chosen, True)
    named = shorten(one.name, 60)
    figures = {
        "pairs alone": triangle(before, f"Pair probabilities of set {named}", 12),
        "given the whole set": triangle(after, f"Pair marginals of set {named}"),
    }
    drawn = [element("figure", element("figcaption", k), one) for k, one in figures.items()]
    if len(chosen) < len(result.set):
        note = f"pairs of the {len(chosen)} most uncertain of {len(result.set):,} templates"
        drawn.append(note_element(note))
    return element("div", join_markup(drawn), class_="matrices")


def _most_uncertain(one: ReportSet) -> IntArray:
    """Return all templates or, of many, those with the most uncertain pairs."""
    p = np.clip(one.result.marginals.value, 1e-12, 1 - 1e-12)
    doubt = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    np.fill_diagonal(doubt, 0.0)
    order = np.argsort(-doubt.sum(axis=1), kind="stable")
    chosen: IntArray = np.sort(order[:MAX_MATRIX])
    return chosen


def _triangle(one: ReportSet, chosen: IntArray, after: bool) -> Triangle:
    result = one.result
    members = [result.set.templates[n] for n in chosen.tolist()]
    labels = [f"{t.id} {t.text}" if after and t.text else t.id for t in members]
    inside = np.ix_(chosen, chosen)
    alone, marginals = result.probabilities[inside], result.marginals.value[inside]
    low, high = result.marginals.low[inside], result.marginals.high[inside]
    spread = None if result.marginals.kind == "exact" else (low, high)

    def pair_hint(a: int, b: int) -> str:
        ends = None if spread is None else (float(spread[0][a, b]), float(spread[1][a, b]))
        share = with_interval(float(marginals[a, b]), ends)
        return (
            f"{members[b].id} = {members[a].id}: {probability_text(float(alone[a, b]))} → {share}"
        )

    hints = [[pair_hint(a, b) for b in range(a)] for a in range(len(members))]
    return Triangle(labels, marginals if after else alone, (alone <= 0.0).tolist(), hints)


def hidden_note(count: int, noun: str) -> Iterator[Html]:
    """Yield a note on how many items are not shown."""
    if count > 0:
        note = f"{count:,} more {noun}{'' if count == 1 else 's'} not shown here"
        yield note_element(note)


MAX_ENTITIES = 100
MAX_VALUES = 6
CERTAIN = 0.99995  # shown without a number


def entities_table(entities: Sequence[Entity], alone: Sequence[Template], colours: Colours) -> Html:
    """Return merged entities, then single templates."""
    rows = [_entity(entity, colours) for entity in entities[:MAX_ENTITIES]]
    rows += [_alone(template, colours) for template in alone[: max(MAX_ENTITIES - len(rows), 0)]]
    if not rows:
        return join_markup([])
    titles = ("entity", "templates", "probability", "slots")
    parts = [table_element(rows, "entities", titles)]
    if hidden := len(entities) + len(alone) - len(rows):
        parts.append(note_element(f"{hidden:,} more are not shown"))
    return element("div", element("h4", "Entities"), *parts)


def _entity(entity: Entity, colours: Colours) -> Html:
    name = entity.name or next(iter(entity.descriptions), "")
    colour = colours.classes.get(entity.anchor, "none")
    title = join_markup(
        [
            element("span", shorten(entity.id, 40), class_=f"chip {colour}"),
            element("b", shorten(name, 80), dir="auto"),
            element("small", shorten(entity.type, 60)),
        ],
        " ",
    )
    cell = colours.cell(list(entity.templates))
    return table_row(title, cell, (figure_bar(entity.figure), "share-of-cell"), slots_text(entity))


def _alone(template: Template, colours: Colours) -> Html:
    """Return the row of a template outside all sets, which has no probability."""
    title = join_markup(
        [
            element("b", shorten(template.text, 80), dir="auto"),
            element("small", shorten(template.type, 60)),
        ],
        " ",
    )
    statuses = {name: one.status for one in template.assertions for name in one.slots}
    slots = [
        _slot(
            f"{name} {statuses[name]}" if name in statuses else name,
            join_markup([slot_text(value)]),
        )
        for name, value in template.slots.items()
    ]
    slots += [_denial(one.slots) for one in template.assertions if one.status == "denied"]
    alone = element("small", "alone")
    return table_row(title, colours.cell([template.id]), alone, join_markup(slots))


def slots_text(entity: Entity) -> Html:
    """Return the values of an entity with their statuses, and what is denied of it."""
    slots = [_slot(name, _values(values)) for name, values in entity.slots.items()]
    return join_markup([*slots, *(_denial(denial.slots) for denial in entity.denied)])


def _denial(slots: Mapping[str, Any]) -> Html:
    said = ", ".join(f"{name} {slot_text(value)}" for name, value in slots.items())
    return element("span", element("small", "not"), " ", shorten(said, 120), class_="slot denied")


def _slot(name: str, values: Html) -> Html:
    return element("span", element("small", shorten(name, 40)), " ", values, class_="slot")


def _values(values: Sequence[SlotValue]) -> Html:
    shown_values = [_value(value) for value in values[:MAX_VALUES]]
    if hidden := len(values) - len(shown_values):
        shown_values.append(join_markup([f"{hidden} more"]))
    return join_markup(shown_values, ", ")


def _value(value: SlotValue) -> Html:
    text = element(
        "span", slot_text(value.value), class_="unknown" if value.value is None else "value"
    )
    if value.value is not None and value.status != "asserted":
        text = join_markup([text, element("small", f" {value.status}", class_="status")])
    if value.probability >= CERTAIN:
        return text
    return join_markup([text, element("span", f" {probability_of(value.figure)}", class_="number")])


def figure_bar(figure: Figure) -> Html:
    """Return a probability with its interval, and a bar."""
    return join_markup([probability_of(figure), bar_element(*interval_of(figure))])


MAX_CHARACTERS = 40_000  # of a message
MAX_STYLED_DEPTH = 3  # nested marks with a style of their own
MAX_DEPTH = 20  # nested marks that are drawn


def marked_text(message: ReportMessage, colours: Colours) -> Html:
    """Return the text with marked templates, or only the expressions if there is no text."""
    if message.text is None:
        return _expressions(message, colours)
    text = message.text[:MAX_CHARACTERS]
    inside = [t for t in message.templates if t.start < t.end <= len(text)]
    drawn = drop_deep(inside)
    parts = [element("div", mark_templates(text, drawn, colours), class_="message", dir="auto")]
    if hidden := len(message.text) - len(text):
        parts.append(note_element(f"{hidden:,} more characters are not shown"))
    if deep := len(inside) - len(drawn):
        note = f"{deep:,} more are nested in over {MAX_DEPTH} templates and not marked"
        parts.append(note_element(note))
    if unplaced := len(message.templates) - len(inside):
        verb = "has" if unplaced == 1 else "have"
        note = f"{count_text(unplaced, 'template')} {verb} no position in this text"
        parts.append(note_element(note))
    return join_markup(parts)


def drop_deep(templates: Sequence[Template]) -> list[Template]:
    """Return the templates that are nested in fewer than `MAX_DEPTH` others."""
    kept: list[Template] = []
    open_: list[int] = []
    for template in sorted(templates, key=lambda t: (t.start, -t.end)):
        open_ = [end for end in open_ if end > template.start]
        if len(open_) < MAX_DEPTH:
            open_.append(template.end)
            kept.append(template)
    return kept


def mark_templates(text: str, templates: Sequence[Template], colours: Colours) -> Html:
    """Return the whole text, with an element for each template."""
    spans = sorted(templates, key=lambda t: (t.start, -t.end))
    edges = sorted({0, len(text), *(t.start for t in spans), *(t.end for t in spans)})
    return join_markup(_inside(text, spans, edges, colours))


def _inside(
    text: str, spans: Sequence[Template], edges: Sequence[int], colours: Colours
) -> Iterator[Html]:
    """Yield plain text, or the outermost template with its contents, between the edges.

    Both are sorted: spans that have ended are passed once, and later ones end the search.
    """
    n = first = 0
    while n < len(edges) - 1:
        start, end = edges[n], edges[n + 1]
        while first < len(spans) and spans[first].end <= start:
            first += 1
        if first == len(spans) or spans[first].start > start:
            yield join_markup([text[start:end]])
            n += 1
            continue
        outer = spans[first]
        stop = bisect_left(edges, min(outer.end, edges[-1]))
        last = bisect_left(spans, edges[stop], lo=first, key=lambda span: span.start)
        rest = [span for span in spans[first + 1 : last] if span.end > start]
        within = join_markup(_inside(text, rest, edges[n : stop + 1], colours))
        yield _mark(outer, within, _depth(rest), colours, ends=edges[stop] == outer.end)
        n = stop


def _depth(inner: Sequence[Template]) -> int:
    """Return the nesting depth, which sets the distance of the underlines."""
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
        class_=f"{colour} d{min(depth, MAX_STYLED_DEPTH)}",
        title=colours.hints.get(template.id),
    )


def _expressions(message: ReportMessage, colours: Colours) -> Html:
    """Return the expressions in text order."""
    items = []
    for template in message.templates[:MAX_CHARACTERS]:
        looks = {"class_": colours.classes.get(template.id, "none")}
        looks["title"] = colours.hints[template.id]
        items.append(element("li", element("mark", template.text or template.id, **looks)))
    return element("ul", join_markup(items), class_="expressions")


MAX_ROWS = 5000


def message_anchor(n: int) -> str:
    """Return the HTML anchor of the n-th message."""
    return f"m{n}"


def message_section(n: int, message: ReportMessage, most: int) -> Html:
    """Return the text, the entities and the most uncertain sets of a message."""
    colours, own = colours_by_set(message)
    bits = [one.result.entropy.value for one in message.sets]
    chosen = sorted(sorted(range(len(bits)), key=lambda k: (-bits[k], k))[:most])
    size = counted(len(message.templates), len(message.sets), message.things)
    small = element("small", f"{size} · {sum(bits):.2f} bits")
    back = element("a", "top", href="#summary", class_="back")
    title = element("h3", shorten(message.id, 80) or "results", " ", small, back)
    sets = join_markup(
        set_section(message.sets[k], own[k], message.answer(message.sets[k])) for k in chosen
    )
    more = hidden_note(len(message.sets) - len(chosen), "set")
    entities = entities_table(message.entities, message.alone, colours)
    return element(
        "article", title, _fields(message.fields), marked_text(message, colours), entities, sets,
        *more, id=message_anchor(n),
    )  # fmt: skip


def _fields(fields: Mapping[str, str]) -> Html:
    if not fields:
        return join_markup([])
    entries = (
        join_markup([element("dt", shorten(name, 40)), element("dd", shorten(str(value), 200))])
        for name, value in list(fields.items())[:20]
    )
    return element("dl", join_markup(entries), class_="fields")


def message_table(rows: Sequence[MessageRow], value_text: Mapping[int, int]) -> Html:
    """Return a table of all messages; `shown` maps rows to full messages."""
    highest = max((row.entropy_bits for row in rows), default=0.0) or 1.0
    lines = [_message_row(row, value_text.get(n), highest) for n, row in enumerate(rows[:MAX_ROWS])]
    head = ("message", "templates", "sets", "entities", "bits", "")
    sides = (None, *["number"] * 4, None)
    titles = (element("th", name, class_=side) for name, side in zip(head, sides, strict=True))
    return join_markup(
        [table_element(lines, "index", titles), *hidden_note(len(rows) - len(lines), "message")]
    )


def _message_row(row: MessageRow, place: int | None, highest: float) -> Html:
    name = shorten(row.id, 60) or "results"
    title = name if place is None else element("a", name, href=f"#{message_anchor(place)}")
    if row.error:
        return element(
            "tr",
            element("td", title),
            element("td", shorten(row.error, 300), colspan=5, class_="warning"),
        )
    counts = (f"{count:,}" for count in (row.templates, row.sets, row.entities))
    numbers = (*counts, f"{row.entropy_bits:.2f}")
    bar = bar_element(row.entropy_bits / highest)
    return table_row(title, *((count, "number") for count in numbers), (bar, "drawn"))
