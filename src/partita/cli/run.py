"""The command run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options
from partita.cli.console import Console, StandardOutput, error_boundary
from partita.configurations import MODELS

if TYPE_CHECKING:
    from partita.app.recording import Recording
    from partita.app.run_batch import Done, Finished, Wanted
    from partita.app.runner import Ready, Settings
    from partita.errors import PartitaError
    from partita.files.resume import Growing, Stretch
    from partita.text.raw_messages import Given


@dataclass(slots=True)
class RunDelivery:
    """Each message is written as soon as it is there; the numbers say what became of all."""

    console: Console
    wanted: Wanted
    out: Path | None = None
    before: Mapping[str, Stretch] = field(default_factory=dict)
    record: Recording | None = None
    done: int = 0
    kept: int = 0
    failed: int = 0
    sizes: tuple[int, int, int] = (0, 0, 0)
    stdout: StandardOutput = field(init=False)

    def __post_init__(self) -> None:
        self.stdout = StandardOutput(self.console, elsewhere=self._elsewhere)

    @property
    def _elsewhere(self) -> bool:
        return self.out is not None or self.record is not None

    def deliver(self, messages: Iterable[Done]) -> None:
        """All of them. Whatever stops this, what was finished is in the file."""
        with self._file() as file:
            try:
                for message in messages:
                    self._one(message, file)
                    self.console.progress(self._progress())
            except KeyboardInterrupt:
                self.console.flush()
                raise KeyboardInterrupt(self._left()) from None
        self.stdout.say("", flush=True)
        if self.done + self.kept + self.failed > 1 or self._elsewhere:
            self.console.note(self._summary())

    @contextmanager
    def _file(self) -> Iterator[Growing | None]:
        if self.out is None:
            yield None
            return
        from partita.files.resume import growing

        with growing(self.out, self.before) as file:
            yield file

    def _one(self, message: Done, file: Growing | None) -> None:
        if message.error:
            self.failed += 1
            self.console.note(message.error)
        self.kept += message.kept
        if self.record is not None:
            self.record.take(message)
        if file is not None and message.message in self.before:
            file.keep(message.message)
        if message.error or message.kept:
            return
        if file is not None:
            if message.message not in self.before:
                file.add(message.message, message.lines)
        else:
            self.stdout.say("".join(f"{line}\n" for line in message.lines))
        if message.shown:
            apart = "\n" if self.done and self.wanted.shown == "text" else ""
            self.stdout.say(apart + message.shown)
        self.done += 1
        templates, sets, entities = map(sum, zip(self.sizes, message.sizes, strict=True))
        self.sizes = templates, sets, entities

    def _progress(self) -> str:
        told = f"{self.done + self.kept:,} messages"
        return f"{told}, {self.failed:,} failed" if self.failed else told

    def _summary(self) -> str:
        from partita.views.message import counted

        messages = "1 message" if self.done == 1 else f"{self.done:,} messages"
        told = [f"{messages}: {counted(*self.sizes)}"]
        if self.kept:
            told.append(f"{self.kept:,} done before")
        if self.failed:
            told.append(f"{self.failed:,} failed")
        if self.record is not None:
            told.append(f"run {self.record.run} of store {self.record.store.name}")
        return "; ".join(told)

    def _left(self) -> str:
        told = f"{self.done + self.kept:,} messages were finished"
        if not self._elsewhere:
            return told
        where = self.record.store.name if self.record is not None else self.out
        return f"{told} and are in {where}; the same command goes on from there"


def deliver_answers(console: Console, messages: Iterable[Done], out: Path | None) -> int:
    """The exam's answers of all messages, to a file or standard output; how many have failed."""
    from partita.files.writing import write_atomically

    pieces: list[str] = []
    failed = 0
    for number, message in enumerate(messages, 1):
        if message.error:
            failed += 1
            console.note(message.error)
        pieces += message.lines
        console.progress(f"{number:,} messages")
    text = "".join(pieces)
    if out is None:
        console.say(text)
        console.flush()
    else:
        write_atomically(out, text)
    templates = sum(line[:3] == "1. " and line[-1] != "*" for line in text.splitlines())
    told = f"{len(pieces):,} messages, {templates:,} incidents"
    console.note(f"{told}; {failed:,} failed" if failed else told)
    return failed


MANY = 20  # messages: of more, each is told in one line

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Text files, JSONL with a field text, MUC files, or folders; - reads stdin.",
    ),
]
Domain = Annotated[str, typer.Option(metavar="D", help="Name of a domain, or a folder of rules.")]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=options.one_of(MODELS),
        show_default="evidential; scaled with --to muc",
        help=f"Model: {', '.join(MODELS)}.",
    ),
]
Parameters = Annotated[
    Path | None,
    typer.Option(metavar="F", show_default="the domain's own", help="Parameters written by train."),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        help="Write results to a file (JSONL). Messages already in the file are skipped.",
    ),
]
To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="NAME",
        callback=options.one_of(("jsonl", "muc")),
        help="Output format: jsonl, or muc (answers to the MUC-4 exam; domain incidents).",
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Also write to a store: a file (SQLite) or postgresql://… Messages already there are "
        "skipped.",
    ),
]
Name = Annotated[
    str | None,
    typer.Option(metavar="N", show_default="made from the settings", help="Name of the run."),
]
Json = Annotated[bool, typer.Option("--json", help="Write results to standard output (JSONL).")]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", show_default="UTF-8, or as the BOM says", help="Encoding of the texts."
    ),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        callback=options.positive,
        show_default="a fixed amount of work",
        help="Time limit per set.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, show_default="all cores", help="Number of processes."),
]


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(run)


