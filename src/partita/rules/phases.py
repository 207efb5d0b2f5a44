"""Match the rules of a phase: longest match, then priority, then order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.rules.build import Builder, Contribution, Contributor, MatchContext
from partita.rules.compile import (
    END,
    PHRASE,
    SEPARATOR,
    Alphabet,
    Matcher,
    Spans,
    Tests,
    character_class,
)
from partita.rules.domain import Phase, Rule
from partita.rules.phrases import SharedPhrase
from partita.rules.syntax import count_ways, first_atoms, reverse

# The budget of a message in a phase, in ways to match (about 30 ns each); beyond it, a phase stops.
# The rules of the shipped domains cost some hundreds per phrase.
WORK_AT_LEAST = 2_000_000
WORK_PER_PHRASE = 10_000
WORK_AT_MOST = 4_000_000_000

Search = Callable[..., re.Match[str] | None]
Match = tuple[int, Spans]  # index of the rule in its phase; spans of the match and its groups


def budget(text: str) -> int:
    """Return the work that a message may cost in a phase."""
    return min(WORK_AT_LEAST + WORK_PER_PHRASE * len(text), WORK_AT_MOST)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A rule in its phase: its index in the file, its matcher, and the cost of trying it."""

    number: int
    matcher: Matcher
    priority: int = 0
    cost: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """Matches in text order; incomplete if the budget was used up."""

    matches: list[Match]
    complete: bool


@dataclass(slots=True)
class PhaseMatching:
    """All rules of a phase over its alphabet, in order of preference."""

    alphabet: Alphabet
    candidates: Sequence[Candidate]
    starting: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    pairs: dict[str, tuple[Candidate, ...]] = field(default_factory=dict)
    finder: re.Pattern[str] | None = None
    looks_back: bool = False

    def __post_init__(self) -> None:
        self.candidates = sorted(self.candidates, key=lambda one: (-one.priority, one.number))
        self.looks_back = any(candidate.matcher.after for candidate in self.candidates)

    def cursor(self, text: str) -> Matches:
        """Return the best match at the cursor, then the best after it, and so on."""
        search, backwards = self._ready(text)
        pairs, work = self.pairs, budget(text)
        matches: list[Match] = []
        at = search(text)
        while at is not None and work >= 0:
            start = end = at.start()
            best: Match | None = None
            if (candidates := pairs.get(text[start : start + 2])) is None:
                candidates = self._pair(text[start : start + 2])
            for candidate in candidates:
                work -= candidate.cost
                if candidate.matcher.most <= end - start:
                    continue  # no longer than what was found
                spans = candidate.matcher.at(text, start, backwards)
                if spans is not None and spans[0][1] > end:
                    end = spans[0][1]
                    best = (candidate.number, spans)
            if best is None:
                at = search(text, start + 1)
            else:
                matches.append(best)
                at = search(text, end)
        return Matches(matches, work >= 0)

    def everywhere(self, text: str) -> Matches:
        """Return the longest match of every rule at every phrase."""
        search, backwards = self._ready(text)
        pairs, work = self.pairs, budget(text)
        present = self._present(text)
        matches: list[Match] = []
        at = search(text)
        while at is not None and work >= 0:
            start = at.start()
            ahead = present[start]
            if (candidates := pairs.get(text[start : start + 2])) is None:
                candidates = self._pair(text[start : start + 2])
            for candidate in candidates:
                work -= candidate.cost
                for atoms in candidate.matcher.needed:
                    if not atoms & ahead:
                        break
                else:
                    spans = candidate.matcher.at(text, start, backwards)
                    if spans is not None:
                        matches.append((candidate.number, spans))
            at = search(text, start + 1)
        return Matches(matches, work >= 0)

    def _present(self, text: str) -> list[int]:
        """Return the atoms of all phrases from each one to the end of its sentence."""
        sets, atoms = self.alphabet.sets, 0
        present = []
        for character in reversed(text):
            atoms = 0 if character == SEPARATOR else atoms | sets[character]
            present.append(atoms)
        present.reverse()
        return present

    def contenders(self, text: str, start: int) -> list[Match]:
        """Return all rules that match at one position."""
        _, backwards = self._ready(text)
        candidates = self.starting.get(text[start], ())
        attempts = (
            (candidate, candidate.matcher.at(text, start, backwards)) for candidate in candidates
        )
        return [(candidate.number, spans) for candidate, spans in attempts if spans is not None]

    def _ready(self, text: str) -> tuple[Search, str]:
        """Return the search for phrases that can begin a rule, over the current alphabet."""
        if len(self.starting) < len(self.alphabet.sets) or self.finder is None:
            self._grow()
        assert self.finder is not None
        return self.finder.search, text[::-1] if self.looks_back else ""

    def _grow(self) -> None:
        for character, atoms in self.alphabet.sets.items():
            if character not in self.starting:
                self.starting[character] = self._beginning(character)
                for candidate in self.candidates:
                    candidate.matcher.learn(character, atoms)
        begin = [character for character, candidates in self.starting.items() if candidates]
        self.finder = re.compile(character_class(begin))

    def _pair(self, pair: str) -> tuple[Candidate, ...]:
        """Return the rules that can begin with these two phrases."""
        first, second = map(self._bits, (pair + SEPARATOR)[:2])
        candidates = tuple(
            candidate
            for candidate in self.starting[pair[0]]
            if candidate.matcher.viable(first, second)
        )
        self.pairs[pair] = candidates
        return candidates

    def _beginning(self, character: str) -> tuple[Candidate, ...]:
        first = self._bits(character)
        return tuple(
            candidate for candidate in self.candidates if candidate.matcher.viable(first, ~0)
        )

    def _bits(self, character: str) -> int:
        """Return the atoms of a character in the bits of openings."""
        if character == SEPARATOR:
            return END
        return self.alphabet.sets[character] << 2 | PHRASE | END


