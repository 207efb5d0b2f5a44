"""Compiled loops over subsets that solve each of many small sets."""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel


@kernel(native=True)
def solve_each(odds, totals, counts, pairs, best, best_weights):  # type: ignore[no-untyped-def]
    """Fill, for each set, the sum and number of weights, the share of each pair, and the best."""
    n = odds.shape[1]
    w, z, most = np.ones(1 << n), np.ones(1 << n), np.ones(1 << n)
    number, cells = np.ones(1 << n, np.int64), np.zeros(n, np.int64)
    for s in range(odds.shape[0]):
        _weights(odds[s], w)
        _recursion(w, z, most, number)
        totals[s], counts[s] = z[-1], number[-1]
        _shares(w, z, pairs[s])
        best_weights[s, :] = 0.0
        _best(w, most, cells, best[s], best_weights[s])
        for row in range(best.shape[1]):
            _renumber(best[s, row], cells)


@kernel()
def _renumber(labels, names):  # type: ignore[no-untyped-def]
    """Name cells by first appearance."""
    names[:] = -1
    used = 0
    for i in range(labels.shape[0]):
        if names[labels[i]] < 0:
            names[labels[i]] = used
            used += 1
        labels[i] = names[labels[i]]


@kernel()
def _weights(odds, w):  # type: ignore[no-untyped-def]
    for i in range(odds.shape[0]):
        bit = 1 << i
        for s in range(bit):
            product = w[s]
            for j in range(i):
                if s >> j & 1:
                    product *= odds[i, j]
            w[bit | s] = product


@kernel()
def _recursion(w, z, most, number):  # type: ignore[no-untyped-def]
    bit = 1
    while bit < w.shape[0]:
        for s in range(bit):
            total, top, count, c = 0.0, 0.0, 0, s
            while True:
                weight = w[bit | c]
                if weight > 0.0:
                    total += weight * z[s ^ c]
                    top = max(top, weight * most[s ^ c])
                    count += number[s ^ c]
                if c == 0:
                    break
                c = (c - 1) & s
            z[bit | s], most[bit | s], number[bit | s] = total, top, count
        bit *= 2


@kernel()
def _shares(w, z, pairs):  # type: ignore[no-untyped-def]
    everything = w.shape[0] - 1
    for c in range(1, w.shape[0]):
        share = w[c] * z[everything ^ c] / z[everything]
        for i in range(pairs.shape[0]):
            if c >> i & 1:
                for j in range(i):
                    if c >> j & 1:
                        pairs[i, j] += share


@kernel()
def _best(w, most, cells, best, weights):  # type: ignore[no-untyped-def]
    """Search depth first over the cell of the last open template, pruned by the best so far.

    At each depth: what is open, the others beside its last template, and the weight so far.
    (A loop with a stack: compiled recursion cannot be cached.)
    """
    n = cells.shape[0]
    rest, joined = np.zeros(n + 1, np.int64), np.zeros(n + 1, np.int64)
    weight = np.ones(n + 1)
    rest[0], depth = w.shape[0] - 1, 0
    joined[0] = rest[0] ^ _last(rest[0])
    while depth >= 0:
        top = _last(rest[depth])
        others, c = rest[depth] ^ top, joined[depth]
        if c < 0:
            depth -= 1
            continue
        joined[depth] = (c - 1) & others if c > 0 else -1
        reached = weight[depth] * w[top | c]
        if reached * most[others ^ c] <= weights[-1]:
            continue
        cells[depth] = top | c
        depth += 1
        rest[depth], weight[depth] = others ^ c, reached
        if rest[depth] == 0:
            _keep(best, weights, cells[:depth], reached)
            depth -= 1
        else:
            joined[depth] = rest[depth] ^ _last(rest[depth])


@kernel()
def _last(mask):  # type: ignore[no-untyped-def]
    """Return the highest bit of a mask."""
    bit = 1
    while bit * 2 <= mask:
        bit *= 2
    return bit


@kernel()
def _keep(best, weights, cells, weight):  # type: ignore[no-untyped-def]
    """Insert among the best; an equal one that came before stays before."""
    k = weights.shape[0] - 1
    if weight <= weights[k]:
        return
    while k > 0 and weight > weights[k - 1]:
        weights[k] = weights[k - 1]
        best[k, :] = best[k - 1, :]
        k -= 1
    weights[k] = weight
    for i in range(best.shape[1]):
        for cell in range(cells.shape[0]):
            if cells[cell] >> i & 1:
                best[k, i] = cell
