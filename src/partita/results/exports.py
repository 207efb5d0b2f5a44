"""Messages with their entities as CoNLL-U in CorefUD's way."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from partita.core import Entity, Message, Template
from partita.text.conllu import escaped_spaces
from partita.text.expressions import PlacedSentence, Span, Word

# GRP: an id that is unique within its document
HEADER = "# global.Entity = GRP-etype-head-other"
FORBIDDEN = re.compile(r"[^\w.]+")  # in ids and types, which hyphens and brackets separate
NEW_PARAGRAPH = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r")
PIECE = re.compile(r"\S+")
SEPARATOR = re.compile(r"[^\S ]")
UNKNOWN = Word("", "_", "X", "_", -1, "dep")
PART = UNKNOWN._replace(relation="goeswith")


@dataclass(frozen=True, slots=True)
class Token:
    """A word with its span; `above` is the position of its head in the sentence, -1 for none.

    The words of a multiword token have the same span. An empty node has an empty span. A later
    part of a word that was split depends on the first part.
    """

    start: int
    end: int
    word: Word = UNKNOWN
    above: int = -1


Row = list[Token]


def corefud_text(
    message: Message,
    templates: Sequence[Template],
    entities: Sequence[Entity],
    sentences: Sequence[PlacedSentence],
) -> str:
    """Return a document in CoNLL-U: every mention in brackets, with its entity, type and head.

    The words and trees are those of `sentences`. The white space between words is kept, so that a
    reader that knows SpacesAfter gets the same text and offsets. A word that a mention begins or
    ends inside is split, and sentences that a mention spans are joined.
    """
    mentions = [spans_of(template) for template in templates]
    cuts = sorted({edge for spans in mentions for span in spans for edge in span})
    rows = _complete(map(_placed, sentences), message.text)
    split = (_split(row, cuts) for row in rows)
    joined = _joined(split, [(spans[0][0], spans[-1][1]) for spans in mentions], message.text)
    brackets = _brackets(joined, mentions, _labels(templates, entities))
    return "".join(_document(message, joined, brackets))


def spans_of(template: Template) -> list[Span]:
    """Return the spans of a mention: several if it is discontinuous."""
    spans = template.context.get("SPANS")
    return [(a, b) for a, b in spans] if spans else [(template.start, template.end)]


def word_of_name(name: str) -> str:
    """Return a name with letters, digits, points and low lines only."""
    return FORBIDDEN.sub("_", name).strip("_")


def _placed(sentence: PlacedSentence) -> Row:
    words = sentence.tree.words
    return [Token(*sentence.spans[n], word, word.head) for n, word in enumerate(words)]


def _complete(rows: Iterable[Row], text: str) -> Iterator[Row]:
    """Yield the sentences, with tokens for whatever else the text has besides white space."""
    here = 0
    for row in rows:
        if row:
            if missing := _pieces(text, here, row[0].start):
                yield missing
            yield _filled(row, text)
            here = _end(row)
    if missing := _pieces(text, here, len(text)):
        yield missing


def _pieces(text: str, start: int, end: int) -> Row:
    return [Token(*match.span()) for match in PIECE.finditer(text, start, max(start, end))]


def _filled(row: Row, text: str) -> Row:
    """Return a sentence with tokens for what its own tokens leave out."""
    missing = {n: _pieces(text, a.end, b.start) for n, (a, b) in enumerate(pairwise(row), 1)}
    return _extended(row, missing, {}) if any(missing.values()) else row


def _split(row: Row, cuts: Sequence[int]) -> Row:
    """Split the tokens in which a mention begins or ends."""
    first, parts = list(row), {}
    shared = {left.start for left, right in pairwise(row) if left.start == right.start}
    for place, token in enumerate(row):
        inside = cuts[bisect_right(cuts, token.start) : bisect_left(cuts, token.end)]
        if inside and token.start not in shared:
            first[place] = replace(token, end=inside[0])
            parts[place] = [Token(*span, PART) for span in pairwise([*inside, token.end])]
    return _extended(first, {}, parts) if parts else row


def _extended(row: Row, before: Mapping[int, Row], after: Mapping[int, Row]) -> Row:
    """Return a sentence with tokens added around some; heads follow their words."""
    moved: list[int] = []
    for place in range(len(row)):
        behind = moved[-1] + 1 + len(after.get(place - 1, ())) if moved else 0
        moved.append(behind + len(before.get(place, ())))
    extended: Row = []
    for place, token in enumerate(row):
        extended += before.get(place, ())
        extended.append(replace(token, above=moved[token.above]) if token.above >= 0 else token)
        extended += after.get(place, ())
    return extended


def _joined(rows: Iterable[Row], extents: Iterable[Span], text: str) -> list[Row]:
    """Join the sentences that a mention spans, and those with no white space between them."""
    waiting, reach = sorted(extents, reverse=True), 0
    joined: list[Row] = []
    for row in rows:
        start = row[0].start
        while waiting and waiting[-1][0] < start:
            reach = max(reach, waiting.pop()[1])
        if joined and (reach > start or not text[_end(joined[-1]) : start]):
            shift = len(joined[-1])
            joined[-1] = joined[-1] + [
                replace(token, above=token.above + shift) if token.above >= 0 else token
                for token in row
            ]
        else:
            joined.append(row)
    return joined


@dataclass(frozen=True, slots=True)
class Label:
    """What the brackets of a mention say; `head` is the span of the head, if it is known."""

    entity: str
    type: str
    head: Span | None
    other: str


def _labels(templates: Sequence[Template], entities: Sequence[Entity]) -> Iterator[Label]:
    """Yield the labels of all mentions; the first mention of an entity has its probability."""
    homes = {one: entity for entity in entities for one in entity.templates}
    for template in templates:
        entity = homes[template.id]
        head = template.context.get("HEAD_SPAN")
        first = template.id == entity.templates[0]
        yield Label(
            word_of_name(entity.id).lower(),
            word_of_name(entity.type or template.type),
            None if head is None else (head[0], head[1]),
            f"probability:{entity.probability:.4f}" if first else "",
        )


Place = tuple[int, int]  # a sentence and a word in it
Run = tuple[Place, Place]  # the first and the last word


@dataclass(slots=True)
class Brackets:
    """What the annotation of one word opens, closes, or both."""

    closed: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    single: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return the brackets in the order of CorefUD: closing ones before opening ones."""
        parts = [*self.closed, *self.opened]
        return "".join([*parts, *self.single] if self.opened else [*self.single, *parts])


