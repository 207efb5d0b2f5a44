"""The command line interface."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from partita.cli import authoring, fuse, records, research, run, serve, solve, store
from partita.cli.console import error_boundary

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from typer._click.core import Command, Context


class Commands(TyperGroup):
    """The commands of this package, and those that other packages add.

    Other packages are asked only for names that this one does not have, and for help.
    """

    def list_commands(self, ctx: Context) -> list[str]:
        from partita.plugins import COMMANDS, installed

        return [*super().list_commands(ctx), *installed(COMMANDS)]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if (command := super().get_command(ctx, cmd_name)) is not None:
            return command
        from partita.plugins import COMMANDS, installed

        entry = installed(COMMANDS).get(cmd_name)
        return None if entry is None else _added_command(entry)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        from partita.plugins import where_from

        if self.get_command(ctx, args[0]) is None and (source := where_from(args[0])):
            ctx.fail(f"No such command {args[0]!r}{source}.")
        return super().resolve_command(ctx, args)


def _added_command(entry: EntryPoint) -> Command:
    """Return the command of another package; one that fails to load says so when it is called."""
    from partita.errors import PartitaError
    from partita.plugins import load_plugin

    try:
        function = load_plugin(entry)
    except PartitaError as failure:
        problem = str(failure)

        def function() -> None:
            with error_boundary():
                raise PartitaError(problem)

        function.__doc__ = problem
    return get_command_from_info(
        CommandInfo(name=entry.name, callback=function),
        pretty_exceptions_short=False,
        rich_markup_mode=None,
    )


# Rich takes a tenth of a second to start; plain help is there at once and fits 80 columns.
app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"max_content_width": 80, "help_option_names": ["-h", "--help"]},
)


# Commands that multiply no large matrices: threads for that would only spin for a while.
SINGLE_THREADED = ("solve",)
COLLECTED = 50_000  # new objects until garbage is looked for: modules have many, and no garbage

for _family in (run, solve, records, fuse, research, store, serve, authoring):
    _family.add_to(app)


def main() -> None:
    """Run the command line interface.

    Typer describes all options of all commands first: it is given only the command that is named.
    """
    if sys.argv[1:2] and sys.argv[1] in SINGLE_THREADED:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported
    gc.set_threshold(COLLECTED)
    everything = app.registered_commands, app.registered_groups
    if named := [one for one in everything[0] if _name(one) in sys.argv[1:2]]:
        app.registered_commands, app.registered_groups = named, []
    try:
        app(prog_name="partita")
    finally:
        app.registered_commands, app.registered_groups = everything


def _name(command: CommandInfo) -> str:
    return command.name or (command.callback.__name__ if command.callback else "")


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"partita {version('partita')}")
        raise typer.Exit


@app.callback()
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
    """Resolve who is who in messages and records, with probabilities.

    Example: partita solve pairs.csv
    """
    if debug:
        os.environ["PARTITA_DEBUG"] = "1"  # worker processes get it too
