"""Compiled choices on the way down, and rows of labels made from them."""

from __future__ import annotations

import math

import numpy as np

from partita.compilation import kernel
from partita.configurations.frontier.kernels import SUM
from partita.configurations.frontier.order_kernels import bit_count

COVERED = -1  # the choice of no entry: the template was covered from below


@kernel()
def ways(sums, state, masks, weights, table, bits, covered, found, values):  # type: ignore[no-untyped-def]
    """Write every way on from a state, an entry or COVERED, and its value; how many there are.

    Values are products where `sums` (tables of sums), else logarithms.
    """
    size = 0
    if state < len(covered):
        found[0], values[0] = COVERED, covered[state]
        size = 1
    for e in range(len(masks)):
        rest = state ^ masks[e]
        if masks[e] & ~state == 0 and rest >> bits == 0:
            found[size] = e
            values[size] = weights[e] * table[rest] if sums else weights[e] + table[rest]
            size += 1
    return size


@kernel()
def _accumulate(sums, values, size):  # type: ignore[no-untyped-def]
    """Running sums of the values, in place; of logarithms up to a common factor."""
    top = -np.inf
    for k in range(size):
        top = max(top, values[k])
    total = 0.0
    for k in range(size):
        total += values[k] if sums else math.exp(values[k] - top)
        values[k] = total


@kernel()
def _first_above(values, size, mark):  # type: ignore[no-untyped-def]
    """The first of rising values above the mark, or the last; one of no weight is never it."""
    low, high = 0, size - 1
    while low < high:
        middle = (low + high) // 2
        if values[middle] > mark:
            high = middle
        else:
            low = middle + 1
    return low


@kernel()
def draw(kind, states, order, uniforms, masks, weights, table, bits, covered):  # type: ignore[no-untyped-def]
    """For every state one way on, drawn by its share; `order` sorts the states, so that the
    ways of each are summed up once."""
    sums = kind == SUM
    picks = np.empty(len(states), np.int64)
    found, values = np.empty(len(masks) + 1, np.int64), np.empty(len(masks) + 1)
    size = 0
    for n in range(len(order)):
        row = order[n]
        if n == 0 or states[row] != states[order[n - 1]]:
            size = ways(sums, states[row], masks, weights, table, bits, covered, found, values)
            _accumulate(sums, values, size)
        picks[row] = found[_first_above(values, size, uniforms[row] * values[size - 1])]
    return picks


@kernel()
def deposit(states, positions):  # type: ignore[no-untyped-def]
    """Every state with its bit j moved to positions[j]."""
    moved = np.zeros(len(states), np.int64)
    for row in range(len(states)):
        for j in range(len(positions)):
            moved[row] |= (states[row] >> j & 1) << positions[j]
    return moved


@kernel()
def join_cell(labels, rows, cells, vertex, members):  # type: ignore[no-untyped-def]
    """Give the members of the cell that each row chose at a step the template's number."""
    for k in range(len(labels)):
        rest = cells[rows[k]]
        if rest != COVERED:
            labels[k, vertex] = vertex
            while rest:
                low = rest & -rest
                rest ^= low
                labels[k, members[bit_count(np.uint64(low - 1))]] = vertex


@kernel()
def canonical(labels):  # type: ignore[no-untyped-def]
    """Renumber every row by first appearance, in place."""
    seen = np.empty(labels.shape[1], np.int64)
    for row in range(len(labels)):
        seen[:] = -1
        used = 0
        for i in range(labels.shape[1]):
            label = labels[row, i]
            if seen[label] < 0:
                seen[label] = used
                used += 1
            labels[row, i] = seen[label]


@kernel()
def log_weights(theta, labels):  # type: ignore[no-untyped-def]
    """Of every row (labels from 0 to n-1) the sum of theta over pairs that share a label."""
    n = labels.shape[1]
    sums = np.zeros(len(labels))
    last, before = np.empty(n, np.int64), np.empty(n, np.int64)
    for row in range(len(labels)):
        last[:] = -1
        for i in range(n):
            label = labels[row, i]
            before[i] = last[label]
            last[label] = i
            j = before[i]
            while j >= 0:
                sums[row] += theta[i, j]
                j = before[j]
    return sums
