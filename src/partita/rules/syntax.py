"""Patterns: their syntax trees, a bound on the ways in which one can match, and their parser."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import NoReturn

from partita.errors import PartitaError
from partita.text.tokens import lower_words

MOST = 50  # most rounds of a repeat, also of * and +


@dataclass(frozen=True, slots=True)
class Test:
    """A test of one attribute; `operator` is one of = != ~ < > has not."""

    __test__ = False  # not collected by pytest

    attribute: str
    operator: str
    values: tuple[str, ...] = ()
    column: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class Atom:
    """One phrase that passes all tests; without tests, any phrase."""

    tests: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class PatternRow:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class PatternChoice:
    branches: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    body: Node
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class LabelledPattern:
    name: str
    body: Node


Node = Atom | PatternRow | PatternChoice | Repeat | LabelledPattern


def children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, PatternRow):
        return node.parts
    if isinstance(node, PatternChoice):
        return node.branches
    return (node.body,) if isinstance(node, Repeat | LabelledPattern) else ()


def walk_pattern(node: Node) -> Iterator[Node]:
    """Yield the node and all nodes below it, in text order."""
    yield node
    for child in children(node):
        yield from walk_pattern(child)


def atoms(node: Node) -> Iterator[Atom]:
    return (child for child in walk_pattern(node) if isinstance(child, Atom))


def labels(node: Node) -> set[str]:
    return {child.name for child in walk_pattern(node) if isinstance(child, LabelledPattern)}


def nullable(node: Node) -> bool:
    """Return whether a node can match the empty sequence."""
    if isinstance(node, Atom):
        return False
    if isinstance(node, Repeat):
        return node.least == 0 or nullable(node.body)
    if isinstance(node, PatternChoice):
        return any(map(nullable, node.branches))
    return all(map(nullable, children(node)))


def longest(node: Node) -> int:
    """Return the most phrases that a node can match."""
    if isinstance(node, Atom):
        return 1
    if isinstance(node, Repeat):
        return node.most * longest(node.body)
    sizes = map(longest, children(node))
    return max(sizes) if isinstance(node, PatternChoice) else sum(sizes)


def single_phrase(node: Node) -> tuple[Atom, ...]:
    """Return the atoms of a node that matches exactly one phrase and has no labels, else ()."""
    if isinstance(node, Atom):
        return (node,)
    if not isinstance(node, PatternChoice):
        return ()
    each = [single_phrase(branch) for branch in node.branches]
    return tuple(atom for group in each for atom in group) if all(each) else ()


def reverse(node: Node) -> Node:
    """Return the node that matches the same phrases in reverse order."""
    if isinstance(node, PatternRow):
        return PatternRow(tuple(reverse(part) for part in reversed(node.parts)))
    if isinstance(node, PatternChoice):
        return PatternChoice(tuple(map(reverse, node.branches)))
    if isinstance(node, Repeat):
        return Repeat(reverse(node.body), node.least, node.most)
    return (
        LabelledPattern(node.name, reverse(node.body))
        if isinstance(node, LabelledPattern)
        else node
    )


MOST_WAYS = 100_000
CAP = 10**9

Firsts = frozenset[Atom]

# Attributes that have a single value in every phrase.
SINGLE_VALUED = frozenset({"kind", "text", "word", "lemma", "tag", "shape", "region", "column"})


def first_atoms(node: Node) -> Firsts:
    """Return the atoms that the first phrase of a match may satisfy."""
    if isinstance(node, Atom):
        return frozenset({node})
    if isinstance(node, PatternRow):
        return _firsts_of_row(node.parts, frozenset())
    return frozenset().union(*map(first_atoms, children(node)))


def count_ways(node: Node, follow: Firsts = frozenset()) -> int:
    """Return an upper bound of the ways to match the same phrases, given what may follow."""
    if isinstance(node, Atom) or single_phrase(node):
        return 1
    if isinstance(node, PatternRow):
        return _row(node, follow)
    if isinstance(node, PatternChoice):
        return _choice(node, follow)
    if isinstance(node, Repeat):
        return _repeat(node, follow)
    return count_ways(node.body, follow)


def _row(node: PatternRow, follow: Firsts) -> int:
    product = 1
    for part in reversed(node.parts):
        product = min(product * count_ways(part, follow), CAP)
        follow = first_atoms(part) | follow if nullable(part) else first_atoms(part)
    return product


def _choice(node: PatternChoice, follow: Firsts) -> int:
    each = [count_ways(branch, follow) for branch in node.branches]
    starts = [first_atoms(b) | follow if nullable(b) else first_atoms(b) for b in node.branches]
    clash = any(may_overlap(a, b) for a, b in combinations(starts, 2))
    return min(sum(each), CAP) if clash else max(each)


def _repeat(node: Repeat, follow: Firsts) -> int:
    again = first_atoms(node.body)
    each = count_ways(node.body, follow | again if node.most > 1 else follow)
    counts = range(node.least if may_overlap(again, follow) else node.most, node.most + 1)
    if each == 1:
        return len(counts)
    return min(sum(min(each, CAP) ** count if count < 30 else CAP for count in counts), CAP)


def _firsts_of_row(parts: tuple[Node, ...], first: Firsts) -> Firsts:
    for part in parts:
        first |= first_atoms(part)
        if not nullable(part):
            break
    return first


def may_overlap(left: Firsts, right: Firsts) -> bool:
    """Return whether some phrase may satisfy an atom of each set."""
    return any(_overlap(a, b) for a in left for b in right)


@lru_cache(maxsize=1 << 16)
def _overlap(left: Atom, right: Atom) -> bool:
    return not any(exclusive(a, b) for a in left.tests for b in right.tests)


def exclusive(a: Test, b: Test) -> bool:
    """Return whether no phrase passes both tests."""
    if a.attribute != b.attribute:
        return False
    both = {a.operator, b.operator}
    if "not" in both:
        values = {*a.values, *b.values}
        return both == {"not", "has"} or (both == {"not", "="} and "false" not in values)
    if a.attribute not in SINGLE_VALUED:
        return False
    if both == {"="}:
        return not set(a.values) & set(b.values)
    if both == {"=", "!="}:
        equal, other = (a, b) if a.operator == "=" else (b, a)
        return set(equal.values) <= set(other.values)
    return False


def repeats_empty(node: Node) -> bool:
    """Return whether a part that can be empty is repeated."""
    if isinstance(node, Repeat) and node.most > 1 and nullable(node.body):
        return True
    return any(map(repeats_empty, children(node)))


def deterministic(node: Node) -> bool:
    """Return whether the first match is the longest: at most one way to go on at every phrase."""
    return count_ways(node) == 1


LONGEST_VALUE = 64  # characters of an attribute in use
_LONGEST = 200  # characters of a regular expression
_STEPS = 300_000

_LITERAL = re.compile(r"\\[^0-9]|\[\^?\]?(?:[^\]\\]|\\.)*\]")
_MARK = re.compile(r"\(\?:|[()|*+?]|\{([0-9]*)(,?)([0-9]*)\}")


def regex_problem(expression: str) -> str:
    """Return the problem of a regular expression, or an empty string."""
    if len(expression) > _LONGEST:
        return f"longer than {_LONGEST} characters"
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError) as error:
        return f"{error}"
    plain = _LITERAL.sub("x", expression)
    if re.search(r"\(\?(?!:)|\\[0-9]", plain):
        return "look-around, named groups, flags and back references are not allowed"
    steps = _steps(plain)
    if steps == 0:
        return "repeats or alternatives inside repeats are not allowed"
    return "" if steps <= _STEPS else "too many repeats and alternatives"


def _steps(plain: str) -> int:
    """Return an upper bound of the ways to match, 0 for repeats inside repeats."""
    brackets = [_Bracket()]
    last = (0, 1)  # where the last bracket ended, and its ways
    for mark in _MARK.finditer(plain):
        if mark[0] in ("(", "(?:"):
            brackets.append(_Bracket())
        elif mark[0] == "|":
            brackets[-1].branches.append(1)
        elif mark[0] == ")":
            last = (mark.end(), brackets.pop().ways)
            brackets[-1].times(last[1])
        else:
            inner = last[1] if last[0] == mark.start() else 1
            if (rounds := _repeat_count(mark)) > 1 and inner > 1 and mark[0] != "?":
                return 0
            brackets[-1].times(rounds)
    return brackets[0].ways


@dataclass(slots=True)
class _Bracket:
    """The number of ways of each branch so far."""

    branches: list[int] = field(default_factory=lambda: [1])

    @property
    def ways(self) -> int:
        return sum(self.branches)

    def times(self, factor: int) -> None:
        self.branches[-1] *= factor


def _repeat_count(mark: re.Match[str]) -> int:
    if mark[0] in "*+?":
        return 2 if mark[0] == "?" else LONGEST_VALUE
    least = int(mark[1] or 0)
    most = int(mark[3] or LONGEST_VALUE) if mark[2] else least
    # each of a fixed number of rounds may still match in several ways
    return max(most - least + 1, min(most, 2))


_ATTRIBUTE = re.compile(r"\s*(!?)\s*([A-Za-z_][A-Za-z0-9_]*)\s*")
_OPERATOR = re.compile(r"(!=|=|~|<|>)\s*")
# a comma counts as a value where one is expected; a backslash escapes any character
_BARE = re.compile(r'(?:,|\\.|[^,|\]"\s\\])(?:\\.|[^,|\]"\\])*')
_UNPARTED = re.compile(r"\s[A-Za-z_]\w*\s*(?:[=~<>]|!=)")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_REGEX = re.compile(r"/((?:[^/\\\n]|\\.)*)/")
_FOLDED = ("word", "lemma", "column")
_UPPER = ("sort",)


class PatternError(PartitaError):
    """An invalid pattern: the problem, and the index of the character, from 0."""

    def __init__(self, problem: str, at: int) -> None:
        self.problem, self.at = problem, at
        super().__init__(problem)


def parse_tests(text: str, at: int) -> tuple[tuple[Test, ...], int]:
    """Return the tests of the bracket that opens here, and where it ends."""
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
                raise PatternError("bracket not closed (expected ']')", start)
            raise PatternError(f"unexpected {mark!r} (expected ',' or ']' after a test)", at - 1)


def parse_quoted(text: str, at: int) -> tuple[str, int]:
    """Return the text in quotation marks, and where they end."""
    end = text.find('"', at + 1)
    if end < 0:
        raise PatternError('quotation mark not closed (expected ")', at)
    return text[at + 1 : end], end + 1


def _test(text: str, at: int) -> tuple[Test, int]:
    attribute = _ATTRIBUTE.match(text, at)
    if not attribute:
        raise PatternError("expected an attribute: [tag=NN], [sort=DEPOT, known], [!cased]", at)
    column, at, name = attribute.start(2), attribute.end(), attribute[2]
    if attribute[1]:
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
            raise PatternError(f"expected a number after {name}{operator}", at)
        return (number[0],), _after_space(text, number.end())
    values = []
    while True:
        value, at = _value(text, at, name)
        values.append(value)
        if text[at : at + 1] != "|":
            return tuple(values), at
        at = _after_space(text, at + 1)


def _value(text: str, at: int, name: str) -> tuple[str, int]:
    if text[at : at + 1] == '"':
        value, at = parse_quoted(text, at)
    elif bare := _BARE.match(text, at):
        if next_test := _UNPARTED.search(bare[0]):
            raise PatternError("a comma is missing between two tests", at + next_test.start() + 1)
        value, at = re.sub(r"\\(.)", r"\1", bare[0]), bare.end()
    else:
        raise PatternError(f"expected a value after {name}", at)
    value = " ".join(value.split())
    if name in _UPPER:
        value = value.upper()
    return value.lower() if name in _FOLDED else value, _after_space(text, at)


def _regex(text: str, at: int) -> tuple[tuple[str, ...], int]:
    match = _REGEX.match(text, at)
    if not match:
        raise PatternError("expected a regular expression between slashes: text~/[0-9]+/", at)
    expression = match[1].replace(r"\/", "/")
    if problem := regex_problem(expression):
        raise PatternError(f"invalid regular expression: {problem}", at)
    return (expression,), _after_space(text, match.end())


def _after_space(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at


LONGEST = 4_000  # characters of a pattern
DEEPEST = 20  # brackets inside each other
LARGEST = 500  # phrases in a pattern, with macros expanded

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_COUNTS = re.compile(r"\{ *([0-9]{1,4}) *(?:(,) *([0-9]{1,4})? *)?\}")
_SPACE = re.compile(r"\s*")
_LABEL = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)\s*:")

Words = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Macro:
    """The pattern of an upper-case name, and the number of phrases in it."""

    node: Node
    size: int


def parse_macro(text: str, macros: Mapping[str, Macro], words: Words = lower_words) -> Macro:
    """Return the parsed pattern with its size."""
    if len(text) > LONGEST:
        raise PatternError(
            f"a pattern has {len(text):,} characters (expected at most {LONGEST:,})", 0
        )
    parser = PatternParser(text, macros, words)
    node = parser.choice(0)
    if parser.at < len(text):
        parser.refuse(f"unexpected {text[parser.at]!r} (expected an item, '|' or the end)")
    return Macro(node, parser.size)


def macro_names(text: str) -> set[str]:
    """Return the upper-case names outside quotation marks and tests: the macros in use."""
    outside = re.sub(r'"[^"]*"|\[[^\]]*\]', " ", text)
    return {name for name in _NAME.findall(outside) if name.isupper()}


@dataclass(slots=True)
class PatternParser:
    text: str
    macros: Mapping[str, Macro]
    words: Words
    at: int = 0
    size: int = 0

    def refuse(self, problem: str) -> NoReturn:
        raise PatternError(problem, self.at)

    def refuse_item(self) -> NoReturn:
        character = repr(self.peek()) if self.peek() else "the end"
        self.refuse(f"unexpected {character} (expected a quoted word, [tests], a name, '.' or '(')")

    def peek(self) -> str:
        """Return the next non-blank character, or an empty string at the end."""
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
        return branches[0] if len(branches) == 1 else PatternChoice(tuple(branches))

    def row(self, depth: int) -> Node:
        parts = []
        while self.peek() not in ("", "|", ")"):
            parts.append(self.item(depth))
        if not parts:
            self.refuse_item()
        return parts[0] if len(parts) == 1 else PatternRow(tuple(parts))

    def item(self, depth: int) -> Node:
        label = _LABEL.match(self.text, self.at)
        if label:
            self.at = label.end()
            self.peek()
        body = self.repeated(self.atom(depth))
        return LabelledPattern(label[1], body) if label else body

    def repeated(self, body: Node) -> Node:
        mark = self.peek()
        if mark and mark in "*+?":
            self.at += 1
            return Repeat(body, int(mark == "+"), 1 if mark == "?" else MOST)
        return self.counted(body) if mark == "{" else body

    def counted(self, body: Node) -> Node:
        match = _COUNTS.match(self.text, self.at)
        if not match:
            self.refuse("expected {m} or {m,n} with integers")
        least = int(match[1])
        most = least if not match[2] else int(match[3] or MOST)
        if not 0 < most <= MOST or least > most:
            self.refuse(f"{match[0]} repeats from {least} to {most} (expected at most {MOST})")
        self.at = match.end()
        return Repeat(body, least, most)

    def atom(self, depth: int) -> Node:
        mark = self.peek()
        if mark == "(":
            return self.bracket(depth)
        if mark == '"':
            return self.quoted()
        if mark == "[":
            tests, self.at = parse_tests(self.text, self.at)
            return self.counted_in(Atom(tests))
        if mark == ".":
            self.at += 1
            return self.counted_in(Atom(()))
        return self.name()

    def counted_in(self, node: Node, size: int = 1) -> Node:
        self.size += size
        if self.size > LARGEST:
            self.refuse(f"a pattern has more than {LARGEST} phrases with its macros expanded")
        return node

    def bracket(self, depth: int) -> Node:
        opened, self.at = self.at, self.at + 1
        inside = self.choice(depth + 1)
        if self.peek() != ")":
            self.at = opened
            self.refuse("bracket not closed (expected ')')")
        self.at += 1
        return inside

    def quoted(self) -> Node:
        """Return words in a row, or the single phrase that the lexicon makes of them."""
        start = self.at
        text, self.at = parse_quoted(self.text, self.at)
        words = self.words(text)
        if not words:
            self.at = start
            self.refuse("no word between the quotation marks")
        row = tuple(_word(word, start) for word in words)
        self.counted_in(row[0], len(row))
        whole = _word(" ".join(text.lower().split()), start)
        return row[0] if len(row) == 1 else PatternChoice((PatternRow(row), whole))

    def name(self) -> Node:
        match = _NAME.match(self.text, self.at)
        if not match:
            self.refuse_item()
        name = match[0]
        if not name.isupper():
            self.at = match.end()
            return self.counted_in(Atom((Test("kind", "=", (name,), match.start()),)))
        if name not in self.macros:
            names = ", ".join(sorted(self.macros)) or "no macro"
            self.refuse(f"unknown macro {name} (expected {names})")
        self.at = match.end()
        macro = self.macros[name]
        return self.counted_in(macro.node, macro.size)


def _word(word: str, column: int) -> Atom:
    return Atom((Test("word", "=", (word,), column),))
