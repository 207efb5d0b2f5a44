"""The best configurations that moves from a good one reach: the K-th best is at least the K-th."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.configurations.search.meter import Meter
from partita.records import FloatArray, IntArray

LEAST = 64  # configurations kept even if fewer are asked for, so that moves can lead out of a dip

MOST = 1 << 23  # labels written in one round, unless more are asked for


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """Configurations with their log-weights, best first; `closed` if moves reach no other."""

    labels: IntArray
    weights: FloatArray
    closed: bool


def pool(theta: FloatArray, start: IntArray, weight: float, k: int, meter: Meter) -> Pool:
    """About the k best around the start, by rounds in which each kept one is expanded once.

    However small the budget, k are found if there are as many.
    """
    made = _Rounds(theta, start, weight, max(k, LEAST))
    while made.pending() and (meter.allowance() or len(made.weights) < k):
        meter.spend(made.round())
    return made.pool()


class _Rounds:
    """The configurations kept, best first, and which of them are expanded."""

    def __init__(self, theta: FloatArray, start: IntArray, weight: float, k: int) -> None:
        n = len(theta)
        self.theta, self.k = theta, k
        self.rows = max(2 * k, min(4 * k + 16 * n, MOST // n))
        self.names = np.random.default_rng(n).integers(1, 1 << 63, n, dtype=np.uint64)
        self.labels = start[None, :].astype(np.int32)
        self.weights = np.array([weight])
        self.expanded = np.zeros(1, dtype=np.bool_)
        self.whole = True

    def pending(self) -> bool:
        return not self.expanded.all()

    def round(self) -> int:
        """Expand as many as there is room for; returns the number of configurations written.

        What was dropped before is too light to be written again, so that only those kept must be
        known to avoid writing one twice; one for whose moves there was no room is expanded again.
        """
        from partita.configurations.search.neighbours import expand_all

        room = np.empty((self.rows, len(self.theta)), dtype=np.int32)
        found = np.empty(self.rows)
        seen = np.zeros(1 << (4 * (self.rows + self.k)).bit_length(), dtype=np.uint64)
        above = float(self.weights[-1]) if len(self.weights) == self.k else -np.inf
        count = expand_all(
            *(self.theta, self.names, self.labels, self.weights, self.expanded),
            *(above, seen, room, found),
        )
        self._keep(room[:count], found[:count])
        return count + 1

    def _keep(self, labels: NDArray[np.int32], weights: FloatArray) -> None:
        expanded = np.concatenate([self.expanded, np.zeros(len(labels), dtype=np.bool_)])
        labels = np.vstack([self.labels, labels])
        weights = np.concatenate([self.weights, weights])
        order = np.argsort(-weights, kind="stable")[: self.k]
        self.whole &= len(order) == len(weights)
        self.labels, self.weights, self.expanded = labels[order], weights[order], expanded[order]

    def pool(self) -> Pool:
        closed = self.whole and not self.pending()
        return Pool(self.labels.astype(np.int64), self.weights, closed)
