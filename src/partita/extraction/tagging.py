"""Part-of-speech tags for words: the greatest sum of learned feature weights, left to right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from partita.extraction.tagging_features import Templates, templates
from partita.extraction.tagging_words import Forms, Lexicon
from partita.records import IntArray

TAGS = 64  # how many tags a tagger may have
PADDING = 64  # weights after the last place of the table


@dataclass(frozen=True, slots=True, eq=False)
class Tagger:
    """Learned weights, the lexicon, and what they were learned from."""

    tags: tuple[str, ...]
    table: NDArray[np.int8]
    lexicon: Lexicon
    learned_from: str = ""
    sha256: str = ""
    seed: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    forms: Forms = field(init=False, repr=False)
    templates: Templates = field(init=False, repr=False)

    def __post_init__(self) -> None:
        places = len(self.table) - PADDING
        if not 0 < len(self.tags) <= TAGS:
            raise ValueError(f"a tagger has 1 to {TAGS} tags, not {len(self.tags)}")
        if places < 1 or places & (places - 1):
            raise ValueError(f"the table has {places} places; expected a power of two")
        object.__setattr__(self, "forms", Forms(self.lexicon))
        object.__setattr__(self, "templates", templates())

    def tag(self, words: Sequence[str], ends: Sequence[int] | IntArray) -> NDArray[np.uint8]:
        """The number of each word's tag; `ends` has the place after each sentence's last word."""
        from partita.extraction.tagging_kernels import tag_all

        bounds = checked_ends(ends, len(words))
        numbers, rows = self.forms.of(words)
        places, steps = self.templates
        return tag_all(numbers, rows, bounds, places, steps, self.table, len(self.tags))

    def names(self, words: Sequence[str], ends: Sequence[int] | IntArray) -> list[str]:
        """The tags of words by name."""
        return [self.tags[number] for number in self.tag(words, ends).tolist()]


def checked_ends(ends: Sequence[int] | IntArray, words: int) -> IntArray:
    """The ends of sentences as an array: they rise, and the last is the number of words."""
    found = np.asarray(ends, dtype=np.int64)
    if (found[-1] if len(found) else 0) != words or (np.diff(found, prepend=0) < 0).any():
        raise ValueError(f"ends of sentences must rise to the number of words, {words}")
    return found
