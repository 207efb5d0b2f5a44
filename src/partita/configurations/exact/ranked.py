"""The normaliser of every subset by ranked transforms: n²·2^n steps, which subtract.

A. Björklund, T. Husfeldt, P. Kaski and M. Koivisto, Fourier meets Möbius: fast subset convolution
(STOC 2007).

Compiled ranked transform: the sums over all ways to split a subset in two.

A product Σ_{C⊆S} f(C)·g(S∖C) is computed for all S at once: sum f and g over subsets, separately
for each size; multiply them as polynomials in the size; invert the sums. The highest templates
(bits) are decided one after another, depth first. A node has rows of f and g by the number of
decided bits that a subset holds, each row over the bits still open. The last nine bits are
processed together in the cache.

Memory belongs to one thread. The `arena` has rows over the open bits, `stride` numbers apart, from
`start` on (`level_places`): of both factors for the sizes 0…t, and of results. `f`, `g` and `h` (of
the `scratch`) have the factors and the product of one block: after PAD rows of zeros, row r is for
subsets of size r, BLOCK numbers in ROW. `rows` is any of these three; a leaf begins at `start` of
each row; `t` counts the decided bits that the node holds and `depth` those decided; `zeros` is a
piece of BLOCK zeros; `lanes` is 8, and `into` what is written (a place in the arena, or an array).
"""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from partita.compilation import kernel
from partita.configurations.exact.subsets import SUM, recursion
from partita.core import FloatArray, IntArray

# The ranked transform works on rows of 8 × 8 × 8 numbers: the three lowest templates (lanes), the
# next three, and the next three. Offsets are unsigned and constant, so that loops are vectorised.
BLOCK_BITS = 9
BLOCK = 1 << BLOCK_BITS
LEAF = 64  # numbers that are multiplied together
PADDING = 72  # after each row, so that the same place of all rows does not share a cache set
ROW = BLOCK + PADDING
PAD = 8  # rows of zeros before the first
SHIFT = 4  # rows by which the transform of a leaf moves
U = np.uint64
R1, R2, R3, R4 = U(ROW), U(2 * ROW), U(3 * ROW), U(4 * ROW)


def scratch_size(bits: int) -> int:
    """Return the numbers for the rows of blocks of so many templates: two factors, the results."""
    return 3 * (bits + 24) * ROW


@kernel()
def _clear(rows, first, last, start, width):  # type: ignore[no-untyped-def]
    """Set `width` numbers from `start` on in each of the rows first…last to 0."""
    for r in range(first, last + 1):
        place = (PAD + r) * ROW + start
        rows[place : place + width] = 0.0


@kernel()
def _spread_lanes(arena, start, stride, t, into, zeros):  # type: ignore[no-untyped-def]
    """Sum rows 0…t over subsets of the three lowest bits, into rows 0…t + 3 by size."""
    for r in range(t + 4):
        place = start + r * stride
        a = arena[place : place + BLOCK] if r <= t else zeros
        b = arena[place - stride : place - stride + BLOCK] if 1 <= r <= t + 1 else zeros
        c = arena[place - 2 * stride : place - 2 * stride + BLOCK] if 2 <= r <= t + 2 else zeros
        d = arena[place - 3 * stride : place - 3 * stride + BLOCK] if r >= 3 else zeros
        row = into[(PAD + r) * ROW : (PAD + r) * ROW + BLOCK]
        for x in range(0, BLOCK, 8):
            low, second, third = a[x], b[x + 2], b[x + 4]
            one, two = low + b[x + 1], low + second
            three = one + second + c[x + 3]
            row[x], row[x + 1], row[x + 2], row[x + 3] = low, one, two, three
            row[x + 4] = low + third
            row[x + 5] = one + third + c[x + 5]
            row[x + 6] = two + third + c[x + 6]
            row[x + 7] = three + third + c[x + 5] + c[x + 6] + d[x + 7]


