"""Append results message by message, and resume an interrupted results file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO

from partita.errors import InputError
from partita.files.strict import Place, parsed
from partita.files.writing import replacing_bytes, sync, try_lock, write_errors

LINE_START = b'{"version":'  # of every line of results
SOLVED = b',"unlisted":{"count":'  # in every line of a set that solve wrote
HAS_TEXT = re.compile(rb'"text":"[^"]')  # a template of a text
ADVICE = "use another --out, or remove the file"
BUSY = "wait until it has ended, or use another --out"

BLOCK = 4 << 20  # characters that are written at a time

Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stretch:
    """The byte range of a message's lines, and the settings of its run."""

    start: int
    end: int
    run: Run


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a results file for this process from its first reading on.

    The file is created if it does not exist, and removed if nothing was written to it.
    """
    if _is_device(path):
        yield
        return
    existed = path.exists()
    with write_errors(path):
        stream = path.open("ab")
    with stream:
        if not try_lock(stream) or not _is_still(stream, path):
            raise InputError(f"is being written by another process; {BUSY}", file=str(path))
        try:
            yield
        finally:
            if not existed and path.exists() and path.stat().st_size == 0:
                path.unlink()


def _is_still(stream: BinaryIO, path: Path) -> bool:
    """Check that nobody replaced the file before it was locked."""
    return path.exists() and os.path.samestat(os.fstat(stream.fileno()), path.stat())


def _is_device(path: str | Path) -> bool:
    """Check for a device or a pipe, which has no content to resume."""
    return Path(path).exists() and not Path(path).is_file()


def finished(path: str | Path) -> dict[str, Stretch]:
    """Return the complete messages of a file, in order; none if it does not exist."""
    if _is_device(path):
        return {}
    try:
        with Path(path).open("rb") as stream:
            return dict(_message_spans(stream, str(path)))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _message_spans(stream: BinaryIO, file: str) -> Iterator[tuple[str, Stretch]]:
    start = end = 0
    open_: str | None = None
    for number, raw in enumerate(stream, 1):
        place = Place(file, number)
        end += len(raw)
        if not raw.endswith(b"\n"):
            _check_tail(raw, place)
            return
        line = _line(raw, place)
        if line.get("unlisted") is not None and line.get("entities") is None:
            place.refuse(f"was written by partita solve, not by run; {ADVICE}")
        message = line["message"]
        if open_ not in (None, message):
            place.refuse(f"message {open_} has no end before this line; {ADVICE}")
        open_ = message
        if "singletons" in line:
            if not isinstance(line.get("run"), dict):
                place.refuse(f"was not written by partita run; {ADVICE}")
            yield message, Stretch(start, end, line["run"])
            start, open_ = end, None


def _check_tail(tail: bytes, place: Place) -> None:
    """Raise an error unless the tail is an unfinished line of results of run."""
    if SOLVED in tail and not HAS_TEXT.search(tail):
        place.refuse(f"was written by partita solve, not by run; {ADVICE}")
    written = tail.rstrip(b"\0")  # a power cut may leave zeros where data was to come
    if not (written.startswith(LINE_START) or LINE_START.startswith(written)):
        place.refuse(f"is not a results line; {ADVICE}")


def _line(raw: bytes, place: Place) -> Mapping[str, Any]:
    try:
        value = parsed(raw.decode("utf-8"), place)
    except UnicodeDecodeError:
        place.refuse(f"is not UTF-8; {ADVICE}")
    if not isinstance(value, dict) or not isinstance(value.get("message"), str):
        place.refuse(f"is not a results line; {ADVICE}")
    return value


def refuse_other(path: str | Path, done: Mapping[str, Stretch], settings: Run) -> None:
    """Raise an error if messages were resolved with other settings."""
    for message, stretch in done.items():
        if found := changed_setting(stretch.run, settings):
            name, was, here = found
            problem = f"message {message} was done with {name} {was}, and this run has {here}"
            raise InputError(f"{problem}; {ADVICE}", file=str(path))


def changed_setting(earlier: Run, settings: Run) -> tuple[str, Any, Any] | None:
    """Return the first setting that differs, as it was and as it is; the text is none."""
    for name in dict.fromkeys([*settings, *earlier]):
        if name != "text" and earlier.get(name) != settings.get(name):
            return name, earlier.get(name, "none"), settings.get(name, "none")
    return None


@dataclass(slots=True)
class Growing:
    """A file to which whole messages are appended; `order` is their final order."""

    path: Path
    stream: FileIO  # without a buffer, which could not be emptied if the disk is full
    done: dict[str, Stretch]
    end: int
    order: list[str] = field(default_factory=list)

    def add(self, message: str, lines: Iterable[str]) -> None:
        """Append a message; if that fails, nothing of it stays in the file."""
        end = self.end
        try:
            for block in _blocks(lines):
                rest = memoryview(block)
                while rest:
                    rest = rest[self.stream.write(rest) :]
                end += len(block)
        except OSError as error:
            self._cut()
            raise InputError(f"cannot be written: {error.strerror}", file=str(self.path)) from error
        except BaseException:
            self._cut()
            raise
        self.done[message] = Stretch(self.end, end, {})
        self.end = end
        self.order.append(message)

    def _cut(self) -> None:
        """Remove what was written of a message that could not be finished."""
        with suppress(OSError):
            self.stream.truncate(self.end)
            self.stream.seek(self.end)

    def keep(self, message: str) -> None:
        """Keep the place of a message that was finished before."""
        self.order.append(message)


def _blocks(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield whole lines, some megabytes at a time: those of most messages at once."""
    waiting, size = list[str](), 0
    for line in lines:
        waiting.append(f"{line}\n")
        size += len(line)
        if size >= BLOCK:
            yield "".join(waiting).encode("utf-8")
            waiting, size = [], 0
    if waiting:
        yield "".join(waiting).encode("utf-8")


@contextmanager
def growing(path: Path, done: Mapping[str, Stretch]) -> Iterator[Growing]:
    """Open a results file without its unfinished tail; reorder and sync it at the end.

    Whatever interrupts the writing, finished messages are kept.
    """
    end = max((one.end for one in done.values()), default=0)
    with write_errors(path):
        stream = path.open("r+b" if path.is_file() else "wb", buffering=0)
        if path.is_file():
            stream.truncate(end)
            stream.seek(end)
    with stream:
        file = Growing(path, stream, dict(done), end)
        yield file
        if path.is_file():
            with write_errors(path):
                sync(stream, path)
    _reorder(file)


def _reorder(file: Growing) -> None:
    """Rewrite the file in order; messages that are not in the input come first."""
    wanted = {*file.order}
    order = [name for name in file.done if name not in wanted] + file.order
    if order == list(file.done):
        return
    with file.path.open("rb") as old, replacing_bytes(file.path) as new:
        for name in order:
            stretch = file.done[name]
            old.seek(stretch.start)
            with write_errors(file.path):
                new.write(old.read(stretch.end - stretch.start))
