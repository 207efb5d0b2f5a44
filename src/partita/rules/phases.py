"""Match the rules of a phase: longest match, then priority, then order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.rules.ambiguity import firsts, ways
from partita.rules.build import Builder, Contribution, Contributor, Scene
from partita.rules.compile import END, PHRASE, Matcher, Spans
from partita.rules.domain import Phase, Rule
from partita.rules.phrases import Described
from partita.rules.predicates import SEPARATOR, Alphabet, Tests, character_class
from partita.rules.syntax import reversed_

# What a message may cost in a phase, in ways to match (some 30 ns each): beyond, it is left as it
# is. The rules of the shipped domains cost some hundreds a phrase.
WORK_AT_LEAST = 2_000_000
WORK_PER_PHRASE = 10_000
WORK_AT_MOST = 4_000_000_000

Search = Callable[..., re.Match[str] | None]
Match = tuple[int, Spans]  # the rule's place in its phase; the match and its groups


def budget(text: str) -> int:
    """The work that the phrases of a message may cost in a phase."""
    return min(WORK_AT_LEAST + WORK_PER_PHRASE * len(text), WORK_AT_MOST)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A rule in its phase: `number` is its place in the file, `cost` the ways of its pattern."""

    number: int
    matcher: Matcher
    priority: int = 0
    cost: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Matches in the order of the text; not the whole of it, if the work came to an end."""

    matches: list[Match]
    whole: bool


@dataclass(slots=True)
class Matching:
    """All rules of a phase over its alphabet, in the order in which they are preferred."""

    alphabet: Alphabet
    candidates: Sequence[Candidate]
    starting: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    pairs: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    finder: re.Pattern[str] | None = None

    def __post_init__(self) -> None:
        self.candidates = sorted(self.candidates, key=lambda one: (-one.priority, one.number))

    def cursor(self, text: str) -> Found:
        """The best match at the cursor, then the best behind it, and so on."""
        search, turned = self._ready(text)
        pairs, work = self.pairs, budget(text)
        matches: list[Match] = []
        at = search(text)
        while at is not None and work >= 0:
            start = end = at.start()
            best: Match | None = None
            if (tried := pairs.get(text[start : start + 2])) is None:
                tried = self._pair(text[start : start + 2])
            for candidate in tried:
                work -= candidate.cost
                spans = candidate.matcher.at(text, start, turned)
                if spans is not None and spans[0][1] > end:
                    end = spans[0][1]
                    best = (candidate.number, spans)
            if best is None:
                at = search(text, start + 1)
            else:
                matches.append(best)
                at = search(text, end)
        return Found(matches, work >= 0)

    def everywhere(self, text: str) -> Found:
        """Every rule's longest match at every phrase."""
        search, turned = self._ready(text)
        pairs, work = self.pairs, budget(text)
        matches: list[Match] = []
        at = search(text)
        while at is not None and work >= 0:
            start = at.start()
            if (tried := pairs.get(text[start : start + 2])) is None:
                tried = self._pair(text[start : start + 2])
            for candidate in tried:
                work -= candidate.cost
                spans = candidate.matcher.at(text, start, turned)
                if spans is not None:
                    matches.append((candidate.number, spans))
            at = search(text, start + 1)
        return Found(matches, work >= 0)

    def contenders(self, text: str, start: int) -> list[Match]:
        """All rules that match at one place, for whoever wants to know who was beaten."""
        _, turned = self._ready(text)
        some = self.starting.get(text[start], ())
        tried = ((one, one.matcher.at(text, start, turned)) for one in some)
        return [(one.number, spans) for one, spans in tried if spans is not None]

    def _ready(self, text: str) -> tuple[Search, str]:
        """The search for phrases that a rule can begin with, over the alphabet as it is now."""
        if len(self.starting) < len(self.alphabet.sets) or self.finder is None:
            self._grow()
        turned = text[::-1] if any(one.matcher.after for one in self.candidates) else ""
        assert self.finder is not None
        return self.finder.search, turned

    def _grow(self) -> None:
        for character, atoms in self.alphabet.sets.items():
            if character not in self.starting:
                self.starting[character] = self._beginning(character)
                for candidate in self.candidates:
                    candidate.matcher.learn(character, atoms)
        begin = [character for character, some in self.starting.items() if some]
        self.finder = re.compile(character_class(begin))

    def _pair(self, both: str) -> tuple[Candidate, ...]:
        """The rules that can begin with the first of two phrases and go on with the second."""
        first, second = map(self._bits, (both + SEPARATOR)[:2])
        found = tuple(one for one in self.starting[both[0]] if one.matcher.viable(first, second))
        self.pairs[both] = found
        return found

    def _beginning(self, character: str) -> tuple[Candidate, ...]:
        first = self._bits(character)
        return tuple(one for one in self.candidates if one.matcher.viable(first, ~0))

    def _bits(self, character: str) -> int:
        """The atoms of a character as openings have them; any match may end before it."""
        if character == SEPARATOR:
            return END
        return self.alphabet.sets[character] << 2 | PHRASE | END


