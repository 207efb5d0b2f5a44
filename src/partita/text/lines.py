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
