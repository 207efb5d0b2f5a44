"""Read CoNLL-U with CorefUD entities as documents with gold mentions and keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from partita.corpora.conllu import Sentence, Surface, sentences
from partita.corpora.corefud_mentions import Layout, layout, mentions
from partita.errors import InputError
from partita.records import Configuration, Document, Template
from partita.text.expressions import Mention, PlacedSentence, Span, expressions, templates
from partita.text.trees import Tree

BLOCK = re.compile(r"\s*([A-Za-z_]+).*\(([0-9]+) s\)\s*$")
# The first that is open decides: a heading inside a table's cell is a heading.
REGIONS = (
    ("head", "heading"),
    ("caption", "caption"),
    ("cell", "table"),
    ("row", "table"),
    ("table", "table"),
    ("item", "list"),
    ("note", "note"),
    ("quote", "quote"),
)


@dataclass(slots=True)
class Blocks:
    """The open blocks, with the number of sentences that each still covers."""

    open: list[tuple[str, int]] = field(default_factory=list)
    paragraph: int = -1

    def sentence(self, comments: dict[str, str]) -> str:
        """Return the region of the next sentence."""
        if self.paragraph < 0 or any(name.startswith("newpar") for name in comments):
            self.paragraph += 1
        self.open = [(name, left - 1) for name, left in self.open if left > 1]
        for block in comments.get("newpar_block", "").split("|"):
            if match := BLOCK.match(block):
                self.open.append((match[1], int(match[2])))
        names = {name for name, _ in self.open}
        return next((region for name, region in REGIONS if name in names), "text")


def layout_text(sentence: Sentence, start: int) -> tuple[str, list[Span]]:
    """Return the sentence's text and the span of each of its words, counted from `start`.

    Words of a multiword token share its characters where they make it up, else all have its
    whole span; an empty node has an empty span after the word before it.
    """
    pieces: list[str] = []
    spans: list[Span] = [(start, start)] * len(sentence.words)
    here, done = start, 0
    for token in sentence.surface:
        for place in range(done, token.first):
            spans[place] = (here, here)
        spans[token.first : token.last + 1] = _shares(token, sentence, here)
        done = token.last + 1
        gap = " " if token.space else ""
        pieces += (token.form, gap)
        here += len(token.form) + len(gap)
    for place in range(done, len(spans)):
        spans[place] = (here, here)
    return "".join(pieces).rstrip(), spans


def _shares(token: Surface, sentence: Sentence, here: int) -> Iterator[Span]:
    """Return the span of each word of a token."""
    words = sentence.words[token.first : token.last + 1]
    forms = ["" if word.empty else word.form for word in words]
    made_up = len(words) > 1 and "".join(forms).lower() == token.form.lower()
    for form in forms:
        size = len(form) if made_up else len(token.form)
        yield here, here + size
        here += size if made_up else 0


ENDING = "*.conllu"


def read_corefud(path: str | Path) -> Iterator[Document]:
    """Yield the documents of a file, or of all CoNLL-U files of a folder."""
    for file in corefud_files(path):
        yield from _documents(file)


def corefud_files(path: str | Path) -> list[Path]:
    """Return the file, or the CoNLL-U files of a folder, in the order of their names."""
    folder = Path(path)
    if not folder.is_dir():
        return [folder]
    files = sorted(folder.rglob(ENDING))
    if not files:
        raise InputError(f"holds no file {ENDING}", file=str(path))
    return files


def _documents(file: Path) -> Iterator[Document]:
    """Yield the documents; sentences before the first `# newdoc` have the file's name."""
    header: Layout | None = None
    building: _DocumentBuilder | None = None
    number = 0
    for sentence in sentences(file):
        if "global.Entity" in sentence.comments:
            header = _header(sentence, file)
        if building is None or _is_new(sentence):
            if building is not None:
                yield building.document()
            number += 1
            building = _DocumentBuilder(*_title(sentence, file, number))
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
    """Return the name and the genre of a document; GUM's names hold the genre (GUM_news_iodine)."""
    fallback = file.stem if number == 1 else f"{file.stem}-{number}"
    name = sentence.comments.get("newdoc id") or fallback
    parts = name.split("_")
    genre = parts[1] if len(parts) > 2 and parts[0] == "GUM" else ""
    return name, sentence.comments.get("meta::genre", genre)


@dataclass(slots=True)
class _DocumentBuilder:
    """A document under construction: its text, its templates and their entities, so far."""

    name: str
    genre: str
    found: list[Template] = field(default_factory=list)
    entities: dict[str, list[str]] = field(default_factory=dict)
    blocks: Blocks = field(default_factory=Blocks)
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    read: int = 0

    def add(self, sentence: Sentence, mentions: Iterable[Mention]) -> None:
        paragraph = self.blocks.paragraph
        region = self.blocks.sentence(sentence.comments)
        if self.read:
            self._write(" " if self.blocks.paragraph == paragraph else "\n\n")
        text, spans = layout_text(sentence, self.length)
        placed = PlacedSentence(
            Tree(sentence.words), tuple(mentions), spans, self.read, self.blocks.paragraph, region
        )
        self._keep(placed, text)
        self._write(text)
        self.read += 1

    def _keep(self, placed: PlacedSentence, text: str) -> None:
        in_order = expressions(placed)
        numbered = templates(in_order, len(self.found) + 1, text, self.length, "corefud")
        for expression, template in zip(in_order, numbered, strict=True):
            self.found.append(template)
            self.entities.setdefault(expression.mention.entity, []).append(template.id)

    def _write(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)

    def document(self) -> Document:
        key = Configuration(self.entities.values())
        return Document(self.name, self.genre, tuple(self.found), key, "".join(self.pieces))
