"""The tokens of a text: words between blanks are cut once and remembered, most by one look-up."""

from __future__ import annotations

import re
from functools import lru_cache

from partita.extraction.tokens_patterns import OPEN_ENDED, PATTERNS

REMEMBERED = 1 << 16
LONGEST = 40
_TOKEN = re.compile("|".join(PATTERNS))
_WORD = re.compile(r"\S+")

Scanned = tuple[list[str], list[int], list[int]]


def scan(text: str, start: int, end: int) -> Scanned:
    """The tokens of text[start:end] with where they begin and end in the text."""
    found: Scanned = ([], [], [])
    while start < end:
        start = _words(text, start, end, found)
    return found


def _words(text: str, start: int, end: int, found: Scanned) -> int:
    """Cut words until a token has taken more than its word; where to go on."""
    texts, starts, ends = found
    for match in _WORD.finditer(text, start, end):
        word, (begin, stop) = match[0], match.span()
        pieces = _pieces(word) if stop - begin <= LONGEST else _cut(word)
        if len(pieces) == 1:
            texts.append(word)
            starts.append(begin)
            ends.append(stop)
        elif pieces:
            for piece in pieces:
                texts.append(piece)
                starts.append(begin)
                begin += len(piece)
                ends.append(begin)
        else:
            behind = _in_context(text, begin, stop, end, found)
            if behind > stop:
                return behind
    return end


@lru_cache(maxsize=REMEMBERED)
def _pieces(word: str) -> tuple[str, ...]:
    return _cut(word)


def _cut(word: str) -> tuple[str, ...]:
    """The tokens of a word, or nothing where what follows the word decides."""
    if OPEN_ENDED.search(word, max(0, len(word) - LONGEST)):
        return ()
    return tuple(match[0] for match in _TOKEN.finditer(word))


def _in_context(text: str, begin: int, stop: int, end: int, found: Scanned) -> int:
    """Cut a word with what follows it in sight; the end of its last token."""
    texts, starts, ends = found
    for match in _TOKEN.finditer(text, begin, end):
        texts.append(match[0])
        starts.append(match.start())
        ends.append(match.end())
        if match.end() >= stop:
            break
    return ends[-1]
