"""Compiled: each mention in turn joins a cell or starts one; beam search."""

from __future__ import annotations

import math

import numpy as np

from partita.compilation import kernel
from partita.configurations.joint import codes as code
from partita.configurations.joint.cells_kernels import (
    CELL_COLUMNS,
    Mentions,
    State,
    empty_state,
    place,
)
from partita.configurations.joint.codes import LEXEME_ID
from partita.configurations.joint.kernels import Codes, describe
from partita.records import FloatArray, IntArray

# table, bias and out of "cell" and "new", scores of other sorts, offsets of both in the table
Network = tuple[FloatArray, FloatArray, FloatArray, FloatArray, IntArray, IntArray]
Scratch = tuple[Codes, Codes, IntArray, IntArray, FloatArray]
SLOPE = 0.1
JOIN, START = 0, 1
CODES, NEW_CODES = len(code.CELL), len(code.NEW)


@kernel()
def scratch(n: int, units: int) -> Scratch:
    """Return the arrays for the codes of one decision."""
    return (
        np.zeros((n + 1, CODES), np.uint8),
        np.zeros(NEW_CODES, np.uint8),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(units),
    )


@kernel()
def _score(network: Network, codes: Codes, which: int, lexeme: int, hidden: FloatArray) -> float:
    """Return the score of one choice; `lexeme` counts for "new" only."""
    table, offsets = network[0], network[4] if which == JOIN else network[5]
    hidden[:] = network[1][which]
    for k in range(len(codes)):
        row = table[offsets[k] + codes[k]]
        for q in range(len(hidden)):
            hidden[q] += row[q]
    if which == START:
        row = table[offsets[len(codes)] + lexeme]
        for q in range(len(hidden)):
            hidden[q] += row[q]
    out, total = network[2][which], 0.0
    for q in range(len(hidden)):
        total += out[q] * (hidden[q] if hidden[q] > 0.0 else SLOPE * hidden[q])
    return total


@kernel()
def choices(
    mentions: Mentions,
    network: Network,
    state: State,
    j: int,
    count: int,
    room: Scratch,
    logs: FloatArray,
) -> None:
    """Fill logs[c] = log P(mention j joins cell c), logs[count] = log P(it starts a new one)."""
    codes, new, among, other, hidden = room
    found = describe(mentions, state, j, count, codes, new, among, other)
    for c in range(count):
        if other[c] >= 0:
            logs[c] = network[3][other[c]]
    for r in range(found):
        logs[among[r]] = _score(network, codes[r], JOIN, 0, hidden)
    logs[count] = _score(network, new, START, mentions[0][j, LEXEME_ID], hidden)
    total = _log_sum(logs[: count + 1])
    for c in range(count + 1):
        logs[c] -= total


@kernel()
def _log_sum(logs: FloatArray) -> float:
    top, total = logs.max(), 0.0
    for value in logs:
        total += math.exp(value - top)
    return float(top + math.log(total))


@kernel()
def log_probabilities(mentions: Mentions, network: Network, rows: IntArray) -> FloatArray:
    """Return log P of configurations, rows of labels in the order of decisions."""
    n, found = rows.shape[1], np.zeros(len(rows))
    room, logs = scratch(n, network[0].shape[1]), np.zeros(n + 1)
    for b in range(len(rows)):
        state, count = empty_state(n), 0
        for j in range(n):
            choices(mentions, network, state, j, count, room, logs)
            found[b] += logs[rows[b, j]]
            count = place(mentions, state, j, rows[b, j], count)
    return found


