"""Runs and messages as one HTML file: texts with their entities and sets."""

from __future__ import annotations

import base64
import hashlib
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from partita.collection.exports import edges_of, entity_rows
from partita.collection.knowledge import Knowledge
from partita.core import Configuration, Entity, Figure, Listed, SlotValue, Template
from partita.core.configurations import in_text_order
from partita.files.strict import Place
from partita.pipeline import Resolved
from partita.results.saved_results import Result, result_of
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
    bar_element,
    document,
    element,
    join_markup,
    note_element,
    shorten,
    table_element,
    table_row,
)
from partita.views.message import counted
from partita.views.palette import CELLS, STYLE

MAX_FULL = 50  # messages shown in full, and sets of each
MAX_ROWS = 5000  # of the list of messages
MAX_CONFIGURATIONS = 20
MAX_PAIRS = 20
MAX_CELLS = 80
MAX_TEXTS = 12  # different expressions shown of an entity
MAX_VALUES = 6
MAX_LETTERS = 160
CERTAIN = 0.99995  # shown without a number
MAX_CHARACTERS = 40_000  # of a message
MAX_STYLED_DEPTH = 3  # nested marks with a style of their own
MAX_DEPTH = 20  # nested marks that are drawn


@dataclass(frozen=True, slots=True)
class ReportKey:
    """A gold label and its author."""

    author: str
    configuration: Configuration


@dataclass(frozen=True, slots=True, eq=False)
class ReportSet:
    """A set with its result and keys."""

    result: Result
    keys: tuple[ReportKey, ...] = ()

    @property
    def name(self) -> str:
        return self.result.set.name


@dataclass(frozen=True, slots=True, eq=False)
class ReportMessage:
    """A message in full; without a text only its expressions are shown.

    `resolved`, where it is given, has the templates and entities in place of sets.
    """

    id: str
    sets: tuple[ReportSet, ...] = ()
    alone: tuple[Template, ...] = ()
    text: str | None = None
    resolved: Resolved | None = None

    @property
    def templates(self) -> tuple[Template, ...]:
        """Return all templates in text order; those that several windows read, once."""
        members = [*self.alone, *(t for one in self.sets for t in one.result.set.templates)]
        if self.resolved is not None:
            members = list(self.resolved.templates)
        elif self.entities:
            members = list({t.id: t for t in members}.values())
        return tuple(sorted(members, key=lambda t: (t.start, -t.end)))

    @property
    def things(self) -> int:
        """Return the number of entities, including single templates."""
        return len(self.entities) + len(self.alone)

    @property
    def entities(self) -> tuple[Entity, ...]:
        if self.resolved is not None:
            return tuple(self.resolved.entities)
        return tuple(entity for one in self.sets for entity in one.result.entities)

    def answer(self, one: ReportSet) -> Configuration | None:
        """Return the entities as a configuration of a set; results of solve have none."""
        ids = set(one.result.set.ids)
        cells = [[name for name in entity.templates if name in ids] for entity in self.entities]
        return Configuration(cells) if cells else None


@dataclass(slots=True)
class MessageRow:
    """A message in the index."""

    id: str
    templates: int = 0
    sets: int = 0
    entities: int = 0
    entropy_bits: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """The contents of a report; `methods` counts the sets by method."""

    title: str
    settings: Mapping[str, Any]
    rows: tuple[MessageRow, ...]
    messages: tuple[ReportMessage, ...]
    methods: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    without_text: bool = False


def set_of(line: Mapping[str, Any], place: Place, keys: Iterable[ReportKey] = ()) -> ReportSet:
    """Return the set of a line of results."""
    result = result_of(line, place)
    if not isinstance(result, Result):
        place.refuse("is a line of singletons; expected one of a set")
    return ReportSet(result, tuple(keys))


def method_label(method: str, unsettled: bool) -> str:
    """Return the method, with a warning if it has not converged."""
    return f"{method}, NOT converged" if unsettled else method


def most_uncertain(rows: Sequence[MessageRow], most: int) -> list[int]:
    """Return the indices of the messages with the highest entropy, in order."""
    order = sorted(range(len(rows)), key=lambda n: (-rows[n].entropy_bits, n))
    return sorted(order[:most])


@dataclass(frozen=True, slots=True, eq=False)
class Colours:
    """The colour class, cell name and tooltip of each template."""

    classes: dict[str, str]
    cells: dict[str, str]
    hints: dict[str, str]

    def chip(self, template: str) -> Html:
        """Return the id of a template in its colour."""
        colour, hint = self.classes.get(template, "none"), self.hints.get(template)
        return element("span", shorten(template, 40), class_=f"chip {colour}", title=hint)

    def cells_of(self, cells: Sequence[Sequence[str]]) -> Html:
        """Return the first cells of a configuration."""
        boxes = [
            element("span", join_markup(map(self.chip, cell)), class_="cell")
            for cell in cells[:MAX_CELLS]
        ]
        if hidden := len(cells) - len(boxes):
            boxes.append(element("small", f"{hidden:,} more cells"))
        return join_markup(boxes)


