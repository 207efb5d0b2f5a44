"""A folder of messages (*.txt) with one key each (keys.jsonl) to documents."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from partita.errors import InputError
from partita.formats.keys import numbered_keys
from partita.formats.strict import Place
from partita.learning.keyed import Key
from partita.records import Document, Template

KEYS = "keys.jsonl"
ENDING = "*.txt"


def read_keyed_messages(folder: str | Path) -> Iterator[Document]:
    """The messages that have a key, in the order of their names, with templates in text order.

    A key's message is the file of that name without its ending; offsets are characters.
    """
    texts = {file.stem: file for file in message_files(folder)}
    for place, key in sorted(_keys(Path(folder) / KEYS), key=lambda found: found[1].message):
        if key.message not in texts:
            place.refuse(f"key of message {key.message!r}, but there is no {key.message}.txt")
        yield _document(key, _text(texts[key.message]), place)


def messages_without_key(folder: str | Path) -> list[str]:
    """The names of messages that nobody has keyed yet."""
    keyed = {key.message for _, key in _keys(Path(folder) / KEYS)}
    return [file.stem for file in message_files(folder) if file.stem not in keyed]


def message_files(folder: str | Path) -> list[Path]:
    """The messages of a corpus, in the order of their names."""
    found = sorted(Path(folder).glob(ENDING))
    if not found:
        raise InputError(f"holds no message {ENDING}", file=str(folder))
    return found


def corpus_path() -> Path:
    """The corpus that comes with the package: depots, units and equipment, fictional."""
    from importlib.resources import files

    return Path(str(files("partita"))) / "domains" / "depots" / "corpus"


def _document(key: Key, text: str, place: Place) -> Document:
    for template in key.templates:
        _check(template, text, place)
    ordered = sorted(key.templates, key=lambda template: (template.start, -template.end))
    return Document(key.message, "", tuple(ordered), key.configuration, text)


def _check(template: Template, text: str, place: Place) -> None:
    """The template says what stands in the message, and where."""
    name, start, end = template.id, template.start, template.end
    if not start < end <= len(text):
        place.refuse(f"template {name} is at {start} to {end}; the message ends at {len(text)}")
    if (there := text[start:end]) != template.text:
        place.refuse(f"template {name} is {template.text!r}, but at {start} stands {there!r}")


def _keys(file: Path) -> Iterator[tuple[Place, Key]]:
    """Each key with its line; a message has one."""
    lines: dict[str, int] = {}
    for number, key in numbered_keys(file):
        place = Place(str(file), number)
        if key.message in lines:
            place.refuse(f"message {key.message!r} has a key already, line {lines[key.message]}")
        lines[key.message] = number
        yield place, key


def _text(file: Path) -> str:
    """As it is, with the line ends that it has."""
    try:
        data = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        return data.decode()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(file)) from error
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8", file=str(file), line=line) from error