@kernel()
def drawn(
    mentions: Mentions,
    network: Network,
    uniforms: FloatArray,
    sums: FloatArray,
    squares: FloatArray,
) -> tuple[IntArray, FloatArray]:
    """Draw one configuration for each row of uniforms; return the entropy of its decisions in nats.

    Adds to sums[later, earlier] the probability, at the decision, that the two share a cell, and
    its square to squares: that varies less than whether they do. Empty sums are left alone.
    """
    n = uniforms.shape[1]
    labels, entropies = np.zeros(uniforms.shape, np.int64), np.zeros(len(uniforms))
    room, logs = scratch(n, network[0].shape[1]), np.zeros(n + 1)
    for b in range(len(uniforms)):
        state, count = empty_state(n), 0
        for j in range(n):
            choices(mentions, network, state, j, count, room, logs)
            shares = np.exp(logs[: count + 1])
            entropies[b] -= (shares * logs[: count + 1]).sum()
            for i in range(min(j, len(sums))):
                share = shares[state[0][i]]
                sums[j, i] += share
                squares[j, i] += share * share
            labels[b, j] = _picked(shares, uniforms[b, j])
            count = place(mentions, state, j, labels[b, j], count)
    return labels, entropies


@kernel()
def _picked(shares: FloatArray, uniform: float) -> int:
    """Return the choice into whose share of the whole the uniform falls."""
    left, c = uniform * shares.sum(), 0
    while c < len(shares) - 1 and left >= shares[c]:
        left -= shares[c]
        c += 1
    return c


@kernel()
def beam(
    mentions: Mentions, network: Network, n: int, width: int
) -> tuple[IntArray, FloatArray, float]:
    """Return rows of labels, their log P from the highest down, and the highest log P dropped."""
    old, new = _states(n, width), _states(n, width)
    counts, fresh = np.zeros(width, np.int64), np.zeros(width, np.int64)
    scores, kept, dropped = np.zeros(width), 1, -np.inf
    room, logs = scratch(n, network[0].shape[1]), np.zeros(n + 1)
    for j in range(n):
        pool = np.full(kept * (j + 1), -np.inf)
        for b in range(kept):
            choices(mentions, network, _of(old, b), j, counts[b], room, logs)
            for c in range(counts[b] + 1):
                pool[b * (j + 1) + c] = scores[b] + logs[c]
        chosen, best_dropped = _strongest(pool, width)
        dropped = max(dropped, best_dropped)
        kept = len(chosen)
        for b in range(kept):
            parent, c = chosen[b] // (j + 1), chosen[b] % (j + 1)
            _copy(_of(old, parent), _of(new, b), j, counts[parent])
            fresh[b] = place(mentions, _of(new, b), j, c, counts[parent])
            scores[b] = pool[chosen[b]]
        old, new = new, old
        counts, fresh = fresh, counts
    return old[0][:kept].copy(), scores[:kept].copy(), dropped


@kernel()
def _states(n: int, width: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    return (
        np.zeros((width, n), np.int64),
        np.zeros((width, n), np.int64),
        np.zeros((width, n, CELL_COLUMNS), np.int64),
        np.zeros((width, n), np.int64),
    )


@kernel()
def _of(states: tuple[IntArray, IntArray, IntArray, IntArray], b: int) -> State:
    return states[0][b], states[1][b], states[2][b], states[3][b]


@kernel()
def _copy(source: State, target: State, j: int, count: int) -> None:
    target[0][:j], target[1][:j] = source[0][:j], source[1][:j]
    target[2][:count], target[3][:count] = source[2][:count], source[3][:count]


@kernel()
def _strongest(pool: FloatArray, width: int) -> tuple[IntArray, float]:
    """Return the places of the highest values, highest first, and the highest one left out."""
    possible = np.flatnonzero(pool > -np.inf)
    values = pool[possible]
    if len(values) > width:
        edge = np.partition(values, len(values) - width)[len(values) - width]
        possible = possible[values >= edge]
    order = np.argsort(-pool[possible], kind="mergesort")
    chosen = possible[order[:width]]
    left = -np.inf
    if len(values) > len(chosen):
        lowest = pool[chosen[-1]]
        below = values[values < lowest]
        tied = len(possible) > len(chosen)
        left = lowest if tied else (below.max() if len(below) else -np.inf)
    return chosen, left
