"""A graph of any size: normaliser, cell weights and exact draws by elimination."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from partita.configurations.forest.model import Graph
from partita.configurations.meters import in_bytes
from partita.core import FloatArray, IntArray
from partita.errors import TooLarge

TOGETHER = 1 << 20  # groups and pairs of configurations that are weighed at once
ENTRY = 16  # bytes of an index and a weight
WALK = 24  # neighbours up to which a node is eliminated before Wilson's walk
STEPS = 60.0  # of Wilson's walk from a node of the core, at most expected


@dataclass(slots=True, eq=False)
class Factor:
    """A graph after elimination: the columns as lists, and what is left of it (the core)."""

    start: IntArray
    length: IntArray
    index: IntArray
    value: FloatArray
    ground: FloatArray
    hub: FloatArray
    hub_ground: FloatArray
    order: IntArray
    total: FloatArray
    core: IntArray


class Watched(NamedTuple):
    """Pairs of groups with the weight of their edge, and their probability, to be filled."""

    left: IntArray
    right: IntArray
    weight: FloatArray
    probability: FloatArray


@dataclass(eq=False)
class ForestNetwork:
    """The graph of one set as lists of neighbours, both ways.

    Draws may `walk` on what is left when nodes with few neighbours are eliminated.
    """

    graph: Graph
    memory: int = 4 << 30
    walk: bool = True

    @cached_property
    def log_normaliser(self) -> float:
        """The logarithm of det(D + L), cannot-links aside."""
        return self._log_determinant(self._factor)

    @cached_property
    def _factor(self) -> Factor:
        g = self.graph
        home = np.zeros(len(g), dtype=np.int64)
        return self._eliminate(g.left, g.right, g.extra, g.sizes.copy(), home, stop=len(g))

    def _log_determinant(self, factor: Factor) -> float:
        log = float(np.log(factor.total).sum())
        if self.graph.rate > 0.0:
            log += math.log(factor.hub_ground[0])
            log -= math.log(self.graph.rate) + 2.0 * math.log(self.graph.charge.sum())
        return log

    def log_weight(self, labels: IntArray) -> float:
        """Return the log-weight of a configuration of the groups, cannot-links aside."""
        return float(self.log_weights(labels[None, :])[0])

    def log_weights(self, rows: IntArray) -> FloatArray:
        """Return the log-weights of configurations, whose labels count from 0 without gaps."""
        step = max(1, TOGETHER // (len(self.graph) + len(self.graph.left)))
        parts = [self._weighed(rows[n : n + step]) for n in range(0, len(rows), step)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _weighed(self, rows: IntArray) -> FloatArray:
        """Eliminate the graphs of all cells at once, each with its own hub and one root."""
        g, (count, n) = self.graph, rows.shape
        starts = np.concatenate([[0], np.cumsum(rows.max(axis=1) + 1)])
        home, offset = (rows + starts[:-1, None]).ravel(), n * np.arange(count)[:, None]
        left, right = (g.left + offset).ravel(), (g.right + offset).ravel()
        inside = home[left] == home[right]
        sizes, charge = np.tile(g.sizes, count), np.tile(g.charge, count)
        root = np.zeros(len(home))
        root[np.unique(home, return_index=True)[1]] = 1.0
        edges = left[inside], right[inside], np.tile(g.extra, count)[inside]
        tiled = replace(g, sizes=sizes, charge=charge)
        cells = ForestNetwork(tiled, self.memory)
        factor = cells._eliminate(*edges, root, home, stop=len(home))
        with np.errstate(divide="ignore"):
            logs: FloatArray = np.log(np.bincount(home, sizes).astype(np.float64))
            logs += np.bincount(home, np.log(factor.total))
            if g.rate > 0.0:
                charges = np.bincount(home, charge)
                logs += np.log(factor.hub_ground) - math.log(g.rate) - 2.0 * np.log(charges)
        weights: FloatArray = np.add.reduceat(logs, starts[:-1])
        return weights

    def _eliminate(
        self,
        left: IntArray,
        right: IntArray,
        extra: FloatArray,
        ground: FloatArray,
        home: IntArray,
        stop: int,
    ) -> Factor:
        from partita.configurations.forest.kernels import DENSE, FULL, eliminate

        g, n = self.graph, len(self.graph)
        starts, index, value = _lists(n, left, right, extra)
        start, length = starts[:-1].copy(), np.diff(starts)
        charge = np.bincount(home, weights=g.charge, minlength=int(home.max(initial=0)) + 1)
        hub, hub_ground = g.rate * charge[home] * g.charge, np.zeros(len(charge))
        order, total = np.empty(n, dtype=np.int64), np.ones(n)
        status, count, index, value = eliminate(
            *(start, length, index, value, ground, hub, home, hub_ground, order, total),
            *(stop, max(len(index), self.memory // (3 * ENTRY))),
        )
        if status == FULL:
            raise self._too_large(float(len(index)) * ENTRY * 4)
        left_over = np.ones(n, dtype=np.bool_)
        left_over[order[:count]] = False
        core = np.flatnonzero(left_over)
        factor = Factor(
            start, length, index, value, ground, hub, hub_ground, order[:count], total, core
        )
        return self._finish(factor, home) if status == DENSE else factor

    def _finish(self, factor: Factor, home: IntArray) -> Factor:
        """Eliminate the core as a dense matrix, and append its columns to the lists."""
        from partita.configurations.forest.kernels import eliminate_dense

        core, m = factor.core, len(factor.core)
        if 3 * 8 * m * m > self.memory:
            raise self._too_large(24.0 * m * m)
        matrix = self._dense(factor)
        ground, hub, total = factor.ground[core], factor.hub[core], np.ones(m)
        eliminate_dense(matrix, ground, hub, home[core], factor.hub_ground, total)
        factor.ground[core], factor.hub[core], factor.total[core] = ground, hub, total
        below = np.tril_indices(m, -1)
        factor.start[core] = len(factor.index) + np.arange(m) * (np.arange(m) - 1) // 2
        factor.length[core] = np.arange(m)
        factor.index = np.concatenate([factor.index, core[below[1]]])
        factor.value = np.concatenate([factor.value, matrix[below]])
        factor.order = np.concatenate([factor.order, core[::-1]])
        factor.core = core[:0]
        return factor

    def _dense(self, factor: Factor) -> FloatArray:
        m = len(factor.core)
        place = np.full(len(self.graph), -1)
        place[factor.core] = np.arange(m)
        matrix = np.zeros((m, m))
        for x, v in enumerate(factor.core.tolist()):
            inside = slice(factor.start[v], factor.start[v] + factor.length[v])
            matrix[x, place[factor.index[inside]]] = factor.value[inside]
        return matrix

    def _too_large(self, needs: float) -> TooLarge:
        what = f"the factor of a graph of {len(self.graph)} templates"
        return TooLarge(what, f"more than {in_bytes(needs)}", in_bytes(self.memory))

    def draws(
        self, count: int, rng: np.random.Generator, watched: Watched | None = None
    ) -> IntArray:
        """Draw independent configurations of the groups, exactly; cannot-links aside.

        The probabilities of the watched pairs are filled: means over the draws of what each forest
        says without the edge of the pair, which vary less than the share of draws that join it.
        """
        from partita.configurations.forest.kernels import draw

        factor, g = self._sampler, self.graph
        if watched is None:
            none = np.zeros(0, dtype=np.int64)
            watched = Watched(none, none, np.zeros(0), np.zeros(0))
        rows = np.empty((count, len(g)), dtype=np.int64)
        charges = np.cumsum(g.charge) if g.rate > 0.0 else np.zeros(0)
        hub_sums = np.cumsum(np.append(factor.hub[factor.core], factor.hub_ground[0]))
        draw(
            *(factor.start, factor.length, factor.index, factor.value, factor.ground, factor.hub),
            *(float(factor.hub_ground[0]), factor.order, len(factor.order), factor.total),
            *(charges, factor.core, hub_sums, rows, rng),
            (watched.left, watched.right, watched.weight, g.sizes, watched.probability),
        )
        return rows

    @cached_property
    def _sampler(self) -> Factor:
        """Eliminate nodes with few neighbours; Wilson's walk does the rest where it is short."""
        if not self.walk:
            return self._factor
        g = self.graph
        home = np.zeros(len(g), dtype=np.int64)
        partial = self._eliminate(g.left, g.right, g.extra, g.sizes.copy(), home, stop=WALK)
        return partial if self._short(partial) else self._factor

    def _short(self, factor: Factor) -> bool:
        """Return whether Wilson's walk is short; prepare the core's lists for it."""
        steps = 0.0
        for v in factor.core.tolist():
            inside = slice(factor.start[v], factor.start[v] + factor.length[v])
            weight = factor.value[inside].sum() + factor.hub[v]
            steps += 1.0 + float(weight / factor.ground[v])
            factor.value[inside] = np.cumsum(factor.value[inside])
        return steps <= STEPS * len(factor.core)


def _lists(
    n: int, left: IntArray, right: IntArray, weight: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return for each node its neighbours and their weights, one list after the other."""
    ends, others = np.concatenate([left, right]), np.concatenate([right, left])
    order = np.lexsort((others, ends))
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=n))])
    return starts, others[order], np.concatenate([weight, weight])[order]
