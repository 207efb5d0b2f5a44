"""The commands for what a store holds: runs and export."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from partita.commands import options
from partita.commands.shell import edge

FORMS = "csv jsonl parquet"

Run = Annotated[str, typer.Argument(metavar="RUN", help="The name of a run, as runs lists them.")]
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
Out = Annotated[Path, typer.Option(metavar="F", help="The file to write.")]
Json = Annotated[bool, typer.Option("--json", help="A line of JSON for each run.")]


def add_to(app: typer.Typer) -> None:
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

        from partita.views.runs import table
        from partita.workspace.desk import open_workspace

        found = open_workspace(store, create=False).runs()
        if json:
            console.say("".join(f"{dumps(one, ensure_ascii=False)}\n" for one in found))
        else:
            console.say(table(found, console.width))
        console.flush()


def export(
    run: Run,
    out: Out,
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
        from partita.workspace.desk import open_workspace

        count = open_workspace(store, create=False).export(run, table, to, out)
        console.note(f"{out}: {count:,} {_rows(count)}")


def _rows(count: int) -> Any:
    return "row" if count == 1 else "rows"
