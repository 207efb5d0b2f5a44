"""The two training sets of the paper, as pairs of one document with their answers.

Evidential: every compatible pair. Merging decision: only the questions that the merger would have
asked on its way to the key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.merging.questions import questions
from partita.errors import InputError
from partita.records import IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Pairs as positions in text order, and whether they corefer by the key."""

    left: IntArray
    right: IntArray
    yes: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.yes)


Ask = Callable[[IntArray, NDArray[np.bool_]], Asked]


def every_pair(labels: IntArray, compatible: NDArray[np.bool_]) -> Asked:
    """All compatible pairs, for the evidential model."""
    _refuse_shape(labels, compatible)
    left, right = np.nonzero(np.triu(compatible, 1))
    return Asked(left, right, labels[left] == labels[right])


def merging_questions(labels: IntArray, compatible: NDArray[np.bool_]) -> Asked:
    """What the merger asks, for the merging decision model."""
    _refuse_shape(labels, compatible)
    found = questions(labels, compatible)
    asked = np.array(found, dtype=np.int64).reshape(-1, 3)
    return Asked(asked[:, 0], asked[:, 1], asked[:, 2].astype(np.bool_))


def _refuse_shape(labels: IntArray, compatible: NDArray[np.bool_]) -> None:
    n = len(labels)
    if compatible.shape != (n, n):
        raise InputError(f"{n} templates need a table of {n} by {n} compatible pairs")
