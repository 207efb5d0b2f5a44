"""Annotation that comes with a text: trees, mentions, or both.

Mentions are read from JSON lines with spans, from CoNLL-U (CorefUD) and from CoNLL-2012. The
entities that such files name are never read here: they would give the answer away.
"""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, islice, pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from partita.errors import InputError, PartitaError
from partita.files.strict import Place, fields, text_of
from partita.files.text import STANDARD_INPUT, numbered_lines
from partita.tables import Table, is_table_name, read_table
from partita.tables.columns import ids_of
from partita.text.conllu import NumberedLine, placed_documents
from partita.text.expressions import Mention, PlacedSentence, Span, Tree, Word, head_of
from partita.text.raw_messages import RawMessage


class SpanMention(NamedTuple):
    """A mention as spans of characters: several if it is discontinuous."""

    spans: tuple[Span, ...]
    type: str = ""
    head: Span | None = None
    id: str = ""
    line: int = 0

    @property
    def start(self) -> int:
        return self.spans[0][0]

    @property
    def end(self) -> int:
        return self.spans[-1][1]


@dataclass(frozen=True, slots=True, eq=False)
class Annotation:
    """What is known of a text beforehand.

    `sentences` have trees; None: the text has to be parsed. `mentions` are to be placed in the
    sentences; None: the sentences have them already (`complete`), or they have to be found.
    """

    sentences: tuple[PlacedSentence, ...] | None = None
    mentions: tuple[SpanMention, ...] | None = None
    complete: bool = False

    @property
    def fingerprint(self) -> str:
        """A hash by which the same annotation is recognised."""
        digest = hashlib.sha256(repr((self.mentions, self.complete)).encode())
        for sentence in self.sentences or ():
            own = [(one.type, one.spans, one.minimal) for one in sentence.mentions]
            digest.update(repr((sentence.tree.words, sentence.spans, own)).encode())
        return digest.hexdigest()


class AnnotatedText(NamedTuple):
    """A text of an annotated file with its annotation; `line` is where it begins."""

    name: str
    text: str
    annotation: Annotation
    line: int


def conllu_texts(lines: Iterable[NumberedLine], file: str, stem: str) -> Iterator[AnnotatedText]:
    """Yield the documents of CoNLL-U with their trees, and their mentions if it has Entity=."""
    for one in placed_documents(lines, file, stem):
        annotation = Annotation(one.sentences, complete=one.has_mentions)
        yield AnnotatedText(one.name, one.text, annotation, one.line)


PIECE = re.compile(r"\S+")
BEGIN = re.compile(r"#begin document \((.*)\)(?:; part ([0-9]+))?\s*$")
END = "#end document"
WORD, COREFERENCE = 3, -1
MIN_COLUMNS = 5
BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}"}


def is_conll2012(text: str) -> bool:
    """Return whether the text of a file begins as CoNLL-2012 does."""
    return BEGIN.match(text.lstrip().partition("\n")[0]) is not None


def conll2012_texts(lines: Iterable[NumberedLine], file: str) -> Iterator[AnnotatedText]:
    """Yield the parts of documents of CoNLL-2012 with their mentions.

    The text is that of the words with a blank between them and a line for every sentence. Columns
    other than the word and the last are not used.
    """
    document: _Conll2012 | None = None
    for number, line in lines:
        if match := BEGIN.match(line):
            document = _Conll2012(f"{match[1]}_{int(match[2] or 0)}", file, number)
        elif line.startswith(END):
            if document is not None:
                yield document.finished()
            document = None
        elif line.strip() and not line.startswith("#"):
            if document is None:
                raise InputError("a word before #begin document", file=file, line=number)
            document.word(line.split(), number)
        elif document is not None:
            document.end_sentence()
    if document is not None:
        raise InputError(f"document {document.name} has no {END}", file=file, line=document.line)