def colours_of(message: ReportMessage) -> Colours:
    """Assign colours to entities of several templates, in text order.

    Results without entities have the colours of their most probable configurations.
    """
    order = {template.id: n for n, template in enumerate(message.templates)}
    cells = [entity.templates for entity in message.entities]
    cells = cells or [cell for one in message.sets for cell in one.result.first_cells]
    classes: dict[str, str] = {}
    shared = 0
    for cell in sorted(cells, key=lambda cell: min(map(order.__getitem__, cell))):
        classes |= dict.fromkeys(cell, f"c{shared % CELLS}" if len(cell) > 1 else "single")
        shared += len(cell) > 1
    labels: dict[str, str] = {}
    hints = {template.id: template_hint(template) for template in message.templates}
    for entity in message.entities:
        about = _entity_hint(entity)
        for name in entity.templates:
            labels[name] = f"{entity.id} {shorten(entity.type, 40)}".strip()
            hints[name] = f"{about} · {hints[name]}"
    return Colours(classes, labels, hints)


def _entity_hint(entity: Entity) -> str:
    name = entity.name or next(iter(entity.descriptions), "")
    parts = [entity.id, shorten(name, 60), count_text(len(entity.templates), "mention")]
    if len(entity.templates) > 1:
        parts.append(f"probability {probability_of(entity.figure)}")
    return " · ".join(filter(None, parts))


def colours_by_set(message: ReportMessage) -> tuple[Colours, list[Colours]]:
    """Return colours for the text and for each set; ids may repeat across sets."""
    ids = [template.id for template in message.templates]
    whole = colours_of(message)
    if len(set(ids)) == len(ids):
        return whole, [whole] * len(message.sets)
    own = [colours_of(ReportMessage(message.id, (one,))) for one in message.sets]
    return Colours({}, {}, whole.hints), own


def template_hint(template: Template) -> str:
    """Return a one-line description of a template."""
    about = (f"{template.id}: {shorten(template.text, MAX_LETTERS)}", template.type, template.form)
    slots = ", ".join(f"{name} {slot_text(value)}" for name, value in template.slots.items())
    rule = f"rule: {template.rule}" if template.rule else ""
    return shorten(" · ".join(filter(None, (*about, slots, rule))), 3 * MAX_LETTERS)


def slot_text(value: object) -> str:
    """Return the value of a slot as text; None is "unknown"."""
    if value is None:
        return "unknown"
    if isinstance(value, list | tuple):
        return shorten(" & ".join(map(slot_text, value)), MAX_LETTERS)
    if isinstance(value, dict):
        parts = (f"{name} {slot_text(one)}" for name, one in value.items())
        return shorten(", ".join(parts), MAX_LETTERS)
    return shorten(str(value), MAX_LETTERS)


def report_page(report: Report, most: int = MAX_FULL) -> str:
    """Return the report as an HTML file."""
    names = {row.id: n for n, row in enumerate(report.rows)}
    shown = {names[message.id]: n for n, message in enumerate(report.messages)}
    facts = table_element([*_settings(report.settings), *_methods(report.methods)], "facts")
    notes = join_markup(map(note_element, report.notes))
    parts = [_header(report), element("section", _tiles(report), notes, facts, id="summary")]
    parts += [_list(report, shown)] if len(report.rows) > 1 else []
    parts.append(_messages(report, most))
    foot = element("footer", "Made with Partita")
    title = f"{shorten(report.title, 120)}: report"
    return document(title, STYLE, policy(), element("main", *parts), foot)


def policy() -> str:
    """A content security policy that allows only the report's own style sheet."""
    digest = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _header(report: Report) -> Html:
    links = {"summary": True, "messages": len(report.rows) > 1, "details": True}
    nav = (element("a", name, href=f"#{name}") for name, present in links.items() if present)
    title = element("h1", element("small", "Partita report on "), shorten(report.title, 120))
    return element("header", title, element("nav", join_markup(nav)))


def _tiles(report: Report) -> Html:
    rows = report.rows
    failed = sum(bool(row.error) for row in rows)
    bits = sum(row.entropy_bits for row in rows)
    sizes = [
        (len(rows), "message"),
        (sum(row.templates for row in rows), "template"),
        (sum(row.sets for row in rows), "set"),
        (sum(row.entities for row in rows), "entity"),
    ]
    words = (count_text(*size).partition(" ") for size in sizes)
    counts = [(count, noun) for count, _, noun in words]
    counts.append((f"{bits / max(len(rows) - failed, 1):.2f}", "bits per message"))
    counts += [(f"{failed:,}", "failed")] if failed else []
    tiles = (element("div", element("b", n), element("span", what)) for n, what in counts)
    return element("div", join_markup(tiles), class_="tiles")


