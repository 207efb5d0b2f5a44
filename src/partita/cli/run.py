"""The command run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.app.run_batch import Done, Wanted
from partita.cli import options
from partita.cli.console import Audience, Console, edge
from partita.files.resume import Growing, Stretch, growing
from partita.views.message import counted

if TYPE_CHECKING:
    from partita.app.recording import Recording
    from partita.app.run_batch import Finished
    from partita.app.runner import Ready, Settings
    from partita.errors import PartitaError
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
    audience: Audience = field(init=False)

    def __post_init__(self) -> None:
        self.audience = Audience(self.console, elsewhere=self._elsewhere)

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
        self.audience.say("", flush=True)
        if self.done + self.kept + self.failed > 1 or self._elsewhere:
            self.console.note(self._summary())

    @contextmanager
    def _file(self) -> Iterator[Growing | None]:
        if self.out is None:
            yield None
            return
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
            self.audience.say("".join(f"{line}\n" for line in message.lines))
        if message.shown:
            apart = "\n" if self.done and self.wanted.shown == "text" else ""
            self.audience.say(apart + message.shown)
        self.done += 1
        templates, sets, entities = map(sum, zip(self.sizes, message.sizes, strict=True))
        self.sizes = templates, sets, entities

    def _progress(self) -> str:
        told = f"{self.done + self.kept:,} messages"
        return f"{told}, {self.failed:,} failed" if self.failed else told

    def _summary(self) -> str:
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
MODELS = "uniform greedy merging evidential scaled joint"

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Texts, JSONL with a field text, MUC files, folders of these; - reads stdin.",
    ),
]
Domain = Annotated[
    str, typer.Option(metavar="D", help="A domain that comes with Partita, or a folder of rules.")
]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=options.one_of(MODELS),
        help=f"One of {MODELS.replace(' ', ', ')}; evidential if unsaid, scaled with --to muc.",
    ),
]
Parameters = Annotated[
    Path | None,
    typer.Option(
        metavar="F", help="What train has written; without it, the domain's own or shipped ones."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        help="Write results to a file (JSONL). What it holds already is not done again.",
    ),
]
To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="NAME",
        callback=options.one_of("jsonl muc"),
        help="jsonl, or muc: the answers to the MUC-4 exam, of the domain incidents.",
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="Write into a store too: a file (SQLite) or postgresql://… What it holds is kept.",
    ),
]
Name = Annotated[
    str | None,
    typer.Option(metavar="N", help="Of the run in the store; made from the settings if unsaid."),
]
Json = Annotated[bool, typer.Option("--json", help="Results on standard output (JSONL).")]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="Of the texts; UTF-8 (or what a mark says) if unsaid."),
]
Seconds = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        callback=options.positive,
        help="Time for one set; without it an amount of work, the same on any machine.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Processes for many messages; all cores if unsaid."),
]


def add_to(app: typer.Typer) -> None:
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
    """From messages to entities: who is who in them, with probabilities.

    Each message is read, templates are extracted by the rules of the domain, and
    every coreference set gets a distribution over its configurations. A message
    that fails is told, and the others are done.

    \b
    Examples:
      partita run message.txt
      partita run reports --out results.jsonl
      partita run reports --store reports.db --name monday
      partita run dev.muc --domain depots --model merging --json
      partita run tst3-muc4 --domain incidents --to muc --out answers.txt
    """
    with edge() as console:
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
        raise InputError("--name is that of a run in a store; expected --store too")


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
