"""The command line interface."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer

from partita.cli.command import root

if TYPE_CHECKING:  # imported by name, when one of their commands is called
    from partita.cli import records, research, run, solve, store

    __all__ = ["records", "research", "run", "solve", "store"]

# Commands that multiply no large matrices: threads for that would only spin for a while (in L-BFGS
# of a few weights most of the time).
SINGLE_THREADED = ("solve", "paper")
COLLECTED = 50_000  # new objects until garbage is looked for: modules have many, and no garbage
HOMES = {
    "run": ("run", "domains"),
    "solve": ("demo", "solve"),
    "records": ("cluster", "link", "fuse", "build", "query"),
    "research": ("keys", "train", "evaluate", "paper", "explain", "domain", "rules"),
    "store": ("runs", "export", "serve"),
}


def main() -> None:
    """Run the command line interface; only the module of the command that is named is imported."""
    name = "".join(sys.argv[1:2])
    if name in SINGLE_THREADED:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported
    gc.set_threshold(COLLECTED)
    _add_commands(name)
    root(prog_name="partita")


def _add_commands(name: str = "") -> None:
    """Import the module that has a command, or all modules if none has it."""
    for module in [home for home, names in HOMES.items() if name in names] or HOMES:
        import_module(f"partita.cli.{module}")


def __getattr__(name: str) -> Any:
    if name != "app":
        raise AttributeError(f"module 'partita.cli' has no attribute {name!r}")
    _add_commands()
    return root


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"partita {version('partita')}")
        raise typer.Exit


@root.callback()
def partita(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of every error.")
    ] = False,
) -> None:
    """Resolve who is who in texts and records, with probabilities.

    Example: partita run article.txt
    """
    if debug:
        os.environ["PARTITA_DEBUG"] = "1"  # worker processes get it too
