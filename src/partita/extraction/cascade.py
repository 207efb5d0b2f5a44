"""The cascade: phases in order, each over the phrases that the one before has left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, Protocol

from partita.extraction.alphabet import SEPARATOR
from partita.extraction.contributions import Contribution
from partita.extraction.cutting import cut_words
from partita.extraction.domain import Domain
from partita.extraction.lexicon import Cut, Lexicon
from partita.extraction.matching import Found
from partita.extraction.phrases import Described, Phrase
from partita.extraction.stage import Stage, replaced
from partita.extraction.tests import Tests
from partita.extraction.words import Vocabulary
from partita.records.documents import Region

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

    def __init__(self, domain: Domain, cut: Cut = cut_words) -> None:
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
