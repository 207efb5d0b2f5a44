"""What run this is, how it was made, how much there is and how the answers were obtained."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from partita.views.markup import Html, cut, element, joined
from partita.views.report_messages import place_of
from partita.views.report_records import Report, most_uncertain
from partita.views.svg_bars import bar
from partita.views.svg_histogram import histogram

FIRST = 8  # of the most uncertain messages

METHODS = {
    "exact": "computed exactly",
    "certified": "within intervals that certainly hold",
    "sampled": "estimates, with standard errors",
    "sampled, NOT converged": "the chains disagree: not settled",
}


def summary_section(report: Report, shown: Mapping[int, int]) -> Html:
    """The first page."""
    panels = [
        element("div", element("h3", "How it was made"), _settings(report.settings)),
        element("div", element("h3", "How answers were obtained"), _methods(report.methods)),
    ]
    if len(report.rows) > 1:
        panels += [
            element("div", element("h3", "How uncertain messages are"), _bits(report)),
            element("div", element("h3", "Most uncertain"), _first(report, shown)),
        ]
    notes = (element("p", note, class_="left-out") for note in report.notes)
    grid = element("div", joined(panels), class_="panels")
    return element("section", _tiles(report), joined(notes), grid, id="summary")


def _tiles(report: Report) -> Html:
    rows = report.rows
    failed = sum(bool(row.error) for row in rows)
    bits = sum(row.entropy_bits for row in rows)
    told = [
        (len(rows), "message"),
        (sum(row.templates for row in rows), "template"),
        (sum(row.sets for row in rows), "set"),
        (sum(row.entities for row in rows), "entity"),
    ]
    counts = [_counted(*one) for one in told]
    counts.append((f"{bits / max(len(rows) - failed, 1):.2f}", "bits per message"))
    counts += [(f"{failed:,}", "failed")] if failed else []
    tiles = (element("div", element("b", n), element("span", what)) for n, what in counts)
    return element("div", joined(tiles), class_="tiles")


def _counted(count: int, noun: str) -> tuple[str, str]:
    plural = "entities" if noun == "entity" else f"{noun}s"
    return f"{count:,}", noun if count == 1 else plural


def _settings(settings: Mapping[str, Any]) -> Html:
    rows = (
        element("tr", element("th", cut(name, 40)), element("td", _told(value)))
        for name, value in settings.items()
        if value not in (None, "", [], {})
    )
    return element("table", joined(rows), class_="facts")


def _told(value: Any) -> str:
    if isinstance(value, Mapping):
        return cut(", ".join(f"{name} {one}" for name, one in value.items()), 300)
    if isinstance(value, list | tuple):
        return cut(", ".join(map(str, value)), 300)
    return f"{value:,}" if type(value) is int else cut(str(value), 300)


def _methods(methods: Mapping[str, int]) -> Html:
    rows = (
        element(
            "tr",
            element("th", name),
            element("td", f"{count:,} {'set' if count == 1 else 'sets'}", class_="number"),
            element("td", METHODS.get(name, ""), class_="quiet"),
            class_="warning" if "NOT" in name else None,
        )
        for name, count in sorted(methods.items())
    )
    if not methods:
        return element("p", "no set has more than one configuration", class_="quiet")
    return element("table", joined(rows), class_="facts")


def _bits(report: Report) -> Html:
    bits = [row.entropy_bits for row in report.rows if not row.error]
    return histogram(bits, "Messages by their entropy in bits")


def _first(report: Report, shown: Mapping[int, int]) -> Html:
    rows = report.rows
    chosen = sorted(most_uncertain(rows, FIRST), key=lambda n: (-rows[n].entropy_bits, n))
    highest = max((rows[n].entropy_bits for n in chosen), default=0.0) or 1.0
    lines = []
    for n in chosen:
        name = cut(rows[n].id, 40) or "results"
        title = element("a", name, href=f"#{place_of(shown[n])}") if n in shown else name
        share = element("td", bar(rows[n].entropy_bits / highest), class_="drawn")
        bits = element("td", f"{rows[n].entropy_bits:.2f}", class_="number")
        lines.append(element("tr", element("th", title), bits, share))
    return element("table", joined(lines), class_="facts")
