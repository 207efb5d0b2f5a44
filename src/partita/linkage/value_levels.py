"""How alike two values of a column are, in six levels."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from partita.compilation import kernel
from partita.core import BoolArray, FloatArray, IntArray
from partita.linkage.record_columns import iso, plain_words

SAME, VARIANT, SHORT, NEAR, SIMILAR, DIFFERENT = range(6)
LEVELS = 6
AGREEING = (SAME, VARIANT, SHORT)  # levels of two values that may both be right
NEAR_TEXT, SIMILAR_TEXT = 0.82, 0.62  # least similarities
NEAR_NUMBER, SIMILAR_NUMBER = 0.02, 0.2  # greatest relative differences
LEGAL_FORMS = frozenset(  # and words that say as little
    """ab ag as asa bv bvba co company corp corporation gmbh inc incorporated kg kgaa limited llc
    llp ltd lp mbh nv oy oyj plc pte pty public sa sarl sas se spa sprl srl sro doo ev eg
    the and of und et de""".split()  # noqa: SIM905
)
CODES = ("email", "phone", "postcode", "identifier")
NUMBERS = ("number", "year")
_ABBREVIATED = re.compile(r"(?<=\b\w)\.(?=\w\b)")


@dataclass(frozen=True, slots=True)
class RecordValue:
    """A value as it is compared: its plain text, and the words that carry information."""

    plain: str
    words: tuple[str, ...]

    @property
    def core(self) -> str:
        return " ".join(self.words)


def record_value(text: str, kind: str) -> RecordValue:
    """Return a value in the form in which values of a column of this type are compared."""
    if kind in NUMBERS:
        number = text.strip().replace(",", "")
        return RecordValue(number, (number,))
    letters = plain_words(_ABBREVIATED.sub("", text))  # S.A. is SA
    if kind == "date":
        letters = iso(text) or letters
        return RecordValue(letters, (letters,))
    if kind in CODES:
        return RecordValue(letters.replace(" ", ""), (letters.replace(" ", ""),))
    words = tuple(letters.split())
    return RecordValue(letters, tuple(w for w in words if w not in LEGAL_FORMS) or words)


def levels(kind: str, values: Sequence[RecordValue], left: IntArray, right: IntArray) -> IntArray:
    """Return how alike the values of pairs are; `left` and `right` are indices of values."""
    if kind in NUMBERS:
        return _number_levels(np.array([parsed_number(v.plain) for v in values]), left, right)
    found = np.full(len(left), DIFFERENT)
    similar = edit_similarities_of([v.core for v in values], left, right)
    found[similar >= SIMILAR_TEXT] = SIMILAR
    found[similar >= NEAR_TEXT] = NEAR
    if kind not in (*CODES, "date"):
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        short = np.array([_abbreviates(values[a].words, values[b].words) for a, b in pairs], bool)
        found[short] = SHORT
    if kind in CODES:
        found[_ends_alike(values, left, right)] = VARIANT
    cores, whole = (_numbered(texts) for texts in ([v.core for v in values],
                                                   [v.plain for v in values]))  # fmt: skip
    found[cores[left] == cores[right]] = VARIANT
    found[whole[left] == whole[right]] = SAME
    return found


def _numbered(texts: Sequence[str]) -> IntArray:
    """Return a number for every text, the same for equal ones."""
    numbers = {text: n for n, text in enumerate(texts)}
    return np.array([numbers[text] for text in texts], dtype=np.int64)


def parsed_number(text: str) -> float:
    """Return the number that a text is, or nan."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _number_levels(numbers: FloatArray, left: IntArray, right: IntArray) -> IntArray:
    a, b = numbers[left], numbers[right]
    size = np.maximum(np.maximum(np.abs(a), np.abs(b)), 1e-12)
    apart = np.where(np.isfinite(a) & np.isfinite(b), np.abs(a - b) / size, np.inf)
    found = np.full(len(left), DIFFERENT)
    found[apart <= SIMILAR_NUMBER] = SIMILAR
    found[apart <= NEAR_NUMBER] = NEAR
    found[apart == 0] = SAME
    return found


