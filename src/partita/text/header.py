"""Parse message headers: fields such as From and DTG, the subject line, routing lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from partita.text.lines import POINT, WIDTH, Line, Span

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
