"""Products of nearly full tables as dense ones, shared among threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from partita.configurations.sparse import dense_kernels as kernels
from partita.core import BoolArray, FloatArray, IntArray

LANE_BITS = kernels.LANE_BITS
LISTED = 1.1  # nanoseconds for one pair of a listed entry and a place of the table
LANES = 16.0  # nanoseconds for one pair of groups of 16 places each
FEW = 64  # with so few entries a dense product never pays
ALONE = 1 << 15  # entries below which threads cost more than they gain
PARTS = 32


def pairs_of_groups(bits: int, above: int) -> float:
    """Return the number of pairs of groups in a dense product; `above` bits are not the table's."""
    return 3.0 ** max(0, bits - LANE_BITS) * 2.0**above


def pays(masks: IntArray, bits: int, size: int) -> bool:
    """Return whether the dense product is the quicker one."""
    if len(masks) <= FEW or bits < LANE_BITS:
        return False
    inside = masks & ((1 << bits) - 1)
    listed = float(np.ldexp(1.0, bits - np.bitwise_count(inside).astype(np.int64)).sum())
    above = size.bit_length() - 1 - bits
    return LISTED * listed > LANES * pairs_of_groups(bits, above)


def push(
    out: FloatArray, table: FloatArray, masks: IntArray, weights: FloatArray, maxima: bool = False
) -> None:
    """Add table[S] · weights[D] to out[S ∪ D]; or take the maxima of table[S] + weights[D]."""
    zero = -np.inf if maxima else 0.0
    entries = _spread(masks, weights, len(out), zero)
    used = _nonempty_blocks(entries, len(table), zero)
    _run_shared(lambda k, of: kernels.push(maxima, out, table, entries, used, k, of), len(out))


def pull(out: FloatArray, size: int, masks: IntArray, weights: FloatArray) -> FloatArray:
    """Return Σ_D out[S ∪ D] · weights[D], for every S of a table of that size."""
    entries = _spread(masks, weights, len(out))
    used, to = _nonempty_blocks(entries, size), np.zeros(size)
    _run_shared(lambda k, of: kernels.pull(to, out, entries, used, k, of), len(out))
    return to


def dot(out: FloatArray, table: FloatArray, masks: IntArray) -> FloatArray:
    """Return Σ_S out[S ∪ D] · table[S], for every D."""
    used, to = _nonempty_blocks(table, len(table)), np.zeros(len(out))
    _run_shared(lambda k, of: kernels.pull(to, out, table, used, k, of), len(out))
    return to[masks]


def _spread(masks: IntArray, weights: FloatArray, size: int, zero: float = 0.0) -> FloatArray:
    entries = np.full(size, zero)
    entries[masks] = weights
    return entries


def _nonempty_blocks(entries: FloatArray, size: int, zero: float = 0.0) -> BoolArray:
    """Return which blocks hold anything."""
    used = entries.reshape(-1, min(size, 1 << kernels.BLOCK_BITS)) != zero
    return np.asarray(used.any(axis=1))


def _run_shared(work: Callable[[int, int], None], size: int) -> None:
    """Do all parts of the work; many more than threads, since some are much longer than others."""
    if size < ALONE:
        work(0, 1)
        return
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for done in [pool.submit(work, k, PARTS) for k in range(PARTS)]:
            done.result()
