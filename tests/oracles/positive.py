"""A compiled positive recursion over subsets, by the cell of the FIRST open template.

Z[S] = Σ_{C ⊆ S, C holds the lowest member of S} w(C)·Z[S∖C], in plain doubles where they suffice
and in logarithms otherwise; nothing is subtracted, so nothing is lost.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray


def dense_normalisers(theta: NDArray[np.float64]) -> NDArray[np.float64]:
    """log Z of every subset, as a table over bit masks (template i is bit i)."""
    log_w = cell_weights(np.ascontiguousarray(theta))
    if log_w[1:].max() < 600.0:
        with np.errstate(divide="ignore"):
            return np.log(_linear(np.exp(log_w)))
    return _logarithmic(log_w)


@njit(cache=True)
def cell_weights(theta):
    """The sum of theta over the pairs of every subset, pair by pair."""
    n = theta.shape[0]
    weights = np.zeros(1 << n)
    for s in range(1, 1 << n):
        total = 0.0
        for i in range(n):
            if s >> i & 1:
                for j in range(i):
                    if s >> j & 1:
                        total += theta[i, j]
        weights[s] = total
    return weights


@njit(cache=True)
def _linear(w):
    z = np.zeros(w.shape[0])
    z[0] = 1.0
    for s in range(1, w.shape[0]):
        low = s & -s
        rest = s ^ low
        c, total = rest, 0.0
        while True:
            total += w[low | c] * z[rest ^ c]
            if c == 0:
                break
            c = (c - 1) & rest
        z[s] = total
    return z


@njit(cache=True)
def _logarithmic(log_w):
    z = np.zeros(log_w.shape[0])
    for s in range(1, log_w.shape[0]):
        low = s & -s
        rest = s ^ low
        c, top, total = rest, -math.inf, 0.0
        while True:
            top = max(top, log_w[low | c] + z[rest ^ c])
            if c == 0:
                break
            c = (c - 1) & rest
        c = rest
        while True:
            value = log_w[low | c] + z[rest ^ c] - top
            if value > -50.0:
                total += math.exp(value)
            if c == 0:
                break
            c = (c - 1) & rest
        z[s] = top + math.log(total)
    return z
