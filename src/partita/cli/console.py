"""Console output, progress, and the conversion of errors to exit codes."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from json import dumps
from textwrap import wrap
from typing import Any, NoReturn

import typer

from partita.errors import InputError, PartitaError

PAUSE = 0.1  # seconds between two lines of progress
SILENCE = 2.0  # seconds without a word after which a command says what takes so long


class OutputClosedError(Exception):
    """Standard output was closed by the other side, as by `| head`."""


@dataclass(slots=True)
class Console:
    """Results go to standard output, everything else to standard error, one line each."""

    shown: str = ""
    last: float = 0.0
    said: bool = False
    finished: Callable[[], str] = lambda: ""  # words about what was finished

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
        """Write a result, or a part of one, to standard output."""
        self.said = True
        self.clear()
        try:
            sys.stdout.write(text)
        except OSError as error:
            self._give_up(error)

    def flush(self) -> None:
        try:
            sys.stdout.flush()
        except OSError as error:
            self._give_up(error)

    def _give_up(self, error: OSError) -> NoReturn:
        """Discard the buffer: Python would otherwise fail when it exits."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise OutputClosedError from error
        problem = f"cannot be written: {error.strerror}"
        raise InputError(problem, file="standard output") from error

    def note(self, text: str) -> None:
        """Write one line to standard error, with control characters escaped."""
        self.clear()
        line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
        sys.stderr.write(f"partita: {line}\n")

    def wrapped_note(self, text: str) -> None:
        """Write a note in lines of at most 80 columns."""
        for line in wrap(
            text, 71, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        ):
            self.note(line)

    def json(self, value: Any, ensure_ascii: bool = False) -> None:
        """Write a report as one line of JSON to standard output."""
        self.say(dumps(value, ensure_ascii=ensure_ascii, allow_nan=False) + "\n")

    def report(self, found: Any, as_json: bool) -> None:
        """Write a result of the Python API to standard output, as text or as JSON."""
        if as_json:
            self.json(found.to_dict())
        else:
            self.say(str(found))

    def progress(self, text: str) -> None:
        """Show a line of progress on a terminal; the next one replaces it."""
        if not self.due:
            return
        self.last = time.monotonic()
        if sys.stderr.isatty():
            self.clear()
            self.shown = text[: self.width - 1]
            sys.stderr.write(self.shown)
            sys.stderr.flush()

    def explain_silence(self) -> None:
        """Say on a terminal that a command is loading, unless something was shown."""
        compilation = sys.modules.get("partita.compilation.loading")
        if not (self.last or self.said or getattr(compilation, "WAITED_FOR", False)):
            self.progress("partita: loading…")

    def say_interrupted(self) -> None:
        """Say that the command was interrupted, and what was finished."""
        self.flush()
        self.note("; ".join(filter(None, ("interrupted", self.finished()))))

    def end_interrupted(self) -> NoReturn:
        """Keep what is finished and end the process, from a thread beside it."""
        from partita.files.writing import keep_unfinished

        try:
            keep_unfinished()
            self.say_interrupted()
        finally:
            os._exit(INTERRUPTED)

    @property
    def due(self) -> bool:
        """Whether the last line of progress is old enough to be replaced."""
        return time.monotonic() - self.last >= PAUSE

    def clear(self) -> None:
        if self.shown:
            sys.stderr.write(f"\r{' ' * len(self.shown)}\r")
            sys.stderr.flush()
            self.shown = ""


@dataclass(slots=True)
class StandardOutput:
    """Standard output that may be closed early where results also go to a file."""

    console: Console
    elsewhere: bool = False
    open: bool = True

    def say(self, text: str, flush: bool = False) -> None:
        if not self.open:
            return
        try:
            self.console.say(text)
            if flush:
                self.console.flush()
        except OutputClosedError:
            self.open = False
            if not self.elsewhere:
                raise


INTERRUPTED = 130  # what shells expect of a command that Ctrl-C stopped
SIGNALS = (signal.SIGINT, signal.SIGTERM)
GRACE = 0.8  # seconds within which Python sees a signal, unless compiled code is running


@contextmanager
def error_boundary() -> Iterator[Console]:
    """Yield the console of a command; turn errors into one line and an exit code."""
    console = Console()
    timer = threading.Timer(SILENCE, console.explain_silence)
    timer.daemon = True
    timer.start()
    try:
        with _interruptions(console):
            yield console
    except PartitaError as error:
        if str(error):  # sets that failed one by one are already reported
            console.note(str(error))
        if "PARTITA_DEBUG" in os.environ:
            console.clear()
            traceback.print_exc()
        raise typer.Exit(1) from error
    except OSError as error:
        if error.filename is None:
            raise
        from partita.files.strict import shortened

        console.note(f"{shortened(str(error.filename))}: {error.strerror}")
        raise typer.Exit(1) from error
    except KeyboardInterrupt as error:
        console.say_interrupted()
        raise typer.Exit(INTERRUPTED) from error
    except OutputClosedError:
        raise typer.Exit(0) from None
    finally:
        timer.cancel()
        console.clear()


@contextmanager
def _interruptions(console: Console) -> Iterator[None]:
    """Let SIGINT and SIGTERM raise KeyboardInterrupt, or end the process if Python cannot see them.

    Python sees a signal when compiled code returns, which may take minutes. Until then a thread
    keeps what is finished.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen, ended, ending = threading.Event(), threading.Event(), threading.Lock()
    main = threading.get_ident()

    def interrupt(_number: int, _frame: object) -> None:
        with ending:
            seen.set()
        if not isinstance(sys.exc_info()[1], KeyboardInterrupt):  # else files are being closed
            raise KeyboardInterrupt

    def watch() -> None:
        with os.fdopen(reading, "rb", buffering=0) as signals:
            while number := signals.read(1):
                if number[0] in SIGNALS and not seen.wait(GRACE):
                    with ending:
                        if not seen.is_set():
                            console.end_interrupted()
                seen.clear()
                if number[0] in SIGNALS and not ended.wait(GRACE):  # a destructor swallows it
                    signal.pthread_kill(main, number[0])

    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # a shell lets what it starts in the background ignore Ctrl-C
    heard = [number for number in SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
    before = [signal.signal(number, interrupt) for number in heard]
    earlier = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        signal.set_wakeup_fd(earlier)
        os.close(writing)
        for number, handler in zip(heard, before, strict=True):
            signal.signal(number, handler)
