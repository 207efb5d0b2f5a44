"""Write files atomically: a file is complete or unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from partita.errors import InputError


def write_atomically(path: str | Path, text: str) -> None:
    """Replace the text of a file; on an error the old file stays."""
    place = Path(path)
    partial = place.with_name(f".{place.name}.{os.getpid()}.partial")
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(place)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replacing(path: str | Path) -> Iterator[TextIO]:
    """Open a stream that replaces the file at the end.

    On an error the file stays as it was. On an interruption the text written so far is kept, so the
    writer must write whole lines only.
    """
    place = Path(path).resolve()
    if place.exists() and not place.is_file():  # a device or a pipe must not be renamed over
        with _write_errors(path), place.open("w", encoding="utf-8", newline="") as stream:
            yield stream
        return
    partial = place.with_name(f".{place.name}.{os.getpid()}.partial")
    try:
        with _write_errors(path):
            stream = partial.open("w", encoding="utf-8", newline="")
        with stream:
            try:
                yield stream
            except KeyboardInterrupt:
                _move_into_place(stream, partial, place)
                raise
            with _write_errors(path):
                _move_into_place(stream, partial, place)
    finally:
        partial.unlink(missing_ok=True)


def _move_into_place(stream: TextIO, partial: Path, place: Path) -> None:
    stream.flush()
    os.fsync(stream.fileno())
    partial.replace(place)


@contextmanager
def _write_errors(path: str | Path) -> Iterator[None]:
    """Turn system errors into input errors."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
