"""Build the report of a run or a results file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.app.runner import text_hash
from partita.core import Configuration, Template
from partita.errors import InputError, PartitaError
from partita.files.strict import Place, json_lines
from partita.results.result_lines import template_of
from partita.results.saved_results import Alone, result_of
from partita.text.messages import read_texts
from partita.views.report import (
    MAX_FULL,
    MessageRow,
    Report,
    ReportKey,
    ReportMessage,
    ReportSet,
    method_label,
    most_uncertain,
    report_page,
    set_of,
)

if TYPE_CHECKING:
    from partita.app.workspace import Workspace

Progress = Callable[[str], None]


@dataclass(slots=True)
class _Survey:
    """The messages, methods, models and seeds of a results file; `runs` has the settings."""

    messages: dict[str, MessageRow] = field(default_factory=dict)
    runs: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    methods: Counter[str] = field(default_factory=Counter)
    models: dict[str, None] = field(default_factory=dict)
    seeds: dict[int, None] = field(default_factory=dict)

    @property
    def different(self) -> list[dict[str, Any]]:
        """The different settings of the messages; a single run has one."""
        runs: list[dict[str, Any]] = []
        for run in self.runs.values():
            settings = {name: value for name, value in run.items() if name != "text"}
            if settings and settings not in runs:
                runs.append(settings)
        return runs

    def settings(self, path: Path) -> dict[str, Any]:
        """Return the settings of `run`, or else the models and seeds of the sets."""
        settings = {"model": list(self.models), "seed": list(self.seeds)}
        return {"file": path.name, **next(iter(self.different), settings)}


def report_of_results(
    path: str | Path,
    texts: Sequence[str | Path] = (),
    most: int = MAX_FULL,
    progress: Progress | None = None,
) -> str:
    """Return the page of a results file.

    The file is read twice, so that only messages shown in full are held in memory.
    """
    file = Path(path)
    survey = _read_survey(file, progress)
    rows = tuple(survey.messages.values())
    chosen = [rows[n].id for n in most_uncertain(rows, most)]
    shown_texts = _texts(texts, chosen, survey)
    report = Report(
        file.name,
        survey.settings(file),
        rows,
        tuple(_messages(file, chosen, shown_texts)),
        survey.methods,
        tuple(_notes(survey, texts, chosen, shown_texts)),
        without_text=len(shown_texts) < len(chosen),
    )
    return report_page(report, most)


def _read_survey(path: Path, progress: Progress | None) -> _Survey:
    survey = _Survey()
    for place, line in _lines(path):
        result = result_of(line, place)
        row = survey.messages.setdefault(result.message, MessageRow(result.message))
        if isinstance(result, Alone):
            row.templates += len(result.templates)
            row.entities += len(result.templates)
            survey.runs[result.message] = line.get("run") or survey.runs.get(result.message, {})
            if progress:
                progress(f"{len(survey.messages):,} messages")
            continue
        row.templates, row.sets = row.templates + len(result.set), row.sets + 1
        row.entities += len(result.entities)
        row.entropy_bits += result.entropy_bits or 0.0
        survey.methods[method_label(result.method, result.converged is False)] += 1
        survey.models[result.model] = survey.seeds[result.seed] = None
    if not survey.messages:
        raise InputError("has no results (expected one JSON line per set)", file=str(path))
    return survey


def _lines(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    for place, value in json_lines(path):
        if not isinstance(value, dict):
            place.refuse("is not a JSON object (expected a line of results)")
        yield place, value


def _messages(
    path: Path, chosen: Sequence[str], texts: Mapping[str, str]
) -> Iterator[ReportMessage]:
    """Yield the messages that are shown in full, in the order of the file."""
    sets: dict[str, list[ReportSet]] = {name: [] for name in chosen}
    alone: dict[str, list[Template]] = {name: [] for name in chosen}
    for place, line in _lines(path):
        if line.get("message") not in sets:
            continue
        if "singletons" not in line:
            sets[line["message"]].append(set_of(line, place))
        elif isinstance(result := result_of(line, place), Alone):
            alone[result.message] += result.templates
    for name in chosen:
        yield ReportMessage(name, tuple(sets[name]), tuple(alone[name]), texts.get(name))


def _texts(inputs: Sequence[str | Path], chosen: Sequence[str], survey: _Survey) -> dict[str, str]:
    """Return the texts of the messages shown; refuse a text that differs from the original."""
    shown: dict[str, str] = {}
    names = set(chosen)
    for message in read_texts(inputs) if inputs else ():
        if isinstance(message, PartitaError):
            raise message
        if message.id not in names:
            continue
        expected = survey.runs.get(message.id, {}).get("text")
        if expected and expected.partition("-")[0] != text_hash(message.text):
            problem = f"the results of message {message.id} were made from another text"
            raise InputError(problem, file=message.file)
        shown[message.id] = message.text
    return shown


def _notes(
    survey: _Survey, inputs: Sequence[str | Path], chosen: Sequence[str], texts: Mapping[str, str]
) -> Iterator[str]:
    if len(runs := survey.different) > 1:
        yield f"The file holds {len(runs)} runs with different settings; the first are shown."
    missing = len(chosen) - len(texts)
    if not inputs:
        yield "No texts were given: expressions are shown without their message."
    elif missing:
        yield f"{missing:,} of the messages shown have no text among those given."


__all__ = ["report_html", "report_of_results"]

PAGE_SIZE = 1000  # messages read at a time
RUN_FIELDS = ("parent", "inputs", "started", "finished", "outcome")


def report_html(workspace: Workspace, run: str, most: int = MAX_FULL) -> str:
    """Return the page of a run; the least certain messages are shown in full."""
    from partita.store.runs import count_methods

    description = workspace.run(run)
    rows = tuple(_rows(workspace, run))
    chosen = most_uncertain(rows, most)
    with workspace.store.reading() as connection:
        methods = count_methods(connection, run)
    report = Report(
        run,
        _settings(description),
        rows,
        tuple(_message(workspace.message(run, rows[n].id)) for n in chosen),
        {method_label(*how): count for how, count in methods.items()},
    )
    return report_page(report, most)


def _settings(run: Mapping[str, Any]) -> dict[str, Any]:
    """Return the description of a run, then the settings of its results."""
    settings = {"run": run["name"]} | {name: run[name] for name in RUN_FIELDS if run.get(name)}
    if "inputs" in settings:  # a report is passed on: no names of folders
        settings["inputs"] = [Path(name).name for name in settings["inputs"]]
    return settings | dict(run["settings"]) | {"versions": run["versions"]}


def _rows(workspace: Workspace, run: str) -> Iterator[MessageRow]:
    """Yield all messages in text order, reading one page at a time."""
    offset, total = 0, 1
    while offset < total:
        page = workspace.messages(run, offset=offset, limit=PAGE_SIZE)
        yield from map(_row, page["messages"])
        offset, total = offset + PAGE_SIZE, page["total"]


def _row(message: Mapping[str, Any]) -> MessageRow:
    templates, sets, entities = (message[name] or 0 for name in ("templates", "sets", "entities"))
    bits, error = message["entropy_bits"] or 0.0, message["error"] or ""
    return MessageRow(message["message"], templates, sets, entities, bits, error)


def _message(message: Mapping[str, Any]) -> ReportMessage:
    place = Place(f"run {message['run']}, message {message['message']}")
    return ReportMessage(
        message["message"],
        tuple(set_of(one, place, _keys(message, one["set"])) for one in message["sets"]),
        tuple(template_of(one, place) for one in message["singletons"]),
        message["text"],
    )


def _keys(message: Mapping[str, Any], name: str) -> Iterator[ReportKey]:
    for key in message["keys"].get(name, ()):
        yield ReportKey(str(key["author"]), Configuration(key["cells"]))
