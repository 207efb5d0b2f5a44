"""Compiled steps on tables over subsets.

A `table` has an entry for every subset of so many `bits`, in units of its algebra: ⊕ and ⊗
are + and ·, the maximum and + of logarithms, or + and · on logarithms. `masks` are subsets D of the
templates that a cell takes, with the `weights` of the cells; `out` is a table over more bits. `to`
and `source` are tables, `up` and `down` (D, or 0) what is joined to every subset S of the `free`
bits, and `run` a power of two: as many neighbours S follow each other. `members` (templates) stand
at the bits of a mask from `shift` on, and `vertex` is the template that is eliminated. All arrays
belong to the caller.
"""

from __future__ import annotations

import math

import numpy as np

from partita.compilation import kernel
from partita.configurations.sparse.steps import bit_count

SUM, MAX, LOG = 0, 1, 2


@kernel(inline="always")
def log_add(x, y):  # type: ignore[no-untyped-def]
    """Return log(e^x + e^y)."""
    high, low = (x, y) if x > y else (y, x)
    return high if low == -np.inf else high + math.log1p(math.exp(low - high))


# Indices are unsigned: with signed ones the compiler adds a test for negative values to each, and
# the loops are no longer vectorised (eight times slower).


@kernel(fastmath={"contract"})
def _add(to, up, source, down, free, run, weight):  # type: ignore[no-untyped-def]
    """to[up ∪ S] += weight · source[down ∪ S] for every S of the free bits, in whole runs."""
    s = np.uint64(0)
    if run < np.uint64(8):
        while True:
            to[up | s] += weight * source[down | s]
            s = (s - free) & free
            if s == 0:
                return
    high = free & ~(run - np.uint64(1))
    while True:
        t, f = up | s, down | s
        for k in range(run):
            to[t + k] += weight * source[f + k]
        s = (s - high) & high
        if s == 0:
            return


@kernel()
def _raise(to, up, source, down, free, weight):  # type: ignore[no-untyped-def]
    """Return the same with the maximum for + and + for · (so `weight` is a logarithm)."""
    s = np.uint64(0)
    while True:
        to[up | s] = max(to[up | s], weight + source[down | s])
        s = (s - free) & free
        if s == 0:
            return


@kernel()
def _add_logs(to, up, source, down, free, weight):  # type: ignore[no-untyped-def]
    """Return the same on logarithms, `weight` too."""
    s = np.uint64(0)
    while True:
        to[up | s] = log_add(to[up | s], weight + source[down | s])
        s = (s - free) & free
        if s == 0:
            return


@kernel(fastmath={"contract", "reassoc"})
def _dot(x, y, up, free, run):  # type: ignore[no-untyped-def]
    """Σ_S x[S] · y[up ∪ S] over the free bits, in whole runs."""
    s = np.uint64(0)
    total = 0.0
    if run < np.uint64(8):
        while True:
            total += x[s] * y[up | s]
            s = (s - free) & free
            if s == 0:
                return total
    high = free & ~(run - np.uint64(1))
    while True:
        t = up | s
        for k in range(run):
            total += x[s + k] * y[t + k]
        s = (s - high) & high
        if s == 0:
            return total


@kernel()
def _dot_logs(x, y, up, free):  # type: ignore[no-untyped-def]
    """Return the same on logarithms x and y."""
    s = np.uint64(0)
    total = -np.inf
    while True:
        total = log_add(total, x[s] + y[up | s])
        s = (s - free) & free
        if s == 0:
            return total


@kernel()
def _split(mask, bits):  # type: ignore[no-untyped-def]
    """Return which of the table's bits a `mask` leaves free, and the length of runs."""
    whole = (np.uint64(1) << np.uint64(bits)) - np.uint64(1)
    inside = np.uint64(mask) & whole
    run = inside & (~inside + np.uint64(1)) if inside else whole + np.uint64(1)
    return whole ^ inside, run


@kernel()
def _combine(algebra, to, up, source, down, free, run, weight):  # type: ignore[no-untyped-def]
    """Do one of these three with a `weight`, as the `algebra` says."""
    if algebra == SUM:
        _add(to, up, source, down, free, run, weight)
    elif algebra == MAX:
        _raise(to, up, source, down, free, weight)
    else:
        _add_logs(to, up, source, down, free, weight)


@kernel(entry="i8, f8[:], f8[:], i8, i8[:], f8[:]")
def push(algebra, out, table, bits, masks, weights):  # type: ignore[no-untyped-def]
    """out[S ∪ D] ⊕= table[S] ⊗ weights[D]."""
    for e in range(len(masks)):
        free, run = _split(masks[e], bits)
        _combine(algebra, out, np.uint64(masks[e]), table, np.uint64(0), free, run, weights[e])


@kernel(entry="i8, f8[:], f8[:], i8, i8[:], f8[:]")
def pull(algebra, table, out, bits, masks, weights):  # type: ignore[no-untyped-def]
    """table[S] ⊕= out[S ∪ D] ⊗ weights[D]: the transpose of push in the table."""
    for e in range(len(masks)):
        free, run = _split(masks[e], bits)
        _combine(algebra, table, np.uint64(0), out, np.uint64(masks[e]), free, run, weights[e])