Encode = Callable[[Mapping[str, Any]], list[str]]
Phrases = tuple[list[SharedPhrase], list[int]]  # phrases, and the first token of each


@dataclass(slots=True)
class Stage:
    phase: Phase
    number: int
    alphabet: Alphabet
    matching: PhaseMatching
    matchers: list[Matcher]
    builders: list[Builder]
    contributors: list[Contributor]
    cache: dict[tuple[Any, ...], SharedPhrase] = field(default_factory=dict)

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
            PhaseMatching(alphabet, candidates),
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

    def scene(
        self, items: list[SharedPhrase], starts: list[int], pieces: list[str]
    ) -> MatchContext:
        """Return the phrases as this phase reads them."""
        number = self.number
        characters = "".join([item.characters[number] for item in items])
        return MatchContext(items, starts, pieces, characters)

    def match(self, scene: MatchContext) -> Matches:
        if self.phase.starts == "cursor":
            return self.matching.cursor(scene.characters)
        return self.matching.everywhere(scene.characters)

    def build(self, matches: Matches, scene: MatchContext, coded: Encode) -> list[SharedPhrase]:
        """Return the phrase of each match; equal matches of a rule share one phrase."""
        phrases = []
        cache, items = self.cache, scene.items
        for number, spans in matches.matches:
            start, end = spans[0]
            text = scene.text(spans[0])
            key = (number, text, *items[start:end])
            if (phrase := cache.get(key)) is None:
                scene.spans = spans
                phrase = cache[key] = self._build(number, text, scene, coded)
            phrases.append(phrase)
        return phrases

    def _build(self, number: int, text: str, scene: MatchContext, coded: Encode) -> SharedPhrase:
        attributes = self.builders[number].attributes(scene, text)
        start, end = scene.spans[0]
        first = scene.firsts[start]
        offsets = tuple([token - first for token in scene.firsts[start:end]])
        parts = tuple(scene.items[start:end])
        return SharedPhrase(
            attributes, coded(attributes), self.builders[number].rule, parts, offsets
        )

    def contribute(self, matches: Matches, scene: MatchContext) -> list[tuple[Contribution, int]]:
        """Return the contributions of the matches of a domain phase, with their starts."""
        contributions = []
        for number, spans in matches.matches:
            scene.spans = spans
            contribution = self.contributors[number].contribution(scene)
            if contribution is not None:
                contributions.append((contribution, spans[0][0]))
        return contributions


def replace_matches(matches: Matches, scene: MatchContext, phrases: list[SharedPhrase]) -> Phrases:
    """Return the sequence with every match replaced by its phrase."""
    items, starts = scene.items, scene.firsts
    if not phrases:
        return items, starts
    sequence: list[SharedPhrase] = []
    begins: list[int] = []
    at = 0
    for (_, spans), phrase in zip(matches.matches, phrases, strict=True):
        start, end = spans[0]
        sequence += items[at:start]
        begins += starts[at : start + 1]
        sequence.append(phrase)
        at = end
    return sequence + items[at:], begins + starts[at:]


def _matcher(rule: Rule, alphabet: Alphabet) -> Matcher:
    after = reverse(rule.after) if rule.after else None
    return Matcher.of(alphabet, rule.pattern, rule.before, after)


def cost(rule: Rule) -> int:
    """Return the number of ways in which a rule could match, its context included."""
    before = count_ways(rule.before) if rule.before else 1
    after = count_ways(reverse(rule.after)) if rule.after else 1
    body = count_ways(rule.pattern, first_atoms(rule.before) if rule.before else frozenset())
    return body * before * after
