"""Improved iterative scaling: the weights of the paper's training, which Newton's method finds too.

A. Berger, S. Della Pietra and V. Della Pietra, A maximum entropy approach to natural language
processing (Computational Linguistics 22, 1996).
"""

from __future__ import annotations

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.training.maxent import Contexts, expected, require_both_classes

SCALING_STEPS = 100_000
SCALING_INNER = 50


def indicators(sample: Contexts, active: IntArray) -> FloatArray:
    """Return f_i(x) for the active features, a row for each context."""
    column_of = np.repeat(np.arange(len(sample.sizes)), sample.sizes)[active]
    value = active - np.array(sample.starts)[column_of]
    return (sample.codes[:, column_of] == value[None, :]).astype(np.float64)


def iterative_scaling(
    sample: Contexts,
    active: IntArray,
    precision: float = 0.0,
    start: FloatArray | None = None,
    enough: float = 1e-6,
) -> FloatArray:
    """Fit the active features by improved iterative scaling; `enough` bounds the gradient per pair.

    λ_i += δ_i, where  Σ_x p̃(x) p(yes|x) f_i(x) e^{δ_i f#(x)} + r(λ_i + δ_i) = p̃(f_i)  with the
    precision r of the prior and  f#(x) = Σ_i f_i(x).
    """
    require_both_classes(sample)
    weights = np.zeros(sample.features)
    inner = weights[active] if start is None else start[active]
    table = indicators(sample, active)
    observed = table.T @ sample.yes
    if precision == 0.0:
        _require_finite(observed, table.T @ sample.count)
    levels, level = np.unique(table.sum(axis=1), return_inverse=True)
    member = (level[:, None] == np.arange(len(levels))).astype(np.float64)
    for _ in range(SCALING_STEPS):
        by_level = table.T @ (member * expected(sample, table @ inner)[:, None])
        missing = observed - precision * inner
        if np.abs(missing - by_level.sum(axis=1)).max(initial=0.0) <= enough * sample.pairs:
            break
        inner = inner + _scaling_step(by_level, levels, missing, precision)
    weights[active] = inner
    return weights


def _scaling_step(
    by_level: FloatArray, levels: FloatArray, missing: FloatArray, precision: float
) -> FloatArray:
    """Return δ of each feature by Newton's method, with steps of at most 1 against overflow."""
    delta: FloatArray = np.zeros(len(missing))
    for _ in range(SCALING_INNER):
        terms = by_level * np.exp(delta[:, None] * levels[None, :])
        excess = terms.sum(axis=1) + precision * delta - missing
        step = np.clip(excess / (terms @ levels + precision), -1.0, 1.0)
        delta -= step
        if np.abs(step).max(initial=0.0) < 1e-14:
            break
    return delta


def _require_finite(observed: FloatArray, seen: FloatArray) -> None:
    if ((observed <= 0) | (observed >= seen)).any():
        raise InputError(
            "a feature is seen with one answer only, so that its weight is infinite; "
            "expected features seen with both, or a prior"
        )
