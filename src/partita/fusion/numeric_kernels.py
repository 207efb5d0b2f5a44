"""Compiled loops over the possible numbers of every object."""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel
from partita.core import FloatArray, IntArray


@kernel(entry="i8[:], f8[:], f8[:], i8[:], f8")
def window_owners(
    starts: IntArray,
    position: FloatArray,
    probability: FloatArray,
    value: IntArray,
    margin: float,
) -> IntArray:
    """Return the stated value that stands for every candidate, or -1.

    Candidates are sorted by position within their object. Values are taken by the probability near
    them; each stands for the candidates within the margin that no value before it took. Object o
    has the candidates starts[o]:starts[o + 1]; `value` (candidates) is the stated value at a
    candidate, -1 if nobody states it. The probability near a value is weighed by 1 −
    (distance/margin)², Epanechnikov's kernel, and that at the value itself counts twice. Once a
    candidate has an owner it keeps it, so every one is given away at most once.
    """
    owner = np.full(len(position), -1, dtype=np.int64)
    score = np.full(len(position), -1.0)
    for o in range(len(starts) - 1):
        low, high = starts[o], starts[o + 1]
        for a in range(low, high):
            if value[a] >= 0:
                first, last = _window(position, a, low, high, margin)
                far = (position[first:last] - position[a]) / margin
                score[a] = probability[a] + (probability[first:last] * (1.0 - far * far)).sum()
        for n in np.argsort(-score[low:high], kind="mergesort"):
            if value[low + n] >= 0 and owner[low + n] < 0:
                first, last = _window(position, low + n, low, high, margin)
                for k in range(first, last):
                    if owner[k] < 0:
                        owner[k] = value[low + n]
    return owner


@kernel()
def _window(
    position: FloatArray, center: int, low: int, high: int, margin: float
) -> tuple[int, int]:
    """Return the range of candidates within the margin of one, by `position` (ascending)."""
    first, last = center, center + 1
    while first > low and position[first - 1] >= position[center] - margin:
        first -= 1
    while last < high and position[last] <= position[center] + margin:
        last += 1
    return first, last


@kernel(entry="i8[:], f8[:], f8[:], f8[:], f8, f8")
def central_intervals(
    starts: IntArray,
    position: FloatArray,
    width: FloatArray,
    weights: FloatArray,
    grain: float,
    level: float,
) -> FloatArray:
    """Return the central interval of every object and its share: low, median, high, share.

    Object o has the cells starts[o]:starts[o + 1] of the line, with centre `position`, `width` and
    `weights` (cells). Within a cell the density is even, so that a quantile is found by going along
    the cells until their share reaches it. A cell no wider than the grain is one number that can be
    stated: an end in it is that number, and the interval has all of it. Without weight an object
    has NaN.
    """
    found = np.full((len(starts) - 1, 4), np.nan)
    shares = np.array([(1.0 - level) / 2, 0.5, (1.0 + level) / 2])
    for o in range(len(starts) - 1):
        low, high = starts[o], starts[o + 1]
        total = weights[low:high].sum()
        if total <= 0.0:
            continue
        found[o, 3] = level
        for n in range(3):
            reached = 0.0
            for k in range(low, high):
                weight = weights[k] / total
                if weight > 0.0 and reached + weight >= shares[n] * (1 - 1e-12):
                    inside = min(max((shares[n] - reached) / weight, 0.0), 1.0)
                    if width[k] > grain:
                        found[o, n] = position[k] + width[k] * (inside - 0.5)
                    else:
                        found[o, n] = position[k]
                        found[o, 3] += weight * (1.0 - inside if n == 2 else inside * (n == 0))
                    break
                reached += weight
    return found
