"""Parse message headers: fields such as From and DTG, the subject line, routing lines."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from partita.text.lines import POINT, WIDTH, Line, Span

NAMED = re.compile(
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
ENDS = re.compile(r"BT|NNNN|#[0-9]{1,5}")
STARTS = frozenset("TSCRUFBN#")
PORTION = re.compile(r"\((?:U|C|S|TS|R|FOUO|CUI)(?:/{1,2}[A-Z]{2,8}){0,3}\)\s*")
SUBJECTS = frozenset({"subj", "subject", "subject_line", "re", "title", "headline", "topic"})
KNOWN = SUBJECTS | frozenset(
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
HEADER = 400
WRAPPED = 55


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
        kept = self.fields.get(name)
        self.fields[name] = value if kept is None else f"{kept}\n{value}"


def is_layout(line: Line) -> bool:
    """A marking such as UNCLASSIFIED alone in its line, or the sign that a transmission ends."""
    text = line.text
    if text[:1] not in STARTS or len(text) > 100:
        return False
    return bool(ENDS.fullmatch(text) or MARKING.fullmatch(text))


def unmarked(text: str, start: int, end: int) -> Span:
    """A span without the portion marks, `(U)` and the like, at its two ends."""
    if (found := PORTION.match(text, start, end)) and found.end() < end:
        start = found.end()
    tail = text.rfind("(", max(start, end - 40), end)
    if tail > start and PORTION.fullmatch(text, tail, end):
        end = start + len(text[start:tail].rstrip())
    return start, end


def header_of(lines: list[Line]) -> Header:
    """The header at the top of a message; `used` is 0 where there is none."""
    lines = lines[:HEADER]
    header = Header(first=_first(lines))
    header.used = header.first
    at = header.first
    while at < len(lines):
        at = _taken(lines, at, header)
        if at < 0:
            break
    return header if header.fields or header.used > header.first else Header()


def _first(lines: list[Line]) -> int:
    """Where the fields start: a few short lines (a title) may stand before them."""
    titles = 0
    for n, line in enumerate(lines):
        if not line.text or is_layout(line):
            continue
        if _starts(line):
            return n
        titles += 1
        if titles > PREAMBLE or len(line.text) > 80 or line.text.endswith(POINT):
            break
    return 0


def _starts(line: Line) -> bool:
    return _known(line) or ROUTING.match(line.text) is not None


def _known(line: Line) -> bool:
    if SLASHED.match(line.text):
        return True
    found = NAMED.match(line.text)
    return found is not None and _name(found) in KNOWN


def _name(found: re.Match[str]) -> str:
    return "_".join(found[1].lower().split())


def _taken(lines: list[Line], at: int, header: Header) -> int:
    """Take what stands at a line; the line to go on with, or −1 where the header ends."""
    line = lines[at]
    if not line.text:
        return at + 1
    if is_layout(line):
        if not ENDS.fullmatch(line.text):
            header.keep("classification", line.text, (line.start, line.end))
        header.used = at + 1
        return at + 1
    if ROUTING.match(line.text):
        return _routed(lines, at, header)
    if SLASHED.match(line.text):
        return _set(lines, at, header)
    return _fields(lines, at, header)


def _fields(lines: list[Line], at: int, header: Header) -> int:
    """A block of named fields up to its last known one: what follows that is the message's own."""
    kept: list[tuple[str, str, Span, int]] = []
    last = 0
    while at < len(lines) and (found := NAMED.match(lines[at].text)):
        name, line = _name(found), lines[at]
        after = _continued(lines, at, line.start + found.end(), name)
        value = " ".join([line.text[found.end() :], *(more.text for more in lines[at + 1 : after])])
        begin = line.start + found.end()
        if begin >= line.end and after > at + 1:
            begin = lines[at + 1].start
        at = after
        kept.append((name, value.strip(), (begin, lines[at - 1].end), at))
        if name in KNOWN or ("-" in name and " " not in name and last):
            last = len(kept)
    for name, value, span, after in kept[:last]:
        header.keep(name, value, span)
        header.used = after
    return at if last and last == len(kept) else -1


def _continued(lines: list[Line], at: int, begin: int, name: str) -> int:
    """The line after a field: indented lines go on with it, and a subject may be wrapped."""
    empty = begin >= lines[at].end
    after = at + 1
    while after < len(lines) and _goes_on(lines, at, after, name, empty and after == at + 1):
        after += 1
    return after


def _goes_on(lines: list[Line], first: int, at: int, name: str, empty: bool) -> bool:
    line, indent = lines[at], lines[first].indent
    if not line.text or NAMED.match(line.text) or is_layout(line) or len(line.text) > WIDTH:
        return False
    if line.indent > indent or (empty and name in SUBJECTS):
        return True
    before = lines[at - 1].text
    last = at + 1 == len(lines) or not lines[at + 1].text
    wrapped = len(before) >= WRAPPED and not before.endswith(".") and len(line.text) < WRAPPED
    numbered = line.text[:1] in "-*•(" or line.text[:3].rstrip(" ABCD").endswith((".", ")"))
    return name in SUBJECTS and wrapped and last and not numbered


def _routed(lines: list[Line], at: int, header: Header) -> int:
    """The routing lines of a military message, to their BT or as long as they look the part."""
    stop = next((n for n in range(at, len(lines)) if lines[n].text == "BT"), -1)
    name = "routing"
    first = at
    while at == first or (at < len(lines) and _routes(lines[at], before=at < stop)):
        line = lines[at]
        if found := ADDRESS.match(line.text):
            name = {"FM": "from"}.get(found[1], found[1].lower())
        if line.text:
            begin = found.end() if found else 0
            header.keep(name, line.text[begin:], (line.start + begin, line.end))
        at += 1
    header.used = at
    return at


def _routes(line: Line, *, before: bool) -> bool:
    """Before the BT everything routes that is no field of its own, and elsewhere what looks it."""
    if before or not line.text:
        return before and not _known(line)
    if NAMED.match(line.text):
        return False
    return bool(ROUTING.match(line.text) or ADDRESS.match(line.text))


def _set(lines: list[Line], at: int, header: Header) -> int:
    """A slashed set, `SUBJ/KINSTON RAIL DEPOT//`, to its double slash."""
    found = SLASHED.match(lines[at].text)
    assert found is not None
    after = at + 1
    while after < len(lines) and lines[after].text and not lines[after - 1].text.endswith("//"):
        after += 1
    texts = [lines[at].text[found.end() :], *(line.text for line in lines[at + 1 : after])]
    closed = texts[-1].endswith("//")
    end = lines[after - 1].end - 2 * closed
    value = " ".join(texts).removesuffix("//").strip()
    header.keep(found[1].lower(), value, (lines[at].start + found.end(), end))
    header.used = after
    return after
