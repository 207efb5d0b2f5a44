"""Split a text into lines with offsets and describe their appearance."""

from __future__ import annotations

import re
from typing import NamedTuple

Span = tuple[int, int]

RULE = re.compile(r"[-=_~*+#|:.\u2500-\u257f \t]*")
INK = frozenset("-=_~*+#")
WIDTH = 1000
POINT = (".", "!", "?", ";", ",")


class Line(NamedTuple):
    """What a line holds (`start` to `end`, without blanks around it) and where it begins and stops.

    All are characters of the text; a blank line has `start` equal to `end`, and `stop` is where
    the next line begins.
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
    """The lines from `start` on, by every line end that Unicode knows."""
    found = []
    begin = start
    for raw in (text[start:] if start else text).splitlines(keepends=True):
        content = raw.strip()
        inside = begin + (raw.find(content[0]) if content else 0)
        stop = begin + len(raw)
        found.append(Line(inside, inside + len(content), content, begin, stop))
        begin = stop
    return found


def is_rule(line: Line) -> bool:
    """A line drawn with signs, as under a heading or between the rows of a table."""
    text = line.text
    if text[:1].isalnum() or not 3 <= len(text) <= WIDTH or RULE.fullmatch(text) is None:
        return False
    drawn = sum(sign in INK or sign >= "\u2500" for sign in text)
    return drawn >= 3 and 2 * drawn >= len(text.replace(" ", "").replace("\t", ""))


def is_upper(text: str) -> bool:
    return text.isupper()


def is_title(text: str) -> bool:
    """Every long word starts with a capital letter, as in a heading."""
    words = [word for word in text.split() if len(word) > 3 and word[0].isalpha()]
    first = next((sign for sign in text if sign.isalnum()), "")
    return bool(words) and first == first.upper() and all(word[0].isupper() for word in words)