@dataclass(slots=True)
class _Conll2012:
    """A document under construction."""

    name: str
    file: str
    line: int
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    separator: str = ""
    open: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    mentions: list[SpanMention] = field(default_factory=list)

    def word(self, columns: list[str], number: int) -> None:
        if len(columns) < MIN_COLUMNS:
            self._refuse(f"has {len(columns)} columns (expected at least {MIN_COLUMNS})", number)
        word = columns[WORD]
        form = BRACKETS.get(word, word.removeprefix("/") or word)
        self.pieces += (self.separator, form)
        start = self.length + len(self.separator)
        self.length, self.separator = start + len(form), " "
        for bracket in columns[COREFERENCE].split("|"):
            self._bracket(bracket, start, self.length, number)

    def _bracket(self, bracket: str, start: int, end: int, number: int) -> None:
        name = bracket.strip("()")
        if bracket == "-":
            return
        if not re.fullmatch(r"\(?[0-9]+\)?", bracket) or name == bracket:
            self._refuse(f"{bracket!r} is not a coreference bracket (expected (1, 1) or -)", number)
        waiting = self.open.setdefault(name, [])
        if bracket[0] == "(":
            waiting.append((start, number))
        if bracket[-1] == ")":
            if not waiting:
                self._refuse(f"bracket {name}) closes what is not open", number)
            begin, line = waiting.pop()
            self.mentions.append(SpanMention(((begin, end),), line=line))

    def end_sentence(self) -> None:
        for name, waiting in self.open.items():
            for _, line in waiting:
                self._refuse(f"bracket ({name} is never closed in its sentence", line)
        self.open.clear()
        self.separator = "\n" if self.pieces else ""

    def finished(self) -> AnnotatedText:
        self.end_sentence()
        unique = {one.spans: one for one in reversed(self.mentions)}
        mentions = tuple(sorted(unique.values(), key=_in_text_order))
        return AnnotatedText(
            self.name, "".join(self.pieces), Annotation(mentions=mentions), self.line
        )

    def _refuse(self, problem: str, line: int) -> NoReturn:
        raise InputError(problem, file=self.file, line=line)


def _in_text_order(mention: SpanMention) -> tuple[int, int]:
    return mention.start, -mention.end


ALLOWED = ("document", "start", "end", "spans", "head", "type", "id", "text", "entity")


@dataclass(slots=True)
class SpanLines:
    """The mentions of a table by document; those of no document have the name None."""

    file: str
    mentions: dict[str | None, list[tuple[SpanMention, str | None]]] = field(default_factory=dict)

    @classmethod
    def of_table(cls, table: Table) -> SpanLines:
        """Return the mentions of a table with a row for each."""
        lines = cls(table.name)
        for name in ("document", "id"):
            if name in table.columns:
                ids_of(table, name)  # which raises an error for what is not one
        for row, values in enumerate(table.dicts()):
            there = {name: value for name, value in values.items() if value not in (None, "")}
            for name in ("start", "end") if not table.typed else ():
                if (digits := there.get(name, "").strip()).isdecimal():
                    there[name] = int(digits)
            lines.add(there, table.place(row))
        return lines

    def add(self, value: Any, place: Place) -> None:
        """Add a mention with the fields of a row."""
        row = fields(value, "the mention", place, needed=(), allowed=ALLOWED)
        spans = tuple(_spans(row, place))
        head = _span(row["head"], "head", place) if row.get("head") is not None else None
        if head and not any(a <= head[0] and head[1] <= b for a, b in spans):
            place.refuse(f"the head {head[0]} to {head[1]} lies outside of the mention")
        named = {
            name: _text(row.get(name), name, place) for name in ("document", "type", "id", "text")
        }
        mention = SpanMention(spans, named["type"] or "", head, named["id"] or "", place.line or 0)
        self.mentions.setdefault(named["document"], []).append((mention, named["text"]))

    def of(self, name: str | None, text: str) -> Annotation:
        """Return the mentions of a text, checked against it."""
        found = self.mentions.get(name, [])
        for mention, wanted in found:
            self._check(mention, wanted, text)
        ordered = sorted((mention for mention, _ in found), key=_in_text_order)
        self._check_ids(ordered)
        self._check_overlap(ordered)
        return Annotation(mentions=tuple(ordered))

    def _check(self, mention: SpanMention, wanted: str | None, text: str) -> None:
        if mention.end > len(text):
            span = f"{mention.start} to {mention.end}"
            self._refuse(
                mention, f"the span {span} is outside of the text, which ends at {len(text)}"
            )
        there = " ".join(text[start:end] for start, end in mention.spans)
        if wanted is not None and there != wanted:
            self._refuse(
                mention, f"the text is {wanted!r}, but at {mention.start} stands {there!r}"
            )
        if not there.strip():
            self._refuse(mention, f"at {mention.start} to {mention.end} is only white space")

    def _check_ids(self, mentions: Sequence[SpanMention]) -> None:
        lines: dict[str, int] = {}
        for mention in mentions:
            if not mention.id and any(one.id for one in mentions):
                self._refuse(
                    mention, "has no id (expected ids for all mentions of a text, or none)"
                )
            if mention.id in lines:
                self._refuse(mention, f"the id {mention.id!r} is that of line {lines[mention.id]}")
            if mention.id:
                lines[mention.id] = mention.line

    def _check_overlap(self, mentions: Sequence[SpanMention]) -> None:
        """Mentions of one text may contain each other, and may not cross or be equal."""
        around: list[SpanMention] = []
        for mention in mentions:
            while around and around[-1].end <= mention.start:
                around.pop()
            for other in around:
                if mention.spans == other.spans:
                    self._refuse(mention, f"has the same span as line {other.line}")
                if other.end < mention.end and len(mention.spans) == len(other.spans) == 1:
                    self._refuse(mention, f"crosses the mention of line {other.line}")
            around.append(mention)

    def _refuse(self, mention: SpanMention, problem: str) -> NoReturn:
        raise InputError(problem, file=self.file, line=mention.line)


