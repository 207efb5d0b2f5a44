"""CoNLL-U with CorefUD entity annotation to documents: templates of gold mentions, and the key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from partita.errors import InputError
from partita.formats.corefud_mentions import Layout, Mention, layout, mentions
from partita.formats.corefud_regions import Blocks
from partita.formats.corefud_sentences import Sentence, sentences
from partita.formats.corefud_templates import Placed, expressions, templates
from partita.formats.corefud_text import laid_out
from partita.formats.corefud_trees import Tree
from partita.records import Configuration, Document, Template

ENDING = "*.conllu"


def read_corefud(path: str | Path) -> Iterator[Document]:
    """The documents of a file, or of all CoNLL-U files of a folder, one after another."""
    for file in corefud_files(path):
        yield from _documents(file)


def corefud_files(path: str | Path) -> list[Path]:
    """A file, or the CoNLL-U files of a folder, in the order of their names."""
    given = Path(path)
    if not given.is_dir():
        return [given]
    found = sorted(given.rglob(ENDING))
    if not found:
        raise InputError(f"holds no file {ENDING}", file=str(path))
    return found


def _documents(file: Path) -> Iterator[Document]:
    """One document after another; what stands before the first `# newdoc` has the file's name."""
    header: Layout | None = None
    building: _Building | None = None
    number = 0
    for sentence in sentences(file):
        if "global.Entity" in sentence.comments:
            header = _header(sentence, file)
        if building is None or _is_new(sentence):
            if building is not None:
                yield building.document()
            number += 1
            building = _Building(*_title(sentence, file, number))
        building.add(sentence, _mentions(sentence, header, file))
    if building is not None:
        yield building.document()


def _is_new(sentence: Sentence) -> bool:
    return any(name == "newdoc" or name.startswith("newdoc ") for name in sentence.comments)


def _header(sentence: Sentence, file: Path) -> Layout:
    line = sentence.lines["global.Entity"]
    return layout(sentence.comments["global.Entity"], str(file), line)


def _mentions(sentence: Sentence, header: Layout | None, file: Path) -> list[Mention]:
    if header is not None:
        return mentions(sentence.words, header, str(file))
    for word in sentence.words:
        if word.entity:
            problem = "has Entity= but no # global.Entity before it says in which order"
            raise InputError(problem, file=str(file), line=word.line)
    return []


def _title(sentence: Sentence, file: Path, number: int) -> tuple[str, str]:
    """The name and the genre of a document; GUM's names hold the genre (GUM_news_iodine)."""
    fallback = file.stem if number == 1 else f"{file.stem}-{number}"
    name = sentence.comments.get("newdoc id") or fallback
    parts = name.split("_")
    genre = parts[1] if len(parts) > 2 and parts[0] == "GUM" else ""
    return name, sentence.comments.get("meta::genre", genre)


@dataclass(slots=True)
class _Building:
    """A document on the way: its text, its templates and whose they are, so far."""

    name: str
    genre: str
    found: list[Template] = field(default_factory=list)
    entities: dict[str, list[str]] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    read: int = 0

    def add(self, sentence: Sentence, given: Iterable[Mention]) -> None:
        paragraph = self.blocks.paragraph
        region = self.blocks.sentence(sentence.comments)
        if self.read:
            self._write(" " if self.blocks.paragraph == paragraph else "\n\n")
        text, spans = laid_out(sentence, self.length)
        placed = Placed(
            Tree(sentence), tuple(given), spans, self.read, self.blocks.paragraph, region
        )
        self._keep(placed, text)
        self._write(text)
        self.read += 1

    def _keep(self, placed: Placed, text: str) -> None:
        found = expressions(placed)
        made = templates(found, len(self.found) + 1, text, self.length)
        for expression, template in zip(found, made, strict=True):
            self.found.append(template)
            self.entities.setdefault(expression.mention.entity, []).append(template.id)

    def _write(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)

    def document(self) -> Document:
        key = Configuration(self.entities.values())
        return Document(self.name, self.genre, tuple(self.found), key, "".join(self.pieces))
