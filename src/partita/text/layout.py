"""Parse the layout of a text, headers first, into regions with offsets."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

from partita.core.templates import Message, Region, RegionKind
from partita.text.columns import TextTable, find_tables, section_label
from partita.text.lines import (
    POINT,
    WIDTH,
    Line,
    Span,
    is_muc,
    is_rule,
    is_title,
    is_upper,
    lines_of,
    muc_header,
)

ItemKind = Literal["text", "list", "heading", "perhaps"]

BULLETS = "-*+\u2022\u2023\u25e6\u25aa\u25cf\u25cb\u25a0\u25a1\u25c6\u00b7\u2013\u2014"
BULLET = re.compile(rf"[{re.escape(BULLETS)}]\s+(?=\S)")
MARKER_STARTS = frozenset("(0123456789" + string.ascii_letters)
NUMBER = re.compile(
    r"(?:\(([0-9]{1,2}|[A-Za-z]|[ivx]{2,4})\)"
    r"|([0-9]{1,2}(?:\.[0-9]{1,2}){1,3})\.?"
    r"|([0-9]{1,2}|[A-Za-z]|[ivx]{2,4}|[IVX]{2,4})[.)])\s+(?=\S)"
)
NOT_PROSE = re.compile(r"[^\w\"'\[]|_|[0-9A-Za-z]{1,4}[.)]|[0-9]{1,2}\.|[^:]{1,31}:")
MARKDOWN = re.compile(r"#{1,6}\s+(?=\S)")
CLOSING = re.compile(r"\s*#+\s*$")
# a turn of a dialogue: a name and a colon
TURN = re.compile(r"^[ \t]*([A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*){0,3}):[ \t]", re.MULTILINE)
LONG_LINE = 120
SHORT_LINE = 44
FUNCTION_WORDS = frozenset(
    """
    a an and as at but by for from in into of on or that the to was were which with is are has
    have had been be its their near
    """.split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Item:
    """A span of text with its kind; `perhaps` becomes a heading if the next item allows it."""

    kind: ItemKind
    start: int
    end: int
    marker: str = ""


def items_of(lines: list[Line], markers: frozenset[str]) -> Iterator[Item]:
    """Yield the items of a block of lines without blank lines."""
    if _is_plain_list(lines, markers):
        yield from (Item("list", line.start, line.end) for line in lines)
        return
    for part in [lines] if _is_prose(lines) else _parts(lines, markers):
        yield from _items(part, markers)


def _is_prose(lines: list[Line]) -> bool:
    """Return quickly whether all lines clearly continue one paragraph, as in most blocks."""
    before = lines[0]
    for line in lines:
        if NOT_PROSE.match(line.text) or len(line.text) > LONG_LINE:
            return False
        if line.start - line.begin >= before.start - before.begin + 2:
            return False
        before = line
    return True


def list_markers(lines: list[Line]) -> frozenset[str]:
    """Return the numbers and letters before lines; `A.` counts only if there is a `B.`."""
    matches = (NUMBER.match(line.text) for line in lines if line.text[:1] in MARKER_STARTS)
    return frozenset(_sign(match) for match in matches if match)


def _sign(match: re.Match[str]) -> str:
    return match[1] or match[2] or match[3]


def _parts(lines: list[Line], markers: frozenset[str]) -> Iterator[list[Line]]:
    """Split lines before list items and indented lines, and after headings."""
    bulleted = sum(1 for line in lines if _is_bullet(line)) > 1
    part: list[Line] = []
    for line in lines:
        ruled = is_rule(line)
        if part and (ruled or _is_new(part, line, markers, bulleted)):
            yield [*part, line] if ruled and _is_underlined(part) else part
            part = []
        if not ruled:
            part.append(line)
    if part:
        yield part


def _is_underlined(part: list[Line]) -> bool:
    """Return whether a part is a heading over a rule: one short line without a full stop."""
    return len(part) == 1 and len(part[0].text) <= 80 and not part[0].text.endswith(POINT)


def _is_new(part: list[Line], line: Line, markers: frozenset[str], bulleted: bool) -> bool:
    before, text = part[-1], line.text
    ended = before.text.endswith((".", "!", "?", ":", ";", '"', ")"))
    if MARKDOWN.match(text) or MARKDOWN.match(before.text):
        return True
    if _is_bullet(line):
        return bulleted or ended or _is_bullet(part[0])
    if _is_number(line, markers):
        return ended or _is_number(part[0], markers) or _is_heading(before.text)
    if section_label(text) or (len(part) == 1 and _is_colon_heading(before.text)):
        return True
    if len(before.text) > LONG_LINE and ended:
        return True
    if TURN.match(text) and TURN.match(part[0].text):
        return True
    marked = _is_bullet(part[0]) or _is_number(part[0], markers)
    return ended and line.indent >= before.indent + 2 and not marked


def _is_bullet(line: Line) -> bool:
    return BULLET.match(line.text) is not None


def _is_number(line: Line, markers: frozenset[str]) -> bool:
    match = NUMBER.match(line.text) if line.text[:1] in MARKER_STARTS else None
    return match is not None and (bool(match[1] or match[2]) or _in_sequence(match[3], markers))


def _in_sequence(sign: str, markers: frozenset[str]) -> bool:
    """Return whether a marker counts: a number always, a letter with its neighbour."""
    if not sign.isalpha():
        return True
    if len(sign) > 1:
        return sign[:-1] in markers or sign[0] in markers
    neighbours = {chr(ord(sign) - 1), chr(ord(sign) + 1), sign * 2}
    return bool(neighbours & markers)


def _is_plain_list(lines: list[Line], markers: frozenset[str]) -> bool:
    """Return whether short lines without full stops form a list without bullets."""
    if len(lines) < 2 or any(len(line.text) > SHORT_LINE for line in lines):
        return False
    signs = any(_is_bullet(line) or _is_number(line, markers) or is_rule(line) for line in lines)
    return not signs and all(_stands_alone(line.text) for line in lines)


def _stands_alone(text: str) -> bool:
    words = text.lower().split()
    ends = text.endswith((*POINT, "-", ":")) or words[-1] in FUNCTION_WORDS
    return not ends and words[0] not in FUNCTION_WORDS and not text[0].islower()


def _items(part: list[Line], markers: frozenset[str]) -> Iterator[Item]:
    first, last = part[0], part[-1]
    if is_rule(last):
        yield Item("heading", *_underlined_heading(first))
        return
    if match := MARKDOWN.match(first.text):
        yield Item("heading", first.start + match.end(), _markdown_end(first))
        return
    begin, end, marker = first.start, last.end, ""
    bulleted, numbered = BULLET.match(first.text), _is_number(first, markers)
    match = bulleted or (NUMBER.match(first.text) if numbered else None)
    if match and begin + match.end() < end:
        begin, marker = begin + match.end(), match[0].strip()
    marked = PORTION.match(first.text, begin - first.start)
    if marked and first.start + marked.end() < end:
        begin = first.start + marked.end()
    yield from _items_by_kind(part, begin, end, marker, portioned=marked is not None)


def _items_by_kind(
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


def _underlined_heading(line: Line) -> Span:
    """Return the span of an underlined heading without its number."""
    match = NUMBER.match(line.text)
    return line.start + (match.end() if match else 0), line.end


def _markdown_end(line: Line) -> int:
    """Return the end of a markdown heading without closing signs."""
    match = CLOSING.search(line.text[-100:])
    return line.end - len(match[0]) if match and len(match[0]) < len(line.text) - 2 else line.end


def _is_heading(text: str) -> bool:
    """Return whether a text is short, in upper or title case, without a full stop."""
    if len(text) > 70 or text.rstrip("\"')]\u201d\u2019").endswith(POINT):
        return False
    if len(text.split()) > (4 if text.endswith(":") else 8):
        return False
    return is_upper(text) or is_title(text)


def _is_colon_heading(text: str) -> bool:
    return text.endswith(":") and _is_heading(text)


def parse_layout(id: str, text: str, file: str = "", offset: int = 0) -> Message:  # noqa: A002
    """Return the message of a text with its regions; `offset` is its position in the file."""
    regions = _Regions(text)
    if is_muc(text):
        muc = muc_header(text)
        regions.body(lines_of(text, muc.start))
        return Message(id, text, tuple(regions.regions), muc.fields, file, offset)
    lines = lines_of(text)
    header = header_of(lines)
    for line in lines[: header.first]:
        if line.text and not is_layout(line):
            regions.add("heading", (line.start, line.end))
    for start, end in header.subjects:
        regions.add("subject", strip_portion_marks(text, start, end))
    regions.body(lines[header.used :])
    return Message(id, text, tuple(regions.regions), header.fields, file, offset)


@dataclass(slots=True)
class _Regions:
    """The regions of a text so far, and the numbers of the next paragraph and table."""

    text: str
    regions: list[Region] = field(default_factory=list)
    paragraph: int = 0
    table: int = 0

    def add(self, kind: RegionKind, span: Span) -> None:
        start, end = span
        while start < end and self.text[start].isspace():  # a marker may end its line
            start += 1
        if start < end:
            self.regions.append(Region(kind, start, end, self.paragraph))
            self.paragraph += 1

    def body(self, lines: list[Line]) -> None:
        parts = list(_message_parts(self.text, _without_layout(lines)))
        for part, after in zip_longest(parts, parts[1:]):
            if isinstance(part, TextTable):
                self._table(part)
            else:
                self.add(_kind(part, after, first=part is parts[0]), (part.start, part.end))

    def _table(self, table: TextTable) -> None:
        heading = table.rows[0] if table.headed else {}
        names = {n: " ".join(self.text[slice(*span)].split()) for n, span in heading.items()}
        cells = [
            Region(
                "heading" if table.headed and row == 0 else "table",
                *span,
                self.paragraph,
                self.table,
                row,
                column,
                names.get(column, ""),
            )
            for row, spans in enumerate(table.rows)
            for column, span in spans.items()
        ]
        # in a form labels and values alternate
        self.regions += sorted(cells, key=lambda cell: cell.start)
        self.paragraph += 1
        self.table += 1


def _without_layout(lines: list[Line]) -> list[Line]:
    """Return the lines with markings replaced by blank lines."""
    return [line._replace(text="", end=line.start) if is_layout(line) else line for line in lines]


def _message_parts(text: str, lines: list[Line]) -> Iterator[Item | TextTable]:
    """Yield the tables and, between them, the items of blocks, in text order."""
    markers = list_markers(lines)
    at = 0
    for table in find_tables(text, lines):
        yield from _block_items(lines[at : table.first], markers)
        yield table
        at = table.last + 1
    yield from _block_items(lines[at:], markers)


def _block_items(lines: list[Line], markers: frozenset[str]) -> Iterator[Item]:
    block: list[Line] = []
    for line in lines:
        if line.text:
            block.append(line)
        elif block:
            yield from items_of(block, markers)
            block = []
    if block:
        yield from items_of(block, markers)


def _kind(item: Item, after: Item | TextTable | None, *, first: bool) -> RegionKind:
    """Return the kind of a region; a short line is a heading if a longer part follows."""
    if item.kind != "perhaps":
        return item.kind
    if isinstance(after, TextTable):
        return "heading"
    follows = after is not None and (first or after.kind != "perhaps")
    if item.marker and after is not None and after.marker and after.kind in ("list", "perhaps"):
        follows = False
    if follows:
        return "heading"
    return "list" if item.marker else "text"


NAMED_FIELD = re.compile(
    r"[*_]{0,2}([A-Za-z][A-Za-z0-9 ./_-]{0,30}?)[*_]{0,2}[ \t]{0,8}:(?!//)[*_]{0,2}(?:\s+|$)"
)
SLASHED = re.compile(r"(MSGID|SUBJ|REF|AMPN|NARR|POC|EXER|OPER|DTG|PERID)/")
ROUTING = re.compile(
    r"(?:(?:[ZOPR] ){1,2}[0-9]{6}Z|[OPRZ]{2}[A-Z]{6} |ZNR |ZNY |DTG [0-9]{6}Z?|FM [A-Z0-9])"
)
ADDRESS = re.compile(r"(FM|TO|INFO|XMT|CC|DTG|AIG|ACTION)[ \t]+(?=\S)")
MARKING = re.compile(
    r"(?:(?:TOP )?SECRET|CONFIDENTIAL|RESTRICTED|UNCLAS(?:SIFIED)?|FOR OFFICIAL USE ONLY"
    r"|U N C L A S(?: S I F I E D)?)"
    r"(?:[ /]{1,2}(?:NOFORN|FOUO|REL TO [A-Z, ]{2,40}|SECTION [0-9 ]{1,4}OF [0-9]{1,3}))*"
)
END_SIGNS = re.compile(r"BT|NNNN|#[0-9]{1,5}")
LAYOUT_STARTS = frozenset("TSCRUFBN#")
PORTION = re.compile(r"\((?:U|C|S|TS|R|FOUO|CUI)(?:/{1,2}[A-Z]{2,8}){0,3}\)\s*")
SUBJECTS = frozenset({"subj", "subject", "subject_line", "re", "title", "headline", "topic"})
FIELD_NAMES = SUBJECTS | frozenset(
    """
    from fm to cc bcc info date dtg time sent received ref refs reference references priority
    precedence classification class msgid msg-id message-id msg message msg.no serial source
    sources origin originator drafter sender author byline dateline organization organisation
    reply-to in-reply-to attn attention via action distribution dist keywords importance
    newsgroups for memorandum_for copies msg_id message_id msg_no report_no report_number
    serial_no date_time date/time date-time_group date_time_group report_date
    """.split()  # noqa: SIM905
)
PREAMBLE = 3
MOST_LINES = 400
WRAP_WIDTH = 55


@dataclass(slots=True)
class Header:
    """Fields by name, the spans of subject lines, and the lines that the header takes."""

    fields: dict[str, str] = field(default_factory=dict)
    subjects: list[Span] = field(default_factory=list)
    first: int = 0
    used: int = 0

    def keep(self, name: str, value: str, span: Span) -> None:
        if name in SUBJECTS:
            name = "subject"
            if span[0] < span[1]:
                self.subjects.append(span)
        previous = self.fields.get(name)
        self.fields[name] = value if previous is None else f"{previous}\n{value}"


def is_layout(line: Line) -> bool:
    """Return whether a line is only a marking such as UNCLASSIFIED or an end-of-message sign."""
    text = line.text
    if text[:1] not in LAYOUT_STARTS or len(text) > 100:
        return False
    return bool(END_SIGNS.fullmatch(text) or MARKING.fullmatch(text))


def strip_portion_marks(text: str, start: int, end: int) -> Span:
    """Return a span without the portion marks, such as `(U)`, at its ends."""
    if (mark := PORTION.match(text, start, end)) and mark.end() < end:
        start = mark.end()
    tail = text.rfind("(", max(start, end - 40), end)
    if tail > start and PORTION.fullmatch(text, tail, end):
        end = start + len(text[start:tail].rstrip())
    return start, end


def header_of(lines: list[Line]) -> Header:
    """Return the header at the top of a message; `used` is 0 if there is none."""
    lines = lines[:MOST_LINES]
    header = Header(first=_first_field(lines))
    header.used = header.first
    at = header.first
    while at < len(lines):
        at = _parse_line(lines, at, header)
        if at < 0:
            break
    return header if header.fields or header.used > header.first else Header()


def _first_field(lines: list[Line]) -> int:
    """Return the line where the fields start, after at most a few short title lines."""
    titles = 0
    for n, line in enumerate(lines):
        if not line.text or is_layout(line):
            continue
        if _starts_header(line):
            return n
        titles += 1
        if titles > PREAMBLE or len(line.text) > 80 or line.text.endswith(POINT):
            break
    return 0


def _starts_header(line: Line) -> bool:
    return _is_known_field(line) or ROUTING.match(line.text) is not None


def _is_known_field(line: Line) -> bool:
    if SLASHED.match(line.text):
        return True
    match = NAMED_FIELD.match(line.text)
    return match is not None and _field_name(match) in FIELD_NAMES


def _field_name(match: re.Match[str]) -> str:
    return "_".join(match[1].lower().split())


def _parse_line(lines: list[Line], at: int, header: Header) -> int:
    """Parse the fields at a line; return the next line, or -1 at the end of the header."""
    line = lines[at]
    if not line.text:
        return at + 1
    if is_layout(line):
        if not END_SIGNS.fullmatch(line.text):
            header.keep("classification", line.text, (line.start, line.end))
        header.used = at + 1
        return at + 1
    if ROUTING.match(line.text):
        return _parse_routing(lines, at, header)
    if SLASHED.match(line.text):
        return _parse_slashed(lines, at, header)
    return _parse_fields(lines, at, header)


def _parse_fields(lines: list[Line], at: int, header: Header) -> int:
    """Parse a block of named fields up to the last field with a standard name."""
    kept: list[tuple[str, str, Span, int]] = []
    last = 0
    while at < len(lines) and (match := NAMED_FIELD.match(lines[at].text)):
        name, line = _field_name(match), lines[at]
        after = _end_of_field(lines, at, line.start + match.end(), name)
        value = " ".join([line.text[match.end() :], *(more.text for more in lines[at + 1 : after])])
        begin = line.start + match.end()
        if begin >= line.end and after > at + 1:
            begin = lines[at + 1].start
        at = after
        kept.append((name, value.strip(), (begin, lines[at - 1].end), at))
        if name in FIELD_NAMES or ("-" in name and " " not in name and last):
            last = len(kept)
    for name, value, span, after in kept[:last]:
        header.keep(name, value, span)
        header.used = after
    return at if last and last == len(kept) else -1


def _end_of_field(lines: list[Line], at: int, begin: int, name: str) -> int:
    """Return the line after a field: indented lines continue it, and a subject may be wrapped."""
    empty = begin >= lines[at].end
    after = at + 1
    while after < len(lines) and _continues(lines, at, after, name, empty and after == at + 1):
        after += 1
    return after


def _continues(lines: list[Line], first: int, at: int, name: str, empty: bool) -> bool:
    line, indent = lines[at], lines[first].indent
    if not line.text or NAMED_FIELD.match(line.text) or is_layout(line) or len(line.text) > WIDTH:
        return False
    if line.indent > indent or (empty and name in SUBJECTS):
        return True
    before = lines[at - 1].text
    last = at + 1 == len(lines) or not lines[at + 1].text
    wrapped = len(before) >= WRAP_WIDTH and not before.endswith(".") and len(line.text) < WRAP_WIDTH
    numbered = line.text[:1] in "-*•(" or line.text[:3].rstrip(" ABCD").endswith((".", ")"))
    return name in SUBJECTS and wrapped and last and not numbered


def _parse_routing(lines: list[Line], at: int, header: Header) -> int:
    """Parse the routing lines of a military message, up to BT or while they look like routing."""
    stop = next((n for n in range(at, len(lines)) if lines[n].text == "BT"), -1)
    name = "routing"
    first = at
    while at == first or (at < len(lines) and _is_routing(lines[at], before=at < stop)):
        line = lines[at]
        if match := ADDRESS.match(line.text):
            name = {"FM": "from"}.get(match[1], match[1].lower())
        if line.text:
            begin = match.end() if match else 0
            header.keep(name, line.text[begin:], (line.start + begin, line.end))
        at += 1
    header.used = at
    return at


def _is_routing(line: Line, *, before: bool) -> bool:
    """Return whether a line is routing: any line but a field before BT, else only by its form."""
    if before or not line.text:
        return before and not _is_known_field(line)
    if NAMED_FIELD.match(line.text):
        return False
    return bool(ROUTING.match(line.text) or ADDRESS.match(line.text))


def _parse_slashed(lines: list[Line], at: int, header: Header) -> int:
    """Parse a slashed set, such as `SUBJ/KINSTON RAIL DEPOT//`, up to its double slash."""
    match = SLASHED.match(lines[at].text)
    assert match is not None
    after = at + 1
    while after < len(lines) and lines[after].text and not lines[after - 1].text.endswith("//"):
        after += 1
    texts = [lines[at].text[match.end() :], *(line.text for line in lines[at + 1 : after])]
    closed = texts[-1].endswith("//")
    end = lines[after - 1].end - 2 * closed
    value = " ".join(texts).removesuffix("//").strip()
    header.keep(match[1].lower(), value, (lines[at].start + match.end(), end))
    header.used = after
    return after
