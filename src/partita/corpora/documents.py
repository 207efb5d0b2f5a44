"""Read documents with keys from folders of messages, key files or CoNLL-U."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from partita.core import Configuration, Document, Template
from partita.core.templates import Key
from partita.corpora.keys import numbered_keys
from partita.errors import InputError
from partita.files.strict import Place
from partita.files.text import numbered_lines, whole_bytes
from partita.text.conllu import PlacedDocument, placed_documents
from partita.text.expressions import expressions, templates
from partita.text.messages import KEYS_FILE

ENDING = "*.txt"


def read_keyed_messages(folder: str | Path) -> Iterator[Document]:
    """Yield the messages that have a key, in the order of their names, templates in text order.

    A key's message is the file of that name without its ending; offsets are characters.
    """
    texts = {file.stem: file for file in keyed_message_files(folder)}
    for place, key in sorted(
        _keys(Path(folder) / KEYS_FILE), key=lambda numbered: numbered[1].message
    ):
        if key.message not in texts:
            place.refuse(f"key of message {key.message!r}, but there is no {key.message}.txt")
        yield _document(key, _text(texts[key.message]), place)


def keyed_message_files(folder: str | Path) -> list[Path]:
    """Return the messages of a corpus, in the order of their names."""
    files = sorted(Path(folder).glob(ENDING))
    if not files:
        raise InputError(f"holds no message {ENDING}", file=str(folder))
    return files


def corpus_path() -> Path:
    """Return the path of the shipped corpus: depots, units and equipment, fictional."""
    from importlib.resources import files

    return Path(str(files("partita"))) / "domains" / "depots" / "corpus"


def _document(key: Key, text: str, place: Place) -> Document:
    for template in key.templates:
        _check(template, text, place)
    ordered = sorted(key.templates, key=lambda template: (template.start, -template.end))
    return replace(keyed_document(key), templates=tuple(ordered), text=text)


def _check(template: Template, text: str, place: Place) -> None:
    """Check that the message has the template's text at its position."""
    name, start, end = template.id, template.start, template.end
    if not start < end <= len(text):
        place.refuse(f"template {name} is at {start} to {end}; the message ends at {len(text)}")
    if (there := text[start:end]) != template.text:
        place.refuse(f"template {name} is {template.text!r}, but at {start} stands {there!r}")


def _keys(file: Path) -> Iterator[tuple[Place, Key]]:
    """Return each key with its line; a message has one."""
    lines: dict[str, int] = {}
    for number, key in numbered_keys(file):
        place = Place(str(file), number)
        if key.message in lines:
            place.refuse(f"message {key.message!r} has a key already, line {lines[key.message]}")
        lines[key.message] = number
        yield place, key


def _text(file: Path) -> str:
    """Return the text with its line ends unchanged."""
    data = whole_bytes(file).removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8", file=str(file), line=line) from error


KEYS_FORM = ".jsonl"
Seen = dict[tuple[str, str], tuple[str, int]]  # message and template: file and line of its key


def _documents(path: Path, source: str | None, seen: Seen) -> Iterator[Document]:
    match source or _source_of(path):
        case "corefud":
            yield from read_corefud(path)
        case "messages":
            yield from read_keyed_messages(path)
        case _:
            yield from _keyed_sets(path, seen)


def read_corpora(keys: Any, source: str | None = None) -> Iterator[Document]:
    """Return the documents of keys, of files of keys or CoNLL-U, or of folders of these.

    Without a source, files that end in .jsonl hold keys, and a folder with such a file of keys
    holds messages.
    """
    single = isinstance(keys, str | PathLike | Key)
    if not single and not isinstance(keys, Iterable):
        expected = "keys, files of keys or folders"
        raise TypeError(f"keys must be {expected}, not {type(keys).__name__}")
    seen: Seen = {}
    for number, item in enumerate([keys] if single else keys, 1):
        if isinstance(item, Key):
            _refuse_overlap(item, "keys", number, seen)
            yield keyed_document(item)
        elif isinstance(item, str | PathLike):
            yield from _documents(Path(item), source, seen)
        else:
            raise TypeError(f"keys must be keys or files, not {type(item).__name__}")


def _source_of(path: Path) -> str:
    if path.suffix == KEYS_FORM:
        return "keys"
    return "messages" if (path / KEYS_FILE).is_file() else "corefud"


def _keyed_sets(path: Path, seen: Seen) -> Iterator[Document]:
    """Return each key as a document: its templates are a coreference set of a message."""
    count = 0
    for line, key in numbered_keys(path):
        count += 1
        _refuse_overlap(key, str(path), line, seen)
        yield keyed_document(key)
    if not count:
        raise InputError("holds no keys; expected a line of JSON for each", file=str(path))


def keyed_document(key: Key) -> Document:
    """Return a key as a document of its own: its templates are a coreference set."""
    templates = tuple(sorted(key.templates, key=lambda template: template.start))
    others = tuple((one.configuration, one.weight) for one in key.alternatives)
    return Document(key.message, "", templates, key.configuration, alternatives=others)


def _refuse_overlap(key: Key, file: str, line: int, seen: Seen) -> None:
    """Raise if a template is in two keys: it would be used twice in training."""
    for template in key.templates:
        before = seen.setdefault((key.message, template.id), (file, line))
        if before != (file, line):
            where = f"line {before[1]}" if before[0] == file else f"{before[0]}, line {before[1]}"
            problem = f"template {template.id} of message {key.message} has a key already ({where})"
            raise InputError(problem, file=file, line=line)


CONLLU = "*.conllu"


def read_corefud(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a file, or of all CoNLL-U files of a folder."""
    yield from map(corpus_document, read_placed(path))


def read_placed(path: str | Path) -> Iterator[PlacedDocument]:
    """Yield the documents with their trees and the mentions in them."""
    for file in corefud_files(path):
        yield from placed_documents(numbered_lines(file), str(file), file.stem)


def corefud_files(path: str | Path) -> list[Path]:
    """Return the file, or the CoNLL-U files of a folder, in the order of their names."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    files = sorted(folder.rglob(CONLLU))
    if not files:
        raise InputError(f"holds no file {CONLLU}", file=str(path))
    return files


def corpus_document(placed: PlacedDocument) -> Document:
    """Return a document with its mentions as templates, and its entities as the key."""
    entities: dict[str, list[str]] = {}
    made: list[Template] = []
    for sentence in placed.sentences:
        in_order = expressions(sentence)
        numbered = templates(in_order, len(made) + 1, placed.text, 0, "corefud")
        for expression, template in zip(in_order, numbered, strict=True):
            made.append(template)
            entities.setdefault(expression.mention.entity, []).append(template.id)
    key = Configuration(entities.values())
    return Document(placed.name, placed.genre, tuple(made), key, placed.text)