@kernel(entry="i8, f8[:], f8[:], i8, i8[:]")
def dot(algebra, table, out, bits, masks):  # type: ignore[no-untyped-def]
    """⊕_S table[S] ⊗ out[S ∪ D] for every D: the transpose of push in the weights."""
    found = np.empty(len(masks))
    for e in range(len(masks)):
        free, run = _split(masks[e], bits)
        if algebra == SUM:
            found[e] = _dot(table, out, np.uint64(masks[e]), free, run)
        else:
            found[e] = _dot_logs(table, out, np.uint64(masks[e]), free)
    return found


@kernel(entry="f8[:]")
def normalise(table):  # type: ignore[no-untyped-def]
    """Scale by a power of two so that the largest entry is from 1/2 to 1; return its exponent."""
    largest = 0.0
    for k in range(len(table)):
        largest = max(largest, table[k])
    exponent = math.frexp(largest)[1]
    # in two factors: 2^-exponent alone may be outside the range of doubles
    half = exponent // 2
    first, second = math.ldexp(1.0, -half), math.ldexp(1.0, half - exponent)
    for k in range(len(table)):
        table[k] = table[k] * first * second
    return exponent


@kernel()
def _spread(positions, first, last):  # type: ignore[no-untyped-def]
    """Return, for every subset of the bits first…last − 1, its index with bit j at positions[j]."""
    spread = np.zeros(np.int64(1) << (last - first), np.int64)
    for j in range(first, last):
        half = np.int64(1) << (j - first)
        for k in range(half):
            spread[half + k] = spread[k] | (np.int64(1) << positions[j])
    return spread


@kernel(entry="f8[:], i8[:], i8, f8[:]")
def gather(source, positions, base, to):  # type: ignore[no-untyped-def]
    """to[S] = source[base + S with bit j moved to positions[j]]."""
    bits = len(positions)
    half = min(bits, 10)
    low, high = _spread(positions, 0, half), _spread(positions, half, bits)
    for h in range(len(high)):
        for k in range(len(low)):
            to[(h << half) + k] = source[base + high[h] + low[k]]


@kernel(entry="f8[:], i8[:], i8, f8[:]")
def scatter(source, positions, base, to):  # type: ignore[no-untyped-def]
    """to[base + S with bit j moved to positions[j]] = source[S]."""
    bits = len(positions)
    half = min(bits, 10)
    low, high = _spread(positions, 0, half), _spread(positions, half, bits)
    for h in range(len(high)):
        for k in range(len(low)):
            to[base + high[h] + low[k]] = source[(h << half) + k]


@kernel(entry="f8[:,:], f8[:], i8, i8[:], i8")
def cells_from(theta, scale, vertex, members, shift):  # type: ignore[no-untyped-def]
    """List every clique D of the members, as a shifted mask, with log w({vertex} ∪ D) − Σ scale.

    `theta` (n × n) are log-odds, −∞ for incompatible templates; `scale` (n) is taken off for each.
    """
    size = len(members)
    later = np.zeros(size, np.int64)
    for i in range(size):
        for j in range(i + 1, size):
            if theta[members[i], members[j]] > -np.inf:
                later[i] |= np.int64(1) << j
    room = 16
    masks, rest, weights = np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room)
    masks[0], rest[0], weights[0] = 0, (np.int64(1) << size) - 1, -scale[vertex]
    count, at = 1, 0
    while at < count:
        candidates = rest[at]
        if count + size > room:
            room = 2 * room + size
            masks, rest, weights = _longer(masks, room), _longer(rest, room), _longer(weights, room)
        while candidates:
            low = candidates & -candidates
            candidates ^= low
            i = bit_count(np.uint64(low - 1))
            gain = theta[vertex, members[i]] - scale[members[i]]
            inside = masks[at]
            while inside:
                bit = inside & -inside
                inside ^= bit
                gain += theta[members[i], members[bit_count(np.uint64(bit - 1))]]
            masks[count], weights[count] = masks[at] | low, weights[at] + gain
            rest[count] = candidates & later[i]
            count += 1
        at += 1
    for k in range(count):
        masks[k] <<= shift
    return masks[:count], weights[:count]


@kernel()
def _longer(values, room):  # type: ignore[no-untyped-def]
    """Return the values in an array with more room."""
    longer = np.empty(room, values.dtype)
    for k in range(len(values)):  # a loop compiles in a tenth of the time of a slice
        longer[k] = values[k]
    return longer


@kernel(entry="f8[:,:], i8, i8[:], i8[:], i8, f8[:]")
def add_pairs(pairs, vertex, members, masks, shift, probabilities):  # type: ignore[no-untyped-def]
    """Add each cell's probability to every two of its members, and to each with itself.

    `pairs` (n × n) are added to, `probabilities` are those of the masks.
    """
    size = len(members) + 1
    sums = np.zeros((size, size))  # by place, the vertex first: small, so it stays in the cache
    inside = np.zeros(size, np.int64)
    for e in range(len(masks)):
        rest = masks[e] >> shift
        count = 1
        while rest:
            low = rest & -rest
            rest ^= low
            inside[count] = bit_count(np.uint64(low - 1)) + 1
            count += 1
        for i in range(count):
            row = sums[inside[i]]
            for j in range(i + 1):
                row[inside[j]] += probabilities[e]
    for i in range(size):
        one = members[i - 1] if i else vertex
        pairs[one, one] += sums[i, i]
        for j in range(i):
            other = members[j - 1] if j else vertex
            pairs[one, other] += sums[i, j]
            pairs[other, one] += sums[i, j]
