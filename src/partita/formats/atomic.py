"""A file is written beside its place and then renamed: it is there whole, or as it was."""

from __future__ import annotations

import os
from pathlib import Path

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
