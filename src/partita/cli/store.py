"""The commands runs, export and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.cli.console import error_boundary
from partita.views.layout import clean, cut, pad

if TYPE_CHECKING:
    from partita.cli.console import Console

HEADINGS = ("run", "messages", "sets", "keyed", "bits", "outcome")
LEFT = ("run", "outcome")  # the others are numbers
NARROW, WIDE = 20, 40


def table(runs: Sequence[Mapping[str, Any]], width: int = 80) -> str:
    """Return a table of runs, oldest first."""
    if not runs:
        return "no runs\n"
    rows = [HEADINGS, *map(_row, runs)]
    wide = [max(len(row[n]) for row in rows) for n in range(len(HEADINGS))]
    wide[0] = max(NARROW, min(wide[0], WIDE))
    return "".join(f"{cut(_line(row, wide).rstrip(), width)}\n" for row in rows)


def _row(run: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = [f"{run[name]:,}" for name in ("messages", "sets", "keyed")]
    return clean(run["name"]), *numbers, f"{run['entropy_bits']:,.2f}", clean(run["outcome"])


def _line(row: Sequence[str], wide: Sequence[int]) -> str:
    cells = [
        pad(cut(one, room), room) if name in LEFT else one.rjust(room)
        for name, one, room in zip(HEADINGS, row, wide, strict=True)
    ]
    return "  ".join(cells)


FORMS = ("csv", "jsonl", "parquet")

RunOption = Annotated[
    str, typer.Argument(metavar="RUN", help="Name of a run, as listed by partita runs.")
]
Table = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Table to export, e.g. entities (see docs/store.md); results as written by "
        "run --out; keyed as read by train.",
    ),
]
To = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORM",
        callback=options.one_of((*FORMS, "graphml")),
        help="Format: csv, jsonl or parquet; graphml for the table graph.",
    ),
]
ExportOut = Annotated[Path, typer.Option(metavar="F", help="Output file.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object per run.")]


def runs(store: options.Store = None, json: Json = False) -> None:
    """List the runs in a store.

    \b
    Examples:
      partita runs
      partita runs --store reports.db --json
    """
    with error_boundary() as console:
        from json import dumps

        from partita.app.workspace import open_workspace

        with closing(open_workspace(store, create=False)) as workspace:
            found = workspace.runs()
        if json:
            console.say("".join(f"{dumps(one, ensure_ascii=False)}\n" for one in found))
        else:
            console.say(table(found, console.width))
        console.flush()


def export(
    run: RunOption,
    out: ExportOut,
    table: Table = "entities",
    to: To = "csv",
    excel_safe: options.ExcelSafe = False,
    store: options.Store = None,
) -> None:
    """Export a table of a run as CSV, JSONL or Parquet.

    \b
    Examples:
      partita export monday --table entities --to csv --out entities.csv
      partita export monday --table results --to jsonl --out results.jsonl
      partita export monday --table graph --to graphml --out mentions.graphml
    """
    with error_boundary() as console:
        from partita.app.workspace import open_workspace
        from partita.files.writing import refuse_inputs
        from partita.store.opening import default_store

        refuse_inputs(out, [store or default_store()])
        with closing(open_workspace(store, create=False)) as workspace:
            count = workspace.export(run, table, to, out, excel_safe)
        console.note(f"{out}: {count:,} {_rows(count)}")


def _rows(count: int) -> Any:
    return "row" if count == 1 else "rows"


RESULTS = (".jsonl", ".ndjson", ".json")

Run = Annotated[
    str,
    typer.Argument(metavar="RUN", help="Name of a run in the store, or a results file (JSONL)."),
]
Out = Annotated[Path, typer.Option(metavar="F.html", help="Output file.")]
Texts = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="INPUT", help="For a results file: the texts it was made from; repeatable."
    ),
]
Keys = Annotated[
    list[Path] | None,
    typer.Option(metavar="KEYS", help="For a results file: keys to evaluate against; repeatable."),
]
Most = Annotated[
    int,
    typer.Option(metavar="N", min=1, help="Number of messages shown in full, least certain first."),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (runs, export, report):
        app.command()(command)


def report(
    run: Run,
    out: Out,
    store: options.Store = None,
    texts: Texts = None,
    keys: Keys = None,
    most: Most = 50,
) -> None:
    """Write a report on a run as one HTML file.

    The report works offline and can be printed. It shows the messages with their
    templates coloured by cell, the configurations of every set, pair probabilities
    before and after, entities with their slot values and, where there are keys,
    calibration. It states what it leaves out. RUN is read from a results file if
    that file exists, otherwise from the store.

    \b
    Examples:
      partita report demo --out report.html
      partita report results.jsonl --texts reports --out report.html
    """
    with error_boundary() as console:
        from partita.files.writing import refuse_inputs, write_atomically

        refuse_inputs(out, [run, *(texts or ()), *(keys or ()), store])
        if is_file(run):
            page = _of_file(console, Path(run), texts or (), keys or (), most)
        else:
            page = _of_store(run, store, texts or keys, most)
        write_atomically(out, page)
        console.note(f"{out}: {len(page.encode()) / 1000:,.0f} kB")


def is_file(run: str) -> bool:
    """Return whether RUN names a file: run names never have these suffixes."""
    return Path(run).suffix in RESULTS or Path(run).is_file()


def _of_file(
    console: Console, path: Path, texts: Sequence[Path], keys: Sequence[Path], most: int
) -> str:
    from partita.app.report import report_of_results

    return report_of_results(path, texts, keys, most, console.progress)


def _of_store(run: str, store: str | None, more: Sequence[Path] | None, most: int) -> str:
    from partita.app.report import report_html
    from partita.app.workspace import open_workspace
    from partita.errors import InputError

    if more:
        raise InputError("--texts and --keys are for results files (a store already has both)")
    with closing(open_workspace(store, create=False)) as workspace:
        return report_html(workspace, run, most)