def _spans(row: Any, place: Place) -> Iterator[Span]:
    """Return the spans of a mention, which are in text order and do not touch."""
    if "spans" not in row:
        if "start" not in row or "end" not in row:
            place.refuse("the mention has no fields 'start' and 'end' (or 'spans')")
        yield _span([row["start"], row["end"]], "span", place)
        return
    if "start" in row or "end" in row or not isinstance(row["spans"], list) or not row["spans"]:
        place.refuse("spans is not a list of [start, end] in place of start and end")
    spans = [_span(one, "span", place) for one in row["spans"]]
    if any(left[1] > right[0] for left, right in pairwise(spans)):
        place.refuse("the spans overlap or are not in text order")
    yield from spans


def _span(value: Any, what: str, place: Place) -> Span:
    pair = value if isinstance(value, list) else []
    if len(pair) != 2 or not all(type(one) is int and one >= 0 for one in pair):
        place.refuse(f"the {what} is {value!r} (expected two character offsets, start and end)")
    start, end = pair
    if start >= end:
        place.refuse(f"the {what} {start} to {end} is empty")
    return start, end


def _text(value: Any, name: str, place: Place) -> str | None:
    if value is None:
        return None
    if name in ("document", "id") and type(value) is int:
        return str(value)
    return text_of(value, f"field {name!r}", place)


Messages = Iterator[RawMessage | PartitaError]


def with_mentions(messages: Messages, source: MentionSource) -> Messages:
    """Yield the messages with their mentions; what does not fit is an error instead."""
    first = list(islice(messages, 2))
    for message in chain(first, messages):
        if isinstance(message, PartitaError):
            yield message
            continue
        try:
            yield replace(message, annotation=source.annotation(message, len(first) > 1))
        except InputError as error:
            yield error
    yield from source.unused()


def mention_source(mentions: str | os.PathLike[str] | Iterable[Any]) -> MentionSource:
    """Return the mentions of a file, or of a table of mentions in any form."""
    file_name = mentions if isinstance(mentions, str | os.PathLike) else STANDARD_INPUT
    if str(file_name) == STANDARD_INPUT or is_table_name(file_name):
        table = read_table(mentions, "mentions")
        return _SpanSource(SpanLines.of_table(table))
    path = Path(file_name)
    file, lines = str(path), list(numbered_lines(path))
    start = next((line for _, line in lines if line.strip()), "")
    if start.startswith("{") or not start:
        return _SpanSource(SpanLines.of_table(read_table(path)) if start else SpanLines(file))
    if is_conll2012(start):
        return _TextSource(file, conll2012_texts(lines, file))
    return _TextSource(file, conllu_texts(lines, file, path.stem))


