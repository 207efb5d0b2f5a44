"""A run as one HTML file that needs no other: no script, and a policy that would let none run."""

from __future__ import annotations

import base64
import hashlib

from partita.views.markup import Html, cut, document, element, joined
from partita.views.report_calibration import calibration_section
from partita.views.report_messages import message_section, message_table
from partita.views.report_records import Report
from partita.views.report_style import STYLE
from partita.views.report_summary import summary_section

MOST = 50  # messages in full, and sets of each


def report_page(report: Report, most: int = MOST) -> str:
    """The whole file."""
    at = {id(row): n for n, row in enumerate(report.rows)}
    names = {row.id: at[id(row)] for row in report.rows}
    shown = {names[message.id]: n for n, message in enumerate(report.messages)}
    parts = [_header(report), summary_section(report, shown)]
    if report.measured is not None:
        parts.append(calibration_section(report.measured))
    parts += [_list(report, shown)] if len(report.rows) > 1 else []
    parts.append(_messages(report, most))
    foot = element("footer", "Made by Partita")
    return document(_title(report), STYLE, policy(), element("main", *parts), foot)


def policy() -> str:
    """Nothing may be loaded or run; the style is known by its hash."""
    found = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{found}'; base-uri 'none'; form-action 'none'"


def _title(report: Report) -> str:
    return f"{cut(report.title, 120)}: report"


def _header(report: Report) -> Html:
    links = {"summary": True, "calibration": report.measured is not None,
             "messages": len(report.rows) > 1, "details": True}  # fmt: skip
    nav = (element("a", name, href=f"#{name}") for name, there in links.items() if there)
    title = element("h1", element("small", "Partita report on "), cut(report.title, 120))
    return element("header", title, element("nav", joined(nav)))


def _list(report: Report, shown: dict[int, int]) -> Html:
    title = element("h2", "Messages")
    whole = len(report.messages) == len(report.rows)
    told = "" if whole else (
        f"The {len(report.messages):,} most uncertain of {len(report.rows):,} messages are shown "
        f"in full; the other {len(report.rows) - len(report.messages):,} are in this list only."
    )  # fmt: skip
    note = (element("p", told, class_="left-out"),) if told else ()
    table = message_table(report.rows, shown)
    folded = element(
        "details", element("summary", "All messages"), table, open="" if whole else None
    )
    return element("section", title, *note, folded, id="messages")


def _messages(report: Report, most: int) -> Html:
    parts = (message_section(n, one, most) for n, one in enumerate(report.messages))
    told = "Templates of one colour are one cell of the most probable configuration"
    if report.without_text:
        told += "; where the text of a message was not given, its expressions are shown alone"
    legend = element("p", f"{told}.", class_="quiet")
    return element("section", legend, joined(parts), id="details")
