"""JSON lines to texts: one object a line with a text field, and perhaps an id and other fields."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedIOBase
from typing import Any

from partita.errors import InputError
from partita.formats.message_bytes import decoded, marked, sound, too_long
from partita.formats.message_given import Given
from partita.formats.strict import Place, parsed, text_of

CHUNK = 1 << 20
Numbered = tuple[int, str | InputError]


@dataclass(frozen=True, slots=True)
class JsonLines:
    """A file of JSON lines: what its messages are called, which field is the text, its limits."""

    file: str
    stem: str
    encoding: str
    limit: int
    name: str = "text"

    def read(self, stream: BufferedIOBase) -> Iterator[Given | InputError]:
        """The messages line by line; a line that cannot be read is an error in its place."""
        found = False
        for number, line in self._lines(stream):
            if isinstance(line, str) and not line.strip():
                continue
            found = True
            yield line if isinstance(line, InputError) else self._given(line, number)
        if not found:
            yield InputError("is empty; expected one JSON object per line", file=self.file)

    def _lines(self, stream: BufferedIOBase) -> Iterator[Numbered]:
        """Numbered lines; a wide encoding has no bytes for line ends and is decoded whole."""
        first = stream.readline(self.limit + 1)
        encoding = marked(first)[1] or self.encoding
        if _ends_lines(encoding):
            yield from self._line_by_line(stream, first, encoding)
            return
        try:
            data = first + stream.read(self.limit + 1)
            if len(data) > self.limit:
                raise too_long(self.limit, self.file)
            yield from enumerate(decoded(data, encoding, self.file).splitlines(), 1)
        except InputError as error:
            yield 1, error

    def _line_by_line(
        self, stream: BufferedIOBase, data: bytes, encoding: str
    ) -> Iterator[Numbered]:
        number, at = 1, 0
        while data:
            size = len(data)
            if size > self.limit:
                size += _skip(stream, data)
                yield number, too_long(self.limit, self.file, number)
                number += 1
            else:
                for line in self._decoded(data, encoding, number, at):
                    yield number, line
                    number += 1
            at += size
            data = stream.readline(self.limit + 1)

    def _decoded(self, data: bytes, encoding: str, number: int, at: int) -> list[str | InputError]:
        """The text of a line, or of several where only carriage returns end them."""
        try:
            text = decoded(data, encoding, self.file, line=number, at=at)
        except InputError as error:
            return [error]
        return [*text.removesuffix("\n").removesuffix("\r").split("\r")]

    def _given(self, line: str, number: int) -> Given | InputError:
        place = Place(self.file, number)
        try:
            value = parsed(line, place)
            if not isinstance(value, dict) or self.name not in value:
                place.refuse(f"has no field {self.name!r}; expected an object with the text")
            text = sound(text_of(value[self.name], self.name, place), self.file, number)
            if not text.strip():
                place.refuse(f"the field {self.name!r} is empty; expected the message's text")
            said = {key: value[key] for key in value if key not in (self.name, "id")}
            fields = {sound(key, self.file, number): _shown(said[key]) for key in said}
            return Given(self._id(value.get("id"), number), text, self.file, number, 0, fields)
        except InputError as error:
            return error

    def _id(self, given: Any, number: int) -> str:
        if given is None or given == "":
            return f"{self.stem}-{number}"
        if isinstance(given, bool) or not isinstance(given, str | int):
            problem = "the id is neither a text nor a whole number"
            raise InputError(problem, file=self.file, line=number)
        return sound(str(given), self.file, number)


def _ends_lines(encoding: str) -> bool:
    """Whether a byte 10 is a line end and nothing else, so that lines can be cut undecoded."""
    wide = encoding.replace("_", "-").startswith(("utf-16", "utf-32"))
    return not wide and "\n".encode(encoding) == b"\n"


def _skip(stream: BufferedIOBase, data: bytes) -> int:
    """Read to the end of a line that is too long to keep; how many bytes that were."""
    skipped = 0
    while data and not data.endswith(b"\n"):
        data = stream.readline(CHUNK)
        skipped += len(data)
    return skipped


def _shown(value: Any) -> str:
    """What a field says as text; halves of surrogate pairs stay escaped."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return json.dumps(value, sort_keys=True)
