"""Read CoNLL-U with CorefUD entities as documents with gold mentions and keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from partita.errors import InputError
from partita.files.text import numbered_lines
from partita.records import Configuration, Document, Template
from partita.text.conllu import AnnotatedText, annotated_texts
from partita.text.expressions import expressions, templates

ENDING = "*.conllu"


def read_corefud(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a file, or of all CoNLL-U files of a folder."""
    for file in corefud_files(path):
        for text in annotated_texts(numbered_lines(file), str(file), file.stem):
            yield _document(text)


def corefud_files(path: str | Path) -> list[Path]:
    """Return the file, or the CoNLL-U files of a folder, in the order of their names."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    files = sorted(folder.rglob(ENDING))
    if not files:
        raise InputError(f"holds no file {ENDING}", file=str(path))
    return files


def _document(annotated: AnnotatedText) -> Document:
    """Return the templates of the mentions, and the key that their entities give."""
    entities: dict[str, list[str]] = {}
    made: list[Template] = []
    for sentence in annotated.sentences:
        in_order = expressions(sentence)
        numbered = templates(in_order, len(made) + 1, annotated.text, 0, "corefud")
        for expression, template in zip(in_order, numbered, strict=True):
            made.append(template)
            entities.setdefault(expression.mention.entity, []).append(template.id)
    key = Configuration(entities.values())
    return Document(annotated.name, annotated.genre, tuple(made), key, annotated.text)
