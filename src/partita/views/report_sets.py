"""A set of a report: its templates, configurations and pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from partita.core import Configuration, IntArray, Listed
from partita.core.configurations import in_text_order
from partita.views.layout import count_or_power, figure_text, probability_text, with_interval
from partita.views.markup import (
    Html,
    Triangle,
    bar_element,
    element,
    join_markup,
    shorten,
    triangle,
)
from partita.views.report_records import Colours, ReportKey, ReportSet, slot_text

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
    parts += [f"entropy {figure_text(one.entropy)} bits", result.model, result.method]
    if result.converged is False:
        parts.append("NOT converged")
    return " · ".join(parts)


def _notes(one: ReportSet) -> Iterator[Html]:
    """Yield how the answer was obtained, and its caveats."""
    result = one.result
    parts = [f"{result.reason}; seed {result.seed}"]
    if result.conflict is not None:
        parts.append(f"conflict κ {result.conflict:.4f}")
    if not one.proved:
        parts.append("the first configuration is not proven to be the most probable one")
    if one.excluded:
        parts.append(f"pruning cost {one.excluded:.3g}")
    yield element("p", "; ".join(parts), class_="note")
    if result.converged is False:
        warning = "The chains disagree: this answer has not converged."
        yield element("p", warning, class_="warning")


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
    table = element("table", join_markup(rows), class_="templates")
    return join_markup([table, *hidden_note(len(members) - len(rows), "template")])


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
        rows.append(
            _row(
                join_markup([text]),
                probability_text(mass),
                bar_element(mass, class_="rest"),
                "rest",
            )
        )
    rest = result.remainder
    text = count_or_power(rest.count, rest.log2_count, "more configuration")
    if rest.count != 0:
        drawn = bar_element(rest.probability, rest.interval, "rest")
        rows.append(
            _row(join_markup([text]), with_interval(rest.probability, rest.interval), drawn, "rest")
        )
    table = element("table", join_markup(rows), class_="configurations")
    return join_markup([table, *_unlisted(one, answer)])


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
    return _row(join_markup([cells, *badge]), share, bar_element(item.probability, item.interval))


def _row(what: Html, share: str, drawn: Html, class_: str | None = None) -> Html:
    parts = (element("td", share, class_="number"), element("td", drawn, class_="drawn"))
    return element("tr", element("td", what), *parts, class_=class_)


def _unlisted(one: ReportSet, answer: Configuration | None) -> Iterator[Html]:
    """Yield a note if the answer is not listed, and a warning for keys that are not."""
    listed = {item.configuration for item in one.result.configurations}
    if answer is not None and answer not in listed:
        note = (
            "The entities above agree best with all configurations; those listed are alternatives."
        )
        yield element("p", note, class_="note")
    for key in one.keys:
        if key.configuration not in listed:
            text = f"the key of {shorten(key.author, 60)} is not among the listed configurations: "
            yield element("p", f"{text}{shorten(str(key.configuration), 400)}", class_="warning")


def matrices(one: ReportSet) -> Html:
    """Return the pairs alone and given the whole set, as two triangles."""
    result = one.result
    if len(result.set) < 2:
        return join_markup([])
    chosen = _most_uncertain(one)
    before, after = _triangle(one, chosen, False), _triangle(one, chosen, True)
    named = shorten(one.name, 60)
    drawn = [
        _figure("pairs alone", triangle(before, f"Pair probabilities of set {named}", 12)),
        _figure("given the whole set", triangle(after, f"Pair marginals of set {named}")),
    ]
    if len(chosen) < len(result.set):
        note = f"pairs of the {len(chosen)} most uncertain of {len(result.set):,} templates"
        drawn.append(element("p", note, class_="left-out"))
    return element("div", join_markup(drawn), class_="matrices")


def _figure(caption: str, drawn: Html) -> Html:
    return element("figure", element("figcaption", caption), drawn)


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
        yield element("p", note, class_="left-out")
