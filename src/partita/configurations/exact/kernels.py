"""Compiled recursions, transforms and draws over all subsets of a set."""

from __future__ import annotations

import math

from partita.compilation import kernel

NEGLIGIBLE = -45.0  # e^−45 is below the last bit of 1


@kernel()
def extend(log_w, log_z, i, start, stop):  # type: ignore[no-untyped-def]
    """Fill log Z of S ∪ {i} for every S from start to stop, subsets of the first i templates."""
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


@kernel(native=True)
def choose(log_w, log_z, rests, uniforms, chosen):  # type: ignore[no-untyped-def]
    """Fill in the cells, with the highest member of what is left, that uniforms fall into.

    Rows are sorted by what is left, and those with the same by their uniforms.
    """
    row = 0
    while row < rests.shape[0]:
        end = row + 1
        while end < rests.shape[0] and rests[end] == rests[row]:
            end += 1
        _choose(log_w, log_z, rests[row], uniforms[row:end], chosen[row:end])
        row = end


@kernel()
def _choose(log_w, log_z, rest, uniforms, chosen):  # type: ignore[no-untyped-def]
    """Fill in the cells that sorted uniforms fall into, for one set of templates that are left."""
    top = 1
    while top * 2 <= rest:
        top *= 2
    others, total, c = rest ^ top, 0.0, rest ^ top
    while True:
        total += math.exp(log_w[top | c] + log_z[others ^ c] - log_z[rest])
        if c == 0:
            break
        c = (c - 1) & others
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
