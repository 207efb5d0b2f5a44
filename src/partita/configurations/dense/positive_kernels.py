"""The recursion over subsets in logarithms and compiled loops: only additions, so always right.

log Z[S ∪ {i}] = log Σ_{C ⊆ S} exp(log w[C ∪ {i}] + log Z[S∖C]).
"""

from __future__ import annotations

import math

from partita.compilation import kernel

NEGLIGIBLE = -45.0  # e^−45 is below the last bit of 1


@kernel()
def extend(log_w, log_z, i, start, stop):  # type: ignore[no-untyped-def]
    """log Z of S ∪ {i} for every S from start to stop, all subsets of the first i templates."""
    bit = 1 << i
    for s in range(start, stop):
        top, total, c = -math.inf, 0.0, s
        while True:
            value = log_w[bit | c] + log_z[s ^ c]
            if value > top:
                total = total * math.exp(top - value) + 1.0
                top = value
            elif value > top + NEGLIGIBLE:
                total += math.exp(value - top)
            if c == 0:
                break
            c = (c - 1) & s
        log_z[bit | s] = top + math.log(total)