@kernel()
def _gather_lanes(rows, e, into):  # type: ignore[no-untyped-def]
    """Invert the sums over the three lowest bits for the results of size e."""
    p = U((PAD + e) * ROW)
    for eight in range(U(BLOCK // 8)):
        n = eight * U(8)
        x = p + n
        b0, c0 = rows[x + R1], rows[x + R2]
        c1, c2, c4 = rows[x + R2 + U(1)], rows[x + R2 + U(2)], rows[x + R2 + U(4)]
        d7 = rows[x + R3 + U(7)] - rows[x + R3 + U(6)]
        d7 -= rows[x + R3 + U(5)] - rows[x + R3 + U(4)]
        d3 = rows[x + R3 + U(3)] - rows[x + R3 + U(2)]
        d3 -= rows[x + R3 + U(1)] - rows[x + R3]
        into[n] = rows[x]
        into[n + U(1)] = rows[x + R1 + U(1)] - b0
        into[n + U(2)] = rows[x + R1 + U(2)] - b0
        into[n + U(3)] = (rows[x + R2 + U(3)] - c2) - (c1 - c0)
        into[n + U(4)] = rows[x + R1 + U(4)] - b0
        into[n + U(5)] = (rows[x + R2 + U(5)] - c4) - (c1 - c0)
        into[n + U(6)] = (rows[x + R2 + U(6)] - c4) - (c2 - c0)
        into[n + U(7)] = d7 - d3


@kernel(inline="always")
def _sum_row(rows, p, q, apart, lanes):  # type: ignore[no-untyped-def]
    """Sum numbers that lie `apart`, one for each subset of three bits, into the row at q.

    Subsets of size k come from k rows below the row at p + R3. Inlined where `apart` is constant:
    so the loop is vectorised.
    """
    two, three, four, five = U(2) * apart, U(3) * apart, U(4) * apart, U(5) * apart
    six, seven = U(6) * apart, U(7) * apart
    for x in range(lanes):
        low, second, third = rows[p + R3 + x], rows[p + R2 + two + x], rows[p + R2 + four + x]
        fifth, sixth = rows[p + R1 + five + x], rows[p + R1 + six + x]
        sum1, sum2 = low + rows[p + R2 + apart + x], low + second
        sum3 = sum1 + second + rows[p + R1 + three + x]
        sum7 = sum3 + third + fifth + sixth + rows[p + seven + x]
        rows[q + x] = low
        rows[q + apart + x] = sum1
        rows[q + two + x] = sum2
        rows[q + three + x] = sum3
        rows[q + four + x] = low + third
        rows[q + five + x] = sum1 + third + fifth
        rows[q + six + x] = sum2 + third + sixth
        rows[q + seven + x] = sum7


@kernel()
def _spread(rows, top):  # type: ignore[no-untyped-def]
    """Sum rows 0…top over subsets of the three highest bits of a block, into rows 0…top + 3."""
    _clear(rows, top + 1, top + 3, 0, BLOCK)
    p = U((PAD + top) * ROW)  # three rows below the one that is written
    for _ in range(top + 4):
        _sum_row(rows, p, p + R3, U(64), U(64))
        p -= R1


@kernel()
def _spread_leaf(rows, start, top, lanes):  # type: ignore[no-untyped-def]
    """Sum rows 0…top over subsets of a leaf's last three bits; the result is SHIFT rows further.

    The number of lanes is always 8. As a constant it would be unrolled instead of vectorised.
    """
    _clear(rows, top + 1, top + 3, start, LEAF)
    p = U((PAD + top) * ROW + start)
    for _ in range(top + 4):
        _sum_row(rows, p, p + R3 + R4, U(8), lanes)
        p -= R1
    _clear(rows, 0, SHIFT - 1, start, LEAF)
    _clear(rows, SHIFT + top + 4, SHIFT + top + 6, start, LEAF)


@kernel(inline="always")
def _gather(rows, start, first, last, apart):  # type: ignore[no-untyped-def]
    """Invert the sums over three bits for the sizes first…last: numbers of subsets lie `apart`.

    They are the highest bits of a block (64 apart) or the last ones of the leaf at `start` (8).
    """
    two, three, four, five = U(2) * apart, U(3) * apart, U(4) * apart, U(5) * apart
    six, seven = U(6) * apart, U(7) * apart
    p = U((PAD + first) * ROW + start)
    for _ in range(first, last + 1):
        for x in range(apart):
            b0, c0 = rows[p + R1 + x], rows[p + R2 + x]
            c1, c2, c4 = rows[p + R2 + apart + x], rows[p + R2 + two + x], rows[p + R2 + four + x]
            d7 = rows[p + R3 + seven + x] - rows[p + R3 + six + x]
            d7 -= rows[p + R3 + five + x] - rows[p + R3 + four + x]
            d3 = rows[p + R3 + three + x] - rows[p + R3 + two + x]
            d3 -= rows[p + R3 + apart + x] - rows[p + R3 + x]
            rows[p + apart + x] = rows[p + R1 + apart + x] - b0
            rows[p + two + x] = rows[p + R1 + two + x] - b0
            rows[p + three + x] = (rows[p + R2 + three + x] - c2) - (c1 - c0)
            rows[p + four + x] = rows[p + R1 + four + x] - b0
            rows[p + five + x] = (rows[p + R2 + five + x] - c4) - (c1 - c0)
            rows[p + six + x] = (rows[p + R2 + six + x] - c4) - (c2 - c0)
            rows[p + seven + x] = d7 - d3
        p += R1


@kernel(fastmath={"contract"})
def _multiply_four(f, g, h, first):  # type: ignore[no-untyped-def]
    """Add the products of four coefficients of f with seven of g to four of h; the first are put.

    In this order few numbers are needed at a time, so that all stay in registers.
    """
    for x in range(LEAF):
        a = b = c = d = 0.0
        if not first:
            a, b, c, d = h[x], h[ROW + x], h[2 * ROW + x], h[3 * ROW + x]
        f0, g3, g4 = f[x], g[3 * ROW + x], g[4 * ROW + x]
        g5, g6 = g[5 * ROW + x], g[6 * ROW + x]
        a, b, c, d = a + f0 * g3, b + f0 * g4, c + f0 * g5, d + f0 * g6
        f1, g2 = f[ROW + x], g[2 * ROW + x]
        a, b, c, d = a + f1 * g2, b + f1 * g3, c + f1 * g4, d + f1 * g5
        f2, g1 = f[2 * ROW + x], g[ROW + x]
        a, b, c, d = a + f2 * g1, b + f2 * g2, c + f2 * g3, d + f2 * g4
        f3, g0 = f[3 * ROW + x], g[x]
        a, b, c, d = a + f3 * g0, b + f3 * g1, c + f3 * g2, d + f3 * g3
        h[x], h[ROW + x], h[2 * ROW + x], h[3 * ROW + x] = a, b, c, d


@kernel()
def _multiply(f, g, h, start, top, first, last):  # type: ignore[no-untyped-def]
    """Compute in h the coefficients first…last of the product of f and g, both of degree `top`."""
    for k in range(first, last + 1, 4):
        at = (PAD + k) * ROW + start
        into = h[at : at + 3 * ROW + LEAF]
        begin, end = max(0, k - top), min(k + 3, top)
        for j in range(begin, end + 1, 4):
            left = (PAD + SHIFT + j) * ROW + start
            right = (PAD + SHIFT + k - j - 3) * ROW + start
            four = f[left : left + 3 * ROW + LEAF]
            _multiply_four(four, g[right : right + 6 * ROW + LEAF], into, j == begin)
        if begin > end:
            _clear(h, k, k + 3, start, LEAF)


@kernel()
def _size(mask):  # type: ignore[no-untyped-def]
    """Return the number of members of a subset of three, a `mask`."""
    return (mask & 1) + (mask >> 1 & 1) + (mask >> 2)


@kernel()
def _block(arena, node, t, depth, f, g, h, zeros, lanes):  # type: ignore[no-untyped-def]
    """Process the last nine bits: rank, transform, multiply, transform back.

    `node` (5): where the arena has both factors, their stride, where it has the results, their
    stride.
    """
    _spread_lanes(arena, node[0], node[2], t, f, zeros)
    _spread_lanes(arena, node[1], node[2], t, g, zeros)
    _spread(f, t + 3)
    _spread(g, t + 3)
    for part in range(8):
        start, least = LEAF * part, t + _size(part)
        _spread_leaf(f, start, least + 3, lanes)
        _spread_leaf(g, start, least + 3, lanes)
        _multiply(f, g, h, start, least + 6, least, depth + BLOCK_BITS)
        _gather(h, start, least, depth + 6, U(8))
    _gather(h, 0, t, depth + 3, U(64))
    for e in range(t, depth + 1):
        place = node[3] + e * node[4]
        _gather_lanes(h, e, arena[place : place + BLOCK])


@kernel()
def _with_two(arena, start, stride, quarter, t, into, zeros):  # type: ignore[no-untyped-def]
    """Sum rows 0…t of a node over its two highest bits, for the children with one or both.

    The child with the lower bit has rows 0…t + 1, then that with the higher one, then that with
    both has rows 0…t + 2, each of `quarter` numbers. Rows are processed in pieces as long as the
    zeros.
    """
    apart = quarter + PADDING
    for j in range(t + 3):
        for piece in range(0, quarter, BLOCK):
            same = start + j * stride + piece
            lower, higher = same - stride + quarter, same - stride + 2 * quarter
            upper = same - 2 * stride + 3 * quarter
            a = arena[same : same + BLOCK] if j <= t else zeros
            b = arena[lower : lower + BLOCK] if 1 <= j <= t + 1 else zeros
            c = arena[higher : higher + BLOCK] if 1 <= j <= t + 1 else zeros
            d = arena[upper : upper + BLOCK] if j >= 2 else zeros
            place = into + j * apart + piece
            second, third = place + (t + 2) * apart, place + 2 * (t + 2) * apart
            row = arena[third : third + BLOCK]
            if j == t + 2:
                row[:] = d
                continue
            one, other = arena[place : place + BLOCK], arena[second : second + BLOCK]
            for x in range(BLOCK):
                one[x] = a[x] + b[x]
                other[x] = a[x] + c[x]
                row[x] = (a[x] + b[x]) + (c[x] + d[x])


@kernel()
def _without_two(arena, into, stride, quarter, source, size, t, depth):  # type: ignore[no-untyped-def]
    """Invert the sums over two bits: the results of the child with both are in their place.

    Those of the others, `size` apart from `source` on, are the children without any, with the lower
    and with the higher bit; each row has `quarter` numbers.
    """
    apart = quarter + PADDING
    for e in range(t, depth + 1):
        place, start = into + e * stride, source + e * apart
        start1, start2 = start + apart, start + 2 * apart
        none, none1 = arena[start : start + quarter], arena[start1 : start1 + quarter]
        none2 = arena[start2 : start2 + quarter]
        low, low1 = start1 + size, start2 + size
        high, high1 = low + size, low1 + size
        lower, lower1 = arena[low : low + quarter], arena[low1 : low1 + quarter]
        higher, higher1 = arena[high : high + quarter], arena[high1 : high1 + quarter]
        first = arena[place : place + quarter]
        second = arena[place + quarter : place + 2 * quarter]
        third = arena[place + 2 * quarter : place + 3 * quarter]
        fourth = arena[place + 3 * quarter : place + 4 * quarter]
        for x in range(quarter):
            first[x] = none[x]
            second[x] = lower[x] - none1[x]
            third[x] = higher[x] - none1[x]
            fourth[x] = (fourth[x] - lower1[x]) - (higher1[x] - none2[x])


def level_places(bits: int, count: int, depth: int) -> IntArray:
    """Return where each level has its rows of both factors and its results; then the total.

    The first level has one node, others three of four children, two bits below.
    """
    levels = (bits - BLOCK_BITS) // 2
    places = np.zeros((levels + 2, 3), dtype=np.int64)
    apart = (1 << bits) + PADDING
    places[0] = 0, (count + 1) * apart, 2 * (count + 1) * apart
    used = (2 * (count + 1) + depth + 1) * apart
    for level in range(1, levels + 1):
        apart, most = (1 << (bits - 2 * level)) + PADDING, count + 2 * level
        rows = 3 * most + 1
        places[level] = used, used + rows * apart, used + 2 * rows * apart
        used += (2 * rows + 3 * (depth + 2 * level + 1)) * apart
    places[-1] = used
    return places


_level_places = kernel()(level_places)


@kernel(entry="f8[:], f8[:], i8, i8, i8, u8")
def subtree(arena, scratch, bits, count, depth, lanes):  # type: ignore[no-untyped-def]
    """Process all below a node with so many open bits, of whose `depth` decided ones T has `count`.

    The arena has the node's rows 0…count of both factors, and gets its results of sizes count…depth
    (see `level_places`). The scratch (see `scratch_size`) is all 0 before the first call. Two bits
    are decided at a time; the number of open ones is odd. The child without both shares the rows of
    its parent; the results of the child with both are written to their place in those of the
    parent, two rows earlier.
    """
    places, end = _level_places(bits, count, depth), (bits - BLOCK_BITS) // 2
    third = scratch.shape[0] // 3
    f, g, h = scratch[:third], scratch[third : 2 * third], scratch[2 * third :]
    zeros = f[:BLOCK]  # before the first row
    node = np.zeros((end + 1, 5), dtype=np.int64)  # factors, their stride, results, their stride
    held, child = np.zeros(end + 1, dtype=np.int64), np.zeros(end + 1, dtype=np.int64)
    apart = (1 << bits) + PADDING
    node[0] = places[0, 0], places[0, 1], apart, places[0, 2], apart
    level, held[0] = 0, count
    while True:
        quarter, t = (1 << (bits - 2 * level)) >> 2, held[level]
        a, b, stride, results, spacing = node[level]
        decided = depth + 2 * level
        if level == end:
            _block(arena, node[level], t, decided, f, g, h, zeros, lanes)
        else:
            first, second, own = places[level + 1]
            apart = quarter + PADDING
            size = (decided + 3) * apart
            if child[level] == 0:
                _with_two(arena, a, stride, quarter, t, first, zeros)
                _with_two(arena, b, stride, quarter, t, second, zeros)
                node[level + 1] = a, b, stride, own, apart
            elif child[level] < 4:
                offset = (child[level] - 1) * (t + 2) * apart
                node[level + 1] = first + offset, second + offset, apart, own, apart
                if child[level] < 3:
                    node[level + 1, 3] += child[level] * size
                else:
                    node[level + 1, 3] = results + 3 * quarter - 2 * spacing
                    node[level + 1, 4] = spacing
            if child[level] < 4:
                held[level + 1] = t + (child[level] & 1) + (child[level] >> 1)
                child[level + 1] = 0
                child[level] += 1
                level += 1
                continue
            _without_two(arena, results, spacing, quarter, own, size, t, decided)
        if level == 0:
            return
        level -= 1


STEP = 4096  # numbers of a row that are summed together


@kernel(entry="f8[:], i8, i8, i8, f8[:], i8")
def sum_rows(rows, count, stride, chosen, into, width):  # type: ignore[no-untyped-def]
    """Sum rows 0…count over the subsets of the chosen highest bits, into rows by size.

    `rows` (the whole table's, `stride` apart) are read in pieces of `width`, one for each choice of
    the highest bits; the rows of `into` are `width` + PADDING apart.
    """
    last, apart = count, width + PADDING
    for bit in range(8):
        last += chosen >> bit & 1
    for x in range(0, width, STEP):
        end = min(width, x + STEP)
        for row in range(last + 1):
            into[row * apart + x : row * apart + end] = 0.0
        mask = chosen
        while True:
            size = 0
            for bit in range(8):
                size += mask >> bit & 1
            for row in range(count + 1):
                place, start = (row + size) * apart, row * stride + mask * width
                sums, more = into[place + x : place + end], rows[start + x : start + end]
                for n in range(end - x):
                    sums[n] += more[n]
            if mask == 0:
                break
            mask = (mask - 1) & chosen


@kernel(entry="f8[:], i8, i8, i8, i8, i8, f8[:], i8")
def add_results(  # type: ignore[no-untyped-def]
    results, width, chosen, bits, first, last, into, stride
):
    """Invert the sums over the highest bits: add results to those of all choices with more bits.

    `results` (rows of `width` numbers) are of the choice `chosen`, a mask of so many `bits`; `into`
    has rows `stride` apart, first…last are filled. The results of the choice without bits come
    first and are copied.
    """
    others = ((1 << bits) - 1) ^ chosen
    mask = others
    while True:
        whole, size, sign = chosen | mask, 0, 1.0
        for bit in range(bits):
            size += whole >> bit & 1
            if mask >> bit & 1:
                sign = -sign
        for row in range(first, last + 1):
            place, start = row * stride + whole * width, (row + size) * (width + PADDING)
            target, source = into[place : place + width], results[start : start + width]
            if chosen == 0:
                for n in range(width):
                    target[n] = sign * source[n]
            else:
                for n in range(width):
                    target[n] += sign * source[n]
        if mask == 0:
            break
        mask = (mask - 1) & others


FIRST = 10  # templates whose subsets numpy sums up; a product needs at least as many
TOGETHER = 7  # of the highest templates, whose subsets are the parts of a product
LARGEST = 17  # open templates of a part that is not divided, an odd number
LANES = np.uint64(8)  # of the kernel
LINE = 8  # numbers of a cache line
THREADS = 14  # open templates from which two threads are worth their start


def ranked_normalisers(w: FloatArray) -> FloatArray:
    """Return Z of every subset, from the weight of every cell."""
    n, z = len(w).bit_length() - 1, np.empty_like(w)
    z[: 1 << FIRST] = recursion(w[: 1 << FIRST], SUM)
    arenas = Arenas(n - 1)
    with ThreadPoolExecutor(2) as pool:
        for i in range(FIRST, n):
            new = slice(1 << i, 2 << i)
            disjoint_product(w[new], z[: 1 << i], z[new], arenas, pool)
    return z


class _Arena(NamedTuple):
    """The memory of one thread: what parts of a product take, and the scratch of their blocks."""

    parts: FloatArray
    scratch: FloatArray


class Arenas:
    """The memory for all products up to a number of templates, so that it is touched only once.

    Two threads have one arena each.
    """

    def __init__(self, bits: int) -> None:
        size = max(_arena_size(smaller, 0) for smaller in range(FIRST, bits + 1))
        self.two = _arena(size, scratch_size(bits)), _arena(size, scratch_size(bits))


def _arena(size: int, scratch: int) -> _Arena:
    """Return memory that begins where a cache line does, as all rows in it then do."""
    memory = np.empty(size + scratch + LINE)
    first = -memory.__array_interface__["data"][0] // memory.itemsize % LINE
    memory[first + size :] = 0.0
    return _Arena(memory[first : first + size], memory[first + size : first + size + scratch])


def _arena_size(bits: int, depth: int) -> int:
    """Return the numbers that the largest part of a product takes, with all parts inside it."""
    decided = _decided(bits)
    bits, depth = bits - decided, depth + decided
    if bits <= LARGEST:
        return int(level_places(bits, depth, depth)[-1, 0])
    return 3 * (depth + 1) * ((1 << bits) + PADDING) + _arena_size(bits, depth)


def _decided(bits: int) -> int:
    """Return how many of the open templates are decided next: an odd number stays open at last."""
    return min(TOGETHER, bits - LARGEST) if bits > LARGEST else 2 - (bits + 1) % 2


class _RankedRows(NamedTuple):
    """Rows `apart` for subsets of the open templates, by the number of decided ones.

    Factors have rows for the numbers from 0 to `held`, and results from `held` to `depth`.
    """

    f: FloatArray
    g: FloatArray
    h: FloatArray
    bits: int
    held: int = 0
    depth: int = 0

    @property
    def apart(self) -> int:
        return (1 << self.bits) + PADDING


def disjoint_product(
    f: FloatArray, g: FloatArray, h: FloatArray, arenas: Arenas, pool: Executor
) -> None:
    """Fill h(S) = Σ_{C ⊆ S} f(C)·g(S∖C) for every subset S of at least ten templates."""
    rows = _RankedRows(f, g, h, len(f).bit_length() - 1)
    chosen = range(1 << _decided(rows.bits))
    if rows.bits <= THREADS:
        for part in chosen:
            _add_part(rows, part, _part(rows, part, arenas.two[0]))
        return
    for two in zip(chosen[::2], chosen[1::2], strict=True):
        for part, results in zip(two, pool.map(partial(_part, rows), two, arenas.two), strict=True):
            _add_part(rows, part, results)


def _part(rows: _RankedRows, chosen: int, arena: _Arena) -> FloatArray:
    """Return the results for one choice of the templates that are decided next."""
    decided, size = _decided(rows.bits), chosen.bit_count()
    bits, count, depth = rows.bits - decided, rows.held + size, rows.depth + decided
    ends = np.cumsum([0, count + 1, count + 1, depth + 1]) * ((1 << bits) + PADDING)
    f, g, h = (arena.parts[start:end] for start, end in pairwise(ends.tolist()))
    sum_rows(rows.f, rows.held, rows.apart, chosen, f, 1 << bits)
    sum_rows(rows.g, rows.held, rows.apart, chosen, g, 1 << bits)
    if bits <= LARGEST:
        subtree(*arena, bits, count, depth, LANES)
        return h
    inner, left = (
        _RankedRows(f, g, h, bits, count, depth),
        arena._replace(parts=arena.parts[ends[-1] :]),
    )
    for part in range(1 << _decided(bits)):
        _add_part(inner, part, _part(inner, part, left))
    return h


def _add_part(rows: _RankedRows, chosen: int, results: FloatArray) -> None:
    """Add the results of one part to those of all choices that hold it, with their signs."""
    decided, sizes = _decided(rows.bits), (rows.held, rows.depth)
    width = 1 << rows.bits >> decided
    add_results(results, width, chosen, decided, *sizes, rows.h, rows.apart)
