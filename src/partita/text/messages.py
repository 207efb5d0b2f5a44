"""Read messages from files and folders: plain text, JSON lines, MUC files, CoNLL-U, CoNLL-2012.

Bytes are decoded by their byte order mark, a named encoding, or UTF-8.
"""

from __future__ import annotations

import codecs
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Any, Literal, cast

from partita.core.templates import Message
from partita.errors import InputError, PartitaError
from partita.files.strict import Place, parsed, text_of
from partita.files.text import STANDARD_INPUT
from partita.text.layout import parse_layout
from partita.text.lines import is_muc, is_muc_key, muc_messages
from partita.text.raw_messages import RawMessage

# UTF-32 before UTF-16: the UTF-32 mark begins with the UTF-16 mark
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
BINARY = (
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"\xd0\xcf\x11\xe0", "an office document"),
    (b"\x7fELF", "a program"),
    (b"PAR1", "a table"),
)


def python_encoding(name: str | None) -> str:
    """Return Python's name of an encoding, UTF-8 for None."""
    try:
        b" ".decode(name or "utf-8", errors="replace")  # empty input would not be checked
        return codecs.lookup(name or "utf-8").name
    except (LookupError, UnicodeError, ValueError) as error:
        raise InputError(f"{name!r} is not a text encoding known to Python") from error


def byte_order_mark(data: bytes) -> tuple[int, str | None]:
    """Return the length of the byte order mark and the encoding that it names."""
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return len(mark), encoding
    return 0, None


def decode(data: bytes, encoding: str, file: str, *, line: int | None = None, at: int = 0) -> str:
    """Return the text of bytes that start at the offset `at` of a file, without the mark."""
    if line is None and (kind := next((k for m, k in BINARY if data.startswith(m)), "")):
        raise InputError(f"is {kind} (expected plain text)", file=file)
    mark_length, mark_encoding = byte_order_mark(data) if at == 0 else (0, None)
    encoding = mark_encoding or encoding
    try:
        text = data[mark_length:].decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        problem = _problem(error, at + mark_length, encoding, data)
        raise InputError(problem, file=file, line=line) from error
    except (UnicodeError, ValueError) as error:
        raise InputError(f"is not {encoding}: {error}", file=file, line=line) from error
    if (nul := text.find("\0")) >= 0:
        problem = f"is binary: character {nul} is NUL (expected plain text){_utf16_hint(data)}"
        raise InputError(problem, file=file, line=line)
    return valid_unicode(text, file, line)


def too_long_error(limit: int, file: str, line: int | None = None) -> InputError:
    """Return the error for a message over the size limit."""
    size = f"{limit / (1 << 20):.4g} MB"
    return InputError(f"is larger than {size}, the limit for one message", file=file, line=line)


