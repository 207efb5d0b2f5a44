"""Apply the phases of a domain in order, each to the phrases of the previous one.

A phase takes the longest match of its rules, then the one of higher priority, then the earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Protocol

from partita.core.templates import Region
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
from partita.rules.domain import Phase, Rule, RuleSet
from partita.rules.phrases import (
    Meaning,
    Multiword,
    Phrase,
    RuleLexicon,
    SharedPhrase,
    combine_meanings,
)
from partita.rules.syntax import count_ways, first_atoms, reverse
from partita.text.assertions import Statuses


def letter_case(text: str) -> str:
    """Return the shape of a word: lower, upper, capital, mixed, digits, alnum or punct."""
    if text.islower():
        return "lower" if not _has_digit(text) else "alnum"
    if text.isupper():
        return "upper" if not _has_digit(text) else "alnum"
    if _has_digit(text):
        return "digits" if not any(map(str.isalpha, text)) else "alnum"
    if not any(map(str.isalnum, text)):
        return "punct"
    return "capital" if text[0].isupper() and text[1:].islower() else "mixed"


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


@dataclass(frozen=True, slots=True)
class Setting:
    """The properties that words take from their region and sentence."""

    region: str
    column: str
    cased: bool


class Words(dict[tuple[str, str], SharedPhrase]):
    """The words of one setting by text and tag, described on first use."""

    def __init__(self, setting: Setting, lexicon: RuleLexicon, coded: Encode) -> None:
        super().__init__()
        self.setting, self.lexicon, self.coded = setting, lexicon, coded

    def __missing__(self, key: tuple[str, str]) -> SharedPhrase:
        text, tag = key
        word = text.lower()
        tag = self.lexicon.tag(word, tag)
        meanings = self.lexicon.meanings(word, tag)
        lemma = meanings[0].lemma if meanings else word
        # a listed noun such as "guarded" is its own lemma
        if lemma == word and not (meanings and tag.startswith("N")):
            lemma = self.lexicon.forms.lemma(word, tag)
        attributes = self.described(text, word, lemma, tag, meanings)
        longer = self.lexicon.longer.get(word)
        self[key] = described = SharedPhrase(attributes, self.coded(attributes), longer=longer)
        return described

    def described(
        self, text: str, word: str, lemma: str, tag: str, meanings: Sequence[Meaning]
    ) -> dict[str, Any]:
        """Return the attributes of a word or multiword."""
        attributes: dict[str, Any] = {
            "kind": "word",
            "text": text,
            "word": word,
            "lemma": lemma,
            "tag": tag,
            "shape": letter_case(text),
            "region": self.setting.region,
            "cased": self.setting.cased,
        }
        if self.setting.column:
            attributes["column"] = self.setting.column
        if meanings:
            attributes["known"] = True
            types, says = combine_meanings(meanings)
            attributes.update({"sort": types} if types else {})
            attributes.update({"says": says} if says else {})
        return attributes


@dataclass(slots=True)
class Vocabulary:
    """All words that a cascade has processed, by setting."""

    lexicon: RuleLexicon
    coded: Encode
    settings: dict[Setting, Words] = field(default_factory=dict)
    multiwords: dict[tuple[Any, ...], SharedPhrase] = field(default_factory=dict)

    def words(self, region: str, column: str, cased: bool) -> Words:
        setting = Setting(region, column.lower(), cased)
        if setting not in self.settings:
            self.settings[setting] = Words(setting, self.lexicon, self.coded)
        return self.settings[setting]

    @property
    def size(self) -> int:
        return sum(map(len, self.settings.values())) + len(self.multiwords)

    def clear(self) -> None:
        self.settings.clear()
        self.multiwords.clear()

    def joined(
        self, items: list[SharedPhrase], pieces: Sequence[str], begin: int
    ) -> tuple[list[SharedPhrase], list[int]]:
        """Return the words of a sentence, the longest multiwords joined, and their first tokens."""
        joined: list[SharedPhrase] = []
        starts: list[int] = []
        n = 0
        while n < len(items):
            multiword = self._longest(items, n)
            end = n + 1 + (len(multiword.rest) if multiword else 0)
            text = "".join(pieces[n:end]).rstrip() if multiword else ""
            joined.append(self._multiword(multiword, items[n:end], text) if multiword else items[n])
            starts.append(begin + n)
            n = end
        return joined, starts

    def _longest(self, items: list[SharedPhrase], n: int) -> Multiword | None:
        word, following = items[n], items[n + 1 : n + 2]
        if word.longer is None or not following:
            return None
        for longer in word.longer.get(following[0].attributes["word"], ()):
            rest = items[n + 1 : n + 1 + len(longer.rest)]
            if tuple([item.attributes["word"] for item in rest]) == longer.rest:
                return longer
        return None

    def _multiword(self, longer: Multiword, parts: list[SharedPhrase], text: str) -> SharedPhrase:
        """Return a multiword; its tag is that of its head, if the lexicon allows it."""
        setting = _setting(parts[0])
        tag = _tag(longer, parts)
        key = (id(longer), text, tag, setting)
        if key not in self.multiwords:
            words = Words(setting, self.lexicon, self.coded)
            lemma = longer.meanings[0].lemma
            attributes = words.described(text, text.lower(), lemma, tag, longer.meanings)
            offsets = tuple(range(len(parts)))
            self.multiwords[key] = SharedPhrase(
                attributes, self.coded(attributes), "", tuple(parts), offsets
            )
        return self.multiwords[key]


def _setting(word: SharedPhrase) -> Setting:
    attributes = word.attributes
    return Setting(attributes["region"], attributes.get("column", ""), attributes["cased"])


def _tag(longer: Multiword, parts: list[SharedPhrase]) -> str:
    meaning = longer.meanings[0]
    head = parts[0] if meaning.tag.startswith("V") else parts[-1]
    tag = str(head.attributes["tag"])
    return tag if not meaning.tag or tag in meaning.tags else meaning.tag


CACHE_SIZE = 400_000  # words and phrases, over all messages


class TokenColumns(Protocol):
    """The tokens of a message as columns."""

    @property
    def texts(self) -> Sequence[str]: ...
    @property
    def starts(self) -> Sequence[int]: ...
    @property
    def ends(self) -> Sequence[int]: ...
    @property
    def region(self) -> Sequence[int]: ...
    @property
    def ends_of_sentences(self) -> Sequence[int]: ...


@dataclass(frozen=True, slots=True, eq=False)
class CascadeStep:
    """The input and output of a phase, for observers.

    `made` holds the phrase of each match in a phase with a cursor, `said` the contributions of a
    phase that starts everywhere, each with the start of its match. `pieces` are the texts of the
    tokens, `statuses` what the words deny, hold possible or report.
    """

    stage: Stage
    items: list[SharedPhrase]
    characters: str
    matches: Matches
    pieces: list[str]
    made: tuple[SharedPhrase, ...] = ()
    said: tuple[tuple[Contribution, int], ...] = ()
    statuses: Statuses | None = None


Observer = Callable[[CascadeStep], None]


@dataclass(frozen=True, eq=False)
class Analysis:
    """The final phrases, the contributions, and the phases that exceeded their budget."""

    items: list[SharedPhrase]
    starts: list[int]
    contributions: tuple[Contribution, ...]
    unfinished: tuple[str, ...] = ()
    statuses: Statuses | None = None  # of the tokens, in domains with assertions

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """Return the phrases after the last phase that builds phrases, in text order."""
        return tuple(
            item.phrase(first, after - 1)
            for item, first, after in zip(self.items, self.starts, self.starts[1:], strict=False)
            if item.attributes
        )


class Cascade:
    """The compiled rules of a domain."""

    def __init__(self, domain: RuleSet) -> None:
        self.domain = domain
        self.tests = Tests(domain.types.below)
        self.stages = [Stage.of(phase, n, self.tests) for n, phase in enumerate(domain.phases)]
        lexicon = RuleLexicon.of(domain.entries, domain.verbs, domain.retags)
        self.vocabulary = Vocabulary(lexicon, self._coded)
        self.separator = SharedPhrase({}, [SEPARATOR] * len(self.stages))
        self.codes: dict[int, list[str]] = {}

    def run(
        self,
        tokens: TokenColumns,
        tags: Sequence[str],
        regions: Sequence[Region],
        observer: Observer | None = None,
    ) -> Analysis:
        """Apply all phases to one message."""
        self._trim_caches()
        pieces = _pieces(tokens)
        items, starts = self._words(tokens, tags, regions, pieces)
        contributions: list[Contribution] = []
        unfinished, statuses = [], None
        if self.domain.assertions:
            statuses = Statuses.of(tokens.texts, tags, tokens.ends_of_sentences)
        for stage in self.stages:
            scene = stage.scene(items, starts, pieces)
            matches = stage.match(scene)
            if stage.phase.starts == "cursor":
                phrases, statements = stage.build(matches, scene, self._coded), []
                items, starts = replace_matches(matches, scene, phrases)
            else:
                phrases, statements = [], stage.contribute(matches, scene)
                contributions += [contribution for contribution, _ in statements]
            if observer is not None:
                given = (stage, scene.items, scene.characters, matches, pieces)
                observer(CascadeStep(*given, tuple(phrases), tuple(statements), statuses))
            if not matches.complete:
                unfinished.append(stage.phase.name)
        return Analysis(items, starts, tuple(contributions), tuple(unfinished), statuses)

    def _trim_caches(self) -> None:
        """Clear the caches between messages once they are too large."""
        sizes = [
            self.vocabulary.size,
            len(self.codes),
            *(len(stage.cache) for stage in self.stages),
        ]
        if sum(sizes) > CACHE_SIZE:
            self.vocabulary.clear()
            self.codes.clear()
            for stage in self.stages:
                stage.cache.clear()

    def _coded(self, attributes: Mapping[str, Any]) -> list[str]:
        """Return the character of a phrase in each phase, given by the tests that it passes."""
        mask = self.tests.mask(attributes)
        if (characters := self.codes.get(mask)) is None:
            characters = self.codes[mask] = [
                stage.alphabet.character(mask) for stage in self.stages
            ]
        return characters

    def _words(
        self,
        tokens: TokenColumns,
        tags: Sequence[str],
        regions: Sequence[Region],
        pieces: list[str],
    ) -> tuple[list[SharedPhrase], list[int]]:
        """Return the words of the message, multiwords joined, a separator after each sentence."""
        items: list[SharedPhrase] = []
        starts: list[int] = []
        begin = 0
        for end in tokens.ends_of_sentences:
            if end == begin:
                continue
            texts = tokens.texts[begin:end]
            region = regions[tokens.region[begin]]
            vocabulary = self.vocabulary.words(
                region.kind, region.column_name, not "".join(texts).isupper()
            )
            words = list(map(vocabulary.__getitem__, zip(texts, tags[begin:end], strict=True)))
            places: Sequence[int] = range(begin, end)
            if any(map(_begins_multiword, words)):
                words, places = self.vocabulary.joined(words, pieces[begin:end], begin)
            items += words
            starts += places
            items.append(self.separator)
            starts.append(end)
            begin = end
        return items, starts


_begins_multiword = attrgetter("longer")


def _pieces(tokens: TokenColumns) -> list[str]:
    """Return the tokens, each followed by a space if white space follows it."""
    pieces = [
        f"{text} " if end < start else text
        for text, end, start in zip(tokens.texts, tokens.ends, tokens.starts[1:], strict=False)
    ]
    return [*pieces, *tokens.texts[-1:]]


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
