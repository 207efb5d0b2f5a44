"""LEA (Moosavi & Strube 2016):  R = Σ_k |k|·(links of k in the response / links of k) / Σ_k |k|.

A cell of n has n(n−1)/2 links; a singleton has one, to itself, found if it stands alone.
"""

from __future__ import annotations

import numpy as np

from partita.evaluation.tally import Overlaps, Tally, overlaps
from partita.records import FloatArray, IntArray


def lea(key: IntArray, response: IntArray) -> Tally:
    """Cells weighted by their size."""
    met = overlaps(key, response)
    n = float(len(key))
    links = _shared_links(met)
    found = _resolved(met.key, links, met.left)
    right = _resolved(met.response, links, met.right)
    return Tally(found, n, right, n)


def _shared_links(met: Overlaps) -> FloatArray:
    """Of every overlap; two cells that are the same single template share its link to itself."""
    alone = (met.key[met.left] == 1) & (met.response[met.right] == 1)
    return np.where(alone, 1.0, met.size * (met.size - 1) / 2)


def _resolved(sizes: IntArray, links: FloatArray, cell: IntArray) -> float:
    own = np.where(sizes == 1, 1.0, sizes * (sizes - 1) / 2)
    return float((sizes[cell] * links / np.maximum(own[cell], 1.0)).sum())
