"""Exact answers for large sparse sets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from partita.compilation import kernel
from partita.configurations.sparse.count import count_by_elimination
from partita.configurations.sparse.kernels import add_pairs, cells_from
from partita.configurations.sparse.order import (
    WIDEST,
    EliminationPlan,
    counting_operations,
    plan_elimination,
)
from partita.configurations.sparse.recursion import LOG, LOG2, MAX, SUM, Recursion
from partita.configurations.sparse.tree import EliminationStep
from partita.configurations.sparse.walk import BestChooser, RandomChooser, log_weights, walk
from partita.core import Best, Figure, FloatArray, IntArray, Marginals, Method, restricted_growth
from partita.errors import TooLarge

ROUNDS = 50


@kernel()
def _best_cell(theta, i, near, labels, sizes, gains, seen):  # type: ignore[no-untyped-def]
    """Return the best cell for i among those of its neighbours only, -1 if none.

    Also return whether i would rather be alone than where it is.
    """
    for j in near:
        gains[labels[j]] += theta[i, j]
        seen[labels[j]] += 1
    best, most = -1, max(0.0, gains[labels[i]])
    for j in near:
        label = labels[j]
        if label != labels[i] and seen[label] == sizes[label] and gains[label] > most + 1e-9:
            best, most = label, gains[label]
    alone = gains[labels[i]] < 0.0
    for j in near:
        gains[labels[j]], seen[labels[j]] = 0.0, 0
    return best, alone


@kernel()
def climb(theta, first, near):  # type: ignore[no-untyped-def]
    """Return the labels of a configuration that hardly any single move improves.

    The neighbours of i are near[first[i]:first[i+1]].
    """
    n = len(theta)
    labels, sizes = np.arange(n), np.ones(n, np.int64)
    gains, seen = np.zeros(n), np.zeros(n, np.int64)
    for _ in range(ROUNDS):
        moved = False
        for i in range(n):
            its = near[first[i] : first[i + 1]]
            best, alone = _best_cell(theta, i, its, labels, sizes, gains, seen)
            if best < 0 and alone:
                best = 0  # i shares its cell, so some label is not in use
                while sizes[best] > 0:
                    best += 1
            if best >= 0:
                sizes[labels[i]] -= 1
                sizes[best] += 1
                labels[i] = best
                moved = True
        if not moved:
            break
    return labels


def potentials(theta: FloatArray, steps: Sequence[EliminationStep]) -> FloatArray:
    """Return a, feasible for every cell up to rounding."""
    near = theta > -np.inf
    np.fill_diagonal(near, False)
    first = np.concatenate([[0], np.cumsum(near.sum(axis=1))])
    labels = climb(theta, first, np.nonzero(near)[1])
    together = labels[:, None] == labels[None, :]
    a: FloatArray = 0.5 * np.where(together, theta, 0.0).sum(axis=1)
    for step in steps:
        # every cell is looked at once, with its first template; raising more never hurts it
        _, logs = cells_from(theta, a, step.vertex, step.members, 0)
        a[step.vertex] += max(0.0, logs.max())
    return a


HARMLESS = -60.0  # log2 of a probability that may vanish unnoticed
COUNTING = 1e10  # operations that an exact count may take: some ten seconds
ONE = 1e-9  # by how much the probabilities of a template's cells may miss 1


def eliminate_exactly(
    theta: FloatArray, plan: EliminationPlan | None = None
) -> EliminationPosterior:
    """Return the exact distribution; without a plan, one is made and followed whatever it costs."""
    chosen = plan or plan_elimination(theta)
    if chosen.bytes == math.inf:
        raise TooLarge(
            f"an exact answer for {len(theta)} templates",
            f"tables of more than 2^{WIDEST} entries",
            f"2^{WIDEST} entries",
        )
    return EliminationPosterior(theta, chosen.steps, chosen.blocks)


class _Solution(NamedTuple):
    """The recursion, log Z of rescaled weights, pairs and E[Σ_C log w(C)].

    The last field is log2 of a bound on the probability of what vanished.
    """

    recursion: Recursion
    log_total: float
    pairs: FloatArray
    expected: float
    loss: float

    @property
    def sound(self) -> bool:
        """Whether nothing that matters vanished, and each template's cells sum to probability 1."""
        lost = self.loss + math.log2(len(self.pairs) + 1)
        missing = np.abs(np.diag(self.pairs) - 1.0).max(initial=0.0)
        return bool(lost < HARMLESS and missing < ONE)


