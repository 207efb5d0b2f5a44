"""Read CoNLL-U: sentences with trees, and texts with the mentions that they are annotated with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, NoReturn

from partita.errors import InputError
from partita.files.text import numbered_lines
from partita.text.expressions import Mention, PlacedSentence, Span, Tree, Word

COLUMNS = 10
NumberedLine = tuple[int, str]


class Surface(NamedTuple):
    """A token of the text that stands for the words from `first` to `last`, both included.

    `before` and `after` are the white space around it; None: as usual in running text.
    """

    form: str
    first: int
    last: int
    space: bool
    before: str = ""
    after: str | None = None


@dataclass(frozen=True, slots=True)
class Sentence:
    """The words in their order (empty nodes among them), the text's tokens and the comments."""

    words: tuple[Word, ...]
    surface: tuple[Surface, ...]
    comments: dict[str, str]
    lines: dict[str, int]
    line: int


class Rows(NamedTuple):
    """The lines of one sentence, split at tabs, each with its number."""

    file: str
    comments: list[tuple[int, str]]
    words: list[tuple[int, list[str]]]


def sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of one file."""
    return parse_sentences(numbered_lines(path), str(path))


def parse_sentences(lines: Iterable[NumberedLine], file: str) -> Iterator[Sentence]:
    """Yield the sentences of numbered lines."""
    for rows in _blocks(lines, file):
        yield _sentence(rows)


def _blocks(lines: Iterable[NumberedLine], file: str) -> Iterator[Rows]:
    rows = Rows(file, [], [])
    for number, line in lines:
        if not line:
            if rows.words:
                yield rows
                rows = Rows(file, [], [])
        elif line[0] == "#":
            rows.comments.append((number, line[1:].strip()))
        else:
            rows.words.append((number, _columns(line, file, number)))
    if rows.words:
        yield rows


def _columns(line: str, file: str, number: int) -> list[str]:
    columns = line.split("\t")
    if len(columns) != COLUMNS:
        amount = f"{len(columns)} column{'s' * (len(columns) > 1)}"
        problem = f"has {amount} separated by tabs; CoNLL-U has {COLUMNS}"
        raise InputError(problem, file=file, line=number)
    return columns


def _sentence(rows: Rows) -> Sentence:
    places, ranges = _places(rows)
    words = tuple(
        _word(columns, places, rows.file, number)
        for number, columns in rows.words
        if "-" not in columns[0]
    )
    comments, lines = _comments(rows)
    surface = tuple(_surface(rows, places, ranges, words))
    return Sentence(words, surface, comments, lines, rows.words[0][0])


def _comments(rows: Rows) -> tuple[dict[str, str], dict[str, int]]:
    comments: dict[str, str] = {}
    lines: dict[str, int] = {}
    for number, text in rows.comments:
        name, _, value = text.partition("=")
        comments[name.strip()] = value.strip()
        lines[name.strip()] = number
    return comments, lines


def _places(rows: Rows) -> tuple[dict[str, int], dict[str, str]]:
    """Return each word's id with its position, and each range's first id with its last."""
    places: dict[str, int] = {}
    ranges: dict[str, str] = {}
    whole, part, covered = 0, 0, 0
    for number, (name, *_) in rows.words:
        if name == str(whole + 1):
            whole, part = whole + 1, 0
        elif name == f"{whole}.{part + 1}":
            part += 1
        elif "-" in name:
            covered = _range(name, max(whole, covered) + 1, rows.file, number)
            ranges[str(whole + 1)] = str(covered)
            continue
        else:
            _refuse_id(name, f"{whole + 1} or {whole}.{part + 1}", rows.file, number)
        places[name] = len(places)
    if covered > whole:
        _refuse_id(f"…-{covered}", f"words up to {covered}", rows.file, rows.words[-1][0])
    return places, ranges


def _range(name: str, first: int, file: str, number: int) -> int:
    """Return the last id of a multiword token, which begins with the next word."""
    start, _, end = name.partition("-")
    if start != str(first) or not end.isdecimal() or int(end) < first:
        _refuse_id(name, f"{first} or a range from it", file, number)
    return int(end)


def _refuse_id(name: str, expected: str, file: str, number: int) -> NoReturn:
    raise InputError(f"has the id {name!r}; expected {expected}", file=file, line=number)


def _word(columns: list[str], places: dict[str, int], file: str, number: int) -> Word:
    name, form, lemma, upos, xpos, feats, head, relation, deps, misc = columns
    empty = "." in name
    if empty:
        head, _, relation = deps.split("|")[0].partition(":")
    above = -1 if head in ("0", "_", "") else places.get(head)
    if above is None:
        problem = f"depends on {head!r}; the sentence has no such word"
        raise InputError(problem, file=file, line=number)
    return Word(form, lemma, upos, feats, above, relation, _entity(misc), number, empty, xpos)


def _entity(misc: str) -> str:
    """Return the value of Entity= among the attributes of the last column."""
    start = 0 if misc.startswith("Entity=") else misc.find("|Entity=") + 1
    if not start and not misc.startswith("Entity="):
        return ""
    end = misc.find("|", start)
    return misc[start + 7 : end if end > 0 else len(misc)]


def _surface(
    rows: Rows, places: dict[str, int], ranges: dict[str, str], words: tuple[Word, ...]
) -> Iterator[Surface]:
    """Return every token of the text once: multiword tokens for their words, no empty nodes."""
    covered = -1
    for _, columns in rows.words:
        name = columns[0]
        if "." in name:
            continue
        first = last = places[name.partition("-")[0]]
        if "-" in name:
            last = covered = places[ranges[name.partition("-")[0]]]
        elif first <= covered:
            continue
        misc = columns[9]
        if "Spaces" not in misc:
            yield Surface(columns[1], first, last, "SpaceAfter=No" not in misc)
        else:
            before, after = _spaces(misc, "SpacesBefore"), _spaces(misc, "SpacesAfter")
            space = "SpaceAfter=No" not in misc
            yield Surface(columns[1], first, last, space, before or "", after)


ESCAPES = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
ESCAPE = re.compile(r"\\(u[0-9a-f]{4}|.)")


def _spaces(misc: str, name: str) -> str | None:
    """Return white space as the last column escapes it."""
    attributes = (attribute.partition("=") for attribute in misc.split("|"))
    value = next((value for key, _, value in attributes if key == name), None)
    return None if value is None else ESCAPE.sub(_unescaped, value)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else ESCAPES.get(code, "")


def escaped_spaces(text: str) -> str:
    """Return white space as the attributes SpacesBefore and SpacesAfter write it."""
    codes = {char: f"\\{code}" for code, char in ESCAPES.items()}
    return "".join(codes.get(char) or f"\\u{ord(char):04x}" for char in text)


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
        here += len(token.before)
        pieces.append(token.before)
        for place in range(done, token.first):
            spans[place] = (here, here)
        spans[token.first : token.last + 1] = _shares(token, sentence, here)
        done = token.last + 1
        gap = (" " if token.space else "") if token.after is None else token.after
        pieces += (token.form, gap)
        here += len(token.form) + len(gap)
    for place in range(done, len(spans)):
        spans[place] = (here, here)
    if sentence.surface:
        pieces.pop()  # what follows the sentence is not part of it
    return "".join(pieces), spans


def _shares(token: Surface, sentence: Sentence, here: int) -> Iterator[Span]:
    """Return the span of each word of a token."""
    words = sentence.words[token.first : token.last + 1]
    forms = ["" if word.empty else word.form for word in words]
    made_up = len(words) > 1 and "".join(forms).lower() == token.form.lower()
    for form in forms:
        size = len(form) if made_up else len(token.form)
        yield here, here + size
        here += size if made_up else 0


@dataclass(frozen=True, slots=True, eq=False)
class PlacedDocument:
    """A document's text, and its sentences with trees.

    With `has_mentions` the sentences have all mentions that are annotated; without, the file is
    not annotated with mentions. `line` is that of the first word.
    """

    name: str
    genre: str
    text: str
    sentences: tuple[PlacedSentence, ...]
    has_mentions: bool
    line: int


def placed_documents(
    lines: Iterable[NumberedLine], file: str, stem: str
) -> Iterator[PlacedDocument]:
    """Yield the documents; sentences before the first `# newdoc` have the name `stem`."""
    header: EntityLayout | None = None
    building: _DocumentBuilder | None = None
    number = 0
    for sentence in parse_sentences(lines, file):
        if "global.Entity" in sentence.comments:
            header = _header(sentence, file)
        if building is None or _is_new(sentence):
            if building is not None:
                yield building.finished()
            number += 1
            name, genre = _title(sentence, stem if number == 1 else f"{stem}-{number}")
            building = _DocumentBuilder(name, genre, sentence.line)
        building.has_mentions = building.has_mentions or header is not None
        building.add(sentence, _mentions(sentence, header, file))
    if building is not None:
        yield building.finished()


def _is_new(sentence: Sentence) -> bool:
    return any(name == "newdoc" or name.startswith("newdoc ") for name in sentence.comments)


def _header(sentence: Sentence, file: str) -> EntityLayout:
    return entity_layout(sentence.comments["global.Entity"], file, sentence.lines["global.Entity"])


def _mentions(sentence: Sentence, header: EntityLayout | None, file: str) -> list[Mention]:
    if header is not None:
        return mentions(sentence.words, header, file)
    for word in sentence.words:
        if word.entity:
            problem = "has Entity= but no # global.Entity before it says in which order"
            raise InputError(problem, file=file, line=word.line)
    return []


def _title(sentence: Sentence, fallback: str) -> tuple[str, str]:
    """Return the name and the genre of a document; GUM's names hold the genre (GUM_news_iodine)."""
    name = sentence.comments.get("newdoc id") or fallback
    parts = name.split("_")
    genre = parts[1] if len(parts) > 2 and parts[0] == "GUM" else ""
    return name, sentence.comments.get("meta::genre", genre)


