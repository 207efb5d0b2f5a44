"""Append results message by message, and resume an interrupted results file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from partita.errors import InputError
from partita.files.strict import Place, parsed
from partita.files.writing import replacing

START = b'{"version":'  # of every line that Partita writes
ADVICE = "use another --out, or remove the file"

Run = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where the lines of a message stand, in bytes, and how they were made."""

    start: int
    end: int
    run: Run


def finished(path: str | Path) -> dict[str, Stretch]:
    """The messages that a file holds whole, in its order; none if there is no such file."""
    if Path(path).exists() and not Path(path).is_file():  # a device or a pipe remembers nothing
        return {}
    try:
        with Path(path).open("rb") as stream:
            return dict(_stretches(stream, str(path)))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _stretches(stream: BinaryIO, file: str) -> Iterator[tuple[str, Stretch]]:
    start = end = 0
    open_: str | None = None
    for number, raw in enumerate(stream, 1):
        place = Place(file, number)
        end += len(raw)
        if not raw.endswith(b"\n"):
            _refuse_foreign(raw, place)
            return
        line = _line(raw, place)
        message = line["message"]
        if open_ not in (None, message):
            place.refuse(f"message {open_} has no end before this line; {ADVICE}")
        open_ = message
        if "singletons" in line:
            if not isinstance(line.get("run"), dict):
                place.refuse(f"was not written by partita run; {ADVICE}")
            yield message, Stretch(start, end, line["run"])
            start, open_ = end, None


def _refuse_foreign(tail: bytes, place: Place) -> None:
    """Only what Partita itself has begun to write may be dropped."""
    if not (tail.startswith(START) or START.startswith(tail)):
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
    """Messages that were done in another way do not belong in the same file."""
    for message, stretch in done.items():
        told = {name: value for name, value in stretch.run.items() if name != "text"}
        for name in [*settings, *told]:
            if told.get(name) != settings.get(name):
                was, here = told.get(name, "none"), settings.get(name, "none")
                problem = f"message {message} was done with {name} {was}, and this run has {here}"
                raise InputError(f"{problem}; {ADVICE}", file=str(path))


@dataclass(slots=True)
class Growing:
    """A file that grows by whole messages; `order` is that in which it is to hold them."""

    path: Path
    stream: BinaryIO
    done: dict[str, Stretch]
    end: int
    order: list[str] = field(default_factory=list)

    def add(self, message: str, lines: Sequence[str]) -> None:
        """A message that is done now; it is in the file before the next one is begun."""
        data = "".join(f"{line}\n" for line in lines).encode("utf-8")
        try:
            self.stream.write(data)
            self.stream.flush()
        except OSError as error:
            raise _unwritable(self.path, error) from error
        self.done[message] = Stretch(self.end, self.end + len(data), {})
        self.end += len(data)
        self.order.append(message)

    def keep(self, message: str) -> None:
        """A message that was done before."""
        self.order.append(message)


@contextmanager
def growing(path: Path, done: Mapping[str, Stretch]) -> Iterator[Growing]:
    """The file, without what was not finished. Whatever stops the writing, what was added is
    kept; at the end messages that were done late get their places."""
    end = max((one.end for one in done.values()), default=0)
    try:
        stream = path.open("r+b" if path.is_file() else "wb")
        if path.is_file():
            stream.truncate(end)
            stream.seek(end)
    except OSError as error:
        raise _unwritable(path, error) from error
    with stream:
        file = Growing(path, stream, dict(done), end)
        yield file
    _put_in_order(file)


def _put_in_order(file: Growing) -> None:
    """Messages that the input does not have come first."""
    wanted = {*file.order}
    order = [name for name in file.done if name not in wanted] + file.order
    if order == list(file.done):
        return
    with file.path.open("rb") as old, replacing(file.path) as new:
        for name in order:
            stretch = file.done[name]
            old.seek(stretch.start)
            new.write(old.read(stretch.end - stretch.start).decode("utf-8"))


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(f"cannot be written: {error.strerror}", file=str(path))