class MentionSource:
    """A file with the mentions of messages."""

    def annotation(self, message: RawMessage, several: bool) -> Annotation:
        """Return the annotation of a message, one of several or the only one."""
        raise NotImplementedError

    def unused(self) -> Iterator[InputError]:
        """Yield an error for every document that is no message."""
        raise NotImplementedError


class _SpanSource(MentionSource):
    """JSON lines with spans."""

    def __init__(self, lines: SpanLines) -> None:
        self.lines = lines
        self.used: set[str | None] = set()

    def annotation(self, message: RawMessage, several: bool) -> Annotation:
        unnamed = self.lines.mentions.get(None, [])
        if unnamed and several:
            problem = "the mention has no field 'document' (expected the id of one of the texts)"
            raise InputError(problem, file=self.lines.file, line=unnamed[0][0].line)
        self.used |= {None, message.id}
        if unnamed and message.id in self.lines.mentions:
            self.lines.mentions[message.id] += unnamed
            unnamed.clear()
        return self.lines.of(None if unnamed else message.id, message.text)

    def unused(self) -> Iterator[InputError]:
        for name, mentions in self.lines.mentions.items():
            if name not in self.used and name is not None:
                problem = f"no text has the id {name!r}"
                yield InputError(problem, file=self.lines.file, line=mentions[0][0].line)


class _TextSource(MentionSource):
    """Documents with words of their own, which are found again in the messages."""

    def __init__(self, file: str, texts: Iterable[AnnotatedText]) -> None:
        self.file = file
        self.texts = {one.name: one for one in texts}
        self.used: set[str] = set()

    def annotation(self, message: RawMessage, several: bool) -> Annotation:
        name = message.id
        if not several and len(self.texts) == 1:
            name = next(iter(self.texts))
        if name not in self.texts:
            raise InputError(f"has no document with the id {message.id!r}", file=self.file)
        self.used.add(name)
        return realigned(self.texts[name], message, self.file)

    def unused(self) -> Iterator[InputError]:
        for name, one in self.texts.items():
            if name not in self.used:
                yield InputError(f"no text has the id {name!r}", file=self.file, line=one.line)


def realigned(annotated: AnnotatedText, message: RawMessage, file: str) -> Annotation:
    """Return the annotation with the offsets of a message that differs in white space only."""
    annotation, text = annotated.annotation, message.text
    if annotated.text == text:
        return annotation
    theirs = [n for n, char in enumerate(annotated.text) if not char.isspace()]
    ours = [n for n, char in enumerate(text) if not char.isspace()]
    for a, b in zip(theirs, ours, strict=False):
        if annotated.text[a] != text[b]:
            _refuse_difference(annotated, a, message, b, file)
    if len(theirs) != len(ours):
        behind = min(len(theirs), len(ours))
        at = [*theirs, len(annotated.text)][behind], [*ours, len(text)][behind]
        _refuse_difference(annotated, at[0], message, at[1], file)

    def moved(span: Span) -> Span:
        start, end = bisect_left(theirs, span[0]), bisect_left(theirs, span[1])
        if start == end:
            place = ours[start] if start < len(ours) else len(text)
            return place, place
        return ours[start], ours[end - 1] + 1

    sentences, mentions = annotation.sentences, annotation.mentions
    return replace(
        annotation,
        sentences=sentences
        and tuple(replace(one, spans=list(map(moved, one.spans))) for one in sentences),
        mentions=mentions
        and tuple(one._replace(spans=tuple(map(moved, one.spans))) for one in mentions),
    )


def _refuse_difference(
    annotated: AnnotatedText, theirs: int, message: RawMessage, ours: int, file: str
) -> NoReturn:
    there, here = annotated.text[theirs : theirs + 12], message.text[ours : ours + 12]
    problem = f"document {annotated.name!r} has {there!r} where text {message.id} has {here!r}"
    raise InputError(f"{problem} (character {ours})", file=file, line=annotated.line)


