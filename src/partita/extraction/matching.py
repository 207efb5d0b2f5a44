"""Which rules match where: the most phrases, then priority, then order; or all of them.

A cursor goes from match to match; in a phase that starts everywhere each rule is tried at each
phrase. Only rules that a phrase can begin are tried at it, and phrases that begin none are
passed over by one search.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from partita.extraction.alphabet import SEPARATOR, Alphabet, character_class
from partita.extraction.compiling import END, PHRASE, Matcher, Spans

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
