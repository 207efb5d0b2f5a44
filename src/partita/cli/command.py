"""The group of all commands, and commands made of functions that take an options class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field
from inspect import Parameter, Signature, get_annotations
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_args, get_origin

import typer
from typer.core import TyperGroup
from typer.main import get_command_from_info
from typer.models import CommandInfo

from partita.cli.console import Console, error_boundary
from partita.errors import PartitaError
from partita.options import Options, declaration, declared_fields
from partita.plugins import COMMANDS, installed, load_plugin, where_from

if TYPE_CHECKING:
    from typer._click.core import Command, Context

    from partita.plugins import EntryPoint

T = TypeVar("T", bound=Options)
Function = Callable[[T, Console], None]


class Commands(TyperGroup):
    """The commands of this package, and those that other packages add.

    Other packages are asked only for names that this one does not have, and for help.
    """

    def list_commands(self, ctx: Context) -> list[str]:
        return [*super().list_commands(ctx), *installed(COMMANDS)]

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        if (command := super().get_command(ctx, cmd_name)) is not None:
            return command
        entry = installed(COMMANDS).get(cmd_name)
        return None if entry is None else _added_command(entry)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and (source := where_from(args[0])):
            ctx.fail(f"No such command {args[0]!r}{source}.")
        return super().resolve_command(ctx, args)


def _added_command(entry: EntryPoint) -> Command:
    """Return the command of another package; one that fails to load says so when it is called."""
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
root = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"max_content_width": 80, "help_option_names": ["-h", "--help"]},
)


def command(
    kind: type[T], name: str | None = None, app: typer.Typer = root
) -> Callable[[Function[T]], Function[T]]:
    """Add a function of options and a console as a command; its docstring is the help."""

    def add(function: Function[T]) -> Function[T]:
        def call(**values: Any) -> None:
            with error_boundary() as console:
                function(kind(**_frozen(values)), console)
                console.flush()

        call.__name__, call.__doc__ = function.__name__, function.__doc__
        call.__dict__["__signature__"] = Signature(list(_parameters(kind)))
        app.command(name)(call)
        return function

    return add


def _frozen(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values that were given, several as a tuple."""
    given = {name: value for name, value in values.items() if value is not None}
    return {name: tuple(v) if isinstance(v, list) else v for name, v in given.items()}


def _parameters(kind: type[Options]) -> Iterator[Parameter]:
    """Yield the parameters of a command: arguments first, then what the command itself declares."""
    classes = [*enumerate(kind.__mro__)]
    place = {
        name: (n, k) for n, one in reversed(classes) for k, name in enumerate(get_annotations(one))
    }
    known = [one for one in declared_fields(kind) if declaration(one).command]
    known.sort(key=lambda one: (not declaration(one).argument, place[one.name]))
    yield from map(_parameter, known)


def _parameter(one: Field[Any]) -> Parameter:
    declared = declaration(one)
    kind = one.type if declared.type is None else declared.type | None
    if get_origin(kind) is tuple and get_args(kind)[-1] is ...:
        kind = list[get_args(kind)[0]]  # type: ignore[misc]
    required = one.default is MISSING
    details: dict[str, Any] = {
        "help": declared.help,
        "metavar": None if kind is bool else declared.metavar,
        "callback": callback_of(declared.check),
        "min": declared.min,
        "max": declared.max,
        "show_default": declared.shown,
    }
    if declared.argument:
        made: Any = typer.Argument(**details)
    else:
        flag = declared.flag or f"--{one.name.replace('_', '-')}"
        made = typer.Option(flag, envvar=declared.envvar, **details)
    return Parameter(
        one.name,
        Parameter.KEYWORD_ONLY,
        default=Parameter.empty if required else None if one.default == () else one.default,
        annotation=Annotated[kind, made],
    )


def callback_of(check: Callable[[Any], None] | None) -> Callable[[Any], Any] | None:
    """Return a check as typer calls it: with one error for wrong usage."""
    if check is None:
        return None

    def checked(value: Any) -> Any:
        if value is not None:
            try:
                check(value)
            except ValueError as error:
                raise typer.BadParameter(str(error)) from None
        return value

    return checked
