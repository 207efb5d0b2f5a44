"""Read bytes as numbered lines of text."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from partita.errors import InputError

BLOCK = 1 << 20
STANDARD_INPUT = "-"
MARK = b"\xef\xbb\xbf"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Lines:
    """The lines of a file; `broken` maps invalid lines read so far to their problems."""

    stream: BinaryIO
    file: str
    broken: dict[int, str] = field(default_factory=dict)
    read: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Yield whole lines, about a megabyte at a time, without a byte order mark."""
        block = self._block()
        if block.startswith(WIDE_MARKS):
            raise InputError("is UTF-16; expected UTF-8", file=self.file, line=1)
        block = block.removeprefix(MARK)
        if b"\r" in block and b"\n" not in block:  # all lines end in carriage returns only
            block = block.replace(b"\r", b"\n")
        while block:
            yield block
            block = self._block()

    def _block(self) -> bytes:
        return self.stream.read(BLOCK) + self.stream.readline()

    def decoded(self, block: bytes) -> list[str]:
        """Return the lines of the next block and count them."""
        raw = BytesIO(block).readlines()
        try:
            lines = [line.decode() for line in raw]
        except UnicodeDecodeError:
            lines = [self._decode_line(n, line) for n, line in enumerate(raw, self.read + 1)]
        if b"\0" in block:
            self._note_nul(raw)
        self.read += len(raw)
        return lines

    def _decode_line(self, number: int, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            self.broken[number] = f"is not UTF-8 (byte {error.start + 1} of the line)"
            return line.decode(errors="replace")

    def _note_nul(self, raw: list[bytes]) -> None:
        for number, line in enumerate(raw, self.read + 1):
            if b"\0" in line:
                self.broken.setdefault(number, "holds a NUL byte")


def whole_bytes(path: str | Path) -> bytes:
    """Return the bytes of a file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text that could be in a file, and what errors call it."""

    name: str
    text: str

    def __str__(self) -> str:
        return self.name


TextSource = str | Path | HeldText


def whole_text(path: TextSource) -> str:
    """Return the text of a small file."""
    if isinstance(path, HeldText):
        return path.text
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except UnicodeDecodeError as error:
        raise InputError("is not UTF-8", file=str(path)) from error


def numbered_lines(path: str | Path, content: bytes | None = None) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, or of its content, with their numbers, from 1."""
    with opened(path) if content is None else BytesIO(content) as stream:
        lines = Lines(stream, str(path))
        for block in lines.blocks():
            first = lines.read + 1
            for number, line in enumerate(lines.decoded(block), first):
                if number in lines.broken:
                    raise InputError(lines.broken[number], file=str(path), line=number)
                yield number, line.rstrip("\r\n")


@contextmanager
def opened(path: str | os.PathLike[str], stdin: BinaryIO | None = None) -> Iterator[BinaryIO]:
    """Open a file for reading bytes; system errors become input errors."""
    if str(path) == STANDARD_INPUT:
        yield stdin or sys.stdin.buffer
        return
    try:
        with Path(path).open("rb") as stream:
            yield stream
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
