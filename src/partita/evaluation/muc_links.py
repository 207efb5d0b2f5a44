"""MUC (Vilain et al. 1995):  R = Σ_k (|k| − parts of k in the response) / Σ_k (|k| − 1)."""

from __future__ import annotations

import numpy as np

from partita.evaluation.tally import Tally, overlaps
from partita.records import IntArray


def muc(key: IntArray, response: IntArray) -> Tally:
    """Links that would have to be added; singletons have none."""
    met = overlaps(key, response)
    shared = float((met.size - 1).sum())
    wanted, said = (float(np.maximum(sizes - 1, 0).sum()) for sizes in (met.key, met.response))
    return Tally(shared, wanted, shared, said)