class _Words:
    """The words of all sentences in text order."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.places = [(n, place) for n, row in enumerate(rows) for place in range(len(row))]
        self.starts = [token.start for row in rows for token in row]
        self.ends = [token.end for row in rows for token in row]

    def run(self, span: Span) -> Run | None:
        """Return the first and last word of a span; None if it holds no word."""
        start, end = span
        if start < end:
            first, behind = bisect_right(self.ends, start), bisect_left(self.starts, end)
        else:
            first = bisect_left(self.ends, start, bisect_left(self.starts, start))
            behind = first + (first < len(self.ends) and self.ends[first] == end)
        return (self.places[first], self.places[behind - 1]) if first < behind else None

    def head(self, runs: Sequence[Run], span: Span | None) -> int:
        """Return the position of the head among the words of a mention, from 1."""
        row = self.rows[runs[0][0][0]]
        inside = [n for (_, first), (_, last) in runs for n in range(first, last + 1)]
        for number, n in enumerate(inside, 1):
            if span is not None and row[n].start <= span[0] < max(row[n].end, row[n].start + 1):
                return number
        words = set(inside)
        outer = (k for k, n in enumerate(inside, 1) if row[n].above not in words)
        return next(outer, 1) if span is None else 1


def _brackets(
    rows: Sequence[Row], mentions: Iterable[Sequence[Span]], labels: Iterable[Label]
) -> dict[Place, Brackets]:
    """Return the brackets of every word that begins or ends a mention, or a part of one."""
    words = _Words(rows)
    placed = []
    for spans, label in zip(mentions, labels, strict=True):
        if runs := [run for span in spans if (run := words.run(span))]:
            placed.append((runs, label))
    placed.sort(key=lambda one: (one[0][0][0], -one[0][-1][1][1]))
    brackets: dict[Place, Brackets] = {}
    written: dict[str, list[Run]] = {}
    for runs, label in placed:
        earlier = written.setdefault(label.entity, [])
        crossing = any(_cross(one, run) for one in earlier for run in runs)
        earlier += runs
        _write(brackets, runs, label, words.head(runs, label.head), crossing)
    return brackets


def _cross(earlier: Run, later: Run) -> bool:
    """Return whether the brackets of two mentions of one entity would close each other."""
    return earlier[0] < later[0] <= earlier[1] < later[1]


def _write(
    brackets: dict[Place, Brackets], runs: Sequence[Run], label: Label, head: int, crossing: bool
) -> None:
    fields = f"-{label.type}-{head}-{label.other}".rstrip("-")
    for part, (first, last) in enumerate(runs, 1):
        name = label.entity
        if len(runs) > 1 or crossing:
            name = f"{name}[{part}/{len(runs)}]"
        begin, end = (brackets.setdefault(place, Brackets()) for place in (first, last))
        if first == last:
            begin.single.append(f"({name}{fields})")
        else:
            begin.opened.append(f"({name}{fields}")
            end.closed.insert(0, f"{name})")


def _document(
    message: Message, rows: Sequence[Row], brackets: Mapping[Place, Brackets]
) -> Iterator[str]:
    name, text = " ".join(message.id.split()), message.text
    starts = [row[0].start for row in rows[1:]] + [len(text)]
    by_row: list[dict[int, str]] = [{} for _ in rows]
    for (number, place), one in brackets.items():
        by_row[number][place] = str(one)
    yield f"# newdoc id = {name}\n{HEADER}\n"
    before = text[: rows[0][0].start] if rows else ""
    paragraph = True
    for number, (row, behind) in enumerate(zip(rows, starts, strict=True), 1):
        gap = text[_end(row) : behind]
        new = bool(NEW_PARAGRAPH.search(gap))
        usual = "" if number == len(rows) else "\n\n" if new else " "
        if paragraph:
            yield "# newpar\n"
        plain = " ".join(text[row[0].start : _end(row)].split())
        yield f"# sent_id = {name}-{number}\n# text = {plain}\n"
        yield from _Lines(
            row, text, by_row[number - 1], before, None if gap == usual else gap
        ).lines()
        yield "\n"
        before, paragraph = "", new


def _end(row: Row) -> int:
    """Return the end of the last token that is not an empty node."""
    return max((token.end for token in row if token.start < token.end), default=row[0].start)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of one sentence."""

    row: Row
    text: str
    brackets: Mapping[int, str]
    before: str  # white space before the sentence
    after: str | None  # white space after it, if it is not the usual one

    def lines(self) -> Iterator[str]:
        names = list(self._names())
        roots = [n for n, token in enumerate(self.row) if self._is_root(token)]
        root = next((n for n in roots if self.row[n].word.relation == "root"), (roots or [0])[0])
        for place, token in enumerate(self.row):
            if multiword := self._multiword(place):
                yield self._range(names, place, multiword)
            whole = self._is_alone(place)
            spaces = self._spaces(place) if whole and token.start < token.end else []
            entity = [f"Entity={one}"] if (one := self.brackets.get(place)) else []
            form = self._form(token) if whole and token.start < token.end else token.word.form
            head, relation = self._head(place, root)
            above = "0" if head < 0 else names[head]
            misc = "|".join([*entity, *spaces]) or "_"
            yield _line(names[place], form, token.word, above, relation, misc)

    def _names(self) -> Iterator[str]:
        number = empty = 0
        for token in self.row:
            number, empty = (number, empty + 1) if token.word.empty else (number + 1, 0)
            yield f"{number}.{empty}" if empty else str(number)

    def _is_root(self, token: Token) -> bool:
        return token.above < 0 and token.word is not PART and not token.word.empty

    def _is_alone(self, place: int) -> bool:
        """Return whether a word is a token of its own, and not part of a multiword token."""
        around = self.row[max(0, place - 1) : place + 2]
        token = self.row[place]
        return sum(one.start == token.start and one.end == token.end for one in around) == 1

    def _multiword(self, place: int) -> int:
        """Return the number of words of the multiword token that begins here, else 0."""
        token = self.row[place]
        if self._is_alone(place) or token.start == token.end:
            return 0
        if place and self.row[place - 1].start == token.start:
            return 0
        return sum(one.start == token.start for one in self.row[place:])

    def _range(self, names: Sequence[str], place: int, size: int) -> str:
        last = place + size - 1
        misc = "|".join(self._spaces(last)) or "_"
        name, form = f"{names[place]}-{names[last]}", self._form(self.row[place])
        return "\t".join([name, form, *"_______", misc]) + "\n"

    def _form(self, token: Token) -> str:
        return SEPARATOR.sub(" ", self.text[token.start : token.end])

    def _head(self, place: int, root: int) -> tuple[int, str]:
        """Return the head and the relation to it; what has no head depends on the root."""
        token = self.row[place]
        if token.word is PART:
            before = range(place - 1, -1, -1)
            return next(n for n in before if self.row[n].word is not PART), "goeswith"
        if place == root:
            return -1, "root"
        if token.above >= 0:
            return token.above, token.word.relation or "dep"
        return root, "parataxis" if token.word.relation == "root" else "dep"

    def _spaces(self, place: int) -> list[str]:
        """Return the attributes for the white space around a token."""
        spaces = [f"SpacesBefore={escaped_spaces(self.before)}"] if self._is_first(place) else []
        behind = (one for one in self.row[place + 1 :] if one.start < one.end)
        if (token := next(behind, None)) is None:
            if self.after is not None:
                spaces.insert(0, f"SpacesAfter={escaped_spaces(self.after)}")
            return spaces
        gap = self.text[self.row[place].end : token.start]
        if not gap:
            return ["SpaceAfter=No", *spaces]
        return spaces if gap == " " else [f"SpacesAfter={escaped_spaces(gap)}", *spaces]

    def _is_first(self, place: int) -> bool:
        return bool(self.before) and self.row[place].start == self.row[0].start


def _line(name: str, form: str, word: Word, head: str, relation: str, misc: str) -> str:
    lemma, xpos, feats = word.lemma or "_", word.xpos or "_", word.feats or "_"
    basic, deps = ((head, relation), "_") if not word.empty else (("_", "_"), f"{head}:{relation}")
    columns = (name, form or "_", lemma, word.upos or "X", xpos, feats, *basic, deps, misc)
    return "\t".join(columns) + "\n"
