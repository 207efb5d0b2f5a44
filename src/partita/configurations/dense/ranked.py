"""log Z of every subset by ranked transforms of rescaled weights: about n²·2^n steps.

Z[S ∪ {i}] = Σ_{C ⊆ S} w[C ∪ {i}]·Z[S∖C] is one disjoint product for each template i. (One ranked
exponential for all of them needs as many steps and loses four to five digits more.)
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from partita.configurations.dense.scaling import near_dual
from partita.configurations.dense.subsets import SMALL, SUM, recursion, subset_sums
from partita.records import FloatArray, IntArray

LEAF_BITS = 9  # the last bits, transformed together in the cache


def ranked_log_normalisers(theta: FloatArray, log_w: FloatArray) -> FloatArray:
    """log Z[S] = log Z'[S] + Σ_{i∈S} a_i; what is lost in rounding counts as impossible."""
    a = subset_sums(near_dual(theta, log_w))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        z = normalisers(np.exp(log_w - a))
        np.log(np.maximum(z, 0.0, out=z), out=z)
    z += a
    return z


def normalisers(weights: FloatArray) -> FloatArray:
    """Z of every subset, from the weight of every cell."""
    z = np.empty(len(weights))
    z[: 1 << SMALL] = recursion(weights[: 1 << SMALL], SUM)
    for i in range(SMALL, len(weights).bit_length() - 1):
        z[1 << i : 2 << i] = disjoint_product(weights[1 << i : 2 << i], z[: 1 << i])
    return z


def disjoint_product(f: FloatArray, g: FloatArray) -> FloatArray:
    """h(S) = Σ_{C ⊆ S} f(C)·g(S∖C) for every subset S, the two halves on two cores."""
    from partita.configurations.dense.ranked_kernels import ascend

    root = np.empty((3, len(f)))
    root[0], root[2] = f, g
    if (os.cpu_count() or 1) > 1:
        with ThreadPoolExecutor(2) as pool:
            halves = list(pool.map(_half, (root, root), (0, 1)))
    else:
        halves = [_half(root, 0), _half(root, 1)]
    for bit, half in enumerate(halves):
        ascend(root, half, 0, bit)
    product: FloatArray = root[1]
    return product


def _half(root: FloatArray, bit: int) -> FloatArray:
    """The results below the root's child without or with the highest template."""
    from partita.configurations.dense.ranked_kernels import descend, level_of, subtree

    n = root.shape[1].bit_length() - 1
    starts = _level_starts(n)
    arena = np.empty(starts[-1])
    level: FloatArray = level_of(arena, starts, n, 1)
    descend(root, level, 0, bit)
    subtree(arena, starts, n, 1, bit, _sizes())
    return level


def _level_starts(n: int) -> IntArray:
    """Where each level begins in an arena that starts with level 1 (level 0 is shared)."""
    sizes = [(2 * d + 3) << (n - d) for d in range(1, n - LEAF_BITS + 1)]
    return np.concatenate([[0, 0], np.cumsum(sizes)]).astype(np.int64)


def _sizes() -> IntArray:
    """The number of members of every subset of the last bits."""
    return np.bitwise_count(np.arange(1 << LEAF_BITS)).astype(np.int64)
