"""Split MUC files into messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from partita.text.lines import Line, lines_of

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
