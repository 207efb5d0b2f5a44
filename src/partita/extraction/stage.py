"""A phase made ready: its rules over one alphabet, and what each of them does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.extraction.alphabet import Alphabet
from partita.extraction.ambiguity import firsts, ways
from partita.extraction.building import Builder, Scene
from partita.extraction.compiling import Matcher
from partita.extraction.contributions import Contribution, Contributor
from partita.extraction.domain import Phase, Rule
from partita.extraction.matching import Candidate, Found, Matching
from partita.extraction.phrases import Described
from partita.extraction.syntax import reversed_
from partita.extraction.tests import Tests

Coded = Callable[[Mapping[str, Any]], list[str]]
Sequence = tuple[list[Described], list[int]]  # phrases, and the first token of each


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


def replaced(found: Found, scene: Scene, made: list[Described]) -> Sequence:
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
