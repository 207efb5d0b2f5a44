"""CEAFe (Luo 2005): the best one-to-one alignment of cells,  φ(k, r) = 2|k ∩ r| / (|k| + |r|)."""

from __future__ import annotations

import numpy as np

from partita.evaluation.tally import Overlaps, Tally, overlaps
from partita.records import FloatArray, IntArray


def ceaf_entity(key: IntArray, response: IntArray) -> Tally:
    """The similarity of aligned cells over the number of cells on either side."""
    met = overlaps(key, response)
    score = _aligned(met)
    n = len(key)
    return Tally(score, float(len(met.key)) if n else 0.0, score, float(len(met.response)))


def _aligned(met: Overlaps) -> float:
    """Cells that are equal align with each other; the others by the assignment problem."""
    likeness = 2 * met.size / (met.key[met.left] + met.response[met.right])
    equal = likeness == 1
    return float(equal.sum()) + _assigned(met.left[~equal], met.right[~equal], likeness[~equal])


def _assigned(left: IntArray, right: IntArray, likeness: FloatArray) -> float:
    if not len(left):
        return 0.0
    from scipy.optimize import linear_sum_assignment

    rows, i = np.unique(left, return_inverse=True)
    columns, j = np.unique(right, return_inverse=True)
    table = np.zeros((len(rows), len(columns)))
    table[i, j] = likeness
    return float(table[linear_sum_assignment(table, maximize=True)].sum())
