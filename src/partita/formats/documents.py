"""Documents with keys: messages with keys, files of keys, or CoNLL-U with CorefUD entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from partita.errors import InputError
from partita.formats.corefud import read_corefud
from partita.formats.corpus import KEYS as BESIDE
from partita.formats.corpus import read_keyed_messages
from partita.formats.keys import numbered_keys
from partita.learning.keyed import Key
from partita.records import Document
from partita.templates.schema import Schema

SOURCES = ("messages", "keys", "corefud")
KEYS = ".jsonl"
DOMAIN = "domain.yaml"


def read_documents(paths: Iterable[Path], source: str | None = None) -> Iterator[Document]:
    """The documents of all files; without a source, files that end in .jsonl hold keys, and a
    folder with such a file of keys holds messages."""
    seen: dict[tuple[str, str], tuple[str, int]] = {}
    for path in paths:
        match source or _source_of(path):
            case "corefud":
                yield from read_corefud(path)
            case "messages":
                yield from read_keyed_messages(path)
            case _:
                yield from _keyed_sets(path, seen)


def schema_of(domain: str | None, corpora: Iterable[Path] = ()) -> Schema | None:
    """The slots of a domain, shipped or a folder, or None where no domain is named.

    Without a name, a corpus that lies in the folder of a domain is of that domain.
    """
    named = domain or next(map(str, _around(corpora)), None)
    if named is None:
        return None
    from partita.formats.rules import read_domain

    return read_domain(named).schema


def _around(corpora: Iterable[Path]) -> Iterator[Path]:
    """The folders of domains in which corpora lie."""
    for path in corpora:
        folder = path.resolve() if path.is_dir() else path.resolve().parent
        if (folder.parent / DOMAIN).is_file() and (folder / BESIDE).is_file():
            yield folder.parent


def _source_of(path: Path) -> str:
    if path.suffix == KEYS:
        return "keys"
    return "messages" if (path / BESIDE).is_file() else "corefud"


def _keyed_sets(path: Path, seen: dict[tuple[str, str], tuple[str, int]]) -> Iterator[Document]:
    """Every key is a document of its own: its templates are a coreference set of a message."""
    found = 0
    for line, key in numbered_keys(path):
        found += 1
        _refuse_overlap(key, str(path), line, seen)
        templates = tuple(sorted(key.templates, key=lambda template: template.start))
        yield Document(key.message, "", templates, key.configuration)
    if not found:
        raise InputError("holds no keys; expected a line of JSON for each", file=str(path))


def _refuse_overlap(
    key: Key, file: str, line: int, seen: dict[tuple[str, str], tuple[str, int]]
) -> None:
    """A template that two keys place would be learned from twice."""
    for template in key.templates:
        before = seen.setdefault((key.message, template.id), (file, line))
        if before != (file, line):
            where = f"line {before[1]}" if before[0] == file else f"{before[0]}, line {before[1]}"
            problem = f"template {template.id} of message {key.message} has a key already ({where})"
            raise InputError(problem, file=file, line=line)
