"""Patterns matched in the plainest way: every parse, straight from the tree, over attributes.

Nothing here knows of characters or regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from partita.rules.syntax import (
    Atom,
    LabelledPattern,
    Macro,
    Node,
    PatternChoice,
    PatternRow,
    Repeat,
    Test,
    Words,
    parse_macro,
)
from partita.text.tokens import lower_words

Spans = tuple[tuple[str, int, int], ...]  # label, start, end, in the order in which they close
Parse = tuple[int, Spans]
Phrases = Sequence[Mapping[str, Any] | None]  # None is the end of a sentence


def holds(test: Test, phrase: Mapping[str, Any], below: Mapping[str, frozenset[str]]) -> bool:
    if test.attribute not in phrase:
        return test.operator == "not"
    value = phrase[test.attribute]
    if test.operator in ("has", "not"):
        says = value is not False and value != "" and value != ()
        return says == (test.operator == "has")
    members = [_text(one) for one in (value if isinstance(value, tuple) else (value,))]
    if test.operator in ("=", "!="):
        wanted = set(test.values)
        if test.attribute == "sort":
            wanted = {name for value in wanted for name in {value} | below.get(value, frozenset())}
        return any(one in wanted for one in members) == (test.operator == "=")
    if test.operator == "~":
        return any(re.fullmatch(test.values[0], one) for one in members)
    bound = float(test.values[0])
    numbers = [float(one) for one in members if re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", one)]
    return any(one < bound if test.operator == "<" else one > bound for one in numbers)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def parses(
    node: Node, phrases: Phrases, at: int, below: Mapping[str, frozenset[str]] = {}
) -> Iterator[Parse]:
    """Every way to match from here, the greediest first."""
    if isinstance(node, Atom):
        phrase = phrases[at] if at < len(phrases) else None
        if phrase is not None and all(holds(test, phrase, below) for test in node.tests):
            yield at + 1, ()
    elif isinstance(node, PatternRow):
        yield from _row(node.parts, phrases, at, below)
    elif isinstance(node, PatternChoice):
        for branch in node.branches:
            yield from parses(branch, phrases, at, below)
    elif isinstance(node, LabelledPattern):
        for end, spans in parses(node.body, phrases, at, below):
            yield end, (*spans, (node.name, at, end))
    else:
        yield from _rounds(node, 0, phrases, at, below)


def _row(
    parts: tuple[Node, ...], phrases: Phrases, at: int, below: Mapping[str, frozenset[str]]
) -> Iterator[Parse]:
    if not parts:
        yield at, ()
        return
    for middle, first in parses(parts[0], phrases, at, below):
        for end, rest in _row(parts[1:], phrases, middle, below):
            yield end, (*first, *rest)


def _rounds(
    node: Repeat, done: int, phrases: Phrases, at: int, below: Mapping[str, frozenset[str]]
) -> Iterator[Parse]:
    if done < node.most:
        for middle, first in parses(node.body, phrases, at, below):
            if middle > at:
                for end, rest in _rounds(node, done + 1, phrases, middle, below):
                    yield end, (*first, *rest)
    if done >= node.least:
        yield at, ()


def longest_parses(
    node: Node,
    phrases: Phrases,
    at: int,
    before: Node | None = None,
    after: Node | None = None,
    below: Mapping[str, frozenset[str]] = {},
) -> list[Parse]:
    """All parses that cover the most phrases; none where what must surround it is not there."""
    if after is not None and not _precedes(after, phrases, at, below):
        return []
    found = [
        parse
        for parse in parses(node, phrases, at, below)
        if before is None or any(True for _ in parses(before, phrases, parse[0], below))
    ]
    most = max((end for end, _ in found), default=at)
    return [parse for parse in found if parse[0] == most]


def _precedes(after: Node, phrases: Phrases, at: int, below: Mapping[str, frozenset[str]]) -> bool:
    return any(end == at for start in range(at) for end, _ in parses(after, phrases, start, below))


def parse(text: str, macros: Mapping[str, Macro] | None = None, words: Words = lower_words) -> Node:
    """The tree of a pattern; `words` cuts a quoted text as the message will be cut."""
    return parse_macro(text, macros or {}, words).node
