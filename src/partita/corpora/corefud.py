"""Read CoNLL-U with CorefUD entities as documents with gold mentions and keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from partita.corpora.conllu import Sentence, Surface, sentences
from partita.corpora.corefud_mentions import (
    Layout,
    Mention,
    Tree,
    determiner_of,
    feature,
    form_of,
    head_of,
    layout,
    mentions,
    modifiers_of,
    name_of,
    number_of,
    role_of,
)
from partita.errors import InputError
from partita.records import Configuration, Document, Template

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


Span = tuple[int, int]


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


GENDERS = {"Masc": "masc", "Fem": "fem", "Neut": "neut"}


@dataclass(frozen=True, slots=True, eq=False)
class PlacedSentence:
    """A sentence's tree, its mentions, and its position in its document."""

    tree: Tree
    mentions: tuple[Mention, ...]
    spans: list[Span]
    index: int
    paragraph: int
    region: str


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A mention in its sentence, with its head and its span in the text."""

    mention: Mention
    at: PlacedSentence
    head: int
    inside: frozenset[int]
    start: int
    end: int


def expressions(placed: PlacedSentence) -> list[Expression]:
    """Return the mentions of a sentence in text order, the longer first at the same start."""
    unsorted = [_expression(mention, placed) for mention in placed.mentions]
    return sorted(unsorted, key=lambda e: (e.start, -e.end, min(e.inside), -len(e.inside)))


def _expression(mention: Mention, placed: PlacedSentence) -> Expression:
    inside = mention.words
    start, end = placed.spans[inside[0]][0], placed.spans[inside[-1]][1]
    head = head_of(mention, placed.tree.words)
    return Expression(mention, placed, head, frozenset(inside), start, end)


def templates(
    expressions: Sequence[Expression], first: int, text: str, offset: int
) -> Iterator[Template]:
    """Return the templates of one sentence's expressions, named m1, m2, … from `first` on.

    `text` is the sentence's, and begins at `offset` of the document's.
    """
    names = [f"m{first + n}" for n in range(len(expressions))]
    for place, expression in enumerate(expressions):
        yield _template(
            expression,
            _links(place, expressions, names),
            names[place],
            _mention_text(expression, text, offset),
        )


def _template(expression: Expression, tied: dict[str, str], name: str, text: str) -> Template:
    tree, word = expression.at.tree, expression.at.tree.words[expression.head]
    inside = set(expression.inside)
    determiner = determiner_of(tree, expression.head, inside)
    number = number_of(tree, expression.head, inside)
    form = form_of(word, determiner, isinstance(number, int))
    context = _own_slots(expression, determiner) | tied
    called = name_of(tree, expression.head, inside) if word.upos == "PROPN" else ""
    return Template(
        id=name,
        text=text,
        start=expression.start,
        end=expression.end,
        region=expression.at.region,
        sentence=expression.at.index,
        sort=expression.mention.sort,
        head=word.lemma.lower() if word.lemma != "_" else word.form.lower(),
        number=number,
        form=form,
        slots={"NAME": called} if called else {},
        rule="corefud",
        context={name: value for name, value in context.items() if value not in ("", [], None)},
    )


def _mention_text(expression: Expression, text: str, offset: int) -> str:
    """Return the text of a mention: the parts of a discontinuous one joined."""
    spans = expression.at.spans
    parts = ((spans[a][0] - offset, spans[b][1] - offset) for a, b in expression.mention.spans)
    return " ".join(text[start:end] for start, end in parts)


def _own_slots(expression: Expression, determiner: str) -> dict[str, Any]:
    """Return the slots that a mention's own words fill."""
    tree, word, inside = (
        expression.at.tree,
        expression.at.tree.words[expression.head],
        set(expression.inside),
    )
    pronoun = word.upos in ("PRON", "DET")
    return {
        "MODIFIERS": modifiers_of(tree, expression.head, inside),
        "PERSON": feature(word, "Person") if pronoun else "",
        "GENDER": GENDERS.get(feature(word, "Gender"), "") if pronoun else "",
        "REFLEXIVE": feature(word, "Reflex").lower() if pronoun else "",
        "ROLE": role_of(tree, expression.head),
        "DETERMINER": determiner,
        "PARAGRAPH": expression.at.paragraph,
        "WORDS": [tree.words[n].form.lower() for n in sorted(inside)],
    }


def _links(place: int, expressions: Sequence[Expression], names: Sequence[str]) -> dict[str, str]:
    """Return the other mentions of the sentence that brackets or the tree link to this one."""
    expression, tree = expressions[place], expressions[place].at.tree
    word = tree.words[expression.head]
    predicate = tree.related(expression.head, "cop")
    subjects = tree.related(expression.head, "nsubj") if predicate else []
    return {
        "PARENT": _parent(place, expressions, names),
        "APPOSITION_OF": _mention_with_head([word.head], place, expressions, names)
        if word.relation.partition(":")[0] == "appos"
        else "",
        "COPULA_OF": _mention_with_head(subjects, place, expressions, names),
    }


def _parent(place: int, expressions: Sequence[Expression], names: Sequence[str]) -> str:
    """Return the smallest mention that contains this one and more."""
    around = [n for n, other in enumerate(expressions) if other.inside > expressions[place].inside]
    return names[min(around, key=lambda n: len(expressions[n].inside))] if around else ""


def _mention_with_head(
    heads: Sequence[int], place: int, expressions: Sequence[Expression], names: Sequence[str]
) -> str:
    """Return the longest mention with one of these heads that does not contain this one."""
    mine = expressions[place].inside
    fit = [
        n
        for n, o in enumerate(expressions)
        if o.head in heads and n != place and not o.inside >= mine
    ]
    return names[max(fit, key=lambda n: len(expressions[n].inside))] if fit else ""


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
            Tree(sentence), tuple(mentions), spans, self.read, self.blocks.paragraph, region
        )
        self._keep(placed, text)
        self._write(text)
        self.read += 1

    def _keep(self, placed: PlacedSentence, text: str) -> None:
        in_order = expressions(placed)
        numbered = templates(in_order, len(self.found) + 1, text, self.length)
        for expression, template in zip(in_order, numbered, strict=True):
            self.found.append(template)
            self.entities.setdefault(expression.mention.entity, []).append(template.id)

    def _write(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)

    def document(self) -> Document:
        key = Configuration(self.entities.values())
        return Document(self.name, self.genre, tuple(self.found), key, "".join(self.pieces))