@dataclass(slots=True)
class _DocumentBuilder:
    """A document under construction: its text and its sentences so far."""

    name: str
    genre: str
    line: int
    has_mentions: bool = False
    sentences: list[PlacedSentence] = field(default_factory=list)
    blocks: Blocks = field(default_factory=Blocks)
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    after: str | None = None  # white space that the last token says follows it

    def add(self, sentence: Sentence, mentions: Iterable[Mention]) -> None:
        paragraph = self.blocks.paragraph
        region = self.blocks.sentence(sentence.comments)
        if self.sentences:
            usual = " " if self.blocks.paragraph == paragraph else "\n\n"
            self._write(usual if self.after is None else self.after)
        text, spans = layout_text(sentence, self.length)
        tree, index = Tree(sentence.words), len(self.sentences)
        placed = PlacedSentence(tree, tuple(mentions), spans, index, self.blocks.paragraph, region)
        self.sentences.append(placed)
        self._write(text)
        self.after = sentence.surface[-1].after if sentence.surface else None

    def _write(self, piece: str) -> None:
        self.pieces.append(piece)
        self.length += len(piece)

    def finished(self) -> PlacedDocument:
        text = "".join(self.pieces) + (self.after or "")
        sentences = tuple(self.sentences)
        return PlacedDocument(self.name, self.genre, text, sentences, self.has_mentions, self.line)