Coded = Callable[[Mapping[str, Any]], list[str]]
Phrases = tuple[list[Described], list[int]]  # phrases, and the first token of each


@dataclass(slots=True)
class Stage:
    phase: Phase
    number: int
    alphabet: Alphabet
    matching: Matching
    matchers: list[Matcher]
    builders: list[Builder]
    contributors: list[Contributor]
    known: dict[tuple[Any, ...], Described] = field(default_factory=dict)

    @classmethod
    def of(cls, phase: Phase, number: int, tests: Tests) -> Stage:
        alphabet = Alphabet(tests)
        matchers = [_matcher(rule, alphabet) for rule in phase.rules]
        candidates = [
            Candidate(n, matcher, rule.priority, cost(rule))
            for n, (rule, matcher) in enumerate(zip(phase.rules, matchers, strict=True))
        ]
        return cls(
            phase,
            number,
            alphabet,
            Matching(alphabet, candidates),
            matchers,
            [
                Builder.of(rule.name, rule.build, matcher.body)
                for rule, matcher in zip(phase.rules, matchers, strict=True)
                if rule.build
            ],
            [
                Contributor.of(rule, rule.template, n, matchers[n].body)
                for n, rule in enumerate(phase.rules)
                if rule.template
            ],
        )

    def scene(self, items: list[Described], starts: list[int], pieces: list[str]) -> Scene:
        """The phrases as this phase reads them."""
        number = self.number
        characters = "".join([item.characters[number] for item in items])
        return Scene(items, starts, pieces, characters)

    def found(self, scene: Scene) -> Found:
        if self.phase.starts == "cursor":
            return self.matching.cursor(scene.characters)
        return self.matching.everywhere(scene.characters)

    def built(self, found: Found, scene: Scene, coded: Coded) -> list[Described]:
        """The phrase that each match becomes: the same phrases by the same rule are the same."""
        made = []
        known, items = self.known, scene.items
        for number, spans in found.matches:
            start, end = spans[0]
            text = scene.text(spans[0])
            key = (number, text, *items[start:end])
            if (phrase := known.get(key)) is None:
                scene.spans = spans
                phrase = known[key] = self._built(number, text, scene, coded)
            made.append(phrase)
        return made

    def _built(self, number: int, text: str, scene: Scene, coded: Coded) -> Described:
        attributes = self.builders[number].attributes(scene, text)
        start, end = scene.spans[0]
        first = scene.firsts[start]
        offsets = tuple([one - first for one in scene.firsts[start:end]])
        parts = tuple(scene.items[start:end])
        return Described(attributes, coded(attributes), self.builders[number].rule, parts, offsets)

    def said(self, found: Found, scene: Scene) -> list[tuple[Contribution, int]]:
        """What the matches of a domain phase say, with where each begins."""
        said = []
        for number, spans in found.matches:
            scene.spans = spans
            made = self.contributors[number].contribution(scene)
            if made is not None:
                said.append((made, spans[0][0]))
        return said


def replaced(found: Found, scene: Scene, made: list[Described]) -> Phrases:
    """The sequence with every match made one phrase."""
    items, starts = scene.items, scene.firsts
    if not made:
        return items, starts
    kept: list[Described] = []
    begins: list[int] = []
    at = 0
    for (_, spans), phrase in zip(found.matches, made, strict=True):
        start, end = spans[0]
        kept += items[at:start]
        begins += starts[at : start + 1]
        kept.append(phrase)
        at = end
    return kept + items[at:], begins + starts[at:]


def _matcher(rule: Rule, alphabet: Alphabet) -> Matcher:
    after = reversed_(rule.after) if rule.after else None
    return Matcher.of(alphabet, rule.pattern, rule.before, after)


def cost(rule: Rule) -> int:
    """The ways in which a rule could match, with what must follow and precede."""
    before = ways(rule.before) if rule.before else 1
    after = ways(reversed_(rule.after)) if rule.after else 1
    body = ways(rule.pattern, firsts(rule.before) if rule.before else frozenset())
    return body * before * after
