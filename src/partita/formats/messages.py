"""Files and folders to messages: plain texts, JSON lines, MUC files with many messages."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Any, Literal, cast

from partita.errors import InputError, PartitaError
from partita.formats.message_bytes import decoded, known_encoding, marked, too_long
from partita.formats.message_files import STANDARD_INPUT, MessageFile, message_files
from partita.formats.message_given import Given
from partita.formats.message_jsonl import JsonLines
from partita.formats.message_layout import analysed
from partita.formats.message_muc import is_muc, is_muc_key, muc_messages
from partita.records.documents import Message

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