GROUP = ("eid", "GRP")
TYPE = ("etype", "entity")
MINIMAL = ("minspan", "MIN", "head")
# What the annotation also holds gives the answer away: known by name, never read.
UNREAD = (
    "infstat",
    "salience",
    "centering",
    "link",
    "coref_type",
    "identity",
    "wiki",
    "other",
)
BRACKET = re.compile(r"\([^()]+\)?|[^()]+\)")
PART = re.compile(r"(.+)\[([0-9]+)/([0-9]+)\]$")


class EntityLayout(NamedTuple):
    """The order of the fields in the annotation of a mention, from `# global.Entity`."""

    fields: int
    group: int
    type: int
    minimal: int


def entity_layout(header: str, file: str, line: int | None) -> EntityLayout:
    """Return the order of fields from the header of a file."""
    names = header.split("-")
    for name in names:
        if name not in (*GROUP, *TYPE, *MINIMAL, *UNREAD):
            raise InputError(f"global.Entity has an unknown field {name!r}", file=file, line=line)
    group = _first(names, GROUP)
    if group < 0:
        problem = f"global.Entity is {header!r}, without the entity's id ({' or '.join(GROUP)})"
        raise InputError(problem, file=file, line=line)
    return EntityLayout(len(names), group, _first(names, TYPE), _first(names, MINIMAL))


