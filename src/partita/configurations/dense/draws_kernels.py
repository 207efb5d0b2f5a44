"""The look at all cells of an open subset, in compiled loops."""

from __future__ import annotations

import math

import numpy as np

from partita.compilation import kernel


@kernel()
def choose(log_w, log_z, rest, uniforms):  # type: ignore[no-untyped-def]
    """For sorted uniform numbers the cells (with the highest member of rest) they fall into."""
    top = 1
    while top * 2 <= rest:
        top *= 2
    others, total, c = rest ^ top, 0.0, rest ^ top
    while True:
        total += math.exp(log_w[top | c] + log_z[others ^ c] - log_z[rest])
        if c == 0:
            break
        c = (c - 1) & others
    chosen = np.empty(uniforms.shape[0], dtype=np.int64)
    reached, drawn, c, last = 0.0, 0, others, top
    while drawn < uniforms.shape[0]:
        share = math.exp(log_w[top | c] + log_z[others ^ c] - log_z[rest])
        if share > 0.0:
            last = top | c
            reached += share
        while drawn < uniforms.shape[0] and (uniforms[drawn] * total < reached or c == 0):
            chosen[drawn] = last
            drawn += 1
        c = (c - 1) & others
    return chosen