def _settings(settings: Mapping[str, Any]) -> Iterator[Html]:
    for name, value in settings.items():
        if value not in (None, "", [], {}):
            yield table_row(_setting_text(value), title=shorten(name, 40))


METHODS = {
    "exact": "computed exactly",
    "certified": "within guaranteed intervals",
    "sampled": "estimates with standard errors",
    "sampled, NOT converged": "not converged: the chains disagree",
}


def _methods(methods: Mapping[str, int]) -> Iterator[Html]:
    for name, count in sorted(methods.items()):
        how = join_markup([count_text(count, "set"), " ", METHODS.get(name, "")])
        yield table_row(how, title=name, class_="warning" if "NOT" in name else None)


def _setting_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return shorten(", ".join(f"{name} {item}" for name, item in value.items()), 300)
    if isinstance(value, list | tuple):
        return shorten(", ".join(map(str, value)), 300)
    return f"{value:,}" if type(value) is int else shorten(str(value), 300)


def _list(report: Report, shown: dict[int, int]) -> Html:
    title = element("h2", "Messages")
    whole = len(report.messages) == len(report.rows)
    omitted = "" if whole else (
        f"The {len(report.messages):,} most uncertain of {len(report.rows):,} messages are shown "
        f"in full; the other {len(report.rows) - len(report.messages):,} are only listed."
    )  # fmt: skip
    note = (note_element(omitted),) if omitted else ()
    table = message_table(report.rows, shown)
    folded = element(
        "details", element("summary", "All messages"), table, open="" if whole else None
    )
    return element("section", title, *note, folded, id="messages")


def _messages(report: Report, most: int) -> Html:
    parts = (message_section(n, message, most) for n, message in enumerate(report.messages))
    caption = "Templates of the same colour form one cell of the most probable configuration"
    if report.without_text:
        caption += "; for messages without text, only the expressions are shown"
    legend = note_element(f"{caption}.", "quiet")
    return element("section", legend, join_markup(parts), id="details")


def html_frame(title: str) -> tuple[str, str]:
    """Return what stands before and after the messages of a page."""
    page = document(shorten(title, 120), STYLE, policy(), element("main", ""))
    before, _, after = page.rpartition("</main>")
    return before, f"</main>{after}"


def html_section(resolved: Resolved) -> Html:
    """Return a message: its text with every mention marked, and its entities.

    Entities of several mentions have a colour; the pointer on a mention shows what it says.
    """
    message = ReportMessage(resolved.message.id, text=resolved.message.text, resolved=resolved)
    return message_section(0, message, 0)


def message_anchor(n: int) -> str:
    """Return the HTML anchor of the n-th message."""
    return f"m{n}"


def message_section(n: int, message: ReportMessage, most: int) -> Html:
    """Return the text, the entities and the most uncertain sets of a message."""
    colours, own = colours_by_set(message)
    bits = [one.result.entropy.value for one in message.sets]
    chosen = sorted(sorted(range(len(bits)), key=lambda k: (-bits[k], k))[:most])
    size = counted(len(message.templates), len(message.sets), message.things)
    small = (element("small", f"{size} · {sum(bits):.2f} bits"),) if message.sets else ()
    title = element("h3", shorten(message.id, 80) or "results", " ", *small)
    sets = join_markup(
        set_section(message.sets[k], own[k], message.answer(message.sets[k])) for k in chosen
    )
    more = hidden_note(len(message.sets) - len(chosen), "set")
    entities = entities_table(message, colours)
    return element(
        "article", title, marked_text(message, colours), entities, sets, *more,
        id=message_anchor(n) if message.resolved is None else None,
    )  # fmt: skip


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


def hidden_note(count: int, noun: str) -> Iterator[Html]:
    """Yield a note on how many items are not shown."""
    if count > 0:
        note = f"{count:,} more {noun}{'' if count == 1 else 's'} not shown here"
        yield note_element(note)


def entities_table(message: ReportMessage, colours: Colours) -> Html:
    """Return the entities, those of most mentions first, then single templates."""
    texts = {template.id: template for template in message.templates}
    order = sorted(message.entities, key=lambda entity: -len(entity.templates))
    rows = [_entity(entity, [texts[one] for one in entity.templates], colours) for entity in order]
    rows += [_alone(template) for template in message.alone]
    titles = ("entity", "type", "mentions", "probability", "values")
    return table_element(rows, "entities", titles) if rows else join_markup([])


