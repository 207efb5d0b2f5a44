"""What two records have in common, in numbers that mean the same for every table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import FloatArray, IntArray
from partita.linkage.neighbours import TextVectors, gram_vectors, nearest_rows, word_vectors
from partita.linkage.record_columns import Column, Texts, iso, plain_words
from partita.linkage.record_tables import RecordTable
from partita.linkage.value_levels import NUMBERS, edit_similarities_of, parsed_number

NEAREST, NEAREST_WITHIN = 6, 3  # neighbours by each of the vectors: of other tables, of the own one
SEARCHED = 2  # columns with the most information in which neighbours are searched
RARE = 8  # records with an equal value, at most, that are all compared
RANDOM = 20_000  # random pairs, for how alike values are by chance
SHORT_TEXT = 40  # letters up to which texts are compared by edits
AT_ONCE = 1 << 18  # pairs whose features are made together
TRUSTED = 0.3  # of the greatest information of a column: others say little by differing

FEATURES = (
    "words", "grams", "columns", "shared", "rarest", "contained", "overlap", "unshared",
    "codes", "code_overlap", "bits", "surplus", "best_bits", "second_bits", "least", "first",
    "second", "third", "filled", "filled_share", "agreeing", "differing", "agreeing_bits",
    "differing_bits", "words_quantile", "grams_quantile", "bits_quantile", "rank_low", "rank_high",
    "lead_low", "lead_high", "clear_low", "clear_high", "close_low", "close_high", "lengths",
    "bits_lead_low", "bits_lead_high",
)  # fmt: skip


Features = NDArray[np.float32]


class PairEnds(NamedTuple):
    """Pairs of records by their numbers, the lower first."""

    left: IntArray
    right: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """The distinct values of a column and the value of each record (-1: missing).

    `share` is the share of records with a value, `information` the mean of −log₂ of it, times the
    share of records that have any value.
    """

    kind: str
    cells: IntArray
    plain: Sequence[str]
    grams: TextVectors
    numbers: FloatArray
    spread: float
    share: FloatArray
    information: float

    @classmethod
    def of(cls, column: Column, texts: Texts) -> ColumnValues:
        plain = {text: _plain(text, column.kind) for text in {*texts} if text is not None}
        number = {value: n for n, value in enumerate(sorted({*plain.values()} - {""}))}
        cells = np.array([-1 if text is None else number.get(plain[text], -1) for text in texts])
        counts = np.bincount(cells[cells >= 0], minlength=len(number))
        share = counts / max(counts.sum(), 1)
        filled = counts.sum() / max(len(texts), 1)
        information = filled * float(-(share * np.log2(np.maximum(share, 1e-12))).sum())
        values = list(number)
        numeric = column.kind in NUMBERS
        numbers = np.array([parsed_number(value) for value in values] if numeric else [])
        rng = np.random.default_rng(0)
        spread = 1.0
        if numeric and counts.sum() > 1:
            known = numbers[cells[cells >= 0]]
            apart = np.abs(known - rng.permutation(known))
            spread = float(np.median(apart[np.isfinite(apart)])) if len(apart) else 1.0
        return cls(column.kind, cells, values, gram_vectors(values, counts), numbers,
                   max(spread, 1e-9), share, information)  # fmt: skip

    def similarities(self, ends: PairEnds) -> FloatArray:
        """Return how alike the values of records are, from 0 to 1; nan where one is missing."""
        a, b = self.cells[ends.left], self.cells[ends.right]
        found = np.full(len(a), np.nan)
        both = np.flatnonzero((a >= 0) & (b >= 0))
        if not len(both):
            return found
        size = len(self.plain)
        unique, place = np.unique(
            np.minimum(a[both], b[both]) * size + np.maximum(a[both], b[both]), return_inverse=True
        )
        found[both] = self._alike(unique // size, unique % size)[place]
        return found

    def _alike(self, left: IntArray, right: IntArray) -> FloatArray:
        if self.kind in NUMBERS:
            apart = np.abs(self.numbers[left] - self.numbers[right]) / self.spread
            return np.where(left == right, 1.0, np.nan_to_num(np.maximum(0.0, 1.0 - apart)) * 0.99)
        alike = np.minimum(self.grams.cosines(left, right), 0.99)
        lengths = np.array([len(text) for text in self.plain])
        short = np.flatnonzero((lengths[left] <= SHORT_TEXT) & (lengths[right] <= SHORT_TEXT))
        edits = edit_similarities_of(self.plain, left[short], right[short])
        alike[short] = np.maximum(alike[short], np.minimum(edits, 0.99))
        return np.where(left == right, 1.0, alike)


def _plain(text: str, kind: str) -> str:
    """Return a value as it is compared."""
    if kind in NUMBERS:
        return text.strip().strip(".,;:()[]'\"")
    return (iso(text) or plain_words(text)) if kind == "date" else plain_words(text)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedRecords:
    """The records of a table as vectors of words, n-grams and codes, and by columns."""

    source: IntArray
    words: TextVectors
    grams: TextVectors
    codes: TextVectors
    columns: Sequence[ColumnValues]
    chance: Sequence[FloatArray]
    texts: Sequence[str]

    @classmethod
    def of(cls, table: RecordTable) -> ComparedRecords:
        columns = [ColumnValues.of(one, table.columns[one.name]) for one in table.to_compare]
        kinds = {one.name: one.kind for one in table.to_compare}
        whole = [one.name for one in table.to_compare] + [*table.text_only]
        parts = [[_plain_or_empty(text, kinds.get(name, "")) for text in table.columns[name]]
                 for name in whole]  # fmt: skip
        texts = [" ".join(part for part in row if part) for row in zip(*parts, strict=True)]
        codes = [" ".join(w for w in text.split() if not w.isalpha()) for text in texts]
        names = {name: n for n, name in enumerate(sorted(table.source_names))}
        source = np.array([names[name] for name in table.sources], dtype=np.int64)
        ends = random_pairs(source, RANDOM)
        chance = [_known(np.sort(column.similarities(ends))) for column in columns]
        return cls(source, word_vectors(texts), gram_vectors(texts), word_vectors(codes), columns,
                   chance, texts)  # fmt: skip

    def __len__(self) -> int:
        return len(self.source)

    @property
    def lengths(self) -> IntArray:
        return np.array([len(text) for text in self.texts])

    def alike(self, ends: PairEnds) -> FloatArray:
        """Return how alike the values of pairs are (pairs × columns), nan where one is missing."""
        return np.stack([column.similarities(ends) for column in self.columns], axis=1)

    def bits(self, n: int, similarity: FloatArray, ends: PairEnds) -> FloatArray:
        """Return −log₂ P(two random records are at least so alike in a column); 0 if unknown.

        Records of an equal value are as alike as the share of the records that have it says.
        """
        chance, column = self.chance[n], self.columns[n]
        above = len(chance) - np.searchsorted(chance, similarity)
        bits = -np.log2((above + 0.5) / (len(chance) + 1.0))
        share = np.append(column.share, 1.0)[column.cells[ends.left]]
        bits = np.where(similarity == 1.0, -np.log2(np.maximum(share, 1e-12)), bits)
        return np.where(np.isnan(similarity), 0.0, bits)

    def searched(self) -> list[int]:
        """Return the columns of text with the most information."""
        order = np.argsort([-column.information for column in self.columns], kind="stable")
        texts = [n for n in order.tolist() if self.columns[n].kind not in NUMBERS]
        return texts[:SEARCHED]


def _plain_or_empty(text: str | None, kind: str) -> str:
    return "" if text is None else _plain(text, kind)


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]


def random_pairs(source: IntArray, count: int) -> PairEnds:
    """Return random pairs of records: of different tables if there are several."""
    rng = np.random.default_rng(0)
    left, right = rng.integers(len(source), size=(2, 2 * count))
    kept = (left != right) & ((source[left] != source[right]) | (source.max(initial=0) == 0))
    return PairEnds(left[kept][:count], right[kept][:count])


def distinct_pairs_of(parts: Sequence[tuple[IntArray, IntArray]], count: int) -> PairEnds:
    """Return the different pairs of several lists, in order."""
    keys = [np.minimum(a, b) * count + np.maximum(a, b) for a, b in parts]
    unique = np.unique(np.concatenate(keys))
    return PairEnds(unique // count, unique % count)


def candidate_ends(records: ComparedRecords) -> PairEnds:
    """Return the pairs to compare: near by words, by n-grams, by the most informative columns, and
    records with an equal rare value."""
    several = int(records.source.max(initial=0)) > 0
    near = (NEAREST, NEAREST_WITHIN) if several else (0, NEAREST)
    parts = [nearest_rows(vectors, records.source, *near)
             for vectors in (records.words, records.grams)]  # fmt: skip
    for n in records.searched():
        column = records.columns[n]
        parts.append(nearest_rows(_by_record(column), records.source, *near))
    parts += [_equal_values(column.cells) for column in records.columns]
    return distinct_pairs_of(parts, len(records))


def _by_record(column: ColumnValues) -> TextVectors:
    """Return the vectors of a column's values for every record."""
    vectors, cells = column.grams, column.cells
    known = np.append(np.diff(vectors.starts), 0)
    lengths = known[cells]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    rows = np.repeat(np.arange(len(cells)), lengths)
    at = np.append(vectors.starts[:-1], 0)[cells][rows] + np.arange(len(rows)) - starts[:-1][rows]
    return TextVectors(starts, vectors.terms[at], vectors.values[at], vectors.rarity, vectors.total)


