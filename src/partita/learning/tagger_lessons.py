"""Tagged sentences as lessons: copies in upper and lower case, and the lexicon of their words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from partita.extraction.tagging_words import NO_TAG, Entry, normal

# The genres of GUM whose texts are free: what shipped parameters may be learned from.
FREE = (
    "academic", "bio", "court", "interview", "news", "speech", "textbook", "vlog", "voyage",
)  # fmt: skip
LISTED = 2  # how often a word must occur to be in the lexicon
CLASSED = 3  # … for its tags to be trusted
CERTAIN = 20  # … for it to be given its tag at once, if it has had …
PURE = 0.998  # … that one in this share of its occurrences
SHARE = 0.02  # of a word's occurrences, for a tag to belong to its class


class Tagged(NamedTuple):
    """The words of a sentence and the tag of each."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def recased(
    sentences: Sequence[Tagged], upper: float, lower: float, rng: np.random.Generator
) -> list[Tagged]:
    """The sentences, and shares of them again in upper and in lower case."""
    chosen = rng.random((2, len(sentences))) < np.array([[upper], [lower]])
    return [
        *sentences,
        *(upper_case(each) for each, taken in zip(sentences, chosen[0], strict=True) if taken),
        *(lower_case(each) for each, taken in zip(sentences, chosen[1], strict=True) if taken),
    ]


def upper_case(sentence: Tagged) -> Tagged:
    return Tagged(tuple(word.upper() for word in sentence.words), sentence.tags)


def lower_case(sentence: Tagged) -> Tagged:
    return Tagged(tuple(word.lower() for word in sentence.words), sentence.tags)


def occurrences(sentences: Iterable[Tagged]) -> dict[str, Counter[str]]:
    """How often each word has each tag, capitals and digits aside."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for words, tags in sentences:
        for word, tag in zip(words, tags, strict=True):
            found[normal(word)][tag] += 1
    return found


def lexicon_of(counted: dict[str, Counter[str]], tags: Sequence[str]) -> dict[str, Entry]:
    """The words that are frequent enough, with the class of their tags."""
    listed = {word: found for word, found in counted.items() if found.total() >= LISTED}
    classes = {word: _class(found) for word, found in listed.items()}
    numbers = {name: n for n, name in enumerate(sorted(set(classes.values()) - {""}), 1)}
    return {
        word: Entry(numbers.get(classes[word], 0), _fixed(listed[word], tags))
        for word in sorted(listed)
    }


def _class(found: Counter[str]) -> str:
    """The tags of a word, the most frequent one first; nothing for rare words."""
    if found.total() < CLASSED:
        return ""
    often = sorted(tag for tag, n in found.items() if n >= SHARE * found.total())
    return " ".join([max(often, key=lambda tag: found[tag]), *often])


def _fixed(found: Counter[str], tags: Sequence[str]) -> int:
    tag, times = min(found.items(), key=lambda item: (-item[1], item[0]))
    certain = found.total() >= CERTAIN and times >= PURE * found.total()
    return tags.index(tag) if certain else NO_TAG
