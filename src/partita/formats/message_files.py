"""The files that hold messages: those that are named, and those of a folder in sorted order."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.errors import InputError
from partita.formats.corpus import KEYS

STANDARD_INPUT = "-"


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file, what its message is called, and whether it was named or found in a folder."""

    path: Path
    stem: str
    found: bool = False

    @property
    def file(self) -> str:
        return "standard input" if str(self.path) == STANDARD_INPUT else str(self.path)


def message_files(paths: str | Path | Sequence[str | Path]) -> Iterator[MessageFile | InputError]:
    """The files of all paths in the order given; nothing is opened."""
    for given in [paths] if isinstance(paths, str | Path) else paths:
        path = Path(given)
        if str(given) == STANDARD_INPUT:
            yield MessageFile(path, "standard-input")
        elif path.is_dir():
            yield from _folder(path)
        else:
            yield MessageFile(path, path.stem)


def _folder(folder: Path) -> Iterator[MessageFile | InputError]:
    """Every file below a folder but hidden ones and keys beside messages, by its path; links to
    folders are not followed."""
    found = False
    for path in sorted(_below(folder), key=lambda path: path.parts):
        if path.name == KEYS:
            continue
        found = True
        stem = path.relative_to(folder).with_suffix("").as_posix()
        yield MessageFile(path, stem, found=True)
    if not found:
        yield InputError("is a folder without files; expected messages", file=str(folder))


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(parent, name) for name in files if not name.startswith("."))
        yield from (path for path in paths if path.is_file())
