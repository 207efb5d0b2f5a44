"""Recall and precision as fractions that add up over documents:  F = 2RP/(R + P)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.records import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Tally:
    """What was found of what was to be found (recall), and what was right of what was said."""

    found: float = 0.0
    wanted: float = 0.0
    right: float = 0.0
    said: float = 0.0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.found + other.found,
            self.wanted + other.wanted,
            self.right + other.right,
            self.said + other.said,
        )

    def times(self, factor: float) -> Tally:
        return Tally(*(factor * n for n in (self.found, self.wanted, self.right, self.said)))

    @property
    def recall(self) -> float:
        return self.found / self.wanted if self.wanted else 0.0

    @property
    def precision(self) -> float:
        return self.right / self.said if self.said else 0.0

    @property
    def f(self) -> float:
        both = self.recall + self.precision
        return 2 * self.recall * self.precision / both if both else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Overlaps:
    """The sizes of key cells and response cells, and of every overlap that is not empty."""

    key: IntArray
    response: IntArray
    left: IntArray
    right: IntArray
    size: FloatArray


def overlaps(key: IntArray, response: IntArray) -> Overlaps:
    """From two rows of labels of the same templates."""
    _, k, sizes = np.unique(key, return_inverse=True, return_counts=True)
    _, r, others = np.unique(response, return_inverse=True, return_counts=True)
    met, size = np.unique(k * max(len(others), 1) + r, return_counts=True)
    left, right = np.divmod(met, max(len(others), 1))
    return Overlaps(sizes, others, left, right, size.astype(np.float64))
