"""Compiled runs of the chain, their counts, and the ladder down to no template.

Z_k / Z_(k-1) = c · E_(k-1)[σ(l - log c)] / E_k[σ(log c - l)], l = log(1 + sum of exp(x_c)) of the
k-th template, E_k over partitions of the first k: one bridge for every template, any c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, kernel_record, uncounted
from partita.configurations.sampled.moves import (
    ChainPairs,
    Short,
    State,
    attach,
    detach,
    exchange,
    list_open_cells,
    log_room,
    new_cell,
    partner,
    place,
    renew,
    split_merge,
    sweep,
    take,
    to_cell,
)
from partita.core import FloatArray, IntArray


@kernel_record("i4[:,:], f8[:], u8[:], u8[:], i8[:]")
class Elite(NamedTuple):
    """The best distinct partitions met so far."""

    labels: Short
    scores: FloatArray
    marks: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    filled: NDArray[np.int64]


def elite(capacity: int, n: int) -> Elite:
    keys = np.random.default_rng(n).integers(0, 2**64, n, dtype=np.uint64)
    return Elite(
        np.zeros((capacity, n), dtype=np.int32),
        np.full(capacity, -np.inf),
        np.zeros(capacity, dtype=np.uint64),
        keys,
        np.zeros(1, dtype=np.int64),
    )


@kernel_record("i4[:], f8[:], Elite, i4[:,:]")
class Notes(NamedTuple):
    """The records of a run: counts of pairs, a score a sweep, the best, states on the way.

    Without scores none of the first three; without rows no states.
    """

    counts: NDArray[np.int32]
    scores: FloatArray
    elite: Elite
    rows: Short


def states(count: int, n: int) -> Notes:
    """Return notes of nothing but so many states."""
    rows = np.zeros((count, n), dtype=np.int32)
    return Notes(np.zeros(0, dtype=np.int32), np.zeros(0), elite(0, n), rows)


@kernel(entry="State, u8[:]", _nrt=False)
def mark(s: State, keys: NDArray[np.uint64]) -> np.uint64:
    """Return a hash of the partition, whatever its cells are called."""
    total = np.uint64(0)
    for i in range(len(keys)):
        if s.head[s.label[i]] != i:
            continue
        cell, j = keys[i], s.after[i]
        while j != i:
            cell += keys[j]
            j = s.after[j]
        cell ^= cell >> np.uint64(29)
        total += cell * np.uint64(0xBF58476D1CE4E5B9)
    return total


@uncounted
def weakest(e: Elite) -> int:
    """Return a free place, or that of the least of them."""
    filled: int = e.filled[0]
    if filled < len(e.scores):
        return filled
    slot = 0
    for t in range(filled):
        slot = t if e.scores[t] < e.scores[slot] else slot
    return slot


@uncounted
def remember_state(e: Elite, s: State) -> bool:
    """Keep this partition if it is among the best and new."""
    slot, filled = weakest(e), e.filled[0]
    if s.score[0] <= e.scores[slot]:
        return False
    name = mark(s, e.keys)
    for t in range(filled):
        if e.marks[t] == name:
            return False
    e.scores[slot], e.marks[slot] = s.score[0], name
    for i in range(len(e.keys)):
        e.labels[slot, i] = s.label[i]
    e.filled[0] = min(filled + 1, len(e.scores))
    return True


@uncounted
def rescore(p: ChainPairs, s: State) -> None:
    """Compute the log-weight afresh, so that rounding does not add up."""
    n = len(p.first) - 1
    total = 0.0
    for i in range(n):
        j = s.after[i]
        while j != i:
            if j < i:
                total += p.theta[i, j]
            j = s.after[j]
    s.score[0] = total


@uncounted
def count_joined_pairs(p: ChainPairs, s: State, counts: NDArray[np.int32]) -> None:
    """Count every pair that shares a cell; compatible pairs i < j are numbered by rows."""
    n = len(p.first) - 1
    for i in range(n):
        low, high = p.first[i], p.first[i + 1]
        j = s.after[i]
        while j != i:
            if j > i:
                full = high - low == n - 1
                t = j - 1 if full else np.searchsorted(p.near[low:high], j)
                counts[p.base[i] + low + t] += 1
            j = s.after[j]


@kernel(entry="ChainPairs, State, i8, i8, b1, Notes, rng", _nrt=False)
def run_chain(
    p: ChainPairs,
    s: State,
    sweeps: int,
    moves: int,
    tied: bool,
    notes: Notes,
    rng: np.random.Generator,
) -> None:
    """Run so many sweeps, and take notes of them."""
    n = len(p.first) - 1
    rescore(p, s)
    for t in range(sweeps):
        sweep(p, s, moves, tied, rng)
        if len(notes.scores):
            count_joined_pairs(p, s, notes.counts)
            notes.scores[t] = s.score[0]
            remember_state(notes.elite, s)
        if len(notes.rows) and (t + 1) % (sweeps // len(notes.rows)) == 0:
            row = notes.rows[t * len(notes.rows) // sweeps]
            for i in range(n):
                row[i] = s.label[i]


@kernel(entry="ChainPairs, State, i8, b1, u8[:], u8[:], f8[:], rng", _nrt=False)
def hits(
    p: ChainPairs,
    s: State,
    moves: int,
    tied: bool,
    keys: NDArray[np.uint64],
    marks: NDArray[np.uint64],
    found: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Write, for each sweep, 1 if it ends in a partition with one of the sorted marks."""
    for t in range(len(found)):
        sweep(p, s, moves, tied, rng)
        name = mark(s, keys)
        low, high = 0, len(marks)
        while low < high:
            middle = (low + high) // 2
            if marks[middle] < name:
                low = middle + 1
            else:
                high = middle
        found[t] = 1.0 if low < len(marks) and marks[low] == name else 0.0


