"""The commands run and domains."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.cli import options
from partita.cli.console import Console, error_boundary
from partita.cli.output import (
    CONLLU,
    MANY,
    PAGE,
    BratFolder,
    ExportedFile,
    Kind,
    Output,
    PrintedExport,
    ReplacedFile,
    ResumedFile,
    Sink,
    StoredRun,
    view_of,
)
from partita.configurations import MODELS

EVERYWHERE = ("jsonl", "corefud", "brat", "html")  # formats of every domain
NOTE = 110  # columns of the line that says what the model learned from

if TYPE_CHECKING:
    from partita.app.batch import Forms
    from partita.app.recording import Recording
    from partita.app.run_batch import Earlier
    from partita.app.runner import Runner
    from partita.domains import OutputFormat
    from partita.errors import PartitaError
    from partita.files.resume import Stretch
    from partita.text.raw_messages import RawMessage

Inputs = Annotated[
    list[str],
    typer.Argument(
        metavar="INPUT...",
        help="Text files, JSONL with a field text, MUC files, CoNLL-U, CoNLL-2012, or folders; "
        "- reads stdin.",
    ),
]
Domain = Annotated[str, typer.Option(metavar="D", help="Name of a domain, or a folder of rules.")]
Model = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        callback=options.one_of(MODELS),
        show_default="the domain's own",
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
        help="Output format: jsonl; corefud (CoNLL-U with entities); brat (standoff annotation, "
        "--out is a folder); html (a page); or one of the domain's own.",
    ),
]
Mentions = Annotated[
    Path | None,
    typer.Option(
        metavar="F",
        help="Mentions to use in place of those found: JSONL with spans, CoNLL-U or CoNLL-2012.",
    ),
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        callback=options.not_empty,
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
Durable = Annotated[
    bool,
    typer.Option(
        "--durable",
        help="Wait until each message is on disk, in --out and in a store (SQLite), so that a "
        "power cut loses none that was finished. Slower.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, show_default="all cores", help="Number of processes."),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(run)
    app.command()(domains)


def run(
    inputs: Inputs,
    domain: Domain = "general",
    model: Model = None,
    parameters: Parameters = None,
    gazetteer: options.Gazetteer = None,
    mentions: Mentions = None,
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
    durable: Durable = False,
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
      partita run article.txt --mentions mentions.jsonl --to html --out article.html
      partita run dev.muc --domain depots --model merging --json
    """
    with error_boundary() as console, _locked(out if to == "jsonl" else None):
        from partita.app.batch import Forms
        from partita.app.run_batch import run_messages
        from partita.app.runner import Runner, Settings, model_for, usual_budget
        from partita.views.layout import cut

        _refuse_name_without_store(store, name)
        _refuse_durable(durable, out if to == "jsonl" else None, store)
        _refuse_overwriting(out, store, [*inputs, parameters, gazetteer, mentions])
        own = _own_format(domain, to)
        model = model_for(domain, model or (None if own is None else own.model))
        budget = usual_budget(model, seconds, work)
        files = (str(parameters or ""), str(gazetteer or ""))
        settings = Settings(domain, model, files[0], top, threshold, budget, seed, files[1])
        runner = Runner(settings).load()
        if model != "uniform":
            learned = f"{model} with parameters learned from {runner.parameters.learned_from}"
            console.note(cut(learned, NOTE))
        if own is not None:
            _refuse_export(to, store, json, out)
            output = _own_output(console, own, out)
            messages, _ = _messages(inputs, encoding, None)
            output.write(run_messages(messages, runner, Forms(own=to), workers=workers))
        elif to != "jsonl":
            _refuse_export(to, store, json, out)
            output = _export_output(console, to, out)
            messages, _ = _messages(inputs, encoding, mentions)
            output.write(run_messages(messages, runner, Forms(export=to), workers=workers))
        else:
            stretches = _stretches(out, runner)
            messages, many = _messages(inputs, encoding, mentions)
            forms = Forms(
                json=json or out is not None,
                stored=store is not None,
                view=view_of(many, json, out is not None or store is not None),
                width=console.width,
                colour=console.colour,
            )
            with _record(store, runner, inputs, name, durable) as record:
                output = _output(console, forms, out, stretches, record, durable)
                earlier = _earlier(out, stretches, record)
                output.write(run_messages(messages, runner, forms, earlier, workers))
    if output.failed:
        raise typer.Exit(1)


@contextmanager
def _locked(out: Path | None) -> Iterator[None]:
    from partita.files.resume import locked

    with nullcontext() if out is None else locked(out):
        yield


def _refuse_overwriting(
    out: Path | None, store: str | None, inputs: list[str | Path | None]
) -> None:
    from partita.files.writing import refuse_folders, refuse_inputs

    folders = [path for path in inputs if path and Path(path).is_dir()]
    for file in (out, None if store is None or "://" in store else store):
        refuse_inputs(file, inputs)
        refuse_folders(file, folders)


def _refuse_durable(durable: bool, out: Path | None, store: str | None) -> None:
    from partita.errors import InputError

    if durable and out is None and store is None:
        raise InputError("--durable needs --store, or --out with --to jsonl")


def _refuse_name_without_store(store: str | None, name: str | None) -> None:
    from partita.errors import InputError

    if name is not None and store is None:
        raise InputError("--name needs --store")


def _own_format(domain: str, to: str) -> OutputFormat | None:
    """Return the format of a domain's own; the formats of every domain are none."""
    if to in EVERYWHERE:
        return None
    from partita.domains import find_domain
    from partita.errors import InputError
    from partita.plugins import where_from

    own = {one.name: one for one in find_domain(domain).output_formats}
    if to in own:
        return own[to]
    expected = f"(expected {', '.join((*EVERYWHERE, *own))}){where_from(to)}"
    raise InputError(f"domain {domain} has no format {to!r} {expected}")


