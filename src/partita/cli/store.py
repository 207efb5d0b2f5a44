"""The commands runs, export and report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli import options
from partita.cli.console import edge
from partita.views.layout import clean, cut, padded

if TYPE_CHECKING:
    from partita.cli.console import Console

HEADINGS = ("run", "messages", "sets", "keyed", "bits", "outcome")
LEFT = ("run", "outcome")  # the others are numbers
NARROW, WIDE = 20, 40


def table(runs: Sequence[Mapping[str, Any]], width: int = 80) -> str:
    """In the order in which they were begun."""
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
        padded(cut(one, room), room) if name in LEFT else one.rjust(room)
        for name, one, room in zip(HEADINGS, row, wide, strict=True)
    ]
    return "  ".join(cells)


FORMS = "csv jsonl parquet"

RunOption = Annotated[
    str, typer.Argument(metavar="RUN", help="The name of a run, as runs lists them.")
]
StoreUrl = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="URL",
        help="A file or postgresql://…; PARTITA_STORE, or partita.db here, if unsaid.",
    ),
]
Table = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="A table of docs/store.md, e.g. entities; results as run --out writes them; "
        "keyed as train reads them.",
    ),
]
To = Annotated[
    str,
    typer.Option(
        "--to", metavar="FORM", callback=options.one_of(FORMS), help="csv, jsonl or parquet."
    ),
]
ExportOut = Annotated[Path, typer.Option(metavar="F", help="The file to write.")]
Json = Annotated[bool, typer.Option("--json", help="A line of JSON for each run.")]


def add_runs_and_export(app: typer.Typer) -> None:
    for command in (runs, export):
        app.command()(command)


def runs(store: StoreUrl = None, json: Json = False) -> None:
    """Lists the runs of a store: what they hold, and whether they are complete.

    \b
    Examples:
      partita runs
      partita runs --store reports.db --json
    """
    with edge() as console:
        from json import dumps

        from partita.app.workspace import open_workspace

        found = open_workspace(store, create=False).runs()
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
    store: StoreUrl = None,
) -> None:
    """Writes a table of a run as CSV, JSONL or Parquet.

    \b
    Examples:
      partita export monday --table entities --to csv --out entities.csv
      partita export monday --table results --to jsonl --out results.jsonl
    """
    with edge() as console:
        from partita.app.workspace import open_workspace

        count = open_workspace(store, create=False).export(run, table, to, out)
        console.note(f"{out}: {count:,} {_rows(count)}")


def _rows(count: int) -> Any:
    return "row" if count == 1 else "rows"


RESULTS = (".jsonl", ".ndjson", ".json")

Run = Annotated[
    str, typer.Argument(metavar="RUN", help="A run of the store, or a file of results (JSONL).")
]
Out = Annotated[Path, typer.Option(metavar="F.html", help="The file to write.")]
Store = Annotated[
    str,
    typer.Option(
        metavar="URL", help="A file or postgresql://…; without it PARTITA_STORE, else partita.db."
    ),
]
Texts = Annotated[
    list[Path] | None,
    typer.Option(
        metavar="INPUT", help="Of a file of results: what it was made from; may be given often."
    ),
]
Keys = Annotated[
    list[Path] | None,
    typer.Option(metavar="KEYS", help="Of a file of results: keys to measure it with."),
]
Most = Annotated[
    int, typer.Option(metavar="N", min=1, help="Messages in full, the least certain; 50 if unsaid.")
]


def add_to(app: typer.Typer) -> None:
    app.command()(report)


def report(
    run: Run,
    out: Out,
    store: Store = "",
    texts: Texts = None,
    keys: Keys = None,
    most: Most = 50,
) -> None:
    """Writes a run as one HTML file that works offline and prints well.

    It shows the messages with their templates coloured by cells, the
    configurations of every set with bars, pairs before and after, entities with
    the values of their slots and, where there are keys, calibration. What is left
    out is said. A file of results that exists is read, else the store.

    \b
    Examples:
      partita report demo --out report.html
      partita report results.jsonl --texts reports --out report.html
    """
    with edge() as console:
        from partita.files.writing import write_atomically

        if is_file(run):
            page = _of_file(console, Path(run), texts or (), keys or (), most)
        else:
            page = _of_store(run, store, texts or keys, most)
        write_atomically(out, page)
        console.note(f"{out}: {len(page.encode()) / 1000:,.0f} kB")


def is_file(run: str) -> bool:
    """Names of runs have no such endings, so a file that is missing is told as one."""
    return Path(run).suffix in RESULTS or Path(run).is_file()


def _of_file(
    console: Console, path: Path, texts: Sequence[Path], keys: Sequence[Path], most: int
) -> str:
    from partita.app.report import report_of_results

    return report_of_results(path, texts, keys, most, console.progress)


def _of_store(run: str, store: str, more: Sequence[Path] | None, most: int) -> str:
    from partita.app.report import report_html
    from partita.app.workspace import open_workspace
    from partita.errors import InputError

    if more:
        raise InputError("--texts and --keys are for a file of results; a store has both")
    workspace = open_workspace(store or None, create=False)
    try:
        return report_html(workspace, run, most)
    finally:
        workspace.close()