@kernel(entry="ChainPairs, State, i8[:]", _nrt=False)
def adopt(p: ChainPairs, s: State, labels: IntArray) -> None:
    """Make this blank state the partition of the labels."""
    for i in range(len(labels)):
        attach(s, i, labels[i])
    rescore(p, s)


@kernel(entry="ChainPairs, State, Elite", _nrt=False)
def expand_state(p: ChainPairs, s: State, e: Elite) -> None:
    """Remember every partition that is one single move away and good enough."""
    for i in range(len(p.first) - 1):
        old, own = s.label[i], to_cell(p, s, i)
        take(p, s, i)
        rest = s.score[0]
        count = list_open_cells(p, s, i)[0]
        least = e.scores[weakest(e)]
        for t in range(count + 1):
            gain = s.sum[s.seen[t]] if t < count else 0.0
            if rest + gain > least:
                attach(s, i, s.seen[t] if t < count else new_cell(s))
                s.score[0] = rest + gain
                remember_state(e, s)
                detach(s, i)
        attach(s, i, old)
        s.score[0] = rest + own


@uncounted
def nearby(
    p: ChainPairs, s: State, order: IntArray, k: int, tied: bool, rng: np.random.Generator
) -> None:
    """Renew the last few of the first k: 8, seldom 16, more seldom 32, … up to all of them."""
    width = 8
    while width < k and rng.random() < 0.5:
        width *= 2
    width = min(width, k)
    for t in range(k - width, k):
        renew(p, s, order[t], rng)
    for m in range(1 + width // 8):
        i = order[k - width + int(rng.random() * width)]
        j = partner(p, i, rng)
        if s.label[j] == len(order):
            continue
        if tied and m % 2:
            exchange(p, s, i, j, rng)
        else:
            split_merge(p, s, i, j, rng)


@kernel(entry="ChainPairs, State, i8[:], i8, b1, f8[:], f8[:,:], rng", _nrt=False)
def ladder(
    p: ChainPairs,
    s: State,
    order: IntArray,
    steps: int,
    tied: bool,
    centre: FloatArray,
    sums: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Go down the rungs and up again.

    sums[0, k] is of σ(l - c) without template k, sums[1, k] of σ(c - l) with it, sums[2:] the same
    on the way up.

    On the way down a state lags towards more templates, on the way up towards fewer: together the
    lags cancel, apart they show themselves.
    """
    n = len(order)
    for k in range(n - 1, -1, -1):
        rung(p, s, order, k, steps, tied, centre, sums[:2], rng)
        take(p, s, order[k])
    for k in range(n):
        place(p, s, order[k], n, rng)
        rung(p, s, order, k, steps, tied, centre, sums[2:], rng)


@uncounted
def rung(
    p: ChainPairs,
    s: State,
    order: IntArray,
    k: int,
    steps: int,
    tied: bool,
    centre: FloatArray,
    sums: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Make so many steps with the first k + 1, after a quarter as many to settle.

    Where the centre is not a number yet, sums[1, k] is of l itself.
    """
    for t in range(-(steps // 4), steps):
        nearby(p, s, order, k + 1, tied, rng)
        top, total = renew(p, s, order[k], rng)
        if t < 0:
            continue
        room = top + np.log(total)
        sums[1, k] += room if np.isnan(centre[k]) else sigmoid(centre[k] - room)
        if k + 1 < len(order):
            sums[0, k + 1] += sigmoid(log_room(p, s, order[k + 1]) - centre[k + 1])


@uncounted
def sigmoid(x: float) -> float:
    return float(1.0 / (1.0 + np.exp(min(-x, 700.0))))
