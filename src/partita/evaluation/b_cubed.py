"""B³ (Bagga & Baldwin 1998):  R = mean over templates of |k ∩ r| / |k|, P of |k ∩ r| / |r|."""

from __future__ import annotations

from partita.evaluation.tally import Tally, overlaps
from partita.records import IntArray


def b_cubed(key: IntArray, response: IntArray) -> Tally:
    """Every template counts, singletons too."""
    met = overlaps(key, response)
    found = float((met.size**2 / met.key[met.left]).sum())
    right = float((met.size**2 / met.response[met.right]).sum())
    return Tally(found, float(len(key)), right, float(len(key)))