def _solve(recursion: Recursion) -> _Solution:
    n = len(recursion.theta)
    log_total = recursion.keep()
    pairs, expected = np.zeros((n, n)), []
    down = _copy(recursion)
    for step, masks, logs, p in down.cells():
        add_pairs(pairs, step.vertex, step.members, masks, step.own, p)
        expected.append(float(p @ logs))
    return _Solution(recursion, log_total, pairs, math.fsum(expected), down.loss)


def _copy(recursion: Recursion) -> Recursion:
    """Copy for one way down; the original keeps what that forgets."""
    return replace(recursion, messages=dict(recursion.messages))


class EliminationPosterior:
    """The posterior from one recursion along the steps of an elimination."""

    method: Method = "exact"

    def __init__(
        self, theta: FloatArray, steps: Sequence[EliminationStep], blocks: int = 1
    ) -> None:
        self.size = len(theta)
        width = max((len(step.dims) for step in steps), default=0)
        self.reason = f"exact by elimination, width {width}"
        self._theta, self._steps, self._blocks = theta, steps, blocks
        self._scale = potentials(theta, steps)
        solved = self._solve()
        self._solved = solved
        self.log_normaliser = Figure.exact(solved.log_total + math.fsum(self._scale))

    def _solve(self) -> _Solution:
        """Solve in doubles; on logarithms, which is slower, if that loses anything."""
        with np.errstate(under="ignore", over="ignore", divide="ignore", invalid="ignore"):
            solved = _solve(self._recursion(SUM))
        return solved if solved.sound else _solve(self._recursion(LOG))

    def _recursion(self, kind: int) -> Recursion:
        return Recursion(self._steps, self._theta, self._scale, kind, self._blocks)

    def log_weight(self, labels: IntArray) -> float:
        return float(log_weights(self._theta, restricted_growth(labels)[None, :])[0])

    @cached_property
    def _log2_count(self) -> float:
        ones = np.where(self._theta > -np.inf, 0.0, -np.inf)
        return Recursion(self._steps, ones, np.zeros(self.size), SUM).total() / LOG2

    def log2_count(self) -> Figure:
        return Figure.exact(self._log2_count)

    @cached_property
    def _count(self) -> int | None:
        if counting_operations(self._steps, self._log2_count) > COUNTING:
            return None
        return count_by_elimination(self._steps, self._theta, self._log2_count)

    def count(self) -> int | None:
        return self._count

    def entropy(self) -> Figure:
        """Return log Z − Σ_C P(C) log w(C), with the rescaled weights, whose terms are small."""
        nats = self._solved.log_total - self._solved.expected
        return Figure.exact(max(0.0, nats) / LOG2)

    def pairs(self) -> Marginals:
        pairs = np.minimum(self._solved.pairs, 1.0)
        np.fill_diagonal(pairs, 1.0)
        return Marginals.exact(pairs)

    def cells(self) -> Iterator[tuple[tuple[int, ...], float]]:
        for step, masks, _, probabilities in _copy(self._solved.recursion).cells():
            members = step.members.tolist()
            for mask, p in zip((masks >> step.own).tolist(), probabilities.tolist(), strict=True):
                inside = [m for j, m in enumerate(members) if mask >> j & 1]
                yield tuple(sorted([step.vertex, *inside])), p

    def best(self, k: int) -> Best:
        if k < 1:
            return Best(np.empty((0, self.size), dtype=np.int64), np.empty(0))
        recursion = self._recursion(MAX)
        recursion.keep()
        labels = walk(recursion, BestChooser(k))
        weights: FloatArray = log_weights(self._theta, labels)
        order = np.argsort(-weights, kind="stable")
        return Best(labels[order], weights[order])

    def draws(self, count: int, rng: np.random.Generator) -> IntArray:
        recursion = _copy(self._solved.recursion)
        return walk(recursion, RandomChooser(count, recursion.kind, rng))
