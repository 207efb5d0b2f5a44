"""How alike two values of a column are: by numbers, and by edits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from partita.compilation import kernel
from partita.core import FloatArray, IntArray

NUMBERS = ("number", "year")


def parsed_number(text: str) -> float:
    """Return the number that a text is, or nan."""
    try:
        return float(text)
    except ValueError:
        return float("nan")


def edit_similarities_of(texts: Sequence[str], left: IntArray, right: IntArray) -> FloatArray:
    """Return 1 - edits / length for pairs of texts by their numbers."""
    letters = np.array([ord(c) for text in texts for c in text], dtype=np.int64)
    starts = np.array([0, *accumulate(len(text) for text in texts)], dtype=np.int64)
    found: FloatArray = edit_similarities(letters, starts, left, right)
    return found


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
