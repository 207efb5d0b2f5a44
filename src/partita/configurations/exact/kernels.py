"""Compiled recursions over all subsets of a set, and what their tables answer.

Arrays, unless a function says otherwise. They belong to the caller, who may use them again for the
next set; subsets are bit masks (template i is bit i), so a table of n templates has 2^n entries.

- `w`: the weight of every subset as a cell, 0 if it cannot be one; w[0] is not read.
- `z`: the sum over all configurations of every subset, z[0] = 1; in units of the weights.
- `log_w`, `log_z`: natural logarithms of these, −∞ for 0.

The recursion Z[S] = Σ_{C ⊆ S, C ∋ max S} w(C)·Z[S∖C] and P(C) = w(C)·Z[N∖C]/Z[N] hold for weights
of any model. Nothing is subtracted, so no digits are lost.
"""

from __future__ import annotations

import math

import numpy as np

from partita.compilation import kernel

NEGLIGIBLE = -45.0  # e^−45 is below the last bit of 1


@kernel(entry="f8[:], f8[:]")
def fill_normalisers(w, z):  # type: ignore[no-untyped-def]
    """Fill z from w, in the order of the last member: z[: 2^t] is done when t is added."""
    out = np.empty(max(1, len(w) // 2))
    z[0] = 1.0
    t = 0
    while 1 << t < len(w):
        convolve(w[1 << t : 2 << t], z[: 1 << t], out, t)
        z[1 << t : 2 << t] = out[: 1 << t]
        t += 1


@kernel()
def convolve(a, b, out, bits):  # type: ignore[no-untyped-def]
    """Fill out[s] = Σ a[c]·b[s − c] over the subsets c of s, for all s of so many bits.

    The three lowest bits are done together, 27 products of numbers in registers: h and c are
    subsets of the other bits, and o0…o7 the sums for h with each subset of the three.
    """
    if bits < 3:
        for s in range(1 << bits):
            total, c = 0.0, s
            while True:
                total += a[c] * b[s ^ c]
                if c == 0:
                    break
                c = (c - 1) & s
            out[s] = total
        return
    for h in range(1 << (bits - 3)):
        o0 = o1 = o2 = o3 = o4 = o5 = o6 = o7 = 0.0
        c = h
        while True:
            x, y = 8 * c, 8 * (h ^ c)
            a0, a1, a2, a3 = a[x], a[x + 1], a[x + 2], a[x + 3]
            a4, a5, a6, a7 = a[x + 4], a[x + 5], a[x + 6], a[x + 7]
            b0, b1, b2, b3 = b[y], b[y + 1], b[y + 2], b[y + 3]
            b4, b5, b6, b7 = b[y + 4], b[y + 5], b[y + 6], b[y + 7]
            o0 += a0 * b0
            o1 += a0 * b1 + a1 * b0
            o2 += a0 * b2 + a2 * b0
            o3 += a0 * b3 + a1 * b2 + a2 * b1 + a3 * b0
            o4 += a0 * b4 + a4 * b0
            o5 += a0 * b5 + a1 * b4 + a4 * b1 + a5 * b0
            o6 += a0 * b6 + a2 * b4 + a4 * b2 + a6 * b0
            o7 += a0 * b7 + a1 * b6 + a2 * b5 + a3 * b4
            o7 += a4 * b3 + a5 * b2 + a6 * b1 + a7 * b0
            if c == 0:
                break
            c = (c - 1) & h
        s = 8 * h
        out[s], out[s + 1], out[s + 2], out[s + 3] = o0, o1, o2, o3
        out[s + 4], out[s + 5], out[s + 6], out[s + 7] = o4, o5, o6, o7


@kernel(entry="f8[:], f8[:]")
def fill_log_normalisers(log_w, log_z):  # type: ignore[no-untyped-def]
    """Fill log_z from log_w, for weights whose sums no plain number holds.

    `top` is the largest term so far, and `total` the sum of all so far, divided by it.
    """
    log_z[0] = 0.0
    bit = 1
    while bit < len(log_w):
        for s in range(bit):
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
        bit *= 2


@kernel()
def fill_together(w, z, together):  # type: ignore[no-untyped-def]
    """Fill `together` (2^n; may be w): P(all of a subset in one cell). Return E[cells].

    P of every cell is summed over supersets, bit by bit: after bit b, an entry has the sum over all
    cells that differ from it only by more of the bits up to b.
    """
    full, cells = len(w) - 1, 0.0
    for mask in range(1, full + 1):
        together[mask] = w[mask] * (z[full ^ mask] / z[full])
        cells += together[mask]
    low = 1
    while low <= full:
        for block in range(0, full + 1, 2 * low):
            for mask in range(block, block + low):
                together[mask] += together[mask + low]
        low *= 2
    return cells


@kernel()
def last_bit(mask):  # type: ignore[no-untyped-def]
    """Return the highest bit of a mask."""
    bit = 1
    while bit * 2 <= mask:
        bit *= 2
    return bit


@kernel()
def number_by_appearance(labels, numbers):  # type: ignore[no-untyped-def]
    """Replace labels, below n, by numbers in the order of appearance; `numbers` (n) is room."""
    numbers[:] = -1
    used = 0
    for i in range(labels.shape[0]):
        if numbers[labels[i]] < 0:
            numbers[labels[i]] = used
            used += 1
        labels[i] = numbers[labels[i]]