Parse = Callable[[], Sequence[PlacedSentence]]
Find = Callable[[Sequence[PlacedSentence]], Sequence[PlacedSentence]]


def annotated_sentences(
    annotation: Annotation, text: str, parse: Parse, find: Find
) -> Sequence[PlacedSentence]:
    """Return the sentences of a text with the mentions that are given, or found in their trees."""
    if annotation.complete and annotation.sentences is not None:
        return annotation.sentences
    sentences = parse() if annotation.sentences is None else find(annotation.sentences)
    if annotation.mentions is None:
        return sentences
    return place_mentions(sentences, annotation.mentions, text)


def place_mentions(
    sentences: Sequence[PlacedSentence], mentions: Sequence[SpanMention], text: str
) -> tuple[PlacedSentence, ...]:
    """Return the sentences with these mentions in place of their own.

    A mention belongs to the words that it shares characters with, in the sentence where it begins
    (or where its head is); its span stays as it is. One that shares no word with any sentence gets
    a sentence of its own. Without a type, a mention has those of the one that it replaces.
    """
    words = [
        (*span, n, place)
        for n, one in enumerate(sentences)
        for place, span in enumerate(one.spans)
        if span[0] < span[1]
    ]
    starts, ends = [word[0] for word in words], [word[1] for word in words]
    placed: list[list[Mention]] = [[] for _ in sentences]
    added: list[PlacedSentence] = []
    for mention in mentions:
        inside = [
            words[k][2:]
            for a, b in mention.spans
            for k in range(bisect_right(ends, a), bisect_left(starts, b))
        ]
        if not inside:
            added.append(_own_sentence(mention, sentences, text))
            continue
        head = None
        if mention.head is not None:
            k = bisect_right(ends, mention.head[0])
            head = words[k][2:] if words[k][2:] in inside else None
        number = (head or inside[0])[0]
        positions = sorted({place for n, place in inside if n == number})
        made = _mention(mention, positions, -1 if head is None else head[1])
        placed[number].append(_with_types(made, sentences[number]))
    own = [replace(one, mentions=tuple(m)) for one, m in zip(sentences, placed, strict=True)]
    return tuple(sorted([*own, *added], key=lambda one: one.spans[0][0] if one.spans else 0))


def _mention(mention: SpanMention, positions: Sequence[int], head: int) -> Mention:
    runs = [list(run) for _, run in groupby(enumerate(positions), key=lambda at: at[1] - at[0])]
    return Mention(
        "",
        mention.type,
        line=mention.line,
        spans=[(run[0][1], run[-1][1]) for run in runs],
        head=head,
        id=mention.id,
        extent=mention.spans,
    )


def _with_types(mention: Mention, sentence: PlacedSentence) -> Mention:
    """Return a mention with a type of its own, or those of the one that was found at its head."""
    if mention.type:
        return mention
    head = head_of(mention, sentence.tree.words)
    same = (one for one in sentence.mentions if head_of(one, sentence.tree.words) == head)
    found = next(same, None)
    return mention if found is None else replace(mention, type=found.type, types=found.types)


def _own_sentence(
    mention: SpanMention, sentences: Sequence[PlacedSentence], text: str
) -> PlacedSentence:
    """Return a sentence of the mention's words alone; the last one is the head."""
    pieces = (PIECE.finditer(text, start, end) for start, end in mention.spans)
    spans = [match.span() for match in chain.from_iterable(pieces)]
    last = len(spans) - 1
    words = [
        Word(text[a:b], text[a:b].lower(), "X", "_", -1 if n == last else last, "dep")
        for n, (a, b) in enumerate(spans)
    ]
    before = [one for one in sentences if one.spans and one.spans[0][0] <= mention.start]
    index, paragraph = (before[-1].index, before[-1].paragraph) if before else (0, 0)
    own = _mention(mention, range(len(spans)), last)
    return PlacedSentence(Tree(words), (own,), spans, index, paragraph, "text")
