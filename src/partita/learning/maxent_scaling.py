"""Improved iterative scaling (Della Pietra, Della Pietra & Lafferty; Berger et al. 1996).

λ_i += δ_i, where  Σ_x p̃(x) p(yes|x) f_i(x) e^{δ_i f#(x)} = p̃(f_i)  and  f#(x) = Σ_i f_i(x).
"""

from __future__ import annotations

import numpy as np

from partita.errors import InputError
from partita.learning.maxent import Contexts, expected, refuse_one_class
from partita.records import FloatArray, IntArray

STEPS = 100_000
ENOUGH = 1e-10
INNER = 50


def iterative_scaling(
    given: Contexts, active: IntArray, enough: float = ENOUGH, steps: int = STEPS
) -> FloatArray:
    """The weights at which the model expects of every active feature what was observed."""
    refuse_one_class(given)
    table = given.table(active)
    observed = table.T @ given.yes
    _refuse_infinite(observed, table.T @ given.count)
    levels, level = np.unique(table.sum(axis=1), return_inverse=True)
    member = (level[:, None] == np.arange(len(levels))).astype(np.float64)
    weights = np.zeros(given.features)
    for _ in range(steps):
        expects = expected(given, table @ weights[active])
        by_level = table.T @ (member * expects[:, None])
        delta = _scaled(by_level, levels, observed)
        weights[active] += delta
        if np.abs(delta).max(initial=0.0) < enough:
            break
    return weights


def _scaled(by_level: FloatArray, levels: FloatArray, observed: FloatArray) -> FloatArray:
    """δ for each feature by Newton on the logarithm, which is convex and at least of slope 1."""
    delta: FloatArray = np.zeros(len(observed))
    for _ in range(INNER):
        terms = by_level * np.exp(delta[:, None] * levels[None, :])
        total = terms.sum(axis=1)
        step = (np.log(observed) - np.log(total)) * total / (terms @ levels)
        delta += step
        if np.abs(step).max(initial=0.0) < 1e-14:
            break
    return delta


def _refuse_infinite(observed: FloatArray, seen: FloatArray) -> None:
    if ((observed <= 0) | (observed >= seen)).any():
        raise InputError(
            "a feature is seen with one answer only, so that its weight is infinite; "
            "expected features seen with both, or a prior"
        )
