"""Where sentences end inside a region: at a full stop, a question or exclamation mark.

Closing quotes and brackets go with the sentence before. A point that belongs to an abbreviation
ends nothing, unless the word behind it can only begin a sentence. A mark of citation, `[17]`,
belongs to what it stands behind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

STOPS = frozenset((".", "?", "!", "…"))
CLOSERS = frozenset(('"', "'", ")", "]", "}", "”", "’", "»", "''"))
_OPENERS = frozenset(('"', "'", "(", "[", "“", "‘", "«", "``", "-", "–", "—", "•", "*"))
_STARTERS = frozenset(
    re.findall(
        r"\S+",
        "the a an this that these those it its he she they we i you there here in on at after "
        "before when while if as but and however according no one two some all both meanwhile",
    )
)
# where everything is in upper case a capital letter says nothing, and fewer words can be trusted
_UPPER_STARTERS = frozenset(
    re.findall(
        r"\S+",
        "the this these those it he she they we i there here however meanwhile according",
    )
)
_NEVER = frozenset(("e.g.", "i.e."))
# Abbreviations behind which a sentence may end; behind a title or "No." a name or number follows.
_LAST = frozenset(("etc.", "al.", "inc.", "ltd.", "co.", "corp.", "jr.", "sr.", "km.", "mi."))
_INITIALS = re.compile(r"(?:[^\W\d_]\.){2,}")
_ROW = re.compile(r"[.?!]{2,}")


def sentence_ends(texts: Sequence[str], space: Sequence[int]) -> Iterator[int]:
    """The places behind the last tokens of the sentences; the last is behind all tokens."""
    count, place = len(texts), 0
    while place < count:
        place += 1
        token = texts[place - 1]
        if token[-1] not in ".?!…" or not _stops(texts, place, space):
            continue
        while place < count and texts[place] in CLOSERS and not space[place]:
            place += 1
        if texts[place : place + 3 : 2] == ["[", "]"] and texts[place + 1].isdigit():
            place += 3
        if place < count:
            yield place
    if count:
        yield count


def _stops(texts: Sequence[str], behind: int, space: Sequence[int]) -> bool:
    """Whether the token before this place ends a sentence."""
    token, following = texts[behind - 1], _next(texts, behind)
    if token in STOPS or _ROW.fullmatch(token):
        if not following or _numbering(texts, behind):
            return False
        return _begins(following) or (token in "?!" and bool(space[behind]))
    low = token.lower()
    if low in _LAST or (_INITIALS.fullmatch(token) and low not in _NEVER):
        before = texts[behind - 2] if behind > 1 else ""
        starters = _UPPER_STARTERS if before.isupper() else _STARTERS
        return following.lower() in starters and following[0].isupper()
    return False


def _next(texts: Sequence[str], place: int) -> str:
    """The first token behind that closes nothing and opens nothing."""
    while place < len(texts) and (texts[place] in CLOSERS or texts[place] in _OPENERS):
        place += 1
    return texts[place] if place < len(texts) else ""


def _begins(token: str) -> bool:
    return not token[0].islower() and token[0] not in ",;:%/&"


def _numbering(texts: Sequence[str], behind: int) -> bool:
    """The point of "1." or "A." at the head of a region, which numbers it."""
    return behind == 2 and (texts[0].isdigit() or (len(texts[0]) == 1 and texts[0].isalpha()))
