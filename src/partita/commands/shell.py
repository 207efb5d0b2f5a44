"""Where errors become one line and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from partita.commands.console import Console, NobodyListensError
from partita.errors import PartitaError

INTERRUPTED = 130  # what shells expect of a command that Ctrl-C has ended


@contextmanager
def edge() -> Iterator[Console]:
    """The console of a command; whatever goes wrong inside is told there."""
    console = Console()
    try:
        yield console
    except PartitaError as error:
        if str(error):  # sets that failed one by one have been told already
            console.note(str(error))
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        console.note(f"interrupted{'; ' if error.args else ''}{' '.join(map(str, error.args))}")
        raise typer.Exit(INTERRUPTED) from error
    except NobodyListensError:
        raise typer.Exit(0) from None
    finally:
        console.clear()