def _equal_values(cells: IntArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of records with an equal value that few have."""
    counts = np.bincount(cells[cells >= 0], minlength=1)
    order = np.argsort(cells, kind="stable")
    order = order[(cells[order] >= 0)]
    order = order[counts[cells[order]] <= RARE]
    left, right = [], []
    for step in range(1, RARE):
        same = cells[order[step:]] == cells[order[:-step]]
        left.append(order[:-step][same])
        right.append(order[step:][same])
    return np.concatenate(left), np.concatenate(right)


def pair_features(records: ComparedRecords, ends: PairEnds, alike: FloatArray) -> Features:
    """Return the features of pairs, a row for each; nan where a value is missing.

    They have few digits, as those on which the trees were trained. `alike` are the similarities of
    the columns of pairs.
    """
    found = np.empty((len(ends.left), len(FEATURES)), dtype=np.float32)
    for first in range(0, len(found), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        own = PairEnds(ends.left[part], ends.right[part])
        for name, values in _own_features(records, own, alike[part]).items():
            found[part, FEATURES.index(name)] = values
    names = ("words", "grams", "columns", "bits")
    words, grams, mean, bits = (found[:, FEATURES.index(n)].astype(np.float64) for n in names)
    whole = (words + grams + np.where(np.isnan(mean), grams, mean)) / 3.0
    leads = _rivals(records, ends, bits, "bits_")
    among = _rivals(records, ends, whole, "") | {
        "words_quantile": _quantiles(records, ends, words),
        "grams_quantile": _quantiles(records, ends, grams),
        "bits_quantile": _quantiles(records, ends, bits),
    } | {name: leads[name] for name in ("bits_lead_low", "bits_lead_high")}  # fmt: skip
    for name, values in among.items():
        found[:, FEATURES.index(name)] = values
    return found


def _own_features(
    records: ComparedRecords, ends: PairEnds, alike: FloatArray
) -> dict[str, FloatArray]:
    """Return the features of pairs that do not depend on other pairs."""
    size = np.log(max(len(records), 2))
    words, grams = (vectors.cosines(*ends) for vectors in (records.words, records.grams))
    shared, rarest = records.words.shared(*ends)
    a, b = (records.words.total[end] for end in ends)
    code_shared, _ = records.codes.shared(*ends)
    codes_a, codes_b = (records.codes.total[end] for end in ends)
    both_codes = (codes_a > 0) & (codes_b > 0)
    lengths = [np.maximum(records.lengths[end], 1) for end in ends]
    return _column_features(records, ends, alike, size / np.log(2.0)) | {
        "words": words, "grams": grams, "shared": shared / size, "rarest": rarest / size,
        "contained": shared / np.maximum(np.minimum(a, b), 1e-9),
        "overlap": shared / np.maximum(a + b - shared, 1e-9),
        "unshared": (np.minimum(a, b) - shared) / size,
        "codes": np.where(both_codes, code_shared / size, np.nan),
        "code_overlap": np.where(
            both_codes, code_shared / np.maximum(np.minimum(codes_a, codes_b), 1e-9), np.nan),
        "lengths": np.minimum(*lengths) / np.maximum(*lengths),
    }  # fmt: skip


def _column_features(
    records: ComparedRecords, ends: PairEnds, alike: FloatArray, size: float
) -> dict[str, FloatArray]:
    """Return what the columns say together; `size` is log₂ of the number of records."""
    information = np.array([column.information for column in records.columns])
    bits = np.stack([records.bits(n, alike[:, n], ends) for n in range(alike.shape[1])], axis=1)
    filled = ~np.isnan(alike)
    weight = np.where(filled, information, 0.0)
    total = np.maximum(weight.sum(axis=1), 1e-9)
    sure = np.where(filled, alike, 0.0)
    mean = np.where(filled.any(axis=1), (weight * sure).sum(axis=1) / total, np.nan)
    trusted = filled & (information >= TRUSTED * information.max())
    least = np.where(trusted, alike, np.inf).min(axis=1)
    order = np.argsort(-information, kind="stable")
    best = np.sort(bits, axis=1)
    agree, differ = filled & (alike >= 0.9), filled & (alike < 0.5)
    count = np.maximum(filled.sum(axis=1), 1)
    ranked = {
        name: alike[:, order[n]] if n < len(order) else np.full(len(alike), np.nan)
        for n, name in enumerate(("first", "second", "third"))
    }
    return ranked | {
        "columns": mean, "bits": bits.sum(axis=1) / size, "surplus": bits.sum(axis=1) - size,
        "best_bits": best[:, -1], "second_bits": best[:, -2] if best.shape[1] > 1 else 0 * mean,
        "least": np.where(np.isfinite(least), least, np.nan),
        "filled": filled.sum(axis=1).astype(np.float64),
        "filled_share": total / max(information.sum(), 1e-9),
        "agreeing": agree.sum(axis=1) / count, "differing": differ.sum(axis=1) / count,
        "agreeing_bits": (weight * agree).sum(axis=1) / total,
        "differing_bits": (weight * differ).sum(axis=1) / size,
    }  # fmt: skip


def _quantiles(records: ComparedRecords, ends: PairEnds, score: FloatArray) -> FloatArray:
    """Return the share of the records whose best score is below that of a pair."""
    best = np.zeros(len(records))
    for end in ends:
        np.maximum.at(best, end, score)
    return np.searchsorted(np.sort(best), score) / max(len(records), 1)


def _rivals(
    records: ComparedRecords, ends: PairEnds, score: FloatArray, prefix: str
) -> dict[str, FloatArray]:
    """Return how a pair stands among the other pairs of its records with the same source.

    `rank`: better ones; `lead`: over the best other; `clear`: the part of the way from the worst
    candidate to certainty; `close`: others that are nearly as good or better. The lower and the
    higher of both records.
    """
    found: dict[str, FloatArray] = {}
    names = ("rank", "lead", "clear", "close")
    for name, both in zip(names, rival_figures(records.source, ends, score), strict=True):
        found[f"{prefix}{name}_low"] = both.min(axis=0)
        found[f"{prefix}{name}_high"] = both.max(axis=0)
    return found


def rival_figures(source: IntArray, ends: PairEnds, score: FloatArray) -> list[FloatArray]:
    """Return rank, lead, clear and close of pairs among those of their left and right record."""
    sources = int(source.max(initial=0)) + 1
    others = np.concatenate([source[ends.right], source[ends.left]])
    record = np.concatenate(ends) * sources + others
    value = np.concatenate([score, score])
    order = np.lexsort((-value, record))
    sorted_record, sorted_value = record[order], value[order]
    first = np.searchsorted(sorted_record, sorted_record, side="left")
    last = np.searchsorted(sorted_record, sorted_record, side="right") - 1
    place = np.arange(len(order)) - first
    best = sorted_value[first]
    runner = sorted_value[np.minimum(first + 1, last)]
    alone = last == first
    rival = np.where(place == 0, np.where(alone, 0.0, runner), best)
    lead = sorted_value - rival
    low = np.where(alone, 0.0, sorted_value[last])
    clear = (sorted_value - low) / np.maximum(1.0 - low, 1e-9)
    close = np.zeros(len(order))
    margin = 0.05 * np.maximum(np.abs(sorted_value), 1e-9)
    for step in range(1, 13):
        for there in (np.arange(len(order)) - step, np.arange(len(order)) + step):
            inside = (there >= first) & (there <= last)
            at = np.where(inside, there, 0)
            close += inside & (sorted_value[at] >= sorted_value - margin)
    found = []
    for values in (place.astype(np.float64), lead, clear, close):
        back = np.empty(len(order))
        back[order] = values
        found.append(back.reshape(2, -1))
    return found
