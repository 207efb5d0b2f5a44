"""The best configurations that chains visited, and what lies one single move around them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from partita.configurations.sampled.meter import Meter
from partita.configurations.sampled.starts import COOLING, SEARCHES, cooled, state_of
from partita.records import Best, FloatArray, IntArray, restricted_growth

if TYPE_CHECKING:
    from partita.configurations.sampled.kernels import Pairs
    from partita.configurations.sampled.runs import Elite

LOOKS = 3e7  # around how many configurations to look, times n²


def united(every: list[Elite]) -> Elite:
    """All that any chain kept, each once, best first."""
    marks = np.concatenate([e.marks[: e.filled[0]] for e in every])
    scores = np.concatenate([e.scores[: e.filled[0]] for e in every])
    labels = np.concatenate([e.labels[: e.filled[0]] for e in every])
    once = np.unique(marks, return_index=True)[1]
    order = once[np.lexsort((marks[once], -scores[once]))]
    filled = np.array([len(order)])
    return every[0]._replace(
        labels=labels[order], scores=scores[order], marks=marks[order], filled=filled
    )


def log_mass(visited: Elite) -> float:
    """The log of the summed weights of what was visited: no normaliser is below it."""
    return float(np.logaddexp.reduce(visited.scores))


def missed(pairs: Pairs, visited: Elite, rng: np.random.Generator, meter: Meter) -> float:
    """The largest log-weight of what cooling finds and no chain visited; minus infinity if none."""
    from partita.configurations.sampled.runs import mark

    known, best = set(visited.marks.tolist()), -np.inf
    begun, count = time.monotonic(), int(np.clip(meter.sweeps() / (10 * COOLING), 1, SEARCHES))
    for _ in range(count):
        state = cooled(pairs, rng)
        if int(mark(state, visited.keys)) not in known:
            best = max(best, float(state.score[0]))
    meter.charge(count * COOLING, begun)
    return best


def best_visited(pairs: Pairs, visited: Elite, k: int) -> Best:
    """The k best found; nothing is known about what was not."""
    found = _widened(pairs, visited, max(k, 1))
    rows = [restricted_growth(row) for row in found.labels[: found.filled[0]]]
    weights = np.array([_log_weight(pairs.theta, row) for row in rows])
    order = sorted(range(len(rows)), key=lambda t: (-weights[t], tuple(rows[t])))[:k]
    labels = np.array([rows[t] for t in order], dtype=np.int64).reshape(len(order), -1)
    return Best(labels, weights[order], np.inf)


def _widened(pairs: Pairs, visited: Elite, k: int) -> Elite:
    """Look around the k best, the best first, until all have been looked around."""
    from partita.configurations.sampled.runs import elite, expand

    n = len(pairs.theta)
    found = elite(max(k, 16), n)
    kept = min(len(found.scores), visited.filled[0])
    for name in ("labels", "scores", "marks"):
        getattr(found, name)[:kept] = getattr(visited, name)[:kept]
    found.filled[0] = kept
    done: set[int] = set()
    for _ in range(int(np.clip(LOOKS / n**2, 20, 2000))):
        fresh = [t for t in _ranked(found, k) if int(found.marks[t]) not in done]
        if not fresh:
            break
        done.add(int(found.marks[fresh[0]]))
        expand(pairs, state_of(pairs, found.labels[fresh[0]]), found)
    return found


def _ranked(found: Elite, k: int) -> list[int]:
    order = np.argsort(-found.scores[: found.filled[0]], kind="stable")
    return [int(t) for t in order[:k]]


def _log_weight(theta: FloatArray, labels: IntArray) -> float:
    return float(theta[np.triu(labels[:, None] == labels[None, :], 1)].sum())
