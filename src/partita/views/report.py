"""The report of a run as one HTML file."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from partita.core import Entity, Template
from partita.evaluation.calibration import ReliabilityBin
from partita.pipeline import Resolved
from partita.views.charts import bins_of
from partita.views.layout import count_text, probability_of
from partita.views.markup import (
    Html,
    bar_element,
    document,
    element,
    histogram,
    join_markup,
    note_element,
    reliability_plot,
    shorten,
    table_element,
    table_row,
)
from partita.views.palette import CELLS, STYLE
from partita.views.report_messages import (
    drop_deep,
    figure_bar,
    mark_templates,
    message_anchor,
    message_section,
    message_table,
    slots_text,
)
from partita.views.report_records import Colours, Report, most_uncertain

MAX_UNCERTAIN = 8  # messages in the summary

METHODS = {
    "exact": "computed exactly",
    "certified": "within guaranteed intervals",
    "sampled": "estimates with standard errors",
    "sampled, NOT converged": "not converged: the chains disagree",
}


def summary_section(report: Report, shown: Mapping[int, int]) -> Html:
    """The summary at the top of the report."""
    panels = [
        element("div", element("h3", "Settings"), _settings(report.settings)),
        element("div", element("h3", "Methods"), _methods(report.methods)),
    ]
    if len(report.rows) > 1:
        bits = [row.entropy_bits for row in report.rows if not row.error]
        drawn = histogram(bits, "Messages by entropy in bits")
        panels += [
            element("div", element("h3", "Uncertainty of messages"), drawn),
            element("div", element("h3", "Most uncertain messages"), _first(report, shown)),
        ]
    notes = map(note_element, report.notes)
    grid = element("div", join_markup(panels), class_="panels")
    return element("section", _tiles(report), join_markup(notes), grid, id="summary")


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


def _settings(settings: Mapping[str, Any]) -> Html:
    rows = (
        table_row(_setting_text(value), title=shorten(name, 40))
        for name, value in settings.items()
        if value not in (None, "", [], {})
    )
    return table_element(rows, "facts")


def _setting_text(value: Any) -> str:
    if isinstance(value, Mapping):
        return shorten(", ".join(f"{name} {item}" for name, item in value.items()), 300)
    if isinstance(value, list | tuple):
        return shorten(", ".join(map(str, value)), 300)
    return f"{value:,}" if type(value) is int else shorten(str(value), 300)


def _methods(methods: Mapping[str, int]) -> Html:
    rows = (
        table_row(
            (count_text(count, "set"), "number"),
            (METHODS.get(name, ""), "quiet"),
            title=name,
            class_="warning" if "NOT" in name else None,
        )
        for name, count in sorted(methods.items())
    )
    if not methods:
        return note_element("no set has more than one configuration", "quiet")
    return table_element(rows, "facts")


def _first(report: Report, shown: Mapping[int, int]) -> Html:
    rows = report.rows
    chosen = sorted(most_uncertain(rows, MAX_UNCERTAIN), key=lambda n: (-rows[n].entropy_bits, n))
    highest = max((rows[n].entropy_bits for n in chosen), default=0.0) or 1.0
    lines = []
    for n in chosen:
        name = shorten(rows[n].id, 40) or "results"
        title = element("a", name, href=f"#{message_anchor(shown[n])}") if n in shown else name
        bits = rows[n].entropy_bits
        bar = bar_element(bits / highest)
        lines.append(table_row((f"{bits:.2f}", "number"), (bar, "drawn"), title=title))
    return table_element(lines, "facts")


PAIR_BINS = "pairs between .05 and .95"
LISTED_BINS = "listed configurations"


def calibration_section(measured: Mapping[str, Any]) -> Html:
    """The section on calibration, from the figures of an evaluation."""
    diagrams = [
        _figure(PAIR_BINS, bins_of(measured.get("pair_reliability", ()))),
        _figure(LISTED_BINS, bins_of(measured.get("configuration_reliability", ()))),
    ]
    figures = table_element(_figures(measured), "facts")
    parts = element("div", figures, *diagrams, class_="calibration")
    caption = (
        "Stated probability against observed frequency, in bins of equal count. The area of a dot "
        "shows its count; points on the dashed line are well calibrated."
    )
    title = element("h2", "Calibration")
    return element(
        "section", title, element("p", caption), *_warning(measured), parts, _sizes(measured),
        id="calibration",
    )  # fmt: skip


def _warning(measured: Mapping[str, Any]) -> Iterator[Html]:
    if trained := measured.get("keys_learned_from"):
        keys = "1 of these keys was" if trained == 1 else f"{trained:,} of these keys were"
        warning = f"{keys} used to train this run's parameters: the figures are too optimistic."
        yield note_element(warning, "warning")


def _figure(what: str, bins: Sequence[ReliabilityBin]) -> Html:
    total = sum(one.count for one in bins)
    caption = element("figcaption", f"{what}: {total:,} statements")
    if not bins:
        return element("figure", caption, note_element("no statements"))
    return element("figure", caption, reliability_plot(bins, f"Calibration of {what}"))


def _figures(measured: Mapping[str, Any]) -> Iterator[Html]:
    sets = int(measured.get("sets", 0))
    messages = count_text(int(measured.get("documents", 0)), "message")
    yield table_row(f"{count_text(sets, 'set')} in {messages}", title="keyed")
    yield table_row(f"{int(measured.get('right', 0)):,} of {sets:,} sets", title="correct")
    for label, name, digits in (
        ("bits per set", "bits_per_set", 3),
        ("bits per set as reported", "reported_bits_per_set", 3),
        ("bits per template of a message", "bits_per_mention", 3),
        ("Brier score of pairs", "brier", 4),
        ("calibration error of pairs", "pair_reliability_error", 4),
        ("calibration error of listed configurations", "configuration_reliability_error", 4),
        ("CoNLL score", "conll", 4),
    ):
        if isinstance(measured.get(name), int | float):
            value = f"{measured[name]:.{digits}f}{_spread(measured, name, digits)}"
            yield table_row(value, title=label)


def _spread(measured: Mapping[str, Any], name: str, digits: int) -> str:
    """Return a 95 % interval over messages, or ""."""
    interval = (measured.get("intervals") or {}).get(name)
    if not isinstance(interval, Mapping):
        return ""
    return f" ({interval['low']:.{digits}f} to {interval['high']:.{digits}f})"


def _sizes(measured: Mapping[str, Any]) -> Html:
    rows = measured.get("sizes") or ()
    if not rows:
        return join_markup([])
    titles = ("templates in the set", "sets", "correct", "bits per set")
    heads = (element("th", name, class_="number") for name in titles)
    lines = []
    for one in rows:
        bits = "-" if one["bits_per_set"] is None else f"{one['bits_per_set']:.3f}"
        texts = (one["size"], f"{one['sets']:,}", f"{one['right']:,}", bits)
        lines.append(table_row(*((text, "number") for text in texts)))
    return table_element(lines, "sizes", heads)


MAX_FULL = 50  # messages shown in full, and sets of each


def report_page(report: Report, most: int = MAX_FULL) -> str:
    """Return the report as an HTML file."""
    position = {id(row): n for n, row in enumerate(report.rows)}
    names = {row.id: position[id(row)] for row in report.rows}
    shown = {names[message.id]: n for n, message in enumerate(report.messages)}
    parts = [_header(report), summary_section(report, shown)]
    if report.measured is not None:
        parts.append(calibration_section(report.measured))
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
    links = {"summary": True, "calibration": report.measured is not None,
             "messages": len(report.rows) > 1, "details": True}  # fmt: skip
    nav = (element("a", name, href=f"#{name}") for name, present in links.items() if present)
    title = element("h1", element("small", "Partita report on "), shorten(report.title, 120))
    return element("header", title, element("nav", join_markup(nav)))


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
    about = (
        f"{count} mentions, probability {probability_of(entity.figure)}"
        if count > 1
        else "1 mention"
    )
    return " · ".join(filter(None, (entity.id, shorten(name, 60), entity.type, about)))


def _table(resolved: Resolved, colours: Colours) -> Html:
    texts = {template.id: template for template in resolved.templates}
    order = sorted(resolved.entities, key=lambda entity: -len(entity.templates))
    rows = [_row(entity, [texts[one] for one in entity.templates], colours) for entity in order]
    titles = ("entity", "type", "mentions", "probability", "values")
    return table_element(rows, "entities", titles) if rows else note_element("no mentions")


def _row(entity: Entity, members: Sequence[Template], colours: Colours) -> Html:
    chip = element("span", entity.id, class_=f"chip {colours.classes[members[0].id]}")
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
