"""Compiled recursions, transforms and draws over all subsets of a set."""

from __future__ import annotations

import math

import numpy as np

from partita.compilation import kernel

NEGLIGIBLE = -45.0  # e^−45 is below the last bit of 1


@kernel()
def extend(log_w, log_z, i, start, stop):  # type: ignore[no-untyped-def]
    """Fill log Z of S ∪ {i} for every S from start to stop, subsets of the first i templates."""
    bit = 1 << i
    for s in range(start, stop):
        top, total, c = -math.inf, 0.0, s
        while True:
            value = log_w[bit | c] + log_z[s ^ c]
            if value > top:
                total = total * math.exp(top - value) + 1.0
                top = value
            elif value > top + NEGLIGIBLE:
                total += math.exp(value - top)
            if c == 0:
                break
            c = (c - 1) & s
        log_z[bit | s] = top + math.log(total)


@kernel()
def choose(log_w, log_z, rest, uniforms):  # type: ignore[no-untyped-def]
    """Return, for sorted uniforms, the cells (with the highest member of rest) they fall into."""
    top = 1
    while top * 2 <= rest:
        top *= 2
    others, total, c = rest ^ top, 0.0, rest ^ top
    while True:
        total += math.exp(log_w[top | c] + log_z[others ^ c] - log_z[rest])
        if c == 0:
            break
        c = (c - 1) & others
    chosen = np.empty(uniforms.shape[0], dtype=np.int64)
    reached, drawn, c, last = 0.0, 0, others, top
    while drawn < uniforms.shape[0]:
        share = math.exp(log_w[top | c] + log_z[others ^ c] - log_z[rest])
        if share > 0.0:
            last = top | c
            reached += share
        while drawn < uniforms.shape[0] and (uniforms[drawn] * total < reached or c == 0):
            chosen[drawn] = last
            drawn += 1
        c = (c - 1) & others
    return chosen


@kernel()
def descend(level, child, t, bit):  # type: ignore[no-untyped-def]
    """Compute the sums of a child: without the bit, or with it."""
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
    """Add a child's results to the parent's: the inverse transform over one bit."""
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
    """Sum over subsets in place; with sign −1, invert that."""
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
    """Compute the coefficient Σ_j f_j·g_{k−j} at all points, f and g of degree `top`.

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
    """Turn rows by the size of the decided part into subset sums by the whole size."""
    into[: top + 1] = 0.0
    for j in range(t + 1):
        row = rows[j]
        for x in range(row.shape[0]):
            into[j + sizes[x], x] = row[x]
    for k in range(top + 1):
        subset_transform(into[k], 1.0)


@kernel()
def leaf(level, t, f, g, h, sizes):  # type: ignore[no-untyped-def]
    """Process the last bits all at once: rank, transform, multiply, transform back."""
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
    """Return the rows of one level, each over the bits still open."""
    return arena[starts[depth] : starts[depth + 1]].reshape(2 * depth + 3, 1 << (n - depth))


@kernel()
def subtree(arena, starts, n, root, count, sizes):  # type: ignore[no-untyped-def]
    """Process all below one node at depth `root` with |T| = count; its sums are in the arena."""
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
