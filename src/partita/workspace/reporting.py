"""A report on a run of a store, or on a file of results: one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from partita.formats.strict import Place
from partita.formats.template_json import template_of
from partita.records import Configuration
from partita.store.methods import count_methods
from partita.views.report import MOST, report_page
from partita.views.report_records import (
    MessageRow,
    Report,
    ReportKey,
    ReportMessage,
    answered,
    most_uncertain,
    set_of,
)
from partita.workspace.desk import Workspace
from partita.workspace.reporting_files import report_of_results

__all__ = ["report_html", "report_of_results"]

PAGE = 1000  # messages that are asked for at a time
ABOUT = ("parent", "inputs", "started", "finished", "outcome")


def report_html(workspace: Workspace, run: str, most: int = MOST) -> str:
    """The page of a run; the messages that are least certain are shown in full."""
    about = workspace.run(run)
    rows = tuple(_rows(workspace, run))
    chosen = most_uncertain(rows, most)
    with workspace.store.reading() as connection:
        methods = count_methods(connection, run)
    report = Report(
        run,
        _settings(about),
        rows,
        tuple(_message(workspace.message(run, rows[n].id)) for n in chosen),
        {answered(*how): count for how, count in methods.items()},
        workspace.evaluate(run) if workspace.keys(run) else None,
    )
    return report_page(report, most)


def _settings(about: Mapping[str, Any]) -> dict[str, Any]:
    """What the store says of the run, then what decided about its results."""
    told = {"run": about["name"]} | {name: about[name] for name in ABOUT if about.get(name)}
    return told | dict(about["settings"]) | {"versions": about["versions"]}


def _rows(workspace: Workspace, run: str) -> Iterator[MessageRow]:
    """All messages in text order, a page at a time."""
    offset, total = 0, 1
    while offset < total:
        page = workspace.messages(run, offset=offset, limit=PAGE)
        yield from map(_row, page["messages"])
        offset, total = offset + PAGE, page["total"]


def _row(told: Mapping[str, Any]) -> MessageRow:
    templates, sets, entities = (told[name] or 0 for name in ("templates", "sets", "entities"))
    bits, error = told["entropy_bits"] or 0.0, told["error"] or ""
    return MessageRow(told["message"], templates, sets, entities, bits, error)


def _message(told: Mapping[str, Any]) -> ReportMessage:
    place = Place(f"run {told['run']}, message {told['message']}")
    return ReportMessage(
        told["message"],
        tuple(set_of(one, place, _keys(told, one["set"])) for one in told["sets"]),
        tuple(template_of(one, place) for one in told["singletons"]),
        told["text"],
        told["fields"] or {},
    )


def _keys(told: Mapping[str, Any], name: str) -> Iterator[ReportKey]:
    for key in told["keys"].get(name, ()):
        yield ReportKey(str(key["author"]), Configuration(key["cells"]))
