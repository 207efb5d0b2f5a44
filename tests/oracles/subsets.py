"""A positive recursion over all subsets, in logarithms: Z[S] = Σ_{C ∋ lowest of S} w(C) Z[S∖C].

Slow and plain, for up to about eighteen templates; it shares nothing with the engines.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def cell_log_weights(theta: Floats) -> Floats:
    """log w of every subset as a cell: the sum of theta over its pairs."""
    n = len(theta)
    weights = np.zeros(1 << n)
    for i in range(n):
        to_i = np.zeros(1)
        for j in range(i):
            to_i = np.concatenate([to_i, to_i + theta[i, j]])
        weights[1 << i : 2 << i] = weights[: 1 << i] + to_i
    return weights


def _log_sum(values: Floats) -> float:
    top = values.max()
    return float(top + np.log(np.exp(values - top).sum())) if top > -np.inf else -np.inf


def _subsets(mask: int) -> NDArray[np.int64]:
    found = np.zeros(1, dtype=np.int64)
    bit = 1
    while bit <= mask:
        if mask & bit:
            found = np.concatenate([found, found | bit])
        bit <<= 1
    return found


def completions(theta: Floats) -> Floats:
    """log Z of every subset of the templates, alone."""
    weights = cell_log_weights(theta)
    table = np.full(len(weights), -np.inf)
    table[0] = 0.0
    for subset in range(1, len(table)):
        lowest = subset & -subset
        rest = _subsets(subset ^ lowest)
        table[subset] = _log_sum(weights[rest | lowest] + table[(subset ^ lowest) ^ rest])
    return table


def log_normaliser(theta: Floats) -> float:
    return float(completions(theta)[-1])


def cell_marginals(theta: Floats) -> Floats:
    """P(C) of every subset as a cell; 0 for the empty one."""
    table = completions(theta)
    p = np.exp(cell_log_weights(theta) + table[::-1] - table[-1])
    p[0] = 0.0
    return p


def pair_marginals(theta: Floats) -> Floats:
    """For every two templates the probability that they share a cell."""
    n = len(theta)
    p = cell_marginals(theta)
    inside = (np.arange(len(p))[:, None] >> np.arange(n)[None, :] & 1).astype(np.float64)
    pairs: Floats = inside.T @ (p[:, None] * inside)
    return pairs
