"""Build the report of a run or a results file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita.app.evaluate import evaluate
from partita.app.run_batch import text_hash
from partita.errors import InputError, PartitaError
from partita.files.strict import Place, parsed
from partita.files.text import numbered_lines
from partita.records import Configuration, Template
from partita.results.saved_results import Alone, result_of
from partita.results.template_json import template_of
from partita.text.messages import read_texts
from partita.views.report import MAX_FULL, report_page
from partita.views.report_records import (
    MessageRow,
    Report,
    ReportKey,
    ReportMessage,
    ReportSet,
    method_label,
    most_uncertain,
    set_of,
)

if TYPE_CHECKING:  # a report on a results file needs no database
    from partita.app.workspace import Workspace

Progress = Callable[[str], None]


@dataclass(slots=True)
class _Seen:
    """A message while its lines go by: how much there is, where, and how it was made."""

    templates: int = 0
    sets: int = 0
    entities: int = 0
    bits: float = 0.0
    run: Mapping[str, Any] = field(default_factory=dict)

    def row(self, name: str) -> MessageRow:
        return MessageRow(name, self.templates, self.sets, self.entities, self.bits)


@dataclass(slots=True)
class _Survey:
    """All messages of a file, and what its sets say about how they were answered."""

    messages: dict[str, _Seen] = field(default_factory=dict)
    methods: Counter[str] = field(default_factory=Counter)
    models: dict[str, None] = field(default_factory=dict)
    seeds: dict[int, None] = field(default_factory=dict)

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The settings that messages were resolved with; of one run there is one."""
        found = []
        for seen in self.messages.values():
            told = {name: value for name, value in seen.run.items() if name != "text"}
            if told and told not in found:
                found.append(told)
        return found

    def settings(self, path: Path) -> dict[str, Any]:
        """Of `run`, or as far as the sets themselves tell them."""
        told = {"model": list(self.models), "seed": list(self.seeds)}
        return {"file": path.name, **(self.runs[0] if self.runs else told)}


def report_of_results(
    path: str | Path,
    texts: Sequence[str | Path] = (),
    keys: Sequence[Path] = (),
    most: int = MAX_FULL,
    progress: Progress | None = None,
) -> str:
    """The page; the file is read twice, so that only what is shown in full is held."""
    place = Path(path)
    survey = _surveyed(place, progress)
    rows = tuple(seen.row(name) for name, seen in survey.messages.items())
    chosen = [rows[n].id for n in most_uncertain(rows, most)]
    found = _texts(texts, chosen, survey)
    measured = _measured(place, keys, progress) if keys else None
    report = Report(
        place.name,
        survey.settings(place),
        rows,
        tuple(_messages(place, chosen, found)),
        survey.methods,
        measured,
        tuple(_notes(survey, texts, chosen, found)),
        without_text=len(found) < len(chosen),
    )
    return report_page(report, most)


def _measured(path: Path, keys: Sequence[Path], progress: Progress | None) -> dict[str, Any]:
    found = evaluate(path, keys, progress=progress).row
    if not found.sets:
        raise InputError(f"no template of {path} is in these keys", file=str(keys[0]))
    return asdict(found)


def _surveyed(path: Path, progress: Progress | None) -> _Survey:
    survey = _Survey()
    for place, line in _lines(path):
        read = result_of(line, place)
        seen = survey.messages.setdefault(read.message, _Seen())
        if isinstance(read, Alone):
            seen.templates += len(read.templates)
            seen.entities += len(read.templates)
            seen.run = line.get("run") or seen.run
            if progress:
                progress(f"{len(survey.messages):,} messages")
            continue
        seen.templates, seen.sets = seen.templates + len(read.set), seen.sets + 1
        seen.entities += len(read.entities)
        seen.bits += read.entropy_bits or 0.0
        survey.methods[method_label(read.method, read.converged is False)] += 1
        survey.models[read.model] = survey.seeds[read.seed] = None
    if not survey.messages:
        raise InputError("holds no results; expected a line of JSON for each set", file=str(path))
    return survey


def _lines(path: Path) -> Iterator[tuple[Place, dict[str, Any]]]:
    for number, text in numbered_lines(path):
        if text.strip():
            place = Place(str(path), number)
            value = parsed(text, place)
            if not isinstance(value, dict):
                place.refuse("is no object; expected a line of results")
            yield place, value


def _messages(
    path: Path, chosen: Sequence[str], texts: Mapping[str, str]
) -> Iterator[ReportMessage]:
    """Those in full, in the order of the file."""
    sets: dict[str, list[ReportSet]] = {name: [] for name in chosen}
    alone: dict[str, list[Template]] = {name: [] for name in chosen}
    for place, line in _lines(path):
        if line.get("message") not in sets:
            continue
        if "singletons" not in line:
            sets[line["message"]].append(set_of(line, place))
        elif isinstance(read := result_of(line, place), Alone):
            alone[read.message] += read.templates
    for name in chosen:
        yield ReportMessage(name, tuple(sets[name]), tuple(alone[name]), texts.get(name))


def _texts(inputs: Sequence[str | Path], chosen: Sequence[str], survey: _Survey) -> dict[str, str]:
    """The texts of the messages that are shown; another text of the same name is refused."""
    found: dict[str, str] = {}
    wanted = set(chosen)
    for given in read_texts(inputs) if inputs else ():
        if isinstance(given, PartitaError):
            raise given
        if given.id not in wanted:
            continue
        made_from = survey.messages[given.id].run.get("text")
        if made_from not in (None, text_hash(given.text)):
            problem = f"the results of message {given.id} were made from another text"
            raise InputError(problem, file=given.file)
        found[given.id] = given.text
    return found


def _notes(
    survey: _Survey, inputs: Sequence[str | Path], chosen: Sequence[str], texts: Mapping[str, str]
) -> Iterator[str]:
    if len(runs := survey.runs) > 1:
        yield f"The file holds {len(runs)} runs with different settings; the first one's are told."
    missing = len(chosen) - len(texts)
    if not inputs:
        yield "No texts were given: expressions are shown without their message."
    elif missing:
        yield f"{missing:,} of the messages shown have no text among those given."


__all__ = ["report_html", "report_of_results"]

PAGE = 1000  # messages that are asked for at a time
ABOUT = ("parent", "inputs", "started", "finished", "outcome")


def report_html(workspace: Workspace, run: str, most: int = MAX_FULL) -> str:
    """The page of a run; the messages that are least certain are shown in full."""
    from partita.store.runs import count_methods

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
        {method_label(*how): count for how, count in methods.items()},
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