def edit_similarities_of(texts: Sequence[str], left: IntArray, right: IntArray) -> FloatArray:
    """Return 1 - edits / length for pairs of texts by their numbers."""
    from partita.linkage.value_levels import edit_similarities

    letters = np.array([ord(c) for text in texts for c in text], dtype=np.int64)
    starts = np.array([0, *accumulate(len(text) for text in texts)], dtype=np.int64)
    found: FloatArray = edit_similarities(letters, starts, left, right)
    return found


def _ends_alike(values: Sequence[RecordValue], left: IntArray, right: IntArray) -> BoolArray:
    """Return which codes end alike: one has a prefix such as that of a country."""
    alike = [
        len(short) >= 6 and long.endswith(short)
        for short, long in (
            sorted((values[a].plain, values[b].plain), key=len)
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        )
    ]
    return np.array(alike, dtype=bool)


def _abbreviates(left: Sequence[str], right: Sequence[str]) -> bool:
    """Return whether all words of one text are, or shorten, words of the other, in order."""
    short, long = (left, right) if len(left) <= len(right) else (right, left)
    if len(short) == 1 and len(long) > 1:
        return short[0] == "".join(word[0] for word in long) or short[0] == "".join(long)
    if not short or len(long) - len(short) > 2:
        return False
    at = 0
    for word in short:
        while at < len(long) and not _shortens(word, long[at]):
            at += 1
        if at == len(long):
            return False
        at += 1
    return True


def _shortens(left: str, right: str) -> bool:
    short, long = (left, right) if len(left) <= len(right) else (right, left)
    return short[:1] == long[:1] and (
        long.startswith(short) or (2 < len(short) < len(long) - 1 and _within(short, long))
    )


def _within(short: str, long: str) -> bool:
    """Return whether the letters of a word stand in another in this order."""
    letters = iter(long)
    return all(letter in letters for letter in short)


def blocking_keys(value: RecordValue, kind: str) -> Iterator[str]:
    """Yield the keys under which a record is found by one of its values."""
    if kind == "category":
        return
    yield value.core
    if kind in (*CODES, *NUMBERS, "date"):
        return
    joined = "".join(value.words)
    yield f"{joined[:4]}…"
    yield f"…{joined[-5:]}"
    for word in value.words:
        if len(word) > 2:
            yield word
            yield f"{word[:5]}…"
    if len(value.words) > 1:
        yield "".join(word[0] for word in value.words)


@kernel(entry="i8[:], i8[:], i8[:], i8[:]")
def edit_similarities(
    letters: IntArray, starts: IntArray, left: IntArray, right: IntArray
) -> FloatArray:
    """Return 1 - edits / length for pairs of texts; two exchanged neighbours are one edit.

    Text n has the letters from starts[n] to starts[n + 1]; `left` and `right` are the texts of
    pairs.
    """
    found = np.zeros(len(left))
    for p in range(len(left)):
        a = letters[starts[left[p]] : starts[left[p] + 1]]
        b = letters[starts[right[p]] : starts[right[p] + 1]]
        longest = max(len(a), len(b))
        found[p] = 1.0 - _edits(a, b) / longest if longest else 1.0
    return found


@kernel()
def _edits(a: IntArray, b: IntArray) -> int:
    """Return the edits between texts a and b: insert, delete, replace, exchange neighbours.

    Row i of the table (optimal string alignment) has the edits of a[:i] and every b[:j]; three rows
    are kept.
    """
    before = np.zeros(len(b) + 1, dtype=np.int64)
    last = np.arange(len(b) + 1)
    for i in range(len(a)):
        row = np.zeros(len(b) + 1, dtype=np.int64)
        row[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            row[j + 1] = min(row[j] + 1, last[j + 1] + 1, last[j] + cost)
            if i > 0 and j > 0 and a[i] == b[j - 1] and a[i - 1] == b[j]:
                row[j + 1] = min(row[j + 1], before[j - 1] + 1)
        before, last = last, row
    return int(last[len(b)])
