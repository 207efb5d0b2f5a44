"""Bytes to numbered lines of text: UTF-8 with or without a mark, what is broken noted by line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from partita.errors import InputError

BLOCK = 1 << 20
MARK = b"\xef\xbb\xbf"
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Lines:
    """The lines of a file; `broken` tells which of those read so far cannot be trusted."""

    stream: BinaryIO
    file: str
    broken: dict[int, str] = field(default_factory=dict)
    read: int = 0

    def blocks(self) -> Iterator[bytes]:
        """Whole lines, about a megabyte at a time, without the mark that some tools put first."""
        block = self._block()
        if block.startswith(WIDE_MARKS):
            raise InputError("is UTF-16; expected UTF-8", file=self.file, line=1)
        block = block.removeprefix(MARK)
        while block:
            yield block
            block = self._block()

    def _block(self) -> bytes:
        return self.stream.read(BLOCK) + self.stream.readline()

    def decoded(self, block: bytes) -> list[str]:
        """The lines of the next block, counted."""
        raw = BytesIO(block).readlines()
        try:
            lines = [line.decode() for line in raw]
        except UnicodeDecodeError:
            lines = [self._with_care(n, line) for n, line in enumerate(raw, self.read + 1)]
        if b"\0" in block:
            self._note_nul(raw)
        self.read += len(raw)
        return lines

    def _with_care(self, number: int, line: bytes) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError as error:
            self.broken[number] = f"is not UTF-8 (byte {error.start + 1} of the line)"
            return line.decode(errors="replace")

    def _note_nul(self, raw: list[bytes]) -> None:
        for number, line in enumerate(raw, self.read + 1):
            if b"\0" in line:
                self.broken.setdefault(number, "holds a NUL byte")
