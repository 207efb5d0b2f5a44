"""Compile patterns to regular expressions over the alphabet of a phase."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from partita.rules.ambiguity import deterministic, firsts
from partita.rules.predicates import ANY, Alphabet, character_class
from partita.rules.syntax import (
    Atom,
    Choice,
    Label,
    Node,
    Repeat,
    Row,
    atoms,
    labels,
    longest,
    nullable,
    single,
)

Span = tuple[int, int]
Spans = tuple[Span, ...]  # of all groups, the whole match first


@dataclass(frozen=True, slots=True)
class Rounds:
    """A repeat with labels inside: its group, and what one round is."""

    group: int
    body: Expression


@dataclass(slots=True)
class Expression:
    """A compiled pattern: the `groups` of each label, those among them that match `once`,
    and the outermost repeats that have the label inside."""

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
        self.written()  # what groups there are does not depend on the alphabet

    def compiled(self) -> re.Pattern[str]:
        """The regular expression over all characters so far."""
        if self.regex is None:
            self.regex = re.compile(self.written())
            for repeats in self.rounds.values():
                for repeat in repeats:
                    repeat.body.stale()
        return self.regex

    def written(self) -> str:
        """The regular expression as text."""
        self.count = 0
        return self._written(self.node)

    def stale(self) -> None:
        """The alphabet has grown by characters that this pattern may match."""
        self.regex = None

    def reach(self) -> str:
        """As a regular expression, what could belong to a match at all."""
        if self.anything:
            return f"{ANY}*+"
        members = self.alphabet.members(self.about)
        return f"{character_class(members)}*+" if members else ""

    def spans(self, found: Spans, label: str) -> Span | None:
        """Where the label stands in a match: its last round; nothing if it covers nothing."""
        groups = self.groups.get(label, ())
        covered = [found[n] for n in groups if found[n][1] > found[n][0] >= 0]
        return max(covered) if covered else None

    def all_spans(self, text: str, found: Spans, label: str) -> list[Span]:
        """Everything that the label covers, in every round."""
        once = (found[n] for n in self.once.get(label, ()) if found[n][1] > found[n][0] >= 0)
        if label not in self.rounds:
            return list(once)
        return sorted({*once, *self._rounds(text, found, label)})

    def _rounds(self, text: str, found: Spans, label: str) -> Iterator[Span]:
        for repeat in self.rounds.get(label, ()):
            start, end = found[repeat.group]
            for a, b in _tiled(repeat.body.compiled(), text, start, end):
                whole = repeat.body.compiled().fullmatch(text, a, b)
                if whole:
                    yield from repeat.body.all_spans(text, whole.regs, label)

    def _written(self, node: Node) -> str:
        if merged := single(node):
            return self._class(merged)
        if isinstance(node, Row):
            return "".join(map(self._written, node.parts))
        if isinstance(node, Choice):
            return f"(?:{'|'.join(map(self._written, node.branches))})"
        if isinstance(node, Repeat):
            return self._repeated(node)
        assert isinstance(node, Label)
        self.count += 1
        if self.count not in (groups := self.groups.setdefault(node.name, [])):
            groups.append(self.count)  # compiled again, it has the same groups
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
        rounds = Rounds(self.count, Expression(node.body, self.alphabet))
        for label in sorted(inside):
            known = self.rounds.setdefault(label, [])
            if all(one.group != self.count for one in known):
                known.append(rounds)

    def _class(self, merged: tuple[Atom, ...]) -> str:
        if not all(atom.tests for atom in merged):
            return ANY
        return character_class(self.alphabet.members(self.alphabet.bits(merged)))


def _tiled(body: re.Pattern[str], text: str, start: int, end: int) -> list[Span]:
    """The rounds of a repeat: a way to lay matches of the body from start to end."""
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


def _bit(atom: Atom, alphabet: Alphabet) -> int:
    return alphabet.atoms[atom] << 2 if atom.tests else PHRASE


def _openings(node: Node, after: int, alphabet: Alphabet) -> set[tuple[int, int]]:
    """The first atoms of a match, each with what may come next."""
    if isinstance(node, Atom):
        return {(_bit(node, alphabet), after)}
    if isinstance(node, Choice):
        return set().union(*(_openings(one, after, alphabet) for one in node.branches))
    if isinstance(node, Label):
        return _openings(node.body, after, alphabet)
    if isinstance(node, Repeat):
        again = _firsts(node.body, alphabet) if node.most > 1 else 0
        return _openings(node.body, after | again, alphabet)
    found: set[tuple[int, int]] = set()
    for part in reversed(node.parts):
        opening = _openings(part, after, alphabet)
        found = found | opening if nullable(part) else opening
        begins = _firsts(part, alphabet)
        after = after | begins if nullable(part) else begins
    return found


def _firsts(node: Node, alphabet: Alphabet) -> int:
    bits = 0
    for atom in firsts(node):
        bits |= _bit(atom, alphabet)
    return bits


@dataclass(slots=True)
class Matcher:
    """A rule's pattern, ready to be tried: itself, what must follow and what must precede."""

    body: Expression
    before: Expression | None
    after: Expression | None  # reversed
    openings: list[tuple[int, int]] = field(default_factory=list)
    plain: bool = False  # the first match found is the longest
    most: int = 0
    ahead: int = 0  # how far a match can look, and how far back
    behind: int = 0
    about: int = 0  # all atoms
    pending: set[str] = field(default_factory=set)
    regex: re.Pattern[str] | None = None
    reach: re.Pattern[str] | None = None

    @classmethod
    def of(cls, alphabet: Alphabet, body: Node, before: Node | None, after: Node | None) -> Matcher:
        """For the pattern `body`; `after` is given in the order of the text turned round."""
        made = cls(
            Expression(body, alphabet),
            Expression(before, alphabet) if before else None,
            Expression(after, alphabet) if after else None,
        )
        made.openings = sorted(_openings(body, END, alphabet))
        made.plain = deterministic(body) and before is None
        made.most = longest(body)
        made.ahead = made.most + (longest(before) if before else 0)
        made.behind = longest(after) if after else 0
        for expression in (made.body, made.before, made.after):
            made.about |= expression.about if expression else 0
        return made

    def viable(self, first: int, second: int) -> bool:
        """Whether a match may begin with phrases that satisfy these atoms."""
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
        found = (self.regex or self.match(text)).match(text, start)
        if found is None:
            return None
        if self.after is not None and not self.after.compiled().match(turned, len(text) - start):
            return None
        return found.regs if self.plain else self._longer(text, start, found.regs)

    def _longer(self, text: str, start: int, found: Spans) -> Spans:
        """Python takes the first match; where that need not be the longest, look further."""
        furthest = self.reach.match(text, start) if self.reach else None
        limit = min(furthest.end() if furthest else len(text), start + self.most)
        for end in range(limit, found[0][1], -1):
            longer = self.body.compiled().fullmatch(text, start, end)
            if longer and (self.before is None or self.before.compiled().match(text, end)):
                return longer.regs
        return found
