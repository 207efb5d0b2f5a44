"""Parse patterns, with the column of each error."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from partita.errors import PartitaError
from partita.rules.syntax import MOST, Atom, Choice, Label, Node, Repeat, Row, Test
from partita.text.tokens import lower_words

LONGEST_VALUE = 64  # characters of an attribute that is looked at
_LONGEST = 200  # characters of a regular expression
_STEPS = 300_000

_LITERAL = re.compile(r"\\[^0-9]|\[\^?\]?(?:[^\]\\]|\\.)*\]")
_MARK = re.compile(r"\(\?:|[()|*+?]|\{([0-9]*)(,?)([0-9]*)\}")


def explosive(expression: str) -> str:
    """What is wrong with it; nothing, if it is harmless."""
    if len(expression) > _LONGEST:
        return f"has at most {_LONGEST} characters"
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        return f"must be one of Python's: {error}"
    plain = _LITERAL.sub("x", expression)
    if re.search(r"\(\?(?!:)|\\[0-9]", plain):
        return "has no look-around, names, flags or back references"
    steps = _steps(plain)
    if steps == 0:
        return "has no repeats or alternatives inside repeats"
    return "" if steps <= _STEPS else "has fewer repeats and alternatives beside each other"


def _steps(plain: str) -> int:
    """An upper bound of the ways to match; 0 for repeats inside repeats."""
    opened = [_Bracket()]
    last = (0, 1)  # where the last bracket ended, and its ways
    for mark in _MARK.finditer(plain):
        if mark[0] in ("(", "(?:"):
            opened.append(_Bracket())
        elif mark[0] == "|":
            opened[-1].branches.append(1)
        elif mark[0] == ")":
            last = (mark.end(), opened.pop().ways)
            opened[-1].times(last[1])
        else:
            inner = last[1] if last[0] == mark.start() else 1
            if (rounds := _rounds(mark)) > 1 and inner > 1 and mark[0] != "?":
                return 0
            opened[-1].times(rounds)
    return opened[0].ways


@dataclass(slots=True)
class _Bracket:
    """The ways of each branch so far."""

    branches: list[int] = field(default_factory=lambda: [1])

    @property
    def ways(self) -> int:
        return sum(self.branches)

    def times(self, factor: int) -> None:
        self.branches[-1] *= factor


def _rounds(mark: re.Match[str]) -> int:
    if mark[0] in "*+?":
        return 2 if mark[0] == "?" else LONGEST_VALUE
    least = int(mark[1] or 0)
    most = int(mark[3] or LONGEST_VALUE) if mark[2] else least
    # of a fixed number of rounds each may still be matched in several ways
    return max(most - least + 1, min(most, 2))


_ATTRIBUTE = re.compile(r"\s*(!?)\s*([A-Za-z_][A-Za-z0-9_]*)\s*")
_OPERATOR = re.compile(r"(!=|=|~|<|>)\s*")
# a comma is a value where a value must come; anything is after a backslash
_BARE = re.compile(r'(?:,|\\.|[^,|\]"\s\\])(?:\\.|[^,|\]"\\])*')
_UNPARTED = re.compile(r"\s[A-Za-z_]\w*\s*(?:[=~<>]|!=)")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_REGEX = re.compile(r"/((?:[^/\\\n]|\\.)*)/")
_FOLDED = ("word", "lemma", "column")
_UPPER = ("sort",)


class Refused(PartitaError):
    """A pattern that is not one: what is wrong, and at which of its characters, from 0."""

    def __init__(self, problem: str, at: int) -> None:
        self.problem, self.at = problem, at
        super().__init__(problem)


def parsed_tests(text: str, at: int) -> tuple[tuple[Test, ...], int]:
    """The tests of the bracket that opens here, and where the text goes on."""
    start, at = at, at + 1
    tests = []
    while True:
        test, at = _test(text, at)
        tests.append(test)
        mark = text[at : at + 1]
        at += 1
        if mark == "]":
            return tuple(tests), at
        if mark != ",":
            if not mark:
                raise Refused("this bracket is not closed; expected ']'", start)
            raise Refused(f"found {mark!r}; expected ',' or ']' after a test", at - 1)


def quoted(text: str, at: int) -> tuple[str, int]:
    """A text in quotes, and where it goes on after them."""
    end = text.find('"', at + 1)
    if end < 0:
        raise Refused('these quotes are not closed; expected "', at)
    return text[at + 1 : end], end + 1


def _test(text: str, at: int) -> tuple[Test, int]:
    named = _ATTRIBUTE.match(text, at)
    if not named:
        raise Refused("expected an attribute: [tag=NN], [sort=DEPOT, known], [!cased]", at)
    column, at, name = named.start(2), named.end(), named[2]
    if named[1]:
        return Test(name, "not", (), column), at
    operator = _OPERATOR.match(text, at)
    if not operator:
        return Test(name, "has", (), column), at
    values, at = _values(text, operator.end(), name, operator[1])
    return Test(name, operator[1], values, column), at


def _values(text: str, at: int, name: str, operator: str) -> tuple[tuple[str, ...], int]:
    if operator == "~":
        return _regex(text, at)
    if operator in "<>":
        if not (number := _NUMBER.match(text, at)):
            raise Refused(f"expected a number after {name}{operator}", at)
        return (number[0],), _skipped(text, number.end())
    values = []
    while True:
        value, at = _value(text, at, name)
        values.append(value)
        if text[at : at + 1] != "|":
            return tuple(values), at
        at = _skipped(text, at + 1)


def _value(text: str, at: int, name: str) -> tuple[str, int]:
    if text[at : at + 1] == '"':
        value, at = quoted(text, at)
    elif bare := _BARE.match(text, at):
        if next_test := _UNPARTED.search(bare[0]):
            raise Refused("a comma is missing between two tests", at + next_test.start() + 1)
        value, at = re.sub(r"\\(.)", r"\1", bare[0]), bare.end()
    else:
        raise Refused(f"expected a value after {name}", at)
    value = " ".join(value.split())
    if name in _UPPER:
        value = value.upper()
    return value.lower() if name in _FOLDED else value, _skipped(text, at)


def _regex(text: str, at: int) -> tuple[tuple[str, ...], int]:
    found = _REGEX.match(text, at)
    if not found:
        raise Refused("expected a regular expression between slashes: text~/[0-9]+/", at)
    expression = found[1].replace(r"\/", "/")
    if problem := explosive(expression):
        raise Refused(f"a regular expression here {problem}", at)
    return (expression,), _skipped(text, found.end())


def _skipped(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


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


def parse_macro(text: str, macros: Mapping[str, Macro], words: Words = lower_words) -> Macro:
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
