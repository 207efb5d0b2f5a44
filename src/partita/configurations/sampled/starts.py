"""Where chains begin: all apart, as together as can be, a local optimum, and cooled by chance."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from partita.configurations.optimum.local import local_search
from partita.records import FloatArray, IntArray, restricted_growth

if TYPE_CHECKING:
    from partita.configurations.sampled.kernels import Pairs, State

STARTS = 4
SEARCHES = 8  # local searches from which the best is taken
WARMTHS, SOAK = 20, 3  # steps of cooling, and sweeps at each
COOLING = WARMTHS * SOAK
STEEPEST = 3.0  # beyond this log-odds a partner is not picked any more often


def predicted_bytes(n: int, compatible: int) -> int:
    """What a run needs at its peak: neighbours, counts of four chains, and the answer."""
    pairs = compatible // 2
    return 8 * compatible + pairs * (8 * STARTS + 40) + 40 * n * n + (1 << 24)


def neighbours(theta: FloatArray) -> Pairs:
    """The compatible pairs by rows; a partner is picked in proportion to min(odds, e³)."""
    from partita.configurations.sampled.kernels import Pairs

    n = len(theta)
    possible = theta > -np.inf
    np.fill_diagonal(possible, False)
    first = np.concatenate([[0], np.cumsum(possible.sum(axis=1))])
    near = np.nonzero(possible)[1].astype(np.int32)
    pick = np.empty(len(near), dtype=np.float32)
    for i in range(n):
        row = slice(first[i], first[i + 1])
        pick[row] = _running(theta[i, possible[i]])
    above = np.triu(possible).sum(axis=1)
    base = np.cumsum(above) - first[1:]  # both run to the end of a row
    return Pairs(np.ascontiguousarray(theta), first, near, pick, base)


def tied(pairs: Pairs) -> bool:
    """Whether any two templates exclude each other."""
    return len(pairs.near) < len(pairs.theta) * (len(pairs.theta) - 1)


def _running(gains: FloatArray) -> FloatArray:
    """Running sums of the chances, ending at 1."""
    weights = np.exp(np.clip(gains, -30.0, STEEPEST))
    sums = np.cumsum(weights)
    return sums / sums[-1] if len(sums) else sums


def starts(pairs: Pairs, rng: np.random.Generator) -> list[State]:
    """One state for each chain, as far from each other as can be had cheaply."""
    n = len(pairs.theta)
    apart = np.arange(n)
    return [
        state_of(pairs, apart),
        state_of(pairs, _together(pairs.theta > -np.inf)),
        state_of(pairs, local_search(pairs.theta, starts=1 + min(SEARCHES, 2000 // n))),
        cooled(pairs, rng),
    ]


def state_of(pairs: Pairs, labels: IntArray) -> State:
    from partita.configurations.sampled.kernels import blank
    from partita.configurations.sampled.runs import adopt

    state = blank(len(labels))
    adopt(pairs, state, restricted_growth(labels))
    return state


def _together(possible: np.ndarray) -> IntArray:
    """Each template in turn into the largest cell that can take it."""
    labels = np.full(len(possible), -1, dtype=np.int64)
    shared: list[np.ndarray] = []  # by cell: with whom all of its members are compatible
    sizes: list[int] = []
    for i in range(len(possible)):
        fits = [c for c, common in enumerate(shared) if common[i]]
        if not fits:
            shared.append(possible[i].copy())
            sizes.append(0)
            fits = [len(shared) - 1]
        labels[i] = home = max(fits, key=lambda c: sizes[c])
        shared[home] &= possible[i]
        sizes[home] += 1
    return labels


def _steepest(theta: FloatArray) -> float:
    """The largest log-odds either way, or 1; row by row, to need no room."""
    return max(1.0, *(float(np.abs(row[row > -np.inf]).max()) for row in theta))


def cooled(pairs: Pairs, rng: np.random.Generator) -> State:
    """Templates dealt in a random order, then warmth taken away step by step."""
    from partita.configurations.sampled.kernels import blank, place
    from partita.configurations.sampled.runs import run, states

    n, state = len(pairs.theta), blank(len(pairs.theta))
    warm = pairs._replace(theta=np.empty_like(pairs.theta))
    for step, beta in enumerate(np.geomspace(1.0 / _steepest(pairs.theta), 1.0, WARMTHS)):
        np.multiply(pairs.theta, beta, out=warm.theta)
        if step == 0:
            for i in rng.permutation(n):
                place(warm, state, int(i), n, rng)
        run(warm, state, SOAK, max(1, n // 5), tied(pairs), states(0, n), rng)
    return state_of(pairs, state.label[:n])
