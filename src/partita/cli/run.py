"""The commands run and domains."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

import typer

from partita.cli.command import command
from partita.cli.console import Console
from partita.cli.output import (
    CONLLU,
    MANY,
    Kind,
    Output,
    ReplacedFile,
    ResumedFile,
    Sink,
    StoredRun,
    view_of,
)
from partita.errors import InputError, PartitaError
from partita.files.writing import refuse_folders, refuse_inputs
from partita.options import (
    REPORT_JSON,
    WORK,
    WORKERS,
    Options,
    RunOptions,
    argument,
    not_empty,
    option,
    positive,
)
from partita.plugins import PACKAGES, where_from

TABLES = (".csv", ".tsv", ".parquet")
EVERYWHERE = ("jsonl", "corefud")  # formats of every domain
NOTE = 71  # columns of the line that says what the model learned from

if TYPE_CHECKING:
    from partita.app.batch import OutputForms
    from partita.app.recording import Recording
    from partita.app.runner import Earlier, Runner
    from partita.domains import OutputFormat
    from partita.files.resume import Stretch
    from partita.text.raw_messages import RawMessage


@dataclass(frozen=True, kw_only=True)
class RunCommand(RunOptions):
    """Options of the command run."""

    inputs: tuple[str, ...] = argument(
        "Text files, JSONL with a field text, MUC files, CoNLL-U, CoNLL-2012, or folders; - reads "
        "stdin",
        "INPUT...",
    )
    out: Path | None = option(
        "Write results to a file (JSONL). Messages already in the file are skipped"
    )
    to: str = option(
        "Output format: jsonl, corefud (CoNLL-U with entities) or one of the domain's own",
        "jsonl",
        metavar="NAME",
    )
    json: bool = option("Write results to standard output (JSONL)", False)
    store: str | None = option(
        "Also write to a store: a file (SQLite) or postgresql://… Messages already there are "
        "skipped",
        metavar="URL",
        check=not_empty,
    )
    name: str | None = option("Name of the run", metavar="N", shown="made from the settings")
    seconds: float | None = option(
        "Time limit per set", metavar="S", check=positive, shown="a fixed amount of work"
    )
    work: int | None = option(WORK)
    workers: int | None = option(WORKERS)

    @property
    def results(self) -> Path | None:
        """The file of results, which grows by messages."""
        return self.out if self.to == "jsonl" else None


@command(RunCommand)
def run(options: RunCommand, console: Console) -> None:
    """Extract entities and resolve coreference in texts.

    The domain general reads any English text; other domains extract templates by
    their own rules. Every answer has a probability. Failures are reported; processing
    continues.

    \b
    Examples:
      partita run message.txt
      partita run reports --out results.jsonl
      partita run reports --store reports.db --name monday
      partita run news.txt --mentions mentions.jsonl --out news.jsonl
      partita run dev.muc --domain depots --model merging --json
    """
    with _locked(options.results):
        output = _run(options, console)
    if output.failed:
        raise typer.Exit(1)


def _run(options: RunCommand, console: Console) -> Output:
    from partita.app.batch import OutputForms
    from partita.app.runner import run_messages

    _refuse_useless(options)
    _refuse_overwriting(options)
    own = _own_format(options.domain, options.to)
    runner = _runner(options, own, console)
    out, json, workers = options.out, options.json, options.workers
    if options.to != "jsonl":
        _refuse_export(options)
        output = _other_output(console, own, out)
        forms = OutputForms(corefud=True) if own is None else OutputForms(own=options.to)
        messages, _ = _messages(options)
        output.write(run_messages(messages, runner, forms, workers=workers))
        return output
    stretches = _stretches(out, runner)
    messages, many = _messages(options)
    forms = OutputForms(
        json=json or out is not None,
        stored=options.store is not None,
        view=view_of(many, json, out is not None or options.store is not None),
        width=console.width,
        colour=console.colour,
    )
    with _record(options, runner) as record:
        output = _output(console, forms, options, stretches, record)
        earlier = _earlier(stretches) if record is None else record.earlier
        output.write(run_messages(messages, runner, forms, earlier, workers))
    return output


def _runner(options: RunCommand, own: "OutputFormat | None", console: Console) -> "Runner":
    """Return the runner, with everything loaded, and note what its model learned from."""
    from partita.app.runner import Runner, Settings, model_for, usual_budget
    from partita.views.layout import cut_text

    model = model_for(options.domain, options.model or (None if own is None else own.model))
    settings = Settings.of(
        options.domain,
        model,
        options.parameters,
        top=options.top,
        threshold=options.threshold,
        budget=usual_budget(model, options.seconds, options.work),
        seed=options.seed,
        gazetteer=options.gazetteer,
        force=options.force,
        encoder=options.encoder,
    )
    runner = Runner(settings).load()
    if runner.cautious:
        console.note("no keys for this domain: probabilities are cautious")
    elif model != "uniform":
        learned = f"{model} with parameters learned from {runner.parameters.learned_from}"
        console.note(cut_text(learned, NOTE))
    for name in options.inputs:
        if Path(name).suffix.lower() in TABLES:
            console.note(f"{name}: is read as text; link, cluster and fuse read tables")
    return runner


def _locked(out: Path | None) -> AbstractContextManager[None]:
    if out is None:
        return nullcontext()
    from partita.files.resume import locked

    return locked(out)


def _refuse_useless(options: RunCommand) -> None:
    if options.name is not None and options.store is None:
        raise InputError("--name needs --store")
    if options.out is not None and options.store is not None:
        problem = "results go to a file or to a store (expected --out or --store)"
        raise InputError(f"{problem}; partita export writes a file of a run in a store")


def _refuse_overwriting(options: RunCommand) -> None:
    inputs = [*options.inputs, options.parameters, options.gazetteer, options.mentions]
    folders = [path for path in inputs if path and Path(path).is_dir()]
    store = options.store
    for file in (options.out, None if store is None or "://" in store else store):
        refuse_inputs(file, inputs)
        refuse_folders(file, folders)


def _own_format(domain: str, to: str) -> "OutputFormat | None":
    """Return the format of a domain's own; the formats of every domain are none."""
    if to in EVERYWHERE:
        return None
    from partita.domains import find_domain

    own = {one.name: one for one in find_domain(domain).output_formats}
    if to in own:
        return own[to]
    expected = f"(expected {', '.join((*EVERYWHERE, *own))}){where_from(to)}"
    problem = f"domain {domain} has no format {to!r} {expected}"
    if any(to in names for names in PACKAGES.values()):
        raise InputError(problem)
    raise typer.BadParameter(problem)