def _entity(entity: Entity, members: Sequence[Template], colours: Colours) -> Html:
    colour = colours.classes.get(members[0].id, "none")
    chip = element("span", shorten(entity.id, 40), class_=f"chip {colour}")
    name = entity.name or next(iter(entity.descriptions), "") or members[0].text
    kinds = list(dict.fromkeys(shorten(one.text, 60) for one in members))
    shown = ", ".join(kinds[:MAX_TEXTS]) + (" …" if len(kinds) > MAX_TEXTS else "")
    return table_row(
        join_markup([chip, " ", element("b", shorten(name, 80), dir="auto")]),
        shorten(entity.type, 60),
        join_markup([f"{len(members)}: ", element("span", shown, dir="auto")]),
        (figure_bar(entity.figure), "share-of-cell"),
        slots_text(entity),
    )


def _alone(template: Template) -> Html:
    """Return the row of a template outside all sets, which has no probability."""
    statuses = {name: one.status for one in template.assertions for name in one.slots}
    slots = [
        _slot(f"{name} {statuses.get(name, '')}".strip(), join_markup([slot_text(value)]))
        for name, value in template.slots.items()
    ]
    slots += [_denial(one.slots) for one in template.assertions if one.status == "denied"]
    title = element("b", shorten(template.text, 80), dir="auto")
    alone = element("small", "alone")
    return table_row(title, shorten(template.type, 60), alone, "", join_markup(slots))


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


def set_section(one: ReportSet, colours: Colours, answer: Configuration | None = None) -> Html:
    """Return a collapsible section: the configurations and the least certain pairs of a set."""
    title = element("summary", element("b", f"Set {shorten(one.name, 60)}"), f" {facts(one)}")
    listed = configurations(one, colours, answer)
    return element("details", title, listed, *_notes(one), _pairs(one), class_="set", open="")


def _pairs(one: ReportSet) -> Html:
    """Return the pairs nearest to ½, alone and given the whole set."""
    result = one.result
    left, right = np.nonzero(np.triu(result.probabilities > 0.0, 1))
    value, ids = result.marginals.value[left, right], result.set.ids
    rows = []
    for k in np.argsort(np.abs(value - 0.5), kind="stable")[:MAX_PAIRS].tolist():
        a, b = int(left[k]), int(right[k])
        ends = float(result.marginals.low[a, b]), float(result.marginals.high[a, b])
        share = with_interval(float(value[k]), None if result.marginals.kind == "exact" else ends)
        alone = probability_text(float(result.probabilities[a, b]))
        bar = bar_element(float(value[k]))
        names = f"{shorten(ids[a], 40)} = {shorten(ids[b], 40)}"
        rows.append(table_row(names, (f"{alone} → {share}", "number"), (bar, "drawn")))
    more = hidden_note(len(value) - len(rows), "pair")
    titles = ("pair", "alone → in the set", "")
    return join_markup([table_element(rows, "configurations", titles), *more] if rows else [])


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


def configurations(one: ReportSet, colours: Colours, answer: Configuration | None = None) -> Html:
    """Return the listed configurations and the remainder.

    Templates keep the colour of their entity, so that changes are visible. The configuration that
    is the answer is marked; the others are alternatives.
    """
    result = one.result
    place = {name: n for n, name in enumerate(result.set.ids)}
    rows = []
    for item in result.configurations[:MAX_CONFIGURATIONS]:
        cells = colours.cells_of(in_text_order(item.configuration, place))
        rows.append(_configuration(item, cells, one.keys, answer))
    if hidden := result.configurations[MAX_CONFIGURATIONS:]:
        mass = math.fsum(item.probability for item in hidden)
        rows.append(_rest_row(f"{len(hidden):,} more listed in the results", mass))
    rest = result.remainder
    if rest.count != 0:
        text = count_or_power(rest.count, rest.log2_count, "more configuration")
        rows.append(_rest_row(text, rest.probability, rest.interval))
    return join_markup([table_element(rows, "configurations"), *_unlisted(one, answer)])


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


CARDS = 2000  # entities of the page, the largest first
DRAWN = 150  # nodes of its graph


def knowledge_page(kb: Knowledge) -> Iterator[str]:
    """Yield one page that needs nothing else: a graph and a card for each entity."""
    before, after = html_frame("Knowledge base")
    yield before
    yield f"<h1>{len(kb.members):,} entities in {len(kb.documents):,} documents</h1>"
    yield _drawing(kb)
    for row in list(entity_rows(kb))[:CARDS]:
        yield _card(kb, row)
    if len(kb.members) > CARDS:
        yield f"<p>The other {len(kb.members) - CARDS:,} entities are in the tables.</p>"
    yield after


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
