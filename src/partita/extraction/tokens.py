"""The first phase: the text of every region as tokens with offsets, and where sentences end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from partita.extraction.tokens_scanner import scan
from partita.extraction.tokens_sentences import sentence_ends
from partita.records import Message

NONE, BLANK, LINE = 0, 1, 2  # what stands before a token


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """Columns over the tokens of a message, in text order.

    `starts` and `ends` are characters of the message's text; `region` is a place in its regions;
    `sentence` counts from 0. `ends_of_sentences` has for each sentence the place behind its last
    token. `space` says what stands before a token: nothing, a blank, or the end of a line.
    """

    texts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    region: list[int] = field(default_factory=list)
    sentence: list[int] = field(default_factory=list)
    space: list[int] = field(default_factory=list)
    ends_of_sentences: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.texts)


def tokenize(message: Message) -> Tokens:
    """The tokens of all regions; a sentence never leaves its region."""
    found = Tokens()
    for place, region in enumerate(message.regions):
        texts, starts, ends = scan(message.text, region.start, region.end)
        if texts:
            _add(found, texts, starts, ends, place, message.text)
    return found


def _add(
    found: Tokens, texts: list[str], starts: list[int], ends: list[int], place: int, text: str
) -> None:
    space = _spaces(text, starts, ends, region=bool(found.texts))
    begin = 0
    for end in sentence_ends(texts, space):
        found.sentence.extend([len(found.ends_of_sentences)] * (end - begin))
        found.ends_of_sentences.append(len(found.texts) + end)
        begin = end
    found.texts.extend(texts)
    found.starts.extend(starts)
    found.ends.extend(ends)
    found.space.extend(space)
    found.region.extend([place] * len(texts))


def _spaces(text: str, starts: Sequence[int], ends: Sequence[int], *, region: bool) -> list[int]:
    """Before each token; what begins a region begins a line, but for the first of all."""
    found = [LINE if region else NONE]
    for end, start in zip(ends, starts[1:], strict=False):
        if end == start:
            found.append(NONE)
        elif start == end + 1 and text[end] == " ":
            found.append(BLANK)
        else:
            found.append(LINE if len(text[end:start].splitlines()) > 1 else _one(text[end:start]))
    return found


def _one(between: str) -> int:
    return LINE if between[-1:] in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029" else BLANK