def valid_unicode(text: str, file: str, line: int | None = None) -> str:
    """Return the text, or raise InputError if it holds an unpaired surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        problem = f"character {error.start} is an unpaired surrogate (expected valid Unicode)"
        raise InputError(problem, file=file, line=line) from error
    return text


def _problem(error: UnicodeDecodeError, before: int, encoding: str, data: bytes) -> str:
    place = before + error.start
    if b"\0" in data and not encoding.startswith(("utf-16", "utf-32")):
        return f"is binary: byte {place} is not {encoding} (expected plain text){_utf16_hint(data)}"
    if error.reason in ("unexpected end of data", "truncated data"):
        return f"ends within a character at byte {place} (expected complete {encoding}; truncated?)"
    return f"byte {place} is not {encoding} ({error.reason}); set the encoding with --encoding"


def _utf16_hint(data: bytes) -> str:
    """Return a hint for UTF-16 without a mark, where every second byte of Latin text is NUL."""
    start = data[:200]
    for name, half in (("utf-16-le", start[1::2]), ("utf-16-be", start[::2])):
        if half and 2 * half.count(0) > len(half):
            return f" ; try --encoding {name}"
    return ""


KEYS_FILE = "keys.jsonl"  # gold labels that lie beside the messages


@dataclass(frozen=True, slots=True)
class MessageFile:
    """A file with messages: its path, the name of its message, and whether a folder listed it."""

    path: Path
    stem: str
    in_folder: bool = False

    @property
    def file(self) -> str:
        return "standard input" if str(self.path) == STANDARD_INPUT else str(self.path)


def list_message_files(
    paths: str | Path | Sequence[str | Path],
) -> Iterator[MessageFile | InputError]:
    """Yield the files of all paths in the given order, without opening them."""
    for name in [paths] if isinstance(paths, str | Path) else paths:
        path = Path(name)
        if str(name) == STANDARD_INPUT:
            yield MessageFile(path, "standard-input")
        elif path.is_dir():
            yield from _folder_files(path)
        else:
            yield MessageFile(path, path.stem)


def _folder_files(folder: Path) -> Iterator[MessageFile | InputError]:
    """Yield the files below a folder, sorted by path.

    Hidden files, the keys file and links to folders are skipped.
    """
    empty = True
    for path in sorted(_files_below(folder), key=lambda path: path.parts):
        if path.name == KEYS_FILE:
            continue
        empty = False
        stem = path.relative_to(folder).with_suffix("").as_posix()
        yield MessageFile(path, stem, in_folder=True)
    if empty:
        yield InputError("is a folder without files (expected messages)", file=str(folder))


def _files_below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        paths = (Path(parent, name) for name in files if not name.startswith("."))
        yield from (path for path in paths if path.is_file())


CHUNK = 1 << 20
Numbered = tuple[int, str | InputError]


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Reader of a file of JSON lines: one message per line, its text in the field `name`."""

    file: str
    stem: str
    encoding: str
    limit: int
    name: str = "text"

    def read(self, stream: BufferedIOBase) -> Iterator[RawMessage | InputError]:
        """Yield the messages line by line; an unreadable line yields an error."""
        empty = True
        for number, line in self._lines(stream):
            if isinstance(line, str) and not line.strip():
                continue
            empty = False
            yield line if isinstance(line, InputError) else self._raw(line, number)
        if empty:
            yield InputError("is empty (expected one JSON object per line)", file=self.file)

    def _lines(self, stream: BufferedIOBase) -> Iterator[Numbered]:
        """Yield numbered lines; UTF-16 and UTF-32 are decoded whole, as lines end in no byte."""
        first = stream.readline(self.limit + 1)
        encoding = byte_order_mark(first)[1] or self.encoding
        if _has_line_bytes(encoding):
            yield from self._line_by_line(stream, first, encoding)
            return
        try:
            data = first + stream.read(self.limit + 1)
            if len(data) > self.limit:
                raise too_long_error(self.limit, self.file)
            yield from enumerate(decode(data, encoding, self.file).splitlines(), 1)
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
                yield number, too_long_error(self.limit, self.file, number)
                number += 1
            else:
                for line in self._decoded(data, encoding, number, at):
                    yield number, line
                    number += 1
            at += size
            data = stream.readline(self.limit + 1)

    def _decoded(self, data: bytes, encoding: str, number: int, at: int) -> list[str | InputError]:
        """Return the text of a line, or of several lines that end in carriage returns only."""
        try:
            text = decode(data, encoding, self.file, line=number, at=at)
        except InputError as error:
            return [error]
        return [*text.removesuffix("\n").removesuffix("\r").split("\r")]

    def _raw(self, line: str, number: int) -> RawMessage | InputError:
        place = Place(self.file, number)
        try:
            value = parsed(line, place)
            if not isinstance(value, dict) or self.name not in value:
                place.refuse(f"has no field {self.name!r} (expected an object with the text)")
            text = valid_unicode(text_of(value[self.name], self.name, place), self.file, number)
            if not text.strip():
                place.refuse(f"the field {self.name!r} is empty (expected the text of the message)")
            others = {key: value[key] for key in value if key not in (self.name, "id")}
            fields = {
                valid_unicode(key, self.file, number): _field_text(others[key]) for key in others
            }
            return RawMessage(self._id(value.get("id"), number), text, self.file, number, 0, fields)
        except InputError as error:
            return error

    def _id(self, value: Any, number: int) -> str:
        if value is None or value == "":
            return f"{self.stem}-{number}"
        if isinstance(value, bool) or not isinstance(value, str | int):
            problem = "the id is neither a string nor an integer"
            raise InputError(problem, file=self.file, line=number)
        return valid_unicode(str(value), self.file, number)


