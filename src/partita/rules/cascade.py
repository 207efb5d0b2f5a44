"""Apply the phases of a domain in order, each to the phrases of the previous one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, Protocol

from partita.records.documents import Region
from partita.rules.build import Contribution
from partita.rules.domain import Domain
from partita.rules.lexicon import Cut, Lexicon, Longer, Meaning, united
from partita.rules.phases import Found, Stage, replaced
from partita.rules.phrases import Described, Phrase
from partita.rules.predicates import SEPARATOR, Tests
from partita.text.tokens import lower_words

Coded = Callable[[Mapping[str, Any]], list[str]]


def shape(text: str) -> str:
    """What a word looks like."""
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
    """What words have from the region and the sentence in which they stand."""

    region: str
    column: str
    cased: bool


class Words(dict[tuple[str, str], Described]):
    """The words of one setting by text and tag, described as they turn up."""

    def __init__(self, setting: Setting, lexicon: Lexicon, coded: Coded) -> None:
        super().__init__()
        self.setting, self.lexicon, self.coded = setting, lexicon, coded

    def __missing__(self, key: tuple[str, str]) -> Described:
        text, tag = key
        word = text.lower()
        meanings = self.lexicon.meanings(word, tag)
        lemma = meanings[0].lemma if meanings else word
        if lemma == word and not (meanings and tag.startswith("N")):  # guarded is listed as it is
            lemma = self.lexicon.forms.lemma(word, tag)
        attributes = self.described(text, word, lemma, tag, meanings)
        longer = self.lexicon.longer.get(word)
        self[key] = made = Described(attributes, self.coded(attributes), longer=longer)
        return made

    def described(
        self, text: str, word: str, lemma: str, tag: str, meanings: Sequence[Meaning]
    ) -> dict[str, Any]:
        """The attributes of a word or multiword."""
        attributes: dict[str, Any] = {
            "kind": "word",
            "text": text,
            "word": word,
            "lemma": lemma,
            "tag": tag,
            "shape": shape(text),
            "region": self.setting.region,
            "cased": self.setting.cased,
        }
        if self.setting.column:
            attributes["column"] = self.setting.column
        if meanings:
            attributes["known"] = True
            sorts, says = united(meanings)
            attributes.update({"sort": sorts} if sorts else {})
            attributes.update({"says": says} if says else {})
        return attributes


@dataclass(slots=True)
class Vocabulary:
    """All words that a cascade has met, by setting."""

    lexicon: Lexicon
    coded: Coded
    settings: dict[Setting, Words] = field(default_factory=dict)
    multiwords: dict[tuple[Any, ...], Described] = field(default_factory=dict)

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
        self, items: list[Described], pieces: Sequence[str], begin: int
    ) -> tuple[list[Described], list[int]]:
        """The words of a sentence, the longest multiwords made one, and their first tokens."""
        made: list[Described] = []
        starts: list[int] = []
        n = 0
        while n < len(items):
            found = self._longest(items, n)
            end = n + 1 + (len(found.rest) if found else 0)
            text = "".join(pieces[n:end]).rstrip() if found else ""
            made.append(self._multiword(found, items[n:end], text) if found else items[n])
            starts.append(begin + n)
            n = end
        return made, starts

    def _longest(self, items: list[Described], n: int) -> Longer | None:
        word, following = items[n], items[n + 1 : n + 2]
        if word.longer is None or not following:
            return None
        for longer in word.longer.get(following[0].attributes["word"], ()):
            after = items[n + 1 : n + 1 + len(longer.rest)]
            if tuple([one.attributes["word"] for one in after]) == longer.rest:
                return longer
        return None

    def _multiword(self, longer: Longer, parts: list[Described], text: str) -> Described:
        """One word of several: its tag is its head's, where the lexicon allows that."""
        setting = _setting(parts[0])
        tag = _tag(longer, parts)
        key = (id(longer), text, tag, setting)
        if key not in self.multiwords:
            words = Words(setting, self.lexicon, self.coded)
            lemma = longer.meanings[0].lemma
            attributes = words.described(text, text.lower(), lemma, tag, longer.meanings)
            offsets = tuple(range(len(parts)))
            self.multiwords[key] = Described(
                attributes, self.coded(attributes), "", tuple(parts), offsets
            )
        return self.multiwords[key]


def _setting(word: Described) -> Setting:
    said = word.attributes
    return Setting(said["region"], said.get("column", ""), said["cased"])


def _tag(longer: Longer, parts: list[Described]) -> str:
    meaning = longer.meanings[0]
    head = parts[0] if meaning.tag.startswith("V") else parts[-1]
    tag = str(head.attributes["tag"])
    return tag if not meaning.tag or tag in meaning.tags else meaning.tag


REMEMBERED = 400_000  # words and phrases, over all messages


