"""Read messages from files and folders: plain text, JSON lines, MUC files."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Any, Literal, cast

from partita.errors import InputError, PartitaError
from partita.files.strict import Place, parsed, text_of
from partita.files.text import STANDARD_INPUT
from partita.records.documents import Message
from partita.text.encoding import decoded, known_encoding, marked, sound, too_long
from partita.text.layout import analysed
from partita.text.muc import is_muc, is_muc_key, muc_messages
from partita.text.raw_messages import Given

KEYS = "keys.jsonl"  # the keys of a folder of messages, not a message


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


MessageForm = Literal["text", "jsonl", "muc"]
LIMIT = 64 << 20
START = 1 << 14
JSON_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json"})
MUC_EXPECTED = "has no line such as DEV-MUC3-0001 (NOSC); expected MUC messages"

__all__ = [
    "LIMIT",
    "MessageForm",
    "analysed",
    "message_of",
    "read_messages",
    "read_texts",
    "sniffed",
]


def read_messages(
    paths: str | Path | Sequence[str | Path],
    *,
    form: MessageForm | None = None,
    encoding: str | None = None,
    limit: int = LIMIT,
    name: str = "text",
) -> Iterator[Message | PartitaError]:
    """The messages of files and folders; what cannot be read is an error in its place."""
    for given in read_texts(paths, form=form, encoding=encoding, limit=limit, name=name):
        yield given if isinstance(given, PartitaError) else message_of(given)


def message_of(given: Given) -> Message:
    """A text with its layout analysed."""
    message = analysed(given.id, given.text, given.file, given.offset)
    if not given.fields:
        return message
    return replace(message, fields={**given.fields, **message.fields})


def read_texts(
    paths: str | Path | Sequence[str | Path],
    *,
    form: MessageForm | None = None,
    encoding: str | None = None,
    limit: int = LIMIT,
    name: str = "text",
) -> Iterator[Given | PartitaError]:
    """The same before the layout is analysed: for those who do that in many processes."""
    reader = _Reader(form, known_encoding(encoding), limit, name)
    for file in message_files(paths):
        if isinstance(file, InputError):
            yield file
            continue
        try:
            yield from reader.file(file)
        except InputError as error:
            yield error


def sniffed(start: bytes, encoding: str, suffix: str = "") -> MessageForm:
    """The form of a file by its suffix and its first bytes."""
    skipped, by_mark = marked(start)
    try:
        text = start[skipped:].decode(by_mark or encoding, errors="replace")
    except UnicodeError:
        return "text"
    if suffix.lower() in JSON_SUFFIXES or text.lstrip().startswith(('{"', '{ "')):
        return "jsonl"
    return "muc" if is_muc(text) else "text"


@dataclass(slots=True)
class _Reader:
    """How files are read, and where each id stood first."""

    form: MessageForm | None
    encoding: str
    limit: int
    name: str
    places: dict[str, str] = field(default_factory=dict)

    def file(self, file: MessageFile) -> Iterator[Given | InputError]:
        with _opened(file) as stream:
            start = stream.peek(START)[:START]
            form = self.form or sniffed(start, self.encoding, file.path.suffix)
            for given in self._given(stream, file, form):
                yield given if isinstance(given, InputError) else self._once(given)

    def _given(
        self, stream: BufferedIOBase, file: MessageFile, form: MessageForm
    ) -> Iterator[Given | InputError]:
        if form == "jsonl":
            lines = JsonLines(file.file, file.stem, self.encoding, self.limit, self.name)
            yield from lines.read(stream)
            return
        text = self._text(stream, file)
        if form == "muc":
            yield from _muc(text, file)
        elif not (file.found and is_muc_key(text)):
            yield Given(file.stem, text, file.file)

    def _text(self, stream: BufferedIOBase, file: MessageFile) -> str:
        data = stream.read(self.limit + 1)
        if len(data) > self.limit:
            raise too_long(self.limit, file.file)
        text = decoded(data, self.encoding, file.file)
        if not text.strip():
            raise InputError("is empty; expected a message", file=file.file)
        return text

    def _once(self, given: Given) -> Given | InputError:
        """A text whose id is new, or an error that names both places."""
        if given.id not in self.places:
            self.places[given.id] = given.place
            return given
        problem = f"the id {given.id!r} stands in {self.places[given.id]} already"
        return InputError(f"{problem}; expected another", file=given.file, line=given.line)


def _muc(text: str, file: MessageFile) -> Iterator[Given | InputError]:
    found = False
    for title in muc_messages(text):
        found = True
        if text[title.end : title.stop].strip():
            own = text[title.start : title.stop]
            yield Given(title.name, own, file.file, title.line, title.start)
        else:
            yield InputError(f"{title.name} is empty", file=file.file, line=title.line)
    if not found:
        yield InputError(MUC_EXPECTED, file=file.file)


@contextmanager
def _opened(file: MessageFile) -> Iterator[BufferedReader]:
    try:
        if str(file.path) == STANDARD_INPUT:
            # what stands for standard input in tests has no peek
            stream: BufferedReader = BufferedReader(cast(Any, sys.stdin.buffer))
            yield stream
            stream.detach()
            return
        with file.path.open("rb", buffering=START) as opened:
            yield cast(BufferedReader, opened)
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise InputError(problem, file=file.file) from error
