"""The text of a pattern to its tree, with the column of whatever is wrong in it.

pattern = row { "|" row };  item = [ label ":" ] atom [ "*" | "+" | "?" | "{m}" | "{m,n}" ]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from partita.extraction.cutting import cut_words
from partita.extraction.pattern_tests import Refused, parsed_tests, quoted
from partita.extraction.syntax import MOST, Atom, Choice, Label, Node, Repeat, Row, Test

LONGEST = 4_000  # characters of a pattern
DEEPEST = 20  # brackets inside each other
LARGEST = 500  # phrases that a pattern names, macros written out

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COUNTS = re.compile(r"\{ *([0-9]{1,4}) *(?:(,) *([0-9]{1,4})? *)?\}")
_SPACE = re.compile(r"\s*")
_LABEL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*:")

Words = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Macro:
    """What an upper-case name stands for, and how many phrases it names."""

    node: Node
    size: int


def parse(text: str, macros: Mapping[str, Macro] | None = None, words: Words = cut_words) -> Node:
    """The tree of a pattern; `words` cuts a quoted text as the message will be cut."""
    return parse_macro(text, macros or {}, words).node


def parse_macro(text: str, macros: Mapping[str, Macro], words: Words = cut_words) -> Macro:
    """The tree with its size, for other patterns to name."""
    if len(text) > LONGEST:
        raise Refused(f"a pattern has {len(text):,} characters; at most {LONGEST:,}", 0)
    parser = Parser(text, macros, words)
    node = parser.choice(0)
    if parser.at < len(text):
        parser.refuse(f"{text[parser.at]!r} stands alone; expected an item, '|' or the end")
    return Macro(node, parser.size)


def names_in(text: str) -> set[str]:
    """Upper-case names outside quotes and tests: the macros that a pattern may use."""
    outside = re.sub(r'"[^"]*"|\[[^\]]*\]', " ", text)
    return {name for name in _NAME.findall(outside) if name.isupper()}


@dataclass(slots=True)
class Parser:
    text: str
    macros: Mapping[str, Macro]
    words: Words
    at: int = 0
    size: int = 0

    def refuse(self, problem: str) -> NoReturn:
        raise Refused(problem, self.at)

    def refuse_item(self) -> NoReturn:
        found = repr(self.peek()) if self.peek() else "the end"
        self.refuse(f"found {found}; expected a quoted word, [tests], a name, '.' or '('")

    def peek(self) -> str:
        """The next character that is not white space, or nothing at the end."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.text[self.at : self.at + 1]

    def choice(self, depth: int) -> Node:
        if depth > DEEPEST:
            self.refuse(f"brackets are nested more than {DEEPEST} deep")
        branches = [self.row(depth)]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.row(depth))
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))

    def row(self, depth: int) -> Node:
        parts = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.item(depth))
        if not parts:
            self.refuse_item()
        return parts[0] if len(parts) == 1 else Row(tuple(parts))

    def item(self, depth: int) -> Node:
        label = _LABEL.match(self.text, self.at)
        if label:
            self.at = label.end()
            self.peek()
        body = self.repeated(self.atom(depth))
        return Label(label[1], body) if label else body

    def repeated(self, body: Node) -> Node:
        mark = self.peek()
        if mark and mark in "*+?":
            self.at += 1
            return Repeat(body, int(mark == "+"), 1 if mark == "?" else MOST)
        return self.counted(body) if mark == "{" else body

    def counted(self, body: Node) -> Node:
        found = _COUNTS.match(self.text, self.at)
        if not found:
            self.refuse("expected {m} or {m,n} with whole numbers")
        least = int(found[1])
        most = least if not found[2] else int(found[3] or MOST)
        if not 0 < most <= MOST or least > most:
            self.refuse(f"{found[0]} repeats from {least} to {most}; expected at most {MOST}")
        self.at = found.end()
        return Repeat(body, least, most)

    def atom(self, depth: int) -> Node:
        mark = self.peek()
        if mark == "(":
            return self.bracket(depth)
        if mark == '"':
            return self.quoted()
        if mark == "[":
            tests, self.at = parsed_tests(self.text, self.at)
            return self.counted_in(Atom(tests))
        if mark == ".":
            self.at += 1
            return self.counted_in(Atom(()))
        return self.name()

    def counted_in(self, node: Node, size: int = 1) -> Node:
        self.size += size
        if self.size > LARGEST:
            self.refuse(f"a pattern names more than {LARGEST} phrases with its macros written out")
        return node

    def bracket(self, depth: int) -> Node:
        opened, self.at = self.at, self.at + 1
        inside = self.choice(depth + 1)
        if self.peek() != ")":
            self.at = opened
            self.refuse("this bracket is not closed; expected ')'")
        self.at += 1
        return inside

    def quoted(self) -> Node:
        """Words in a row, or the one phrase that they are if the lexicon has them."""
        start = self.at
        text, self.at = quoted(self.text, self.at)
        each = self.words(text)
        if not each:
            self.at = start
            self.refuse("the quotes hold no word")
        row = tuple(_word(word, start) for word in each)
        self.counted_in(row[0], len(row))
        whole = _word(" ".join(text.lower().split()), start)
        return row[0] if len(row) == 1 else Choice((Row(row), whole))

    def name(self) -> Node:
        found = _NAME.match(self.text, self.at)
        if not found:
            self.refuse_item()
        name = found[0]
        if not name.isupper():
            self.at = found.end()
            return self.counted_in(Atom((Test("kind", "=", (name,), found.start()),)))
        if name not in self.macros:
            known = ", ".join(sorted(self.macros)) or "none"
            self.refuse(f"unknown macro {name}; the macros are {known}")
        self.at = found.end()
        macro = self.macros[name]
        return self.counted_in(macro.node, macro.size)


def _word(word: str, column: int) -> Atom:
    return Atom((Test("word", "=", (word,), column),))
