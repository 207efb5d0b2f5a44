"""Texts as weighted words or character n-grams, and the nearest records by their cosine.

Sparse rows: row r has the `terms` (numbers) and `values` from starts[r] to starts[r + 1]; `left`
and `right` are the rows of pairs. The arrays belong to the caller, and kernels only read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partita.compilation import kernel
from partita.core import FloatArray, IntArray

GRAM = 3  # letters of an n-gram; with 4, typing errors in short names cost twice as much
BUCKETS = 1 << 20  # n-grams are hashed to so many columns
# Postings that are read for one record, rarest terms first. A table of 20,000 rows never reaches
# it; with 200,000 rows it bounds the search to about a minute.
READ = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class TextVectors:
    """Rows of unit length over terms, as compressed sparse rows; terms are numbered by rarity.

    `rarity` is log(rows / rows with the term); `total` is the sum of it over the terms of a row.
    """

    starts: IntArray
    terms: IntArray
    values: FloatArray
    rarity: FloatArray
    total: FloatArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @classmethod
    def of(
        cls, rows: IntArray, terms: IntArray, count: int, times: IntArray | None = None
    ) -> TextVectors:
        """Return the vectors of occurrences: each row has terms, perhaps several times.

        `times` says how many records a row stands for.
        """
        size = int(terms.max(initial=0)) + 1
        pair, often = np.unique(rows * size + terms, return_counts=True)
        rows, terms = pair // size, pair % size
        weight = np.ones(count) if times is None else times.astype(np.float64)
        frequency = np.bincount(terms, weight[rows], size)
        order = np.argsort(frequency, kind="stable")
        number = np.empty(size, dtype=np.int64)
        number[order] = np.arange(size)
        rarity = np.log(max(weight.sum(), 2.0) / np.maximum(frequency[order], 1.0))
        terms = number[terms]
        by_row = np.lexsort((terms, rows))
        rows, terms, often = rows[by_row], terms[by_row], often[by_row]
        values = (1.0 + np.log(often)) * rarity[terms]
        norm = np.sqrt(np.bincount(rows, values**2, count))
        starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
        total = np.bincount(rows, rarity[terms], count).astype(np.float64)
        values = values / np.maximum(norm[rows], 1e-12)
        return cls(starts.astype(np.int64), terms, values, rarity, total)

    def cosines(self, left: IntArray, right: IntArray) -> FloatArray:
        """Return the cosines of pairs of rows."""
        return row_products(self.starts, self.terms, self.values, left, right)

    def shared(self, left: IntArray, right: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the sum and the greatest rarity of the terms that two rows share."""
        return row_overlaps(self.starts, self.terms, self.rarity, left, right)


def word_vectors(texts: Sequence[str], times: IntArray | None = None) -> TextVectors:
    """Return texts of plain words as weighted words."""
    number: dict[str, int] = {}
    rows: list[int] = []
    terms: list[int] = []
    for n, text in enumerate(texts):
        for word in text.split():
            rows.append(n)
            terms.append(number.setdefault(word, len(number)))
    return TextVectors.of(np.array(rows, np.int64), np.array(terms, np.int64), len(texts), times)