def _first(names: Sequence[str], candidates: Sequence[str]) -> int:
    return next((names.index(name) for name in candidates if name in names), -1)


class BracketReader:
    """The open brackets of one sentence, and the mentions closed so far."""

    def __init__(self, layout: EntityLayout, file: str) -> None:
        self.layout, self.file = layout, file
        self.closed: list[Mention] = []
        self._open: dict[str, list[tuple[int, Mention]]] = {}
        self._parts: dict[str, list[tuple[int, Mention]]] = {}

    def word(self, place: int, word: Word) -> None:
        """Process the brackets that one word's annotation opens and closes."""
        rest = 0
        for match in BRACKET.finditer(word.entity):
            if match.start() != rest:
                self._refuse(word.line, f"Entity={word.entity} is not a run of brackets")
            rest = match.end()
            self._bracket(match.group(), place, word.line)
        if rest != len(word.entity):
            self._refuse(word.line, f"Entity={word.entity} is not a run of brackets")

    def _bracket(self, text: str, place: int, line: int) -> None:
        opens, closes = text[0] == "(", text[-1] == ")"
        inner = text.strip("()")
        if opens:
            name, mention = self._opened(inner, line)
            self._open.setdefault(name, []).append((place, mention))
        if closes:
            self._close(inner if not opens else name, place, line)

    def _opened(self, inner: str, line: int) -> tuple[str, Mention]:
        """Return the name that closes a bracket, and its mention (or that of an earlier part)."""
        values = inner.split("-", self.layout.fields - 1)
        name = self._value(values, self.layout.group)
        if not name:
            self._refuse(line, f"the entity bracket ({inner} has no id")
        match = PART.match(name)
        if match is None or match[2] == "1":
            entity = name if match is None else match[1]
            entity_type = self._value(values, self.layout.type)
            mention = Mention(entity, entity_type, self._value(values, self.layout.minimal), line)
            self._note(mention, match)
            return name, mention
        return name, self._next_part(match, line)

    def _note(self, mention: Mention, match: re.Match[str] | None) -> None:
        if match is None or match[3] == "1":
            self.closed.append(mention)
        else:
            self._parts.setdefault(f"{match[1]}/{match[3]}", []).append((1, mention))

    def _next_part(self, match: re.Match[str], line: int) -> Mention:
        """Return the mention that waits for this part."""
        waiting = self._parts.get(f"{match[1]}/{match[3]}", [])
        part, of = int(match[2]), int(match[3])
        place = next((n for n, (have, _) in enumerate(waiting) if have == part - 1), None)
        if place is None:
            self._refuse(line, f"part {part} of {of} of {match[1]} follows no part {part - 1}")
        _, mention = waiting.pop(place)
        if part == of:
            self.closed.append(mention)
        else:
            waiting.append((part, mention))
        return mention

    def _value(self, values: Sequence[str], place: int) -> str:
        return values[place] if 0 <= place < len(values) else ""

    def _close(self, inner: str, place: int, line: int) -> None:
        """Close the bracket opened last under this name (some files repeat the prefix)."""
        fields = inner.split("-")
        waiting = self._open.get(inner) or self._open.get(self._value(fields, self.layout.group))
        if not waiting:
            self._refuse(line, f"entity bracket {inner}) closes what is not open")
        start, mention = waiting.pop()
        mention.spans.append((start, place))

    def finished(self) -> list[Mention]:
        """Return all mentions of the sentence; raise if a bracket is still open."""
        for name, waiting in self._open.items():
            for _, mention in waiting:
                self._refuse(
                    mention.line, f"entity bracket ({name} is never closed in its sentence"
                )
        for name, parts in self._parts.items():
            for have, mention in parts:
                entity, _, of = name.rpartition("/")
                self._refuse(mention.line, f"entity {entity} has {have} of its {of} parts")
        return self.closed

    def _refuse(self, line: int, problem: str) -> NoReturn:
        raise InputError(problem, file=self.file, line=line)


def mentions(words: Sequence[Word], layout: EntityLayout, file: str) -> list[Mention]:
    """Return the mentions of one sentence, in no particular order."""
    brackets = BracketReader(layout, file)
    for place, word in enumerate(words):
        if word.entity:
            brackets.word(place, word)
    return brackets.finished()
