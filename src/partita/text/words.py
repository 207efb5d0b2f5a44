"""English words: vectors, clusters, noun senses, derivations and frequencies.

The table is distilled from open data by research/make_words.py; NOTICE names its sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from io import BytesIO

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.parameters import shipped_bytes

SHIPPED = "words.npz"
# WordNet's classes of nouns; the number of each is its place
CLASSES = (
    "", "top", "act", "animal", "artifact", "attribute", "body", "cognition", "communication",
    "event", "feeling", "food", "group", "location", "motive", "object", "person", "phenomenon",
    "plant", "possession", "process", "quantity", "relation", "shape", "state", "substance", "time",
)  # fmt: skip
FIRST_CLASS = 2  # WordNet's number of the class "top", less one


@dataclass(frozen=True, eq=False)
class WordTable:
    """What is known about common words, in lower case, a row for each.

    `vectors` have unit length. `clusters` are numbers of Brown-style clusters, 0 for none.
    `senses` are the first noun senses of a word, -1 for none; `parents` and `classes` give the
    hypernym of a sense (-1 for none) and its class in CLASSES. `derivations` are pairs of words,
    in ascending order, each both ways. `frequencies` are natural logarithms of probabilities.
    """

    words: tuple[str, ...]
    vectors: NDArray[np.float32] = field(repr=False)
    clusters: IntArray = field(repr=False)
    frequencies: NDArray[np.float32] = field(repr=False)
    senses: IntArray = field(repr=False)
    parents: IntArray = field(repr=False)
    classes: IntArray = field(repr=False)
    derivations: IntArray = field(repr=False)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {word: n for n, word in enumerate(self.words)}

    def find(self, word: str) -> int:
        """Return the row of a word in any case, -1 if it is unknown."""
        return self._numbers.get(word.lower(), -1)

    def similarity(self, left: str, right: str) -> float:
        """Return the cosine of two words' vectors, 0 if one is unknown."""
        a, b = self.find(left), self.find(right)
        return float(self.vectors[a] @ self.vectors[b]) if a >= 0 and b >= 0 else 0.0

    def noun_classes(self, word: str) -> tuple[str, ...]:
        """Return the classes of a word's noun senses, that of the commonest sense first."""
        found = self._senses_of(word)
        return tuple(dict.fromkeys(CLASSES[self.classes[sense]] for sense in found))

    def is_hypernym(self, general: str, special: str) -> bool:
        """Return whether a sense of `general` is one of `special` or stands above it."""
        senses = set(self._senses_of(general))
        return any(senses.intersection(self.ancestors(sense)) for sense in self._senses_of(special))

    def ancestors(self, sense: int) -> list[int]:
        """Return a sense and those above it, from the bottom up."""
        chain = []
        while sense >= 0:
            chain.append(sense)
            sense = int(self.parents[sense])
        return chain

    def derived(self, word: str) -> tuple[str, ...]:
        """Return the words that a word is derived from, or that are derived from it."""
        row = self.find(word)
        first, last = np.searchsorted(self.derivations[:, 0], [row, row + 1])
        return tuple(self.words[n] for n in self.derivations[first:last, 1].tolist())

    def _senses_of(self, word: str) -> Sequence[int]:
        row = self.find(word)
        senses: list[int] = self.senses[row].tolist() if row >= 0 else []
        return [sense for sense in senses if sense >= 0]


@cache
def shipped_words() -> WordTable:
    """Return the table of words that comes with the package."""
    data = shipped_bytes(SHIPPED, "table of words")
    with np.load(BytesIO(data), allow_pickle=False) as arrays:
        vectors = arrays["vectors"].astype(np.float32)
        vectors /= np.sqrt((vectors**2).sum(axis=1, keepdims=True))
        return WordTable(
            tuple(bytes(arrays["words"]).decode("utf-8").split("\n")),
            vectors,
            arrays["clusters"].astype(np.int64),
            arrays["frequencies"].astype(np.float32) / np.float32(-10),
            arrays["senses"].astype(np.int64),
            arrays["parents"].astype(np.int64),
            arrays["classes"].astype(np.int64) - FIRST_CLASS,
            arrays["derivations"].astype(np.int64),
        )
