"""A word as a row of numbers: what a tagger may know of it without its neighbours."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from threading import Lock
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from partita.extraction.tagging_features import COLUMN, COLUMNS
from partita.records import IntArray

Rows = NDArray[np.uint32]

NO_TAG = 255
LONGEST = 64  # characters of a word that are looked at, half of them from its end
FEW, MOST = 1 << 12, 1 << 18  # rows at first; rows after which words are forgotten
DIGITS = re.compile(r"\d")
RUNS = re.compile(r"(.)\1{2,}", re.DOTALL)
# The ways of capitals; numbers and single capitals have none.
NEITHER, LOWER, CAPITALISED, UPPER, MIXED = range(5)
UNKNOWN = 1  # the code of every word that is not in the lexicon


class Entry(NamedTuple):
    """What the lexicon says of a word: the class of its tags, and the tag if there is but one."""

    number: int
    fixed: int


Lexicon = Mapping[str, Entry]
NOT_LISTED = Entry(0, NO_TAG)


def normal(word: str) -> str:
    """A word without its capitals and its digits: what the lexicon lists."""
    return DIGITS.sub("0", word.lower())


def row(word: str, lexicon: Lexicon) -> list[int]:
    """The columns of one word."""
    if len(word) > LONGEST:
        word = word[: LONGEST // 2] + word[-LONGEST // 2 :]
    text = normal(word)
    entry = lexicon.get(text)
    known = (UNKNOWN, UNKNOWN) if entry is None else (_code("w", text), _code("f", word))
    number, fixed = entry or NOT_LISTED
    return [
        *known,
        *(_code(f"s{n}", text[-n:] if len(text) > n else f"^{text}") for n in range(1, 6)),
        *(_code(f"p{n}", text[:n]) for n in range(1, 4)),
        _code("x", shape(word)), _code("y", shape(text)),
        number, capitals(word), fixed, 0,
    ]  # fmt: skip


def _code(kind: str, text: str) -> int:
    return crc32(f"{kind}:{text}".encode("utf-8", "surrogatepass"))


def shape(word: str) -> str:
    """Letters as x or X, digits as d, no run longer than two: "Tu-154s" is "Xx-ddx"."""
    return RUNS.sub(r"\1\1", "".join(map(_sign, word)))[:12]


def _sign(letter: str) -> str:
    if letter.isalpha():
        return "X" if letter.isupper() else "x"
    return "d" if letter.isdigit() else letter


def capitals(word: str) -> int:
    """Which way of capitals a word has."""
    if word.isupper():
        return UPPER if sum(map(str.isalpha, word)) > 1 else NEITHER
    if word.islower():
        return LOWER
    if not any(map(str.isalpha, word)):
        return NEITHER
    return CAPITALISED if word[0].isupper() and word[1:] == word[1:].lower() else MIXED


class Forms:
    """The rows of the words met so far: row 0 is the place outside a sentence."""

    __slots__ = ("_known", "_lexicon", "_lock", "_rows")

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon, self._lock = lexicon, Lock()
        self._forget()

    def _forget(self) -> None:
        self._known: dict[str, int] = {}
        self._rows: Rows = np.zeros((FEW, len(COLUMNS)), dtype=np.uint32)
        self._rows[0, COLUMN["fixed"]] = NO_TAG

    def __len__(self) -> int:
        return len(self._known)

    def of(self, words: Iterable[str]) -> tuple[IntArray, Rows]:
        """The row number of every word, and the rows; memory stays bounded."""
        words = list(words)
        with self._lock:
            if len(self._known) > MOST:
                self._forget()
            try:
                numbers = list(map(self._known.__getitem__, words))
            except KeyError:
                self._learn(words)
                numbers = list(map(self._known.__getitem__, words))
            return np.array(numbers, dtype=np.int64), self._rows

    def _learn(self, words: list[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._known]
        first = len(self._known) + 1
        if first + len(new) > len(self._rows):
            # A new array: another thread may still be reading the old one.
            grown = np.zeros((2 * (first + len(new)), len(COLUMNS)), dtype=np.uint32)
            grown[:first] = self._rows[:first]
            self._rows = grown
        for number, word in enumerate(new, first):
            self._rows[number] = row(word, self._lexicon)
            self._known[word] = number
