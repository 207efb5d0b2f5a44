"""Compile patterns to regular expressions over the alphabet of a phase.

Evaluate attribute tests as bit sets, and map phrases to the alphabet of a phase.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import Any

from partita.errors import TooLarge
from partita.rules.phrases import has_value
from partita.rules.syntax import (
    LONGEST_VALUE,
    Atom,
    LabelledPattern,
    Node,
    PatternChoice,
    PatternRow,
    Repeat,
    Test,
    atoms,
    deterministic,
    first_atoms,
    labels,
    longest,
    nullable,
    single_phrase,
)

CACHE_SIZE = 50_000  # values per attribute

Descendants = Mapping[str, frozenset[str]]
Fits = Callable[[str], Any]


def compared_text(value: object) -> str:
    """Return a value as text, as tests compare it."""
    if value is True or value is False:
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _members(value: Any) -> tuple[str, ...]:
    return tuple(map(compared_text, value)) if isinstance(value, tuple) else (compared_text(value),)


def _accepted_values(test: Test, below: Descendants) -> frozenset[str]:
    values = frozenset(test.values)
    if test.attribute == "sort":
        return values.union(*(below.get(value, frozenset()) for value in values))
    return values


def _comparison(test: Test) -> Callable[[str], bool]:
    bound, less = float(test.values[0]), test.operator == "<"

    def holds(value: str) -> bool:
        number = _number(value)
        return number is not None and (number < bound if less else number > bound)

    return holds


def _number(value: str) -> float | None:
    try:
        return float(value) if len(value) <= LONGEST_VALUE else None
    except ValueError:
        return None


class AttributeTests(dict[Any, int]):
    """All tests of one attribute: the bits that each value flips, cached.

    Texts are their own keys; True, 1 and 1.0 are equal, so their class is part of the key.
    """

    def __init__(self) -> None:
        super().__init__()
        self.present = self.absent = self.unequal = 0  # tests: attr, !attr, attr!=…
        self.equal: dict[str, int] = {}  # bits of attr=… and attr!=… by value
        self.others: list[tuple[int, Callable[[str], bool]]] = []  # attr<n, attr>n
        self.regexes: dict[int, str] = {}  # attr~/…/

    def add(self, bit: int, test: Test, below: Descendants) -> None:
        self.clear()
        if test.operator in ("=", "!="):
            for value in _accepted_values(test, below):
                self.equal[value] = self.equal.get(value, 0) | bit
            self.unequal |= bit if test.operator == "!=" else 0
        elif test.operator == "has":
            self.present |= bit
        elif test.operator == "not":
            self.absent |= bit
        elif test.operator == "~":
            self.regexes[bit] = test.values[0]
            vars(self).pop("fitting", None)
        else:
            self.others.append((bit, _comparison(test)))

    def flipped(self, value: Any) -> int:
        """Return the bits of a value that is not a text."""
        if isinstance(value, tuple):
            return self[tuple(map(compared_text, value))]
        return self[value.__class__, value] if value.__hash__ else self._bits(value)

    def __missing__(self, key: Any) -> int:
        if len(self) >= CACHE_SIZE:
            self.clear()
        plain = isinstance(key, str) or not key or isinstance(key[0], str)
        self[key] = bits = self._bits(key if plain else key[1])
        return bits

    def _bits(self, value: Any) -> int:
        bits = (self.present | self.absent) if has_value(value) else 0
        equal = 0
        for member in _members(value):
            equal |= self.equal.get(member, 0)
            for bit, holds in self.others:
                bits |= bit if holds(member) else 0
            if self.regexes and len(member) <= LONGEST_VALUE:
                bits |= self._matching(member)
        return bits | (equal ^ self.unequal)

    def _matching(self, member: str) -> int:
        """Return the bits of the regular expressions that match; one of all rejects most texts."""
        some, each = self.fitting
        return sum(bit for bit, fits in each if fits(member)) if some(member) else 0

    @cached_property
    def fitting(self) -> tuple[Fits, list[tuple[int, Fits]]]:
        """All regular expressions as one, and each of them."""
        some = re.compile("|".join(f"(?:{written})" for written in self.regexes.values()))
        each: list[tuple[int, Fits]] = [
            (bit, re.compile(written).fullmatch) for bit, written in self.regexes.items()
        ]
        return some.fullmatch, each


@dataclass(slots=True)
class Tests:
    """Every distinct test of all phases, one bit each.

    A mask has the bits of all passed tests.
    """

    __test__ = False

    below: Descendants
    bits: dict[Test, int] = field(default_factory=dict)
    columns: dict[str, AttributeTests] = field(default_factory=dict)
    absent: int = 0

    def needed(self, tests: Iterable[Test]) -> int:
        """Return the bits of all tests of an atom."""
        bits = 0
        for test in tests:
            if test not in self.bits:
                self._add(test)
            bits |= self.bits[test]
        return bits

    def mask(self, attributes: Mapping[str, Any]) -> int:
        """Return the bits of the tests that a phrase passes."""
        mask, columns = self.absent, self.columns
        for name, value in attributes.items():
            if name in columns:
                column = columns[name]
                mask ^= column[value] if value.__class__ is str else column.flipped(value)
        return mask

    def _add(self, test: Test) -> None:
        bit = self.bits[test] = 1 << len(self.bits)
        column = self.columns.setdefault(test.attribute, AttributeTests())
        column.add(bit, test, self.below)
        if test.operator == "not":
            self.absent |= bit


SEPARATOR = "\0"  # between sentences and regions
ANY = "[^\\x00]"
LARGEST = 50_000  # characters

# One-byte characters without special meaning in a character class; others follow.
_PLAIN = [chr(code) for code in range(1, 256) if not 32 <= code < 127 or chr(code).isalnum()]


@dataclass(slots=True)
class Alphabet:
    """Atoms as bits in the order of addition; `sets` holds the atoms of each character."""

    tests: Tests
    atoms: dict[Atom, int] = field(default_factory=dict)
    needed: list[int] = field(default_factory=list)
    about: int = 0
    by_mask: dict[int, str] = field(default_factory=dict)
    by_set: dict[int, str] = field(default_factory=dict)
    sets: dict[str, int] = field(default_factory=dict)

    def add(self, atom: Atom) -> int:
        """Return the bit of an atom; add all atoms before the first phrase is read."""
        if atom not in self.atoms:
            self.atoms[atom] = 1 << len(self.needed)
            needed = self.tests.needed(atom.tests)
            self.needed.append(needed)
            self.about |= needed
        return self.atoms[atom]

    def character(self, mask: int) -> str:
        """Return the character of a phrase that passes these tests."""
        character = self.by_mask.get(mask & self.about)
        return character if character is not None else self._learn(mask & self.about)

    def _learn(self, mask: int) -> str:
        atoms = sum(1 << n for n, needed in enumerate(self.needed) if mask & needed == needed)
        if atoms not in self.by_set:
            self._grow(atoms)
        self.by_mask[mask] = character = self.by_set[atoms]
        return character

    def _grow(self, atoms: int) -> None:
        if len(self.by_set) >= LARGEST:
            raise TooLarge(
                "the phrases of a phase", f"more than {LARGEST:,} characters", f"{LARGEST:,}"
            )
        count = len(self.by_set)
        character = _PLAIN[count] if count < len(_PLAIN) else chr(256 + count - len(_PLAIN))
        self.by_set[atoms] = character
        self.sets[character] = atoms

    def members(self, atoms: int) -> list[str]:
        """Return the characters of phrases that satisfy one of the atoms."""
        return [character for character, has in self.sets.items() if has & atoms]

    def bits(self, atoms: Iterable[Atom]) -> int:
        bits = 0
        for atom in atoms:
            bits |= self.atoms[atom]
        return bits


def character_class(characters: Sequence[str]) -> str:
    """Return a regular expression for any of the characters; for none, one that never matches."""
    return f"[{''.join(characters)}]" if characters else "(?!)"


Span = tuple[int, int]
Spans = tuple[Span, ...]  # of the whole match, then of its groups


@dataclass(frozen=True, slots=True)
class Rounds:
    """A repeat with labels inside: its group, and the expression of one round."""

    group: int
    body: CompiledPattern


@dataclass(slots=True)
class CompiledPattern:
    """A compiled pattern.

    `groups` holds the groups of each label, `once` those that match only once, `rounds` the
    outermost repeats that contain the label.
    """

    node: Node
    alphabet: Alphabet
    groups: dict[str, list[int]] = field(default_factory=dict)
    once: dict[str, list[int]] = field(default_factory=dict)
    rounds: dict[str, list[Rounds]] = field(default_factory=dict)
    repeated: int = 0
    about: int = 0
    anything: bool = False
    regex: re.Pattern[str] | None = None
    count: int = 0

    def __post_init__(self) -> None:
        for atom in atoms(self.node):
            if atom.tests:
                self.about |= self.alphabet.add(atom)
            else:
                self.anything = True
        self.written()  # the groups do not depend on the alphabet

    def compiled(self) -> re.Pattern[str]:
        """Return the regular expression over all characters so far."""
        if self.regex is None:
            self.regex = re.compile(self.written())
            for repeats in self.rounds.values():
                for repeat in repeats:
                    repeat.body.stale()
        return self.regex

    def written(self) -> str:
        """Return the source of the regular expression."""
        self.count = 0
        return self._written(self.node)

    def stale(self) -> None:
        """Recompile on next use, since the alphabet has new characters that may match."""
        self.regex = None

    def reach(self) -> str:
        """Return a regular expression for all characters that can be part of a match."""
        if self.anything:
            return f"{ANY}*+"
        members = self.alphabet.members(self.about)
        return f"{character_class(members)}*+" if members else ""

    def spans(self, match: Spans, label: str) -> Span | None:
        """Return the span of a label, its last round if repeated, or None if it is empty."""
        groups = self.groups.get(label, ())
        covered = [match[n] for n in groups if match[n][1] > match[n][0] >= 0]
        return max(covered) if covered else None

    def all_spans(self, text: str, spans: Spans, label: str) -> list[Span]:
        """Return all spans of a label, in every round."""
        once = (spans[n] for n in self.once.get(label, ()) if spans[n][1] > spans[n][0] >= 0)
        if label not in self.rounds:
            return list(once)
        return sorted({*once, *self._rounds(text, spans, label)})

    def _rounds(self, text: str, spans: Spans, label: str) -> Iterator[Span]:
        for repeat in self.rounds.get(label, ()):
            start, end = spans[repeat.group]
            for a, b in _rounds_between(repeat.body.compiled(), text, start, end):
                whole = repeat.body.compiled().fullmatch(text, a, b)
                if whole:
                    yield from repeat.body.all_spans(text, whole.regs, label)

    def _written(self, node: Node) -> str:
        if merged := single_phrase(node):
            return self._class(merged)
        if isinstance(node, PatternRow):
            return "".join(map(self._written, node.parts))
        if isinstance(node, PatternChoice):
            return f"(?:{'|'.join(map(self._written, node.branches))})"
        if isinstance(node, Repeat):
            return self._repeated(node)
        assert isinstance(node, LabelledPattern)
        self.count += 1
        if self.count not in (groups := self.groups.setdefault(node.name, [])):
            groups.append(self.count)  # recompiling keeps the groups
            if not self.repeated:
                self.once.setdefault(node.name, []).append(self.count)
        return f"({self._written(node.body)})"

    def _repeated(self, node: Repeat) -> str:
        times = "?" if (node.least, node.most) == (0, 1) else f"{{{node.least},{node.most}}}"
        if node.most == 1 or not (inside := labels(node.body)):
            return f"(?:{self._written(node.body)}){times}"
        self.count += 1
        if not self.repeated:
            self._add_rounds(node, inside)
        self.repeated += 1
        written = f"((?:{self._written(node.body)}){times})"
        self.repeated -= 1
        return written

    def _add_rounds(self, node: Repeat, inside: set[str]) -> None:
        rounds = Rounds(self.count, CompiledPattern(node.body, self.alphabet))
        for label in sorted(inside):
            repeats = self.rounds.setdefault(label, [])
            if all(repeat.group != self.count for repeat in repeats):
                repeats.append(rounds)

    def _class(self, merged: tuple[Atom, ...]) -> str:
        if not all(atom.tests for atom in merged):
            return ANY
        return character_class(self.alphabet.members(self.alphabet.bits(merged)))


def _rounds_between(body: re.Pattern[str], text: str, start: int, end: int) -> list[Span]:
    """Return the rounds of a repeat: matches of the body that cover start to end."""
    failed: set[int] = set()
    tiles: list[Span] = []

    def laid(at: int) -> bool:
        if at == end:
            return True
        for stop in range(end, at, -1):
            if stop not in failed and body.fullmatch(text, at, stop):
                tiles.append((at, stop))
                if laid(stop):
                    return True
                tiles.pop()
        failed.add(at)
        return False

    return tiles if start >= 0 and laid(start) else []


END = 1  # bits of openings, before those of atoms: a match may end here
PHRASE = 2  # any phrase at all


def _opening_bit(atom: Atom, alphabet: Alphabet) -> int:
    return alphabet.atoms[atom] << 2 if atom.tests else PHRASE


def _openings(node: Node, after: int, alphabet: Alphabet) -> set[tuple[int, int]]:
    """Return the first atoms of a match, each with what may come next."""
    if isinstance(node, Atom):
        return {(_opening_bit(node, alphabet), after)}
    if isinstance(node, PatternChoice):
        return set().union(*(_openings(branch, after, alphabet) for branch in node.branches))
    if isinstance(node, LabelledPattern):
        return _openings(node.body, after, alphabet)
    if isinstance(node, Repeat):
        again = _first_bits(node.body, alphabet) if node.most > 1 else 0
        return _openings(node.body, after | again, alphabet)
    openings: set[tuple[int, int]] = set()
    for part in reversed(node.parts):
        opening = _openings(part, after, alphabet)
        openings = openings | opening if nullable(part) else opening
        begins = _first_bits(part, alphabet)
        after = after | begins if nullable(part) else begins
    return openings


def _needed(node: Node, alphabet: Alphabet) -> list[int]:
    """Return sets of atoms; every match has a phrase that satisfies one atom of each set."""
    if merged := single_phrase(node):
        return [alphabet.bits(merged)] if all(atom.tests for atom in merged) else []
    if isinstance(node, PatternRow):
        return [bits for part in node.parts for bits in _needed(part, alphabet)]
    if isinstance(node, PatternChoice):
        branches = [_needed(branch, alphabet) for branch in node.branches]
        most = max(map(len, branches)) if all(branches) else 0
        filled = [branch + branch[-1:] * (most - len(branch)) for branch in branches]
        return [reduce(or_, sets) for sets in zip(*filled, strict=True)] if most else []
    if isinstance(node, Repeat):
        return _needed(node.body, alphabet) if node.least else []
    assert isinstance(node, LabelledPattern)
    return _needed(node.body, alphabet)


def _first_bits(node: Node, alphabet: Alphabet) -> int:
    bits = 0
    for atom in first_atoms(node):
        bits |= _opening_bit(atom, alphabet)
    return bits


@dataclass(slots=True)
class Matcher:
    """The compiled pattern of a rule, with what must follow and precede it."""

    body: CompiledPattern
    before: CompiledPattern | None
    after: CompiledPattern | None  # reversed
    openings: list[tuple[int, int]] = field(default_factory=list)
    needed: list[int] = field(default_factory=list)  # atoms; a match has one of each set
    plain: bool = False  # the first match is the longest
    most: int = 0
    ahead: int = 0  # most phrases examined from the start on, and before it
    behind: int = 0
    about: int = 0  # all atoms
    pending: set[str] = field(default_factory=set)
    regex: re.Pattern[str] | None = None
    reach: re.Pattern[str] | None = None

    @classmethod
    def of(cls, alphabet: Alphabet, body: Node, before: Node | None, after: Node | None) -> Matcher:
        """Return the matcher of a pattern; `after` is given in reverse order."""
        matcher = cls(
            CompiledPattern(body, alphabet),
            CompiledPattern(before, alphabet) if before else None,
            CompiledPattern(after, alphabet) if after else None,
        )
        matcher.openings = sorted(_openings(body, END, alphabet))
        parts = [body, before] if before else [body]
        needed = [bits for part in parts for bits in _needed(part, alphabet)]
        matcher.needed = list(dict.fromkeys(reversed(needed)))  # the openings imply the first ones
        matcher.plain = deterministic(body) and before is None
        matcher.most = longest(body)
        matcher.ahead = matcher.most + (longest(before) if before else 0)
        matcher.behind = longest(after) if after else 0
        for expression in (matcher.body, matcher.before, matcher.after):
            matcher.about |= expression.about if expression else 0
        return matcher

    def viable(self, first: int, second: int) -> bool:
        """Return whether a match may begin with phrases that satisfy these atoms."""
        return any(atom & first and after & second for atom, after in self.openings)

    def learn(self, character: str, atoms: int) -> None:
        """The alphabet has grown: the pattern is compiled again when it meets the character."""
        if atoms & self.about:
            self.pending.add(character)

    def _catch_up(self, text: str, start: int) -> None:
        """Compile again, if what could belong to a match here holds a character not known yet."""
        if not self.pending.isdisjoint(text[max(start - self.behind, 0) : start + self.ahead]):
            self.pending.clear()
            self.regex = None
            for expression in (self.body, self.before, self.after):
                if expression is not None:
                    expression.stale()

    def match(self, text: str) -> re.Pattern[str]:
        """The expression to be tried at a character, what must follow included."""
        if self.regex is None:
            if self.before is not None:
                body, before = self.body.written(), self.before.written()
                self.regex = re.compile(f"{body}(?={before})")
            else:
                self.regex = self.body.compiled()
            self.reach = None if self.plain else re.compile(self.body.reach())
        return self.regex

    def at(self, text: str, start: int, turned: str) -> Spans | None:
        """The longest match that begins here, as the spans of its groups."""
        if self.pending:
            self._catch_up(text, start)
        match = (self.regex or self.match(text)).match(text, start)
        if match is None:
            return None
        if self.after is not None and not self.after.compiled().match(turned, len(text) - start):
            return None
        return match.regs if self.plain else self._longer(text, start, match.regs)

    def _longer(self, text: str, start: int, first: Spans) -> Spans:
        """Return the longest match; Python returns the first, which may be shorter."""
        furthest = self.reach.match(text, start) if self.reach else None
        limit = min(furthest.end() if furthest else len(text), start + self.most)
        for end in range(limit, first[0][1], -1):
            longer = self.body.compiled().fullmatch(text, start, end)
            if longer and (self.before is None or self.before.compiled().match(text, end)):
                return longer.regs
        return first
