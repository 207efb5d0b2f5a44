"""Products of nearly full tables as dense ones, shared among threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from partita.compilation import kernel
from partita.core import BoolArray, FloatArray, IntArray

VECTOR = ir.VectorType(ir.DoubleType(), 4)
INDEX, LANE = ir.IntType(64), ir.IntType(32)
Values = Callable[[Any, Any, Any, Any], Any]


def _add(builder: Any, total: Any, weight: Any, x: Any) -> Any:
    product = builder.fmul(weight, x, flags=["contract"])
    return builder.fadd(total, product, flags=["contract"])


def _raise(builder: Any, highest: Any, weight: Any, x: Any) -> Any:
    reached = builder.fadd(weight, x)
    return builder.select(builder.fcmp_ordered(">", reached, highest), reached, highest)


def _place(builder: Any, base: Any, k: int) -> Any:
    return builder.bitcast(builder.gep(base, [INDEX(k)]), VECTOR.as_pointer())


def _everywhere(builder: Any, value: Any) -> Any:
    """Return a vector of one value."""
    first = builder.insert_element(ir.Constant(VECTOR, ir.Undefined), value, LANE(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(LANE, 4), [0] * 4))


def _instructions(meets: Callable[[int, int], bool], combine: Values) -> Callable[..., Any]:
    """Write code for (to, t, y, b, x); `meets` says which halves of D and l have entries."""

    def write(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, y, x = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 2, 4)
        )
        to, y = builder.gep(to, [args[1]]), builder.gep(y, [args[3]])
        sums = [builder.load(_place(builder, to, 4 * part), align=8) for part in range(4)]
        for d in range(16):
            weight = _everywhere(builder, builder.load(builder.gep(y, [INDEX(d)])))
            for part in range(4):
                if meets(d >> 2, part):
                    spread = builder.load(_place(builder, x, 16 * d + 4 * part), align=8)
                    sums[part] = combine(builder, sums[part], weight, spread)
        for part in range(4):
            builder.store(sums[part], _place(builder, to, 4 * part), align=8)
        return context.get_dummy_value()

    return write


def _inside(d: int, part: int) -> bool:
    return d & part == d


def _apart(d: int, part: int) -> bool:
    return d & part == 0


def _added_inside(_typing, to, t, y, b, x):  # type: ignore[no-untyped-def]
    """to[t + l] += Σ_{D ⊆ l} y[b + D] · x[D][l]."""
    return types.void(to, t, y, b, x), _instructions(_inside, _add)


def _raised_inside(_typing, to, t, y, b, x):  # type: ignore[no-untyped-def]
    """to[t + l] = max over D ⊆ l of y[b + D] + x[D][l], and of what was there."""
    return types.void(to, t, y, b, x), _instructions(_inside, _raise)


def _added_apart(_typing, to, t, y, b, x):  # type: ignore[no-untyped-def]
    """to[t + l] += Σ_{D disjoint from l} y[b + D] · x[D][l]."""
    return types.void(to, t, y, b, x), _instructions(_apart, _add)


# called from compiled code as (to, t, y, b, x)
add_inside: Any = intrinsic(_added_inside)
raise_inside: Any = intrinsic(_raised_inside)
add_apart: Any = intrinsic(_added_apart)

BLOCK_BITS = 10
LANE_BITS = 4


@kernel()
def _pairs_of_lanes():  # type: ignore[no-untyped-def]
    """Return the 81 pairs of disjoint (D, rest) among 16 lanes."""
    found = np.empty((81, 2), np.uint64)
    size = 0
    for d in range(16):
        for rest in range(16):
            if d & rest == 0:
                found[size, 0], found[size, 1] = d, rest
                size += 1
    return found


@kernel()
def _block_push(maxima, to, t, stays, s, y, b, groups, lanes, x):  # type: ignore[no-untyped-def]
    """Process one block: to[g ∪ h] ⊕= stays[g] ⊗ y[h] for disjoint groups g and h."""
    sixteen = np.uint64(16)
    for g in range(groups):
        for k in range(np.uint64(81)):
            d, rest = lanes[k, 0], lanes[k, 1]
            x[d, d | rest] = stays[s + sixteen * g + rest]
        free = (groups - np.uint64(1)) ^ g
        h = np.uint64(0)
        while True:
            if maxima:
                raise_inside(to, t + sixteen * (g | h), y, b + sixteen * h, x)
            else:
                add_inside(to, t + sixteen * (g | h), y, b + sixteen * h, x)
            h = (h - free) & free
            if h == 0:
                break


@kernel()
def _block_pull(to, t, stays, s, y, b, groups, lanes, x):  # type: ignore[no-untyped-def]
    """Process one block: to[g] += stays[g ∪ h] · y[h] for disjoint groups g and h."""
    sixteen = np.uint64(16)
    for q in range(groups):
        for k in range(np.uint64(81)):
            d, rest = lanes[k, 0], lanes[k, 1]
            x[d, rest] = stays[s + sixteen * q + (d | rest)]
        h = np.uint64(0)
        while True:
            add_apart(to, t + sixteen * (q ^ h), y, b + sixteen * h, x)
            h = (h - q) & q
            if h == 0:
                break


@kernel()
def push_part(maxima, out, table, entries, used, part, parts):  # type: ignore[no-untyped-def]
    """out[S ∪ D] ⊕= table[S] ⊗ entries[D]; out and entries may have more bits than the table.

    Sums of products, or `maxima` of sums.
    `used[h]` says whether block h of the entries holds anything. Of the blocks of out only every
    parts-th is made, so that several threads can share the work and each entry of out is still
    summed by one of them in one order.
    """
    size = np.uint64(min(len(table), 1 << BLOCK_BITS))
    lanes, x = _pairs_of_lanes(), np.full((16, 16), -np.inf if maxima else 0.0)
    groups, blocks = size // np.uint64(16), np.uint64(len(table)) // size
    for q in range(np.uint64(part), np.uint64(len(out)) // size, np.uint64(parts)):
        for h in range(np.uint64(len(entries)) // size):
            if h & ~q == 0 and used[h] and q ^ h < blocks:
                _block_push(
                    maxima,
                    out,
                    q * size,
                    table,
                    (q ^ h) * size,
                    entries,
                    h * size,
                    groups,
                    lanes,
                    x,
                )


@kernel()
def pull_part(to, out, entries, used, part, parts):  # type: ignore[no-untyped-def]
    """to[S] += out[S ∪ D] · entries[D], for every parts-th block of `to`."""
    size = np.uint64(min(len(to), len(entries), 1 << BLOCK_BITS))
    lanes, x = _pairs_of_lanes(), np.zeros((16, 16))
    groups = size // np.uint64(16)
    for g in range(np.uint64(part), np.uint64(len(to)) // size, np.uint64(parts)):
        for h in range(np.uint64(len(entries)) // size):
            if g & h == 0 and used[h]:
                _block_pull(to, g * size, out, (g | h) * size, entries, h * size, groups, lanes, x)


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
    _run_shared(lambda k, of: push_part(maxima, out, table, entries, used, k, of), len(out))


def pull(out: FloatArray, size: int, masks: IntArray, weights: FloatArray) -> FloatArray:
    """Return Σ_D out[S ∪ D] · weights[D], for every S of a table of that size."""
    entries = _spread(masks, weights, len(out))
    used, to = _nonempty_blocks(entries, size), np.zeros(size)
    _run_shared(lambda k, of: pull_part(to, out, entries, used, k, of), len(out))
    return to


def dot(out: FloatArray, table: FloatArray, masks: IntArray) -> FloatArray:
    """Return Σ_S out[S ∪ D] · table[S], for every D."""
    used, to = _nonempty_blocks(table, len(table)), np.zeros(len(out))
    _run_shared(lambda k, of: pull_part(to, out, table, used, k, of), len(out))
    return to[masks]


def _spread(masks: IntArray, weights: FloatArray, size: int, zero: float = 0.0) -> FloatArray:
    entries = np.full(size, zero)
    entries[masks] = weights
    return entries


def _nonempty_blocks(entries: FloatArray, size: int, zero: float = 0.0) -> BoolArray:
    """Return which blocks hold anything."""
    used = entries.reshape(-1, min(size, 1 << BLOCK_BITS)) != zero
    return np.asarray(used.any(axis=1))


def _run_shared(work: Callable[[int, int], None], size: int) -> None:
    """Do all parts of the work; many more than threads, since some are much longer than others."""
    if size < ALONE:
        work(0, 1)
        return
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for done in [pool.submit(work, k, PARTS) for k in range(PARTS)]:
            done.result()
