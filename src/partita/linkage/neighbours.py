"""Texts as weighted words or character n-grams, and the nearest records by their cosine.

Sparse rows: row r has the `terms` (numbers) and `values` from starts[r] to starts[r + 1]; `left`
and `right` are the rows of pairs. The arrays belong to the caller, and kernels only read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from partita.compilation import kernel, kernel_record
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

    def squares(self) -> FloatArray:
        """Return the squared lengths of rows."""
        rows = np.repeat(np.arange(len(self)), np.diff(self.starts))
        return np.bincount(rows, self.values**2, len(self)).astype(np.float64)

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


@kernel_record("i8[:], i8[:], f8[:], i8[:], i8[:], f8[:]")
class Postings(NamedTuple):
    """Sparse rows, and by term which rows have it.

    Row r has the `terms` and `values` from `starts`[r] to starts[r + 1]; term t has the rows
    `posted` with the `weights` from `heads`[t] to heads[t + 1].
    """

    starts: IntArray
    terms: IntArray
    values: FloatArray
    heads: IntArray
    posted: IntArray
    weights: FloatArray

    @classmethod
    def of(cls, vectors: TextVectors) -> Postings:
        """Return the rows of vectors with the lists of their terms."""
        rows = np.repeat(np.arange(len(vectors)), np.diff(vectors.starts))
        order = np.argsort(vectors.terms, kind="stable")
        often = np.bincount(vectors.terms, minlength=len(vectors.rarity))
        heads = np.concatenate([[0], np.cumsum(often)]).astype(np.int64)
        return cls(vectors.starts, vectors.terms, vectors.values, heads, rows[order],
                   vectors.values[order])  # fmt: skip


def nearest_rows(
    vectors: TextVectors,
    source: IntArray,
    across: int,
    within: int,
    read: int = READ,
    of_sources: TextVectors | None = None,
) -> tuple[IntArray, IntArray]:
    """Return pairs of each row with its nearest rows of other sources and of its own source.

    With `of_sources`, a row's vector goes on with that of its source, over other terms, and vectors
    need not have unit length. The products of sources are then made once for all of their rows.
    """
    scale, shared = np.ones(len(vectors)), of_sources
    if shared is None:
        shared = TextVectors(np.zeros(1, np.int64), np.zeros(0, np.int64), *[np.zeros(0)] * 3)
    else:
        squares = vectors.squares() + shared.squares()[source]
        scale /= np.sqrt(np.where(squares > 0.0, squares, 1.0))
    found = nearest_kernel(
        Postings.of(vectors), Postings.of(shared), source, np.lexsort((-scale, source)), scale,
        across, within, read,
    )  # fmt: skip
    left = np.repeat(np.arange(len(vectors)), across + within)
    right = found.ravel()
    return left[right >= 0], right[right >= 0]


@kernel(entry="Postings, Postings, i8[:], i8[:], f8[:], i8, i8, i8")
def nearest_kernel(
    own: Postings, shared: Postings, source: IntArray, order: IntArray, scale: FloatArray,
    across: int, within: int, read: int,
) -> IntArray:  # fmt: skip
    """Return for each row its nearest others: `across` of other sources, `within` of its own.

    Where there are fewer, the rest is -1. `source` (rows) says where a row is from, and `order` has
    the rows by source, of one source the greatest `scale` first; `shared` are the vectors of
    sources, perhaps none. Products are multiplied by the `scale` of the other row; `total` has
    those so far, 0 but for the rows `touched`, and `near` those of the sources of both.
    """
    count, sources = len(own.starts) - 1, len(shared.starts) - 1
    found = np.full((count, across + within), -1)
    best = np.zeros(across + within)
    total, near = np.zeros(count), np.zeros(source.max() + 1 if count else 0)
    touched, similar = np.zeros(count, dtype=np.int64), np.zeros(sources, dtype=np.int64)
    ends = np.searchsorted(source[order], np.arange(sources + 1))
    more, home, used = np.zeros(0, dtype=np.int64), -1, 0
    for row in order:
        if sources and source[row] != home:
            near[similar[:used]] = 0.0
            near[max(home, 0)] = 0.0
            home = source[row]
            used = _add_products(shared, home, read, near, similar)
            near[home] = 0.0
            more = _rows_of_similar(near, similar[:used], order, ends, scale, across)
            near[home] = (shared.values[shared.starts[home] : shared.starts[home + 1]] ** 2).sum()
            more = np.append(more, order[ends[home] : ends[home + 1]])
        size = _add_products(own, row, read, total, touched)
        for other in more:
            if total[other] == 0.0:
                touched[size] = other
                size += 1
        best[:] = 0.0
        for other in touched[:size]:
            score = (total[other] + near[source[other]]) * scale[other]
            total[other] = 0.0
            if source[other] != source[row]:
                _insert(best[:across], found[row, :across], score, other)
            elif other != row:
                _insert(best[across:], found[row, across:], score, other)
    return found


@kernel()
def _rows_of_similar(
    near: FloatArray, similar: IntArray, order: IntArray, ends: IntArray, scale: FloatArray,
    most: int,
) -> IntArray:  # fmt: skip
    """Return the rows that are nearest by their sources alone, by the products of these in `near`.

    They are of as many `similar` sources: one row of each comes before any of a further source.
    `order` has the rows by source, those of source s from `ends`[s] to ends[s + 1]; a product is
    multiplied by the `scale` of its row.
    """
    best, closest = np.zeros(most), np.full(most, -1)
    for one in similar:
        for other in order[ends[one] : ends[one + 1]][:1]:
            _insert(best, closest, near[one] * scale[other], one)
    best[:] = 0.0
    found = np.full(most, -1)
    for one in closest[closest >= 0]:
        for other in order[ends[one] : ends[one + 1]]:
            _insert(best, found, near[one] * scale[other], other)
    return found[found >= 0]


@kernel()
def _add_products(rows: Postings, row: int, read: int, total: FloatArray, touched: IntArray) -> int:
    """Add the products of a row with all others to `total`; return how many are `touched`.

    The lists of its terms are read in the order given, up to `read` entries.
    """
    size, spent = 0, 0
    for at in range(rows.starts[row], rows.starts[row + 1]):
        first, last = rows.heads[rows.terms[at]], rows.heads[rows.terms[at] + 1]
        if spent > 0 and spent + last - first > read:
            break
        if last - first > 1 and rows.values[at] > 0.0:
            spent += last - first
            for n in range(first, last):
                other = rows.posted[n]
                if total[other] == 0.0 and rows.weights[n] > 0.0:
                    touched[size] = other
                    size += 1
                total[other] += rows.values[at] * rows.weights[n]
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
