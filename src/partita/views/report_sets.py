"""One set: its templates, its configurations with bars, its pairs before and after."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from partita.records import IntArray, Listed
from partita.results.result_lines import in_text_order
from partita.views.layout import figure, many, number, ranged
from partita.views.markup import Html, Triangle, bar, cut, element, joined, triangle
from partita.views.report_records import Colours, ReportKey, ReportSet, shown

TEMPLATES = 60
CONFIGURATIONS = 20
MATRIX = 40
LARGE = 10  # templates: of larger sets only what changes is shown
LETTERS = 90


def set_section(one: ReportSet, colours: Colours) -> Html:
    """Everything about a set, in a section that can be collapsed."""
    title = element("summary", element("b", f"Set {cut(one.name, 60)}"), f" {facts(one)}")
    listed = element("div", configurations(one, colours), *_notes(one))
    wide = "answer" if len(one.result.set) <= LARGE else None
    answer = element("div", listed, matrices(one), class_=wide)
    return element("details", title, _templates(one, colours), answer, class_="set", open="")


def facts(one: ReportSet) -> str:
    """Its size, how many configurations there are, how uncertain it is and how that is known."""
    result = one.result
    known = result.remainder.count
    count = None if known is None else known + len(result.configurations)
    total = np.logaddexp2(
        result.remainder.log2_count, math.log2(max(len(result.configurations), 1))
    )
    told = [f"{len(result.set)} templates", many(count, float(total), "configuration")]
    told += [f"entropy {figure(one.entropy)} bits", result.model, result.method]
    if result.converged is False:
        told.append("NOT converged")
    return " · ".join(told)


def _notes(one: ReportSet) -> Iterator[Html]:
    """How the answer was obtained, and its caveats."""
    result = one.result
    told = [f"{result.reason}; seed {result.seed}"]
    if result.conflict is not None:
        told.append(f"conflict κ {result.conflict:.4f}")
    if not one.proved:
        told.append("the first configuration is not proven to be the most probable one")
    if one.excluded:
        told.append(f"pruning cost {one.excluded:.3g}")
    yield element("p", "; ".join(told), class_="note")
    if result.converged is False:
        warning = "The chains disagree: this answer has not converged."
        yield element("p", warning, class_="warning")


def _templates(one: ReportSet, colours: Colours) -> Html:
    """Ids with their expressions and what is known of them."""
    members = one.result.set.templates
    if not any(t.text or t.slots for t in members):
        return joined([])
    rows = [
        element(
            "tr",
            element("td", colours.chip(t.id)),
            element("td", cut(t.text, LETTERS), dir="auto"),
            element("td", t.form, class_="quiet"),
            element("td", _slots(t.slots), class_="quiet"),
        )
        for t in members[:TEMPLATES]
    ]
    table = element("table", joined(rows), class_="templates")
    return joined([table, *left_out(len(members) - len(rows), "template")])


def _slots(slots: object) -> str:
    given = slots.items() if isinstance(slots, dict) else ()
    return ", ".join(f"{cut(name, 40)} {shown(value)}" for name, value in given)


def configurations(one: ReportSet, colours: Colours) -> Html:
    """The most probable ones and what remains; each template keeps the colour that it has in the
    first, so that one sees what changes."""
    result = one.result
    place = {name: n for n, name in enumerate(result.set.ids)}
    listed = result.configurations[:CONFIGURATIONS]
    cells = [in_text_order(item.configuration, place) for item in listed]
    known = cells[0] if len(place) > LARGE else []
    rows = [
        _configuration(item, _cells(found, known if n else [], colours), one.keys)
        for n, (item, found) in enumerate(zip(listed, cells, strict=True))
    ]
    hidden = result.configurations[CONFIGURATIONS:]
    if hidden:
        mass = math.fsum(item.probability for item in hidden)
        told = f"{len(hidden):,} more listed in the results"
        rows.append(_row(joined([told]), number(mass), bar(mass, class_="rest"), "rest"))
    rest = result.remainder
    told = many(rest.count, rest.log2_count, "more configuration")
    if rest.count != 0:
        drawn = bar(rest.probability, rest.interval, "rest")
        rows.append(_row(joined([told]), ranged(rest.probability, rest.interval), drawn, "rest"))
    table = element("table", joined(rows), class_="configurations")
    return joined([table, *_unlisted(one)])


def _cells(cells: list[list[str]], known: list[list[str]], colours: Colours) -> Html:
    """All cells or, of a large set, those that are not in the first configuration."""
    other = [cell for cell in cells if cell not in known]
    if not known:
        return colours.cells_of(cells)
    same = element("small", f"as the first, except for {len(other):,} cells: ")
    return joined([same, colours.cells_of(other)])


def _configuration(item: Listed, cells: Html, keys: Sequence[ReportKey]) -> Html:
    authors = [key.author for key in keys if key.configuration == item.configuration]
    said = cut(", ".join(authors), 60)
    badge = [element("span", f"key: {said}", class_="key")] if authors else []
    share = ranged(item.probability, item.interval)
    return _row(joined([cells, *badge]), share, bar(item.probability, item.interval))


def _row(what: Html, share: str, drawn: Html, class_: str | None = None) -> Html:
    parts = (element("td", share, class_="number"), element("td", drawn, class_="drawn"))
    return element("tr", element("td", what), *parts, class_=class_)


def _unlisted(one: ReportSet) -> Iterator[Html]:
    """Keys that none of the listed configurations is."""
    known = {item.configuration for item in one.result.configurations}
    for key in one.keys:
        if key.configuration not in known:
            told = f"the key of {cut(key.author, 60)} is not among the listed configurations: "
            yield element("p", f"{told}{cut(str(key.configuration), 400)}", class_="warning")


def matrices(one: ReportSet) -> Html:
    """Probabilities of the pairs alone, and given the whole set."""
    result = one.result
    if len(result.set) < 2:
        return joined([])
    chosen = _chosen(one)
    before, after = _triangle(one, chosen, False), _triangle(one, chosen, True)
    named = cut(one.name, 60)
    drawn = [
        _figure("pairs alone", triangle(before, f"Pair probabilities of set {named}", 12)),
        _figure("given the whole set", triangle(after, f"Pair marginals of set {named}")),
    ]
    if len(chosen) < len(result.set):
        told = f"pairs of the {len(chosen)} most uncertain of {len(result.set):,} templates"
        drawn.append(element("p", told, class_="left-out"))
    return element("div", joined(drawn), class_="matrices")


def _figure(caption: str, drawn: Html) -> Html:
    return element("figure", element("figcaption", caption), drawn)


def _chosen(one: ReportSet) -> IntArray:
    """All templates or, of many, those whose pairs are the most uncertain."""
    p = np.clip(one.result.marginals.value, 1e-12, 1 - 1e-12)
    doubt = -(p * np.log2(p) + (1 - p) * np.log2(1 - p))
    np.fill_diagonal(doubt, 0.0)
    order = np.argsort(-doubt.sum(axis=1), kind="stable")
    found: IntArray = np.sort(order[:MATRIX])
    return found


def _triangle(one: ReportSet, chosen: IntArray, after: bool) -> Triangle:
    result = one.result
    members = [result.set.templates[n] for n in chosen.tolist()]
    labels = [f"{t.id} {t.text}" if after and t.text else t.id for t in members]
    inside = np.ix_(chosen, chosen)
    given, came = result.probabilities[inside], result.marginals.value[inside]
    low, high = result.marginals.low[inside], result.marginals.high[inside]
    spread = None if result.marginals.kind == "exact" else (low, high)

    def told(a: int, b: int) -> str:
        ends = None if spread is None else (float(spread[0][a, b]), float(spread[1][a, b]))
        share = ranged(float(came[a, b]), ends)
        return f"{members[b].id} = {members[a].id}: {number(float(given[a, b]))} → {share}"

    hints = [[told(a, b) for b in range(a)] for a in range(len(members))]
    return Triangle(labels, came if after else given, (given <= 0.0).tolist(), hints)


def left_out(count: int, noun: str) -> Iterator[Html]:
    """What is not shown is said."""
    if count > 0:
        told = f"{count:,} more {noun}{'' if count == 1 else 's'} not shown here"
        yield element("p", told, class_="left-out")
