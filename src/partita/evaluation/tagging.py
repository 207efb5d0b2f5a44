"""How often a tagger is right, over all words and over unknown ones, and what it confuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from partita.extraction.tagging import Tagger
from partita.extraction.tagging_words import normal
from partita.learning.tagger_lessons import Tagged


@dataclass(frozen=True, slots=True)
class Tagging:
    """Words and those tagged right; confusions as ((right, given), how often), most often first."""

    words: int
    right: int
    unknown: int
    unknown_right: int
    confusions: tuple[tuple[tuple[str, str], int], ...]

    @property
    def accuracy(self) -> float:
        return self.right / self.words if self.words else 0.0

    @property
    def unknown_accuracy(self) -> float:
        return self.unknown_right / self.unknown if self.unknown else 0.0


def measure_tagging(tagger: Tagger, sentences: Sequence[Tagged]) -> Tagging:
    """The tagger's tags beside the right ones."""
    words = [word for sentence in sentences for word in sentence.words]
    right = [tag for sentence in sentences for tag in sentence.tags]
    found = tagger.names(words, list(accumulate(len(sentence.words) for sentence in sentences)))
    unknown = [normal(word) not in tagger.lexicon for word in words]
    confused = Counter((r, f) for r, f in zip(right, found, strict=True) if r != f)
    hits = [r == f for r, f in zip(right, found, strict=True)]
    return Tagging(
        len(words),
        sum(hits),
        sum(unknown),
        sum(hit and strange for hit, strange in zip(hits, unknown, strict=True)),
        tuple(sorted(confused.items(), key=lambda item: (-item[1], item[0]))),
    )
