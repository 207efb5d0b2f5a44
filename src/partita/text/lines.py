"""Split a text into lines with offsets, and MUC files into messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

Span = tuple[int, int]

RULE = re.compile(r"[-=_~*+#|:.\u2500-\u257f \t]*")
INK = frozenset("-=_~*+#")
WIDTH = 1000
POINT = (".", "!", "?", ";", ",")


class Line(NamedTuple):
    """A line without the blanks around it, and its bounds in the text.

    `start` and `end` bound the content and are equal for a blank line. The line begins at `begin`;
    the next line begins at `stop`.
    """

    start: int
    end: int
    text: str
    begin: int
    stop: int

    @property
    def indent(self) -> int:
        return self.start - self.begin


def lines_of(text: str, start: int = 0) -> list[Line]:
    """Return the lines from `start` on, split at every Unicode line end."""
    lines = []
    begin = start
    for raw in (text[start:] if start else text).splitlines(keepends=True):
        content = raw.strip()
        inside = begin + (raw.find(content[0]) if content else 0)
        stop = begin + len(raw)
        lines.append(Line(inside, inside + len(content), content, begin, stop))
        begin = stop
    return lines


def is_rule(line: Line) -> bool:
    """Return whether a line is drawn with signs, as under a heading or between table rows."""
    text = line.text
    if text[:1].isalnum() or not 3 <= len(text) <= WIDTH or RULE.fullmatch(text) is None:
        return False
    drawn = sum(sign in INK or sign >= "\u2500" for sign in text)
    return drawn >= 3 and 2 * drawn >= len(text.replace(" ", "").replace("\t", ""))


def is_upper(text: str) -> bool:
    return text.isupper()


def is_title(text: str) -> bool:
    """Return whether every long word starts with a capital letter, as in a heading."""
    words = [word for word in text.split() if len(word) > 3 and word[0].isalpha()]
    first = next((sign for sign in text if sign.isalnum()), "")
    return bool(words) and first == first.upper() and all(word[0].isupper() for word in words)


TITLE = re.compile(r"((?:DEV|TST[0-9]{0,2})-MUC[0-9]-[0-9]{4})\s{0,9}(?:\(([^()]{0,60})\))?")
KEY = re.compile(r"(?:;[^\n]*\n|\s)*0\.\s+MESSAGE: ID\b")
DATELINE = re.compile(
    r"\s*(?P<place>[A-Z](?:(?!--)[^\[\]]){1,100}?),\s+"
    r"(?P<date>[0-9]{1,2}\s+[A-Z]{3,9}\.?(?:\s+[0-9]{2,4})?|[A-Z]{3,9}\s+[0-9]{1,2}(?:\s+[0-9]{2,4})?"
    r"|NO\s+DATE)\s*(?:\((?P<source>[^()]{1,120})\))?\s*--"
)
TAG = re.compile(r"\s*\[([^\[\]]{1,300})\]")
EXTENTS = frozenset({"TEXT", "SUMMARY", "EXCERPT", "EXCERPTS"})
MOST_TAGS = 8


class Title(NamedTuple):
    """The id of a message, its line, and the bounds of its title and of the message."""

    name: str
    line: int
    start: int
    end: int
    stop: int


@dataclass(frozen=True, slots=True)
class MucHeader:
    """The fields of dateline and tags, and where the text of the message starts."""

    start: int
    fields: dict[str, str] = field(default_factory=dict)


def muc_messages(text: str) -> list[Title]:
    """Return the titles of the messages of a file, in order."""
    titles = [
        (title[1], number, line)
        for number, line in enumerate(lines_of(text), 1)
        if (title := _title(line))
    ]
    stops = (line.begin for _, _, line in titles[1:])
    return [
        Title(name, number, line.begin, line.end, len(text) if stop is None else stop)
        for (name, number, line), stop in zip_longest(titles, stops)
    ]


def _title(line: Line) -> re.Match[str] | None:
    return TITLE.fullmatch(line.text) if line.text.startswith(("DEV-", "TST")) else None


def is_muc(text: str) -> bool:
    """Return whether the first non-blank line is the title of a MUC message."""
    start = text.lstrip()[:200].splitlines()
    return bool(start) and TITLE.fullmatch(start[0].rstrip()) is not None


def is_muc_key(text: str) -> bool:
    """Return whether a text is a file of answer keys."""
    return KEY.match(text[:10_000]) is not None


def muc_header(text: str) -> MucHeader:
    """Return the header of one message: title, dateline, and tags up to [TEXT] or similar."""
    fields: dict[str, str] = {}
    at = 0
    if title := TITLE.match(text.lstrip()):
        at = len(text) - len(text.lstrip()) + title.end()
        if title[2]:
            fields["site"] = title[2]
    if dateline := DATELINE.match(text, at):
        at = dateline.end()
        fields["dateline"] = _single_spaced(dateline[0].removesuffix("--"))
        fields |= {
            name: _single_spaced(value) for name, value in dateline.groupdict().items() if value
        }
    return MucHeader(_text_start(text, at, fields), fields)


def _text_start(text: str, at: int, fields: dict[str, str]) -> int:
    """Return where the text starts: after the tag that names its extent, if there is one."""
    tags: list[str] = []
    after = at
    while len(tags) < MOST_TAGS and (match := TAG.match(text, after)):
        tag, after = _single_spaced(match[1]), match.end()
        if tag in EXTENTS:
            fields["extent"] = tag
            if tags:
                fields["kind"] = tags[0]
            if tags[1:]:
                fields["by"] = "; ".join(tags[1:])
            return after
        tags.append(tag)
    return at


def _single_spaced(text: str) -> str:
    return " ".join(text.split())
