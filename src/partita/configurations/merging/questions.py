"""The questions that the merger asks on its way to a configuration: (earlier, later, answer).

A template asks the tails of the cells, latest first, up to the one that it joins. A cell closed
to it by an incompatible member is not asked.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from partita.records import IntArray

Question = tuple[int, int, bool]


def questions(labels: Sequence[int] | IntArray, compatible: NDArray[np.bool_]) -> list[Question]:
    """All questions, template after template, as positions in text order."""
    cells: dict[int, list[int]] = {}  # by recency: the last one is the latest
    asked: list[Question] = []
    for later, label in enumerate(int(label) for label in labels):
        asked += _of(later, label, cells, compatible)
        cells[label] = [*cells.pop(label, []), later]
    return asked


def _of(
    later: int, label: int, cells: dict[int, list[int]], compatible: NDArray[np.bool_]
) -> list[Question]:
    asked: list[Question] = []
    for home, members in reversed(cells.items()):
        if compatible[later, members].all():
            asked.append((members[-1], later, home == label))
        if home == label:
            break
    return asked
