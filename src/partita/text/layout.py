"""Parse the layout of a text into regions with offsets."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

from partita.records.documents import Message, Region, RegionKind
from partita.text.columns import section_label
from partita.text.header import PORTION, header_of, is_layout, unmarked
from partita.text.lines import POINT, Line, Span, is_rule, is_title, is_upper, lines_of
from partita.text.muc import is_muc, muc_header
from partita.text.tables import Table, tables_of

ItemKind = Literal["text", "list", "heading", "perhaps"]

BULLETS = "-*+\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u25a0\u25a1\u25c6\u00b7\u2013\u2014"
BULLET = re.compile(rf"[{re.escape(BULLETS)}]\s+(?=\S)")
MARKED = frozenset("(0123456789" + string.ascii_letters)
NUMBER = re.compile(
    r"(?:\(([0-9]{1,2}|[A-Za-z]|[ivx]{2,4})\)"
    r"|([0-9]{1,2}(?:\.[0-9]{1,2}){1,3})\.?"
    r"|([0-9]{1,2}|[A-Za-z]|[ivx]{2,4}|[IVX]{2,4})[.)])\s+(?=\S)"
)
SPECIAL = re.compile(r"[^\w\"'\[]|_|[0-9A-Za-z]{1,4}[.)]|[0-9]{1,2}\.|[^:]{1,31}:")
MARKDOWN = re.compile(r"#{1,6}\s+(?=\S)")
CLOSED = re.compile(r"\s*#+\s*$")
LONG_LINE = 120
SHORT_LINE = 44
SMALL = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "at",
        "but",
        "by",
        "for",
        "from",
        "in",
        "into",
        "of",
        "on",
        "or",
        "that",
        "the",
        "to",
        "was",
        "were",
        "which",
        "with",
        "is",
        "are",
        "has",
        "have",
        "had",
        "been",
        "be",
        "its",
        "their",
        "near",
    ]
)


@dataclass(frozen=True, slots=True)
class Item:
    """A stretch of text with its kind; `perhaps` is a heading if what follows allows it."""

    kind: ItemKind
    start: int
    end: int
    marker: str = ""


def items_of(lines: list[Line], markers: frozenset[str]) -> Iterator[Item]:
    """The items of lines between which no blank line stands."""
    if _is_plain_list(lines, markers):
        yield from (Item("list", line.start, line.end) for line in lines)
        return
    for part in [lines] if _is_prose(lines) else _parts(lines, markers):
        yield from _items(part, markers)


def _is_prose(lines: list[Line]) -> bool:
    """No line that could be anything but the next of one paragraph: most blocks, and quickly so."""
    before = lines[0]
    for line in lines:
        if SPECIAL.match(line.text) or len(line.text) > LONG_LINE:
            return False
        if line.start - line.begin >= before.start - before.begin + 2:
            return False
        before = line
    return True


def markers_of(lines: list[Line]) -> frozenset[str]:
    """The numbers and letters that stand before lines: `A.` is one only if there is a `B.`."""
    found = (NUMBER.match(line.text) for line in lines if line.text[:1] in MARKED)
    return frozenset(_sign(match) for match in found if match)


def _sign(match: re.Match[str]) -> str:
    return match[1] or match[2] or match[3]


def _parts(lines: list[Line], markers: frozenset[str]) -> Iterator[list[Line]]:
    """Cut before items of a list, before indented lines, after and under headings."""
    several = sum(1 for line in lines if _bullet(line)) > 1
    part: list[Line] = []
    for line in lines:
        ruled = is_rule(line)
        if part and (ruled or _is_new(part, line, markers, several)):
            yield [*part, line] if ruled and _is_underlined(part) else part
            part = []
        if not ruled:
            part.append(line)
    if part:
        yield part


def _is_underlined(part: list[Line]) -> bool:
    """One short line over a rule is a heading; the rule under a paragraph only closes it."""
    return len(part) == 1 and len(part[0].text) <= 80 and not part[0].text.endswith(POINT)


def _is_new(part: list[Line], line: Line, markers: frozenset[str], several: bool) -> bool:
    before, text = part[-1], line.text
    ended = before.text.endswith((".", "!", "?", ":", ";", '"', ")"))
    if MARKDOWN.match(text) or MARKDOWN.match(before.text):
        return True
    if _bullet(line):
        return several or ended or _bullet(part[0])
    if _number(line, markers):
        return ended or _number(part[0], markers) or _is_heading(before.text)
    if section_label(text) or (len(part) == 1 and _is_colon_heading(before.text)):
        return True
    if len(before.text) > LONG_LINE and ended:
        return True
    marked = _bullet(part[0]) or _number(part[0], markers)
    return ended and line.indent >= before.indent + 2 and not marked


def _bullet(line: Line) -> bool:
    return BULLET.match(line.text) is not None


def _number(line: Line, markers: frozenset[str]) -> bool:
    found = NUMBER.match(line.text) if line.text[:1] in MARKED else None
    return found is not None and (bool(found[1] or found[2]) or _in_sequence(found[3], markers))


def _in_sequence(sign: str, markers: frozenset[str]) -> bool:
    """A number always counts, a letter if its neighbour stands before another line."""
    if not sign.isalpha():
        return True
    if len(sign) > 1:
        return sign[:-1] in markers or sign[0] in markers
    near = {chr(ord(sign) - 1), chr(ord(sign) + 1), sign * 2}
    return bool(near & markers)


def _is_plain_list(lines: list[Line], markers: frozenset[str]) -> bool:
    """Short lines without any point, of which none goes on in the next: a list without signs."""
    if len(lines) < 2 or any(len(line.text) > SHORT_LINE for line in lines):
        return False
    signs = any(_bullet(line) or _number(line, markers) or is_rule(line) for line in lines)
    return not signs and all(_stands_alone(line.text) for line in lines)


def _stands_alone(text: str) -> bool:
    words = text.lower().split()
    ends = text.endswith((*POINT, "-", ":")) or words[-1] in SMALL
    return not ends and words[0] not in SMALL and not text[0].islower()


def _items(part: list[Line], markers: frozenset[str]) -> Iterator[Item]:
    first, last = part[0], part[-1]
    if is_rule(last):
        yield Item("heading", *_bare(first))
        return
    if found := MARKDOWN.match(first.text):
        yield Item("heading", first.start + found.end(), _closed(first))
        return
    begin, end, marker = first.start, last.end, ""
    bulleted, numbered = BULLET.match(first.text), _number(first, markers)
    found = bulleted or (NUMBER.match(first.text) if numbered else None)
    if found and begin + found.end() < end:
        begin, marker = begin + found.end(), found[0].strip()
    marked = PORTION.match(first.text, begin - first.start)
    if marked and first.start + marked.end() < end:
        begin = first.start + marked.end()
    yield from _kinds(part, begin, end, marker, portioned=marked is not None)


def _kinds(
    part: list[Line], begin: int, end: int, marker: str, *, portioned: bool
) -> Iterator[Item]:
    first = part[0]
    rest = first.text[begin - first.start :] if begin < first.end else ""
    if rest and (label := section_label(rest)):
        yield Item("heading", begin, begin + label[0], marker)
        begin, marker = begin + label[1], ""
    elif len(part) == 1 and _is_heading(rest):
        yield Item("perhaps", begin, end, marker)
        return
    if begin < end:
        prose = portioned or (end - begin > 40 and part[-1].text.endswith((".", "!", "?")))
        kind: ItemKind = "list" if marker and (marker in BULLETS or not prose) else "text"
        yield Item(kind, begin, end, marker)


def _bare(line: Line) -> Span:
    """A heading over a rule, without its own number."""
    found = NUMBER.match(line.text)
    return line.start + (found.end() if found else 0), line.end


def _closed(line: Line) -> int:
    """The end of a markdown heading, without the signs that may close it."""
    found = CLOSED.search(line.text[-100:])
    return line.end - len(found[0]) if found and len(found[0]) < len(line.text) - 2 else line.end


def _is_heading(text: str) -> bool:
    """Short, without a final point, in upper case or title case."""
    if len(text) > 70 or text.rstrip("\"')]\u201d\u2019").endswith(POINT):
        return False
    if len(text.split()) > (4 if text.endswith(":") else 8):
        return False
    return is_upper(text) or is_title(text)


def _is_colon_heading(text: str) -> bool:
    return text.endswith(":") and _is_heading(text)


def analysed(id: str, text: str, file: str = "", offset: int = 0) -> Message:  # noqa: A002
    """The message of a text that starts at a character of its file; the text is kept as it is."""
    regions = _Regions(text)
    if is_muc(text):
        muc = muc_header(text)
        regions.body(lines_of(text, muc.start))
        return Message(id, text, tuple(regions.found), muc.fields, file, offset)
    lines = lines_of(text)
    header = header_of(lines)
    for line in lines[: header.first]:
        if line.text and not is_layout(line):
            regions.add("heading", (line.start, line.end))
    for start, end in header.subjects:
        regions.add("subject", unmarked(text, start, end))
    regions.body(lines[header.used :])
    return Message(id, text, tuple(regions.found), header.fields, file, offset)


@dataclass(slots=True)
class _Regions:
    """The regions of a text so far, with the numbers of the paragraph and the table to come."""

    text: str
    found: list[Region] = field(default_factory=list)
    paragraph: int = 0
    table: int = 0

    def add(self, kind: RegionKind, span: Span) -> None:
        start, end = span
        while start < end and self.text[start].isspace():  # a marker may end its line
            start += 1
        if start < end:
            self.found.append(Region(kind, start, end, self.paragraph))
            self.paragraph += 1

    def body(self, lines: list[Line]) -> None:
        parts = list(_message_parts(self.text, _without_layout(lines)))
        for part, after in zip_longest(parts, parts[1:]):
            if isinstance(part, Table):
                self._table(part)
            else:
                self.add(_kind(part, after, first=part is parts[0]), (part.start, part.end))

    def _table(self, table: Table) -> None:
        names = table.rows[0] if table.headed else {}
        named = {n: " ".join(self.text[slice(*span)].split()) for n, span in names.items()}
        cells = [
            Region(
                "heading" if table.headed and row == 0 else "table",
                *span,
                self.paragraph,
                self.table,
                row,
                column,
                named.get(column, ""),
            )
            for row, spans in enumerate(table.rows)
            for column, span in spans.items()
        ]
        # in a form labels and values take turns
        self.found += sorted(cells, key=lambda cell: cell.start)
        self.paragraph += 1
        self.table += 1


def _without_layout(lines: list[Line]) -> list[Line]:
    """Markings and the like count as blank lines."""
    return [line._replace(text="", end=line.start) if is_layout(line) else line for line in lines]


def _message_parts(text: str, lines: list[Line]) -> Iterator[Item | Table]:
    """Tables and, between them, items of the lines between blank lines; in text order."""
    markers = markers_of(lines)
    at = 0
    for table in tables_of(text, lines):
        yield from _list_items(lines[at : table.first], markers)
        yield table
        at = table.last + 1
    yield from _list_items(lines[at:], markers)


def _list_items(lines: list[Line], markers: frozenset[str]) -> Iterator[Item]:
    block: list[Line] = []
    for line in lines:
        if line.text:
            block.append(line)
        elif block:
            yield from items_of(block, markers)
            block = []
    if block:
        yield from items_of(block, markers)


def _kind(item: Item, after: Item | Table | None, *, first: bool) -> RegionKind:
    """A short line is a heading if something follows that is not as short itself."""
    if item.kind != "perhaps":
        return item.kind
    if isinstance(after, Table):
        return "heading"
    follows = after is not None and (first or after.kind != "perhaps")
    if item.marker and after is not None and after.marker and after.kind in ("list", "perhaps"):
        follows = False
    if follows:
        return "heading"
    return "list" if item.marker else "text"