class Columns(Protocol):
    """The tokens of a message as the cascade needs them, a column each."""

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
class Step:
    """What a phase saw and did, for whoever watches.

    `made` are the phrases of a phase with a cursor, one a match; `said` the contributions of one
    that starts everywhere, with where the match begins. `pieces` are the tokens' texts.
    """

    stage: Stage
    items: list[Described]
    characters: str
    found: Found
    pieces: list[str]
    made: tuple[Described, ...] = ()
    said: tuple[tuple[Contribution, int], ...] = ()


Observer = Callable[[Step], None]


@dataclass(frozen=True, eq=False)
class Analysis:
    """What came out: the last phrases, the contributions, and the phases that gave up."""

    items: list[Described]
    starts: list[int]
    contributions: tuple[Contribution, ...]
    unfinished: tuple[str, ...] = ()

    @cached_property
    def phrases(self) -> tuple[Phrase, ...]:
        """After the last phase that builds phrases, in the order of the text."""
        return phrases_of(self.items, self.starts)


def phrases_of(items: Sequence[Described], starts: Sequence[int]) -> tuple[Phrase, ...]:
    """The phrases of a sequence, without the marks behind sentences."""
    return tuple(
        item.phrase(first, after - 1)
        for item, first, after in zip(items, starts, starts[1:], strict=False)
        if item.attributes
    )


class Cascade:
    """A domain's rules, ready for messages."""

    def __init__(self, domain: Domain, cut: Cut = lower_words) -> None:
        self.domain = domain
        self.tests = Tests(domain.sorts.below)
        self.stages = [Stage.of(phase, n, self.tests) for n, phase in enumerate(domain.phases)]
        lexicon = Lexicon.of(domain.entries, domain.verbs, cut)
        self.vocabulary = Vocabulary(lexicon, self._coded)
        self.separator = Described({}, [SEPARATOR] * len(self.stages))
        self.codes: dict[int, list[str]] = {}

    def run(
        self,
        tokens: Columns,
        tags: Sequence[str],
        regions: Sequence[Region],
        observer: Observer | None = None,
    ) -> Analysis:
        """All phases over one message."""
        self._tidy()
        pieces = _pieces(tokens)
        items, starts = self._words(tokens, tags, regions, pieces)
        contributions: list[Contribution] = []
        unfinished = []
        for stage in self.stages:
            scene = stage.scene(items, starts, pieces)
            found = stage.found(scene)
            if stage.phase.starts == "cursor":
                made = stage.built(found, scene, self._coded)
                items, starts = replaced(found, scene, made)
                step = Step(stage, scene.items, scene.characters, found, pieces, tuple(made))
            else:
                said = stage.said(found, scene)
                contributions += [one for one, _ in said]
                step = Step(stage, scene.items, scene.characters, found, pieces, (), tuple(said))
            if observer is not None:
                observer(step)
            if not found.whole:
                unfinished.append(stage.phase.name)
        return Analysis(items, starts, tuple(contributions), tuple(unfinished))

    def _tidy(self) -> None:
        """Between messages: forget words and phrases once they have become too many."""
        known = [
            self.vocabulary.size,
            len(self.codes),
            *(len(stage.known) for stage in self.stages),
        ]
        if sum(known) > REMEMBERED:
            self.vocabulary.clear()
            self.codes.clear()
            for stage in self.stages:
                stage.known.clear()

    def _coded(self, attributes: Mapping[str, Any]) -> list[str]:
        """The character of a phrase in each phase; phrases that pass the same tests share them."""
        mask = self.tests.mask(attributes)
        if (known := self.codes.get(mask)) is None:
            known = self.codes[mask] = [stage.alphabet.character(mask) for stage in self.stages]
        return known

    def _words(
        self,
        tokens: Columns,
        tags: Sequence[str],
        regions: Sequence[Region],
        pieces: list[str],
    ) -> tuple[list[Described], list[int]]:
        """The words of the message, multiwords joined, a separator behind each sentence."""
        items: list[Described] = []
        starts: list[int] = []
        begin = 0
        for end in tokens.ends_of_sentences:
            if end == begin:
                continue
            texts = tokens.texts[begin:end]
            region = regions[tokens.region[begin]]
            known = self.vocabulary.words(
                region.kind, region.column_name, not "".join(texts).isupper()
            )
            words = list(map(known.__getitem__, zip(texts, tags[begin:end], strict=True)))
            places: Sequence[int] = range(begin, end)
            if any(map(_begins_longer, words)):
                words, places = self.vocabulary.joined(words, pieces[begin:end], begin)
            items += words
            starts += places
            items.append(self.separator)
            starts.append(end)
            begin = end
        return items, starts


_begins_longer = attrgetter("longer")


def _pieces(tokens: Columns) -> list[str]:
    """The tokens with a space behind each that has white space behind it."""
    pieces = [
        f"{text} " if end < start else text
        for text, end, start in zip(tokens.texts, tokens.ends, tokens.starts[1:], strict=False)
    ]
    return [*pieces, *tokens.texts[-1:]]