def gram_vectors(texts: Sequence[str], times: IntArray | None = None) -> TextVectors:
    """Return texts of plain words as weighted n-grams of letters, blanks at both ends."""
    padded = [f" {text} " if text else "" for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    lengths = np.array([len(text) for text in padded], dtype=np.int64)
    rows = np.repeat(np.arange(len(texts)), lengths)
    last = max(len(letters) - GRAM + 1, 0)
    code = np.zeros(last, dtype=np.uint64)
    for n in range(GRAM):
        code = code * np.uint64(1_000_003) + letters[n : n + last]
    code = (code * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(44)
    whole = rows[:last] == rows[GRAM - 1 : GRAM - 1 + last]
    found = code[whole].astype(np.int64) % BUCKETS
    _, terms = np.unique(found, return_inverse=True)
    return TextVectors.of(rows[:last][whole], terms.astype(np.int64), len(texts), times)


def nearest_rows(
    vectors: TextVectors, source: IntArray, across: int, within: int, read: int = READ
) -> tuple[IntArray, IntArray]:
    """Return pairs of each row with its nearest rows of other sources and of its own source."""
    rows = np.repeat(np.arange(len(vectors)), np.diff(vectors.starts))
    order = np.argsort(vectors.terms, kind="stable")
    posted = np.bincount(vectors.terms, minlength=len(vectors.rarity))
    heads = np.concatenate([[0], np.cumsum(posted)]).astype(np.int64)
    found = nearest_kernel(
        vectors.starts, vectors.terms, vectors.values, heads, rows[order], vectors.values[order],
        source, across, within, read,
    )  # fmt: skip
    left = np.repeat(np.arange(len(vectors)), across + within)
    right = found.ravel()
    return left[right >= 0], right[right >= 0]


@kernel(entry="i8[:], i8[:], f8[:], i8[:], i8[:], f8[:], i8[:], i8, i8, i8")
def nearest_kernel(
    starts: IntArray, terms: IntArray, values: FloatArray,
    heads: IntArray, posted: IntArray, weights: FloatArray,
    source: IntArray, across: int, within: int, read: int,
) -> IntArray:  # fmt: skip
    """Return for each row its nearest others: `across` of other sources, `within` of its own.

    Where there are fewer, the rest is -1. `heads`, `posted` and `weights` are the rows and values
    of each term, `source` (rows) says where a row is from. A row reads the lists of its terms in
    the order given, up to `read` entries; `total` has the cosines so far, 0 but for the rows
    `touched`.
    """
    count = len(starts) - 1
    found = np.full((count, across + within), -1)
    best = np.zeros(across + within)
    total = np.zeros(count)
    touched = np.zeros(count, dtype=np.int64)
    for row in range(count):
        size, spent = 0, 0
        for at in range(starts[row], starts[row + 1]):
            first, last = heads[terms[at]], heads[terms[at] + 1]
            if spent > 0 and spent + last - first > read:
                break
            if last - first > 1 and values[at] > 0.0:
                spent += last - first
                size = _add_term(posted[first:last], values[at] * weights[first:last], total,
                                 touched, size)  # fmt: skip
        best[:] = 0.0
        for n in range(size):
            other, score = touched[n], total[touched[n]]
            total[other] = 0.0
            if other == row:
                continue
            if source[other] == source[row]:
                _insert(best[across:], found[row, across:], score, other)
            else:
                _insert(best[:across], found[row, :across], score, other)
    return found


@kernel()
def _add_term(
    rows: IntArray, values: FloatArray, total: FloatArray, touched: IntArray, size: int
) -> int:
    """Add a term's values to `total` of the rows that have it; return how many are `touched`."""
    for n in range(len(rows)):
        if total[rows[n]] == 0.0 and values[n] > 0.0:
            touched[size] = rows[n]
            size += 1
        total[rows[n]] += values[n]
    return size


@kernel()
def _insert(best: FloatArray, found: IntArray, score: float, other: int) -> None:
    """Insert a row into `found`, the best first, with its score in `best`."""
    place = len(best)
    while place > 0 and score > best[place - 1]:
        place -= 1
    for k in range(len(best) - 1, place, -1):
        best[k] = best[k - 1]
        found[k] = found[k - 1]
    if place < len(best):
        best[place] = score
        found[place] = other


@kernel(entry="i8[:], i8[:], f8[:], i8[:], i8[:]")
def row_products(
    starts: IntArray, terms: IntArray, values: FloatArray, left: IntArray, right: IntArray
) -> FloatArray:
    """Return the products of pairs of sparse rows whose terms are in order."""
    found = np.zeros(len(left))
    for n in range(len(left)):
        a, b = starts[left[n]], starts[right[n]]
        last_a, last_b = starts[left[n] + 1], starts[right[n] + 1]
        total = 0.0
        while a < last_a and b < last_b:
            if terms[a] == terms[b]:
                total += values[a] * values[b]
                a += 1
                b += 1
            elif terms[a] < terms[b]:
                a += 1
            else:
                b += 1
        found[n] = total
    return found


@kernel(entry="i8[:], i8[:], f8[:], i8[:], i8[:]")
def row_overlaps(
    starts: IntArray, terms: IntArray, weight: FloatArray, left: IntArray, right: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return the sum and the greatest `weight` (by term) of the terms that pairs of rows share."""
    total, greatest = np.zeros(len(left)), np.zeros(len(left))
    for n in range(len(left)):
        a, b = starts[left[n]], starts[right[n]]
        last_a, last_b = starts[left[n] + 1], starts[right[n] + 1]
        while a < last_a and b < last_b:
            if terms[a] == terms[b]:
                total[n] += weight[terms[a]]
                greatest[n] = max(greatest[n], weight[terms[a]])
                a += 1
                b += 1
            elif terms[a] < terms[b]:
                a += 1
            else:
                b += 1
    return total, greatest
