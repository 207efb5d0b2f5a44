"""The normaliser of every subset by ranked transforms."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from partita.compilation import kernel
from partita.configurations.dense.subsets import SMALL, SUM, members, recursion, subset_sums
from partita.configurations.optimum import local_search
from partita.records import FloatArray, IntArray


@kernel()
def descend(level, child, t, bit):  # type: ignore[no-untyped-def]
    """The sums of a child: without the bit, or with it."""
    depth = (level.shape[0] - 3) // 2
    _half_sums(level, child, t, bit)
    _half_sums(level[depth + 2 :], child[depth + 3 :], t, bit)


@kernel()
def _half_sums(rows, into, t, bit):  # type: ignore[no-untyped-def]
    half = into.shape[1]
    for j in range(t + 1):
        target, low = into[j], rows[j, :half]
        if bit and j > 0:
            high = rows[j - 1, half:]
            for x in range(half):
                target[x] = low[x] + high[x]
        else:
            for x in range(half):
                target[x] = low[x]
    if bit:
        into[t + 1, :] = rows[t, half:]


@kernel()
def ascend(level, child, t, bit):  # type: ignore[no-untyped-def]
    """A child's results into the parent's: the inverse transform over one bit."""
    depth, half = (level.shape[0] - 3) // 2, child.shape[1]
    for row in range(t + 1, depth + 2):
        low, high = level[row, :half], level[row, half:]
        without, with_bit = child[row], child[row + 1]
        if bit:
            for x in range(half):
                high[x] += with_bit[x]
        else:
            for x in range(half):
                low[x] = without[x]
            for x in range(half):
                high[x] = -with_bit[x]


@kernel()
def subset_transform(row, sign):  # type: ignore[no-untyped-def]
    """Sums over subsets in place; with sign −1 the inverse."""
    for group in range(row.shape[0] >> 3):
        r = row[8 * group : 8 * group + 8]
        r[1] += sign * r[0]
        r[3] += sign * r[2]
        r[5] += sign * r[4]
        r[7] += sign * r[6]
        r[2] += sign * r[0]
        r[3] += sign * r[1]
        r[6] += sign * r[4]
        r[7] += sign * r[5]
        for x in range(4):
            r[4 + x] += sign * r[x]
    step = 8
    while step < row.shape[0]:
        for group in range(row.shape[0] // (2 * step)):
            low = row[2 * group * step : (2 * group + 1) * step]
            high = row[(2 * group + 1) * step : (2 * group + 2) * step]
            for x in range(step):
                high[x] += sign * low[x]
        step *= 2


@kernel(fastmath={"contract", "reassoc"})
def polynomial_product(f, g, top, k, into):  # type: ignore[no-untyped-def]
    """The k-th coefficient Σ_j f_j·g_{k−j} at all points at once, f and g of degree `top`.

    Eight terms go together: one store for sixteen loads.
    """
    into[:] = 0.0
    j, last = max(0, k - top), min(k, top)
    while j + 7 <= last:
        f0, f1, f2, f3 = f[j], f[j + 1], f[j + 2], f[j + 3]
        f4, f5, f6, f7 = f[j + 4], f[j + 5], f[j + 6], f[j + 7]
        g0, g1, g2, g3 = g[k - j], g[k - j - 1], g[k - j - 2], g[k - j - 3]
        g4, g5, g6, g7 = g[k - j - 4], g[k - j - 5], g[k - j - 6], g[k - j - 7]
        for x in range(into.shape[0]):
            left = f0[x] * g0[x] + f1[x] * g1[x] + f2[x] * g2[x] + f3[x] * g3[x]
            right = f4[x] * g4[x] + f5[x] * g5[x] + f6[x] * g6[x] + f7[x] * g7[x]
            into[x] += left + right
        j += 8
    while j <= last:
        fj, gj = f[j], g[k - j]
        for x in range(into.shape[0]):
            into[x] += fj[x] * gj[x]
        j += 1


@kernel()
def _ranked(rows, t, top, sizes, into):  # type: ignore[no-untyped-def]
    """Rows by the size of the decided part → rows by the whole size, summed over subsets."""
    into[: top + 1] = 0.0
    for j in range(t + 1):
        row = rows[j]
        for x in range(row.shape[0]):
            into[j + sizes[x], x] = row[x]
    for k in range(top + 1):
        subset_transform(into[k], 1.0)


@kernel()
def leaf(level, t, f, g, h, sizes):  # type: ignore[no-untyped-def]
    """The last bits all at once: rank, transform, multiply, transform back."""
    depth = (level.shape[0] - 3) // 2
    top = f.shape[0] - 1 - depth + t
    _ranked(level, t, top, sizes, f)
    _ranked(level[depth + 2 :], t, top, sizes, g)
    for k in range(t, h.shape[0]):
        polynomial_product(f, g, top, k, h[k])
        subset_transform(h[k], -1.0)
    for e in range(t, depth + 1):
        row = level[e + 1]
        for x in range(row.shape[0]):
            row[x] = h[e + sizes[x], x]


@kernel()
def level_of(arena, starts, n, depth):  # type: ignore[no-untyped-def]
    """The rows of one level, each over the bits still open."""
    return arena[starts[depth] : starts[depth + 1]].reshape(2 * depth + 3, 1 << (n - depth))


@kernel()
def subtree(arena, starts, n, root, count, sizes):  # type: ignore[no-untyped-def]
    """All below one node at depth `root` with |T| = count; its sums are in the arena already."""
    end = starts.shape[0] - 2
    shape = (n + 1, 1 << (n - end))
    f, g, h = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    bit, t = np.zeros(end + 1, dtype=np.int64), np.zeros(end + 1, dtype=np.int64)
    depth, t[root] = root, count
    while True:
        level = level_of(arena, starts, n, depth)
        if depth == end:
            leaf(level, t[depth], f, g, h, sizes)
        elif bit[depth] < 2:
            descend(level, level_of(arena, starts, n, depth + 1), t[depth], bit[depth])
            t[depth + 1] = t[depth] + bit[depth]
            depth += 1
            bit[depth] = 0
            continue
        if depth == root:
            return
        depth -= 1
        ascend(level_of(arena, starts, n, depth), level, t[depth], bit[depth])
        bit[depth] += 1


SLACK = 1.0  # by how much a constraint may be violated: a factor e in a weight is harmless
ENOUGH = 5.0  # above the best known configuration by so much: worth a linear program
BLOCKS = 64  # where the worst violations are looked for, one in each


def near_dual(theta: FloatArray, log_w: FloatArray) -> FloatArray:
    """a: half of each template's log-odds to its cell in a good configuration, then repaired."""
    labels = local_search(theta)
    together = labels[:, None] == labels[None, :]
    start = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    a = _raised(start, log_w)
    return a if a.sum() - start.sum() <= ENOUGH else _solved(log_w, a)