def run(
    inputs: Inputs,
    domain: Domain = "depots",
    model: Model = None,
    parameters: Parameters = None,
    gazetteer: options.Gazetteer = None,
    out: Out = None,
    to: To = "jsonl",
    store: StoreUrl = None,
    name: Name = None,
    top: options.Top = None,
    threshold: options.Threshold = None,
    seconds: Seconds = None,
    work: options.Work = None,
    seed: options.Seed = 0,
    workers: Workers = None,
    encoding: Encoding = None,
    json: Json = False,
) -> None:
    """Extract entities and resolve coreference in messages.

    Templates are extracted by the rules of a domain. Every coreference set gets a
    probability distribution over its configurations. Failures are reported;
    processing continues.

    \b
    Examples:
      partita run message.txt
      partita run reports --out results.jsonl
      partita run reports --store reports.db --name monday
      partita run dev.muc --domain depots --model merging --json
      partita run tst3-muc4 --domain incidents --to muc --out answers.txt
    """
    with error_boundary() as console:
        from partita.app.run_batch import Wanted, done
        from partita.app.runner import Settings, ready, usual_budget

        _refuse_nameless(store, name)
        model = model or ("scaled" if to == "muc" else "evidential")
        budget = usual_budget(model, seconds, work)
        file = str(parameters or "")
        places = str(gazetteer or "")
        settings = Settings(domain, model, file, top, threshold, budget, seed, places)
        made = ready(settings)
        if model != "uniform":
            console.note(f"{model} with parameters learned from {made.learned_from}")
        if to == "muc":
            _refuse_unanswered(made, store, json)
            texts, _ = _texts(inputs, encoding)
            answers = done(texts, settings, Wanted(answers=True), workers=workers)
            if deliver_answers(console, answers, out):
                raise typer.Exit(1)
            return
        before = _before(out, made.told)
        texts, many = _texts(inputs, encoding)
        wanted = _wanted(console, json, out, store, many)
        with _record(store, settings, made, inputs, name) as record:
            delivery = RunDelivery(console, wanted, out, before, record)
            finished = _finished(out, before, record)
            delivery.deliver(done(texts, settings, wanted, finished, workers))
    if delivery.failed:
        raise typer.Exit(1)


def _refuse_nameless(store: str | None, name: str | None) -> None:
    from partita.errors import InputError

    if name is not None and store is None:
        raise InputError("--name needs --store")


def _refuse_unanswered(made: Ready, store: str | None, json: bool) -> None:
    from partita.errors import InputError

    if made.answers is None:
        raise InputError("--to muc answers the MUC-4 exam; expected --domain incidents")
    if store is not None or json:
        raise InputError("--to muc goes to --out or standard output; expected no --store or --json")


@contextmanager
def _record(
    url: str | None, settings: Settings, made: Ready, inputs: list[str], name: str | None
) -> Iterator[Recording | None]:
    """The run in the store, if one is wanted."""
    if url is None:
        yield None
        return
    from partita.app.recording import recording
    from partita.store.opening import open_store

    store = open_store(url)
    try:
        with recording(store, settings, made, inputs, name) as record:
            yield record
    finally:
        store.close()


def _finished(out: Path | None, before: dict[str, Stretch], record: Recording | None) -> Finished:
    """What every place that is wanted holds already."""
    from partita.app.run_batch import Finished

    file = Finished({name: one.run.get("text", "") for name, one in before.items()})
    if record is None or out is None:
        return file if record is None else record.finished
    hashes = {**file.hashes, **record.finished.hashes}
    again = file.hashes.keys() ^ record.finished.hashes.keys()
    where = f"the file of results or {record.finished.where}"
    longest = record.finished.longest
    return Finished(hashes, frozenset(again), where, "--out and --name", longest)


def _before(out: Path | None, told: dict[str, object]) -> dict[str, Stretch]:
    """What is in the file already, if it was made in the same way."""
    if out is None:
        return {}
    from partita.files.resume import finished, refuse_other

    before = finished(out)
    refuse_other(out, before, told)
    return before


def _texts(inputs: list[str], encoding: str | None) -> tuple[Iterable[Given | PartitaError], bool]:
    """The texts as they are read, and whether there are many."""
    from itertools import chain, islice

    from partita.text.messages import read_texts

    texts = read_texts(inputs, encoding=encoding)
    first = list(islice(texts, MANY + 1))
    return chain(first, texts), len(first) > MANY


def _wanted(
    console: Console, json: bool, out: Path | None, store: str | None, many: bool
) -> Wanted:
    """A few messages are shown in full, many in a line each, many that go to a file not at all."""
    from partita.app.run_batch import Wanted

    silent = json or (many and (out is not None or store is not None))
    return Wanted(
        json=json or out is not None,
        stored=store is not None,
        shown="" if silent else "line" if many else "text",
        width=console.width,
        colour=console.colour,
    )
