"""Read CoNLL-U with CorefUD entities as documents with gold mentions and keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from partita.core import Configuration, Document, Template
from partita.errors import InputError
from partita.files.text import numbered_lines
from partita.text.conllu import PlacedDocument, placed_documents
from partita.text.expressions import expressions, templates

ENDING = "*.conllu"


def read_corefud(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a file, or of all CoNLL-U files of a folder."""
    yield from map(document_of, read_placed(path))


def read_placed(path: str | Path) -> Iterator[PlacedDocument]:
    """Yield the documents with their trees and the mentions in them."""
    for file in corefud_files(path):
        yield from placed_documents(numbered_lines(file), str(file), file.stem)


def corefud_files(path: str | Path) -> list[Path]:
    """Return the file, or the CoNLL-U files of a folder, in the order of their names."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    files = sorted(folder.rglob(ENDING))
    if not files:
        raise InputError(f"holds no file {ENDING}", file=str(path))
    return files


def document_of(placed: PlacedDocument) -> Document:
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
