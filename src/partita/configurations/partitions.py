"""All partitions of a few templates, as tables that many sets share."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from partita.records import FloatArray, IntArray

LARGEST = 9  # templates: 21,147 partitions


@lru_cache(maxsize=LARGEST + 1)
def partitions(n: int) -> IntArray:
    """All partitions as restricted growth strings, in order."""
    labels = np.zeros((1, 0), dtype=np.int64)
    for _ in range(n):
        choices = labels.max(axis=1, initial=-1) + 2
        rows = np.repeat(labels, choices, axis=0)
        fresh = np.arange(len(rows)) - np.repeat(np.cumsum(choices) - choices, choices)
        labels = np.column_stack([rows, fresh])
    return labels


@lru_cache(maxsize=LARGEST + 1)
def joined(n: int) -> FloatArray:
    """For every partition and every pair, in the order of np.triu_indices, 1 if it is together."""
    left, right = np.triu_indices(n, 1)
    labels = partitions(n)
    together: FloatArray = (labels[:, left] == labels[:, right]).astype(np.float64)
    return together