def _raised(a: FloatArray, log_w: FloatArray) -> FloatArray:
    """The members of the worst violated cell share what is missing, until none is."""
    a = a.copy()
    while (excess := log_w - subset_sums(a)).max() > SLACK:
        worst = int(excess.argmax())
        inside = list(members(worst))
        a[inside] += excess[worst] / len(inside)
    return a


def _solved(log_w: FloatArray, fallback: FloatArray) -> FloatArray:
    """The linear program with constraints added as they are found violated."""
    from scipy.optimize import linprog

    n = len(fallback)
    a, rows, bounds = np.zeros(n), np.zeros((0, n)), np.zeros(0)
    while len(cells := _violated(log_w, a)):
        rows = np.vstack([rows, cells[:, None] >> np.arange(n) & 1])
        bounds = np.concatenate([bounds, log_w[cells]])
        found = linprog(np.ones(n), A_ub=-rows, b_ub=-bounds, method="highs")
        if not found.success:
            return fallback
        a = found.x
    return a


def _violated(log_w: FloatArray, a: FloatArray) -> IntArray:
    """The worst violated cell of each block of subsets."""
    excess = (log_w - subset_sums(a)).reshape(BLOCKS, -1)
    worst = excess.argmax(axis=1)
    found = excess[np.arange(BLOCKS), worst] > SLACK
    cells: IntArray = (worst + np.arange(BLOCKS) * excess.shape[1])[found]
    return cells


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