def _refuse_export(to: str, store: str | None, json: bool, out: Path | None) -> None:
    from partita.errors import InputError

    if store is not None or json:
        place = "--out" if to == "brat" else "--out or standard output"
        raise InputError(f"--to {to} goes to {place} (expected no --store, --json)")
    if to == "brat" and out is None:
        raise InputError("--to brat writes a file of text and one of annotation per message "
                         "(expected --out FOLDER)")  # fmt: skip


def _output(
    console: Console,
    forms: Forms,
    out: Path | None,
    stretches: dict[str, Stretch],
    record: Recording | None,
    durable: bool,
) -> Output:
    sinks: list[Sink] = [] if record is None else [StoredRun(record)]
    if out is not None:
        sinks.append(ResumedFile(out, stretches, durable))

    def summary(output: Output) -> str:
        from partita.views.message import counted

        if output.done + output.skipped + output.failed == 1 and not sinks:
            return ""
        parts = [f"{_count(output.done)}: {counted(*output.sizes)}"]
        if output.skipped:
            parts.append(f"{output.skipped:,} done before")
        if output.failed:
            parts.append(f"{output.failed:,} failed")
        if record is not None:
            parts.append(f"run {record.run} of store {record.store.name}")
        return "; ".join(parts)

    return Output(
        console,
        "message",
        sinks,
        print_lines=out is None,
        separated=forms.view == "text",
        summary=summary,
    )


def _export_output(console: Console, to: str, out: Path | None) -> Output:
    """Return the output of messages in another format."""
    frame = ("", "")
    if to == "html":
        from partita.views.marked_text import html_frame

        frame = html_frame("Entities")
    if out is None:
        sink: Sink = PrintedExport(console, frame)
    elif to == "brat":
        sink = BratFolder(out)
    else:
        sink = ExportedFile(out, PAGE if to == "html" else CONLLU, frame)
    return Output(console, "message", [sink], print_lines=False, summary=_summary)


def _summary(output: Output) -> str:
    from partita.views.message import counted

    parts = [f"{_count(output.done)}: {counted(*output.sizes)}"]
    return "; ".join(parts + [f"{output.failed:,} failed"] * bool(output.failed))


def _own_output(console: Console, own: OutputFormat, out: Path | None) -> Output:
    """Return the output of messages in a format of the domain's own."""

    def summary(output: Output) -> str:
        text = f"{_count(output.done)}, {output.sizes[0]:,} {own.counted}"
        return f"{text}; {output.failed:,} failed" if output.failed else text

    sinks = [] if out is None else [ReplacedFile(out, Kind(own.description, own.first_line))]
    return Output(console, "message", sinks, print_lines=out is None, summary=summary)


def _count(messages: int) -> str:
    return "1 message" if messages == 1 else f"{messages:,} messages"


@contextmanager
def _record(
    url: str | None, runner: Runner, inputs: list[str], name: str | None, durable: bool
) -> Iterator[Recording | None]:
    """Open the run in the store, if one is named."""
    if url is None:
        yield None
        return
    from partita.app.recording import recording
    from partita.store.opening import open_store

    store = open_store(url)
    try:
        with recording(store, runner, inputs, name, durable=durable) as record:
            yield record
    finally:
        store.close()


def _earlier(out: Path | None, stretches: dict[str, Stretch], record: Recording | None) -> Earlier:
    """Return the messages that the file, the store or both have already."""
    from partita.app.run_batch import Earlier

    file = Earlier({name: one.run.get("text", "") for name, one in stretches.items()})
    if record is None or out is None:
        return file if record is None else record.earlier
    stored = record.earlier
    return Earlier(
        {**file.hashes, **stored.hashes},
        frozenset(file.hashes.keys() ^ stored.hashes.keys()),
        f"the file of results or {stored.where}",
        "--out and --name",
        stored.longest_id,
    )


def _stretches(out: Path | None, runner: Runner) -> dict[str, Stretch]:
    """Return where messages are in the file already, if they were resolved in the same way."""
    if out is None:
        return {}
    from partita.files.resume import finished, refuse_other

    stretches = finished(out)
    refuse_other(out, stretches, runner.provenance)
    return stretches


def _messages(
    inputs: list[str], encoding: str | None, mentions: Path | None
) -> tuple[Iterable[RawMessage | PartitaError], bool]:
    """Return the messages as they are read, and whether there are many."""
    from itertools import chain, islice

    from partita.text.messages import read_texts

    messages = read_texts(inputs, encoding=encoding)
    if mentions is not None:
        from partita.text.annotations import mention_source, with_mentions

        messages = with_mentions(messages, mention_source(mentions))
    first = list(islice(messages, MANY + 1))
    return chain(first, messages), len(first) > MANY


def domains(json: options.JsonReport = False) -> None:
    """List the installed domains and what each covers.

    \b
    Examples:
      partita domains
      partita domains --json
    """
    with error_boundary() as console:
        from json import dumps

        from partita.domains import describe_domains

        rows = describe_domains()
        console.say(dumps(rows) + "\n" if json else "".join(_domain_text(rows, console.width)))
        console.flush()


def _domain_text(rows: list[dict[str, str]], width: int) -> Iterator[str]:
    """Yield a paragraph for each domain: its name, what it covers, and its package."""
    from textwrap import fill

    column = max((len(row["name"]) for row in rows), default=0) + 2
    for row in rows:
        covers = row["error"] or row["description"]
        text = f"{covers} ({row['package']} {row['version']})"
        first = row["name"].ljust(column)
        yield fill(text, width, initial_indent=first, subsequent_indent=" " * column) + "\n"
