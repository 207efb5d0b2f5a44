"""Write files atomically: a file is complete or unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from partita.errors import InputError


def write_atomically(path: str | Path, text: str) -> None:
    """Replace a file's text; whatever stops the writing leaves the old file and nothing else."""
    place = Path(path)
    beside = place.with_name(f".{place.name}.{os.getpid()}.partial")
    try:
        with beside.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(place)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def replacing(path: str | Path) -> Iterator[TextIO]:
    """A stream whose text takes the file's place at the end.

    An error leaves the file as it was. An interruption keeps what was written until then, so the
    writer must write whole lines only.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_file():  # a device or a pipe must not be renamed over
        with _refusals(path), place.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        return
    beside = place.with_name(f".{place.name}.{os.getpid()}.partial")
    try:
        with _refusals(path):
            stream = beside.open("w", encoding="utf-8", newline="")
        with stream:
            try:
                yield stream
            except KeyboardInterrupt:
                _put(stream, beside, place)
                raise
            with _refusals(path):
                _put(stream, beside, place)
    finally:
        beside.unlink(missing_ok=True)


def _put(stream: TextIO, beside: Path, place: Path) -> None:
    stream.flush()
    os.fsync(stream.fileno())
    beside.replace(place)


@contextmanager
def _refusals(path: str | Path) -> Iterator[None]:
    """What the system refuses, as one clear line."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