def _has_line_bytes(encoding: str) -> bool:
    """Return whether the byte 10 always ends a line, so that lines can be split undecoded."""
    wide = encoding.replace("_", "-").startswith(("utf-16", "utf-32"))
    return not wide and "\n".encode(encoding) == b"\n"


def _skip(stream: BufferedIOBase, data: bytes) -> int:
    """Read to the end of an overlong line and return the number of bytes skipped."""
    skipped = 0
    while data and not data.endswith(b"\n"):
        data = stream.readline(CHUNK)
        skipped += len(data)
    return skipped


def _field_text(value: Any) -> str:
    """Return a field's value as text; unpaired surrogates stay escaped."""
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    return json.dumps(value, sort_keys=True)


MessageForm = Literal["text", "jsonl", "muc", "conllu", "conll2012"]
LIMIT = 64 << 20
START = 1 << 14
DOCUMENTS = frozenset({".pdf", ".docx", ".eml"})  # read by text.documents
JSON_SUFFIXES = frozenset({".jsonl", ".ndjson", ".json"})
CONLLU_SUFFIX = ".conllu"
MUC_EXPECTED = "has no line such as DEV-MUC3-0001 (NOSC) (expected MUC messages)"

__all__ = [
    "LIMIT",
    "MessageForm",
    "detect_form",
    "parse_message",
    "read_messages",
    "read_texts",
]


def read_messages(
    paths: str | Path | Sequence[str | Path],
    *,
    form: MessageForm | None = None,
    encoding: str | None = None,
    limit: int = LIMIT,
    name: str = "text",
) -> Iterator[Message | PartitaError]:
    """Yield the messages of files and folders; whatever cannot be read yields an error."""
    for raw in read_texts(paths, form=form, encoding=encoding, limit=limit, name=name):
        yield raw if isinstance(raw, PartitaError) else parse_message(raw)


def parse_message(raw: RawMessage) -> Message:
    """Return the message with its layout parsed."""
    message = parse_layout(raw.id, raw.text, raw.file, raw.offset)
    if not raw.fields:
        return message
    return replace(message, fields={**raw.fields, **message.fields})


def read_texts(
    paths: str | Path | Sequence[str | Path],
    *,
    form: MessageForm | None = None,
    encoding: str | None = None,
    limit: int = LIMIT,
    name: str = "text",
) -> Iterator[RawMessage | PartitaError]:
    """Yield messages before their layout is parsed, so that worker processes can parse it."""
    reader = _Reader(form, python_encoding(encoding), limit, name)
    for file in list_message_files(paths):
        if isinstance(file, InputError):
            yield file
            continue
        try:
            yield from reader.file(file)
        except InputError as error:
            yield error


def detect_form(start: bytes, encoding: str, suffix: str = "") -> MessageForm:
    """Return the form of a file, judged by its suffix and first bytes."""
    if suffix.lower() in DOCUMENTS:
        return "text"
    mark_length, mark_encoding = byte_order_mark(start)
    try:
        text = start[mark_length:].decode(mark_encoding or encoding, errors="replace")
    except UnicodeError:
        return "text"
    if suffix.lower() in JSON_SUFFIXES or text.lstrip().startswith(('{"', '{ "')):
        return "jsonl"
    if suffix.lower() == CONLLU_SUFFIX:
        return "conllu"
    if text.lstrip().startswith("#begin document"):
        from partita.text.annotations import is_conll2012

        if is_conll2012(text):
            return "conll2012"
    return "muc" if is_muc(text) else "text"


