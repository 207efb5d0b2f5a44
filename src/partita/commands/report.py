"""A run as one file to read: partita report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from partita.commands.shell import edge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita.commands.console import Console

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
        from partita.formats.atomic import write_atomically

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
    from partita.workspace.reporting_files import report_of_results

    return report_of_results(path, texts, keys, most, console.progress)


def _of_store(run: str, store: str, more: Sequence[Path] | None, most: int) -> str:
    from partita.errors import InputError
    from partita.workspace.desk import open_workspace
    from partita.workspace.reporting import report_html

    if more:
        raise InputError("--texts and --keys are for a file of results; a store has both")
    workspace = open_workspace(store or None, create=False)
    try:
        return report_html(workspace, run, most)
    finally:
        workspace.close()
