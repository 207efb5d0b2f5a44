"""Console output, progress, and the conversion of errors to exit codes."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper

import typer

from partita.errors import PartitaError

PAUSE = 0.1  # seconds between two lines of progress


class NobodyListensError(Exception):
    """Standard output was closed by the other side, as by `| head`."""


@dataclass(slots=True)
class Console:
    """Answers go to standard output; everything else goes to standard error, a line each."""

    shown: str = ""
    last: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(sys.stdout, TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", errors="replace")

    @property
    def width(self) -> int:
        return 80

    @property
    def colour(self) -> bool:
        return sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def say(self, text: str) -> None:
        """An answer, or a piece of one."""
        self.clear()
        try:
            sys.stdout.write(text)
        except BrokenPipeError:
            self._give_up()

    def flush(self) -> None:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            self._give_up()

    def _give_up(self) -> None:
        """What is still in the buffer must go nowhere, or Python complains at its end."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise NobodyListensError

    def note(self, text: str) -> None:
        """One line for a person, whatever an id in it may hold."""
        self.clear()
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
        sys.stderr.write(f"partita: {line}\n")

    def progress(self, text: str) -> None:
        """A line that the next one replaces; only for a person who watches."""
        now = time.monotonic()
        if sys.stderr.isatty() and now - self.last >= PAUSE:
            self.clear()
            self.shown, self.last = text[: self.width - 1], now
            sys.stderr.write(self.shown)
            sys.stderr.flush()

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write(f"\r{' ' * len(self.shown)}\r")
            sys.stderr.flush()
            self.shown = ""


@dataclass(slots=True)
class Audience:
    """Whoever reads standard output; where answers also go to a file, nobody need listen."""

    console: Console
    elsewhere: bool = False
    heard: bool = True

    def say(self, text: str, flush: bool = False) -> None:
        if not self.heard:
            return
        try:
            self.console.say(text)
            if flush:
                self.console.flush()
        except NobodyListensError:
            self.heard = False
            if not self.elsewhere:
                raise


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