def _refuse_export(options: RunCommand) -> None:
    if options.store is not None or options.json:
        place = "--out or standard output"
        raise InputError(f"--to {options.to} goes to {place} (expected no --store, --json)")


def _output(
    console: Console,
    forms: "OutputForms",
    options: RunCommand,
    stretches: dict[str, "Stretch"],
    record: "Recording | None",
) -> Output:
    sink: Sink | None = None if record is None else StoredRun(record)
    if options.out is not None:
        sink = ResumedFile(options.out, stretches)

    def summary(output: Output) -> str:
        if output.done + output.skipped + output.failed == 1 and sink is None:
            return ""
        where = "" if record is None else f"; run {record.run} of store {record.store.name}"
        return _summary(output) + where

    return Output(
        console,
        "message",
        sink,
        print_lines=options.out is None,
        separated=forms.view == "text",
        summary=summary,
    )


def _summary(output: Output, noun: str = "") -> str:
    """Return how many messages were done, skipped and failed, with the number of what is found."""
    from partita.views.layout import count_text
    from partita.views.message import counted

    found = f", {output.sizes[0]:,} {noun}" if noun else f": {counted(*output.sizes)}"
    parts = [f"{count_text(output.done, 'message')}{found}"]
    parts += [f"{output.skipped:,} done before"] if output.skipped else []
    return "; ".join(parts + ([f"{output.failed:,} failed"] if output.failed else []))


def _other_output(console: Console, own: "OutputFormat | None", out: Path | None) -> Output:
    """Return the output of messages in CoNLL-U, or in a format of the domain's own."""
    kind = CONLLU if own is None else Kind(own.description, own.first_line)
    sink = None if out is None else ReplacedFile(out, kind)
    summary = partial(_summary, noun="" if own is None else own.counted)
    return Output(console, "message", sink, print_lines=out is None, summary=summary)


@contextmanager
def _record(options: RunCommand, runner: "Runner") -> Iterator["Recording | None"]:
    """Open the run in the store, if one is named."""
    if options.store is None:
        yield None
        return
    from partita.app.recording import recording
    from partita.store.store import open_store

    store, inputs = open_store(options.store), list(options.inputs)
    try:
        with recording(store, runner, inputs, options.name) as record:
            yield record
    finally:
        store.close()


def _earlier(stretches: dict[str, "Stretch"]) -> "Earlier":
    """Return the messages that the file of results has already."""
    from partita.app.runner import Earlier

    return Earlier({name: one.run.get("text", "") for name, one in stretches.items()})


def _stretches(out: Path | None, runner: "Runner") -> dict[str, "Stretch"]:
    """Return where messages are in the file already, if they were resolved in the same way."""
    if out is None:
        return {}
    from partita.files.resume import finished, refuse_other

    stretches = finished(out)
    refuse_other(out, stretches, runner.provenance)
    return stretches


def _messages(
    options: RunCommand,
) -> tuple["Iterable[RawMessage | PartitaError]", bool]:
    """Return the messages as they are read, and whether there are many."""
    from partita.text.messages import read_texts

    messages = read_texts(list(options.inputs), encoding=options.encoding)
    if options.mentions is not None and options.to in EVERYWHERE:
        from partita.text.annotations import mention_source, with_mentions

        messages = with_mentions(messages, mention_source(options.mentions))
    first = list(islice(messages, MANY + 1))
    return chain(first, messages), len(first) > MANY


@dataclass(frozen=True, kw_only=True)
class DomainsCommand(Options):
    """Options of the command domains."""

    json: bool = option(REPORT_JSON, False)


@command(DomainsCommand)
def domains(options: DomainsCommand, console: Console) -> None:
    """List the installed domains and what each covers.

    \b
    Examples:
      partita domains
      partita domains --json
    """
    from partita.domains import describe_domains

    rows = describe_domains()
    if options.json:
        console.json(rows, ensure_ascii=True)
    else:
        console.say("".join(_domain_text(rows, console.width)))


def _domain_text(rows: list[dict[str, str]], width: int) -> Iterator[str]:
    """Yield a paragraph for each domain: its name, what it covers, and its package."""
    column = max((len(row["name"]) for row in rows), default=0) + 2
    for row in rows:
        covers = row["error"] or row["description"]
        text = f"{covers} ({row['package']} {row['version']})"
        first = row["name"].ljust(column)
        yield fill(text, width, initial_indent=first, subsequent_indent=" " * column) + "\n"
