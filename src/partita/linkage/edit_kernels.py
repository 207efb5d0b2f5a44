"""Compiled comparison of many pairs of texts."""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel
from partita.core import FloatArray, IntArray


@kernel()
def edit_similarities(
    letters: IntArray, starts: IntArray, left: IntArray, right: IntArray
) -> FloatArray:
    """Return 1 - edits / length for pairs of texts; two exchanged neighbours are one edit.

    Text n has the letters from starts[n] to starts[n + 1].
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
    """Return the edits between two texts: insert, delete, replace, exchange neighbours."""
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
