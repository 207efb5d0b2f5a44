"""Sources that find and err together: how far two still agree when all that others say is known.

ρ_st is the correlation of s and t beyond P(fact | the others). Facts that are easy to find
correlate all sources a little; pairs far outside of what is usual share something else. The word of
s counts 1/(1 + Σ_t ρ_st) over these, so that two which always agree count as one.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from partita.fusion.detection import detect, fitted
from partita.records import FloatArray

FAR = 5.0  # standard deviations from the median pair
FEWEST = 10  # pairs, to know what is usual
NORMAL = 1.4826  # standard deviations in a median absolute deviation


def correlations(reported: FloatArray, asked: FloatArray) -> FloatArray:
    """Sources × sources; facts × sources as for `detect`."""
    many = reported.shape[1]
    found = np.zeros((many, many))
    spread = detect(reported, asked).spread
    for left, right in combinations(range(many), 2):
        others = asked.copy()
        others[:, [left, right]] = 0.0
        belief = fitted(reported * others, others, spread).probability
        both = (asked[:, left] > 0) & (asked[:, right] > 0)
        beyond = _beyond(reported[both][:, [left, right]], belief[both])
        found[left, right] = found[right, left] = beyond
    return found


def independence(found: FloatArray) -> FloatArray:
    """How much the word of each source counts."""
    weights: FloatArray = 1 / (1 + np.where(striking(found), found, 0.0).sum(axis=1))
    return weights


def striking(found: FloatArray) -> NDArray[np.bool_]:
    """Which pairs agree far more than is usual."""
    pairs = found[np.triu_indices(len(found), 1)]
    if len(pairs) < FEWEST:
        return np.zeros(found.shape, dtype=bool)
    middle = np.median(pairs)
    usual = NORMAL * np.median(np.abs(pairs - middle))
    far: NDArray[np.bool_] = found > max(middle + FAR * usual, 0.0)
    return far


def _beyond(two: FloatArray, belief: FloatArray) -> float:
    """What is left of the correlation when each is explained by the belief as far as it can be."""
    if len(two) < 4:
        return 0.0
    plane = np.stack([np.ones(len(belief)), belief], axis=1)
    rest = two - plane @ np.linalg.lstsq(plane, two, rcond=None)[0]
    size = np.sqrt((rest**2).sum(axis=0))
    if not size.all():
        return 0.0
    return float(rest[:, 0] @ rest[:, 1] / size.prod())
