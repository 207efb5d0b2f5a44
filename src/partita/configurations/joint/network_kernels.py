"""Compiled: each mention in turn joins a cell or starts one; beam search."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel
from partita.configurations.joint import codes as code
from partita.configurations.joint.cells_kernels import CELL_COLUMNS, State, place
from partita.configurations.joint.codes import LEXEME_ID
from partita.configurations.joint.features_kernels import Mentions, fill_relations
from partita.configurations.joint.kernels import KIND_GROUPS, Codes, describe
from partita.records import FloatArray, IntArray

Single = NDArray[np.float32]
Scratch = tuple[Codes, Codes, IntArray, IntArray, IntArray, Single, Single]
SLOPE = 0.1
JOIN, START = 0, 1
CODES, NEW_CODES, OWN, CLASSES = len(code.CELL), len(code.NEW), code.OWN, len(code.OTHER)
MOST_ROWS = max(CODES, NEW_CODES + 1)
LOCKSTEP = 64  # configurations that are drawn or scored together, sharing the relations


class Layout(NamedTuple):
    """Where the values of each of CELL and of NEW begin in the table; words are last in NEW's."""

    cell: IntArray
    new: IntArray


class Network(NamedTuple):
    """Weights: the table, bias and output of joining and starting, scores of far cells.

    `temperature` holds a and b: scores are multiplied by exp(a + b log(cells + 1)).
    """

    table: Single
    bias: Single
    out: Single
    other: Single
    temperature: FloatArray
    layout: Layout


@kernel()
def scratch(n: int, units: int) -> Scratch:
    """Return the arrays for one decision."""
    return (
        np.zeros((n + 1, CODES), np.uint8),
        np.zeros(NEW_CODES, np.uint8),
        np.zeros(n + 1, np.int64),
        np.zeros(n + 1, np.int64),
        np.zeros(MOST_ROWS, np.int64),
        np.zeros(units, np.float32),
        np.zeros(units, np.float32),
    )


@kernel()
def own_rows(layout: Layout, codes: Codes, rows: IntArray) -> int:
    """List the table's rows of what a mention has before any cell; return their number."""
    for k in range(OWN):
        rows[k] = layout.cell[k] + codes[k]
    return OWN


@kernel()
def cell_rows(layout: Layout, codes: Codes, rows: IntArray) -> int:
    """List the table's rows of what a mention and a cell have together; return their number."""
    for k in range(OWN, CODES):
        rows[k - OWN] = layout.cell[k] + codes[k]
    return CODES - OWN


@kernel()
def new_rows(layout: Layout, codes: Codes, lexeme: int, rows: IntArray) -> int:
    """List the table's rows of a mention that starts a cell; return their number."""
    for k in range(NEW_CODES):
        rows[k] = layout.new[k] + codes[k]
    rows[NEW_CODES] = layout.new[NEW_CODES] + lexeme
    return NEW_CODES + 1


@kernel()
def add_rows(table: Single, rows: IntArray, hidden: Single) -> None:
    """Add rows of the table to the hidden units."""
    for row in rows:
        for q in range(len(hidden)):
            hidden[q] += table[row, q]


@kernel(fastmath={"reassoc"})
def _output(out: Single, hidden: Single) -> float:
    total = np.float32(0.0)
    for q in range(len(hidden)):
        active = hidden[q] if hidden[q] > 0 else np.float32(SLOPE) * hidden[q]
        total += out[q] * active
    return float(total)


@kernel()
def choices(
    mentions: Mentions,
    network: Network,
    state: State,
    row: IntArray,
    j: int,
    count: int,
    room: Scratch,
    logs: FloatArray,
) -> None:
    """Fill logs[c] = log P(mention j joins cell c), logs[count] = log P(it starts a new one).

    `row` holds the relations of j to earlier mentions.
    """
    codes, new, among, other, rows, own, hidden = room
    found = describe(mentions, state, row, j, count, codes, new, among, other)
    group = KIND_GROUPS[new[code.N_KIND]]
    for c in range(count):
        if other[c] >= 0:
            logs[c] = network.other[CLASSES * group + other[c]]
    lexeme = mentions.attributes[j, LEXEME_ID]
    own[:] = network.bias[JOIN]
    if found > 0:
        used = own_rows(network.layout, codes[0], rows)
        add_rows(network.table, rows[:used], own)
    for r in range(found):
        hidden[:] = own
        used = cell_rows(network.layout, codes[r], rows)
        add_rows(network.table, rows[:used], hidden)
        logs[among[r]] = _output(network.out[JOIN], hidden)
    hidden[:] = network.bias[START]
    used = new_rows(network.layout, new, lexeme, rows)
    add_rows(network.table, rows[:used], hidden)
    logs[count] = _output(network.out[START], hidden)
    _normalise(logs[: count + 1], network.temperature)


@kernel()
def _normalise(logs: FloatArray, temperature: FloatArray) -> None:
    scale = math.exp(temperature[0] + temperature[1] * math.log(len(logs)))
    for c in range(len(logs)):
        logs[c] *= scale
    total = _log_sum(logs)
    for c in range(len(logs)):
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
    room, logs, row = scratch(n, network.table.shape[1]), np.zeros(n + 1), np.zeros(n, np.int64)
    for first in range(0, len(rows), LOCKSTEP):
        width = min(LOCKSTEP, len(rows) - first)
        states, counts = _states(n, width), np.zeros(width, np.int64)
        for j in range(n):
            fill_relations(mentions, j, row)
            for b in range(width):
                state, label = _of(states, b), rows[first + b, j]
                choices(mentions, network, state, row, j, counts[b], room, logs)
                found[first + b] += logs[label]
                counts[b] = place(mentions, state, j, label, counts[b])
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
    room, logs, row = scratch(n, network.table.shape[1]), np.zeros(n + 1), np.zeros(n, np.int64)
    for first in range(0, len(uniforms), LOCKSTEP):
        width = min(LOCKSTEP, len(uniforms) - first)
        states, counts = _states(n, width), np.zeros(width, np.int64)
        for j in range(n):
            fill_relations(mentions, j, row)
            for b in range(width):
                state, count = _of(states, b), counts[b]
                choices(mentions, network, state, row, j, count, room, logs)
                shares = np.exp(logs[: count + 1])
                entropies[first + b] -= (shares * logs[: count + 1]).sum()
                _add_shares(sums, squares, shares, state[0], j)
                label = _picked(shares, uniforms[first + b, j])
                labels[first + b, j] = label
                counts[b] = place(mentions, state, j, label, count)
    return labels, entropies


@kernel()
def _add_shares(
    sums: FloatArray, squares: FloatArray, shares: FloatArray, home: IntArray, j: int
) -> None:
    for i in range(min(j, len(sums))):
        share = shares[home[i]]
        sums[j, i] += share
        squares[j, i] += share * share


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
    room, logs, row = scratch(n, network.table.shape[1]), np.zeros(n + 1), np.zeros(n, np.int64)
    for j in range(n):
        fill_relations(mentions, j, row)
        pool = np.full(kept * (j + 1), -np.inf)
        for b in range(kept):
            choices(mentions, network, _of(old, b), row, j, counts[b], room, logs)
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