@dataclass(slots=True)
class _Reader:
    """Settings for reading files, and the place where each id first occurred."""

    form: MessageForm | None
    encoding: str
    limit: int
    name: str
    places: dict[str, str] = field(default_factory=dict)

    def file(self, file: MessageFile) -> Iterator[RawMessage | InputError]:
        with _open(file) as stream:
            start = stream.peek(START)[:START]
            form = self.form or detect_form(start, self.encoding, file.path.suffix)
            for raw in self._raw(stream, file, form):
                yield raw if isinstance(raw, InputError) else self._once(raw)

    def _raw(
        self, stream: BufferedIOBase, file: MessageFile, form: MessageForm
    ) -> Iterator[RawMessage | InputError]:
        if form == "jsonl":
            lines = JsonLines(file.file, file.stem, self.encoding, self.limit, self.name)
            yield from lines.read(stream)
            return
        text = self._text(stream, file)
        if form == "muc":
            yield from _muc_texts(text, file)
        elif form in ("conllu", "conll2012"):
            yield from _annotated_texts(text, file, form)
        elif not (file.in_folder and is_muc_key(text)):
            yield RawMessage(file.stem, text, file.file)

    def _text(self, stream: BufferedIOBase, file: MessageFile) -> str:
        data = stream.read(self.limit + 1)
        if len(data) > self.limit:
            raise too_long_error(self.limit, file.file)
        if (suffix := file.path.suffix.lower()) in DOCUMENTS:
            from partita.text.documents import document_text

            return document_text(data, suffix, file.file, self.limit)
        text = decode(data, self.encoding, file.file)
        if not text.strip():
            raise InputError("is empty (expected a message)", file=file.file)
        return text

    def _once(self, raw: RawMessage) -> RawMessage | InputError:
        """Return the message if its id is new, otherwise an error that names both places."""
        if raw.id not in self.places:
            self.places[raw.id] = raw.place
            return raw
        problem = f"duplicate id {raw.id!r}; first used in {self.places[raw.id]}"
        return InputError(problem, file=raw.file, line=raw.line)


def _annotated_texts(text: str, file: MessageFile, form: str) -> Iterator[RawMessage | InputError]:
    """Yield the documents of CoNLL-U or CoNLL-2012 with their annotation."""
    from partita.text.annotations import conll2012_texts, conllu_texts

    lines = enumerate((line.removesuffix("\r") for line in text.split("\n")), 1)
    if form == "conllu":
        texts = conllu_texts(lines, file.file, file.stem)
    else:
        texts = conll2012_texts(lines, file.file)
    empty = True
    for one in texts:
        empty = False
        yield RawMessage(one.name, one.text, file.file, one.line, annotation=one.annotation)
    if empty:
        yield InputError("holds no sentence", file=file.file)


def _muc_texts(text: str, file: MessageFile) -> Iterator[RawMessage | InputError]:
    empty = True
    for title in muc_messages(text):
        empty = False
        if text[title.end : title.stop].strip():
            content = text[title.start : title.stop]
            yield RawMessage(title.name, content, file.file, title.line, title.start)
        else:
            yield InputError(f"{title.name} is empty", file=file.file, line=title.line)
    if empty:
        yield InputError(MUC_EXPECTED, file=file.file)


@contextmanager
def _open(file: MessageFile) -> Iterator[BufferedReader]:
    try:
        if str(file.path) == STANDARD_INPUT:
            # sys.stdin.buffer may be a stream without peek
            stream: BufferedReader = BufferedReader(cast(Any, sys.stdin.buffer))
            yield stream
            stream.detach()
            return
        with file.path.open("rb", buffering=START) as opened:
            yield cast(BufferedReader, opened)
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise InputError(problem, file=file.file) from error
