"""The commands on a store: runs, export and serve."""

import sys
import webbrowser
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from json import dumps
from pathlib import Path
from typing import Any

from partita.cli.command import command
from partita.cli.console import Console
from partita.errors import InputError, Unavailable
from partita.files.writing import refuse_inputs
from partita.options import (
    EXCEL_SAFE,
    STORE,
    Options,
    argument,
    one_of,
    option,
)
from partita.views.layout import clean, cut_text, pad
from partita.web.config import LOOPBACK, MIN_TOKEN_LENGTH, ServiceConfig

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
    return "".join(f"{cut_text(_line(row, wide).rstrip(), width)}\n" for row in rows)


def _row(run: Mapping[str, Any]) -> tuple[str, ...]:
    numbers = [f"{run[name]:,}" for name in ("messages", "sets", "keyed")]
    return clean(run["name"]), *numbers, f"{run['entropy_bits']:,.2f}", clean(run["outcome"])


def _line(row: Sequence[str], wide: Sequence[int]) -> str:
    cells = [
        pad(cut_text(one, room), room) if name in LEFT else one.rjust(room)
        for name, one, room in zip(HEADINGS, row, wide, strict=True)
    ]
    return "  ".join(cells)


FORMS = ("csv", "jsonl", "parquet")


@dataclass(frozen=True, kw_only=True)
class StoreOptions(Options):
    """The store that a command reads."""

    store: str | None = option(STORE)


@dataclass(frozen=True, kw_only=True)
class RunsCommand(StoreOptions):
    """Options of the command runs."""

    json: bool = option("Print one JSON object per run", False)
    delete: str | None = option("Delete a run with its texts, answers and labels", metavar="RUN")


@dataclass(frozen=True, kw_only=True)
class ExportCommand(StoreOptions):
    """Options of the command export."""

    run: str = argument("Name of a run, as listed by partita runs", "RUN")
    out: Path = option("Output file", ...)
    table: str = option(
        "Table to export, e.g. entities (see docs/store.md); results as written by run --out; "
        "keyed as read by train",
        "entities",
        metavar="NAME",
    )
    excel_safe: bool = option(EXCEL_SAFE, False)
    to: str = option("Format: csv, jsonl or parquet", "csv", metavar="FORM", check=one_of(FORMS))


@command(RunsCommand)
def runs(options: RunsCommand, console: Console) -> None:
    """List the runs in a store, or delete one.

    \b
    Examples:
      partita runs
      partita runs --delete monday
      partita runs --store reports.db --json
    """
    from partita.app.workspace import open_workspace

    with closing(open_workspace(options.store, create=False)) as workspace:
        if options.delete is not None:
            workspace.delete(options.delete)
            console.note(f"deleted run {options.delete}")
            return
        found = workspace.runs()
    if options.json:
        console.say("".join(f"{dumps(one, ensure_ascii=False)}\n" for one in found))
    else:
        console.say(table(found, console.width))


@command(ExportCommand)
def export(options: ExportCommand, console: Console) -> None:
    """Export a table of a run as CSV, JSONL or Parquet.

    \b
    Examples:
      partita export monday --table entities --to csv --out entities.csv
      partita export monday --table results --to jsonl --out results.jsonl
    """
    from partita.app.workspace import open_workspace
    from partita.store.store import default_store

    out, store = options.out, options.store
    refuse_inputs(out, [store or default_store()])
    with closing(open_workspace(store, create=False)) as workspace:
        count = workspace.export(options.run, options.table, options.to, out, options.excel_safe)
    console.note(f"{out}: {count:,} {'row' if count == 1 else 'rows'}")


@dataclass(frozen=True, kw_only=True)
class ServeCommand(ServiceConfig):
    """Options of the command serve."""

    host: str = option(
        "Address to bind to; other than loopback requires a token", "127.0.0.1", metavar="NAME"
    )
    port: int = option("Port; 0 picks a free one", 8765, metavar="N", min=0, max=65535)
    no_browser: bool = option("Do not open the page in a browser", False)


@command(ServeCommand)
def serve(options: ServeCommand, console: Console) -> None:
    """Serve the web page and the HTTP service.

    The page opens in the browser. The service binds to loopback unless --host is given. It
    then requires a token; if none is given, one is generated and printed. Press Ctrl-C to
    stop.

    \b
    Examples:
      partita serve
      partita serve --store reports.db --port 9000
      partita serve kb
      partita serve --host 0.0.0.0 --token "$SECRET"
    """
    try:
        from partita.web import server as web_server
    except ImportError as error:
        raise Unavailable("the service needs FastAPI; install partita[service]") from error

    _check_folder(options.knowledge_base)
    loopback = options.host in LOOPBACK
    config = replace(
        options,
        token=_token(options.token, loopback),
        loopback=loopback,
    )
    with web_server.listen(options.host, options.port) as listener:
        server = web_server.create_server(config)
        _tell(console, web_server.address(listener), config)
        if loopback and sys.stdout.isatty() and not options.no_browser:
            webbrowser.open(_page_address(web_server.address(listener), config))
        web_server.serve(server, listener)


def _check_folder(folder: Path | None) -> None:
    if folder is not None and not (folder / "entities.parquet").exists():
        raise InputError(
            "is no knowledge base; expected a folder of partita build", file=str(folder)
        )


def _token(given: str, loopback: bool) -> str:
    """Return the token that clients must send; empty on loopback without one."""
    if loopback or len(given) >= MIN_TOKEN_LENGTH:
        return given
    if given:
        raise InputError(
            f"the token has {len(given)} characters; expected at least {MIN_TOKEN_LENGTH}"
        )
    import secrets

    return secrets.token_urlsafe(24)


def _page_address(address: str, config: ServiceConfig) -> str:
    place = "#/collection?" if config.knowledge_base else "#"
    return f"{address}/{place}token={config.token}" if config.token else f"{address}/{place[:-1]}"


def _tell(console: Console, address: str, config: ServiceConfig) -> None:
    """Print the address. The token follows the #, which browsers do not send to servers."""
    console.say(f"{_page_address(address, config)}\n")
    console.flush()
    console.note(f"store {config.place.split('@')[-1]}; press Ctrl-C to stop")
