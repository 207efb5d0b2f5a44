"""The most probable configurations of a large set: a local search, and an upper bound."""

from __future__ import annotations

import time

import numpy as np

from partita.configurations.exact.posterior import compiled_best
from partita.configurations.forest.model import Graph, violated
from partita.configurations.forest.network import DENSE_CELL, Network
from partita.core import Budget, FloatArray, IntArray, linked_components, restricted_growth_rows

STARTS = 16  # draws that are weighed; the search starts from the heaviest and from the consensus
SWEEPS = 40
GAIN = 1e-9
BLOCK, SMALL_BLOCK = 13, 9  # groups of a block for the bound: of few groups, and of many
FEW = 150  # … up to which there are few
PLAIN = 14  # groups up to which products of weights are plain numbers
ALONE = -1  # the cell of a template that leaves the others


def best_found(network: Network, rows: IntArray, budget: Budget) -> tuple[IntArray, FloatArray]:
    """Return configurations and log-weights, best first: local optima and their neighbours."""
    end = time.monotonic() + budget.seconds / 4 if budget.work is None else np.inf
    starts = [*rows[:STARTS], _consensus(network, rows)]
    weights = [network.log_weight(row) for row in starts]
    drawn = int(np.argmax(weights[:-1]))
    search = _Search(network)
    found = [search.climb(starts[place], end) for place in {drawn, len(starts) - 1}]
    top = max(found, key=network.log_weight)
    near = np.concatenate([[top], search.neighbours(top), starts])
    near = np.unique(restricted_growth_rows(near), axis=0)
    if len(network.graph.apart):
        near = near[~violated(network.graph, near)]
    logs = np.array([network.log_weight(row) for row in near])
    order = np.argsort(-logs, kind="stable")
    return near[order], logs[order]


def _consensus(network: Network, rows: IntArray) -> IntArray:
    """Link the compared pairs that share a cell in most draws."""
    g = network.graph
    share = np.zeros(len(g.left))
    for row in rows[:1000]:
        share += row[g.left] == row[g.right]
    chosen = share > 0.5 * len(rows[:1000])
    labels = linked_components(len(g), g.left[chosen], g.right[chosen])
    labels = restricted_growth_rows(labels[None])[0]
    drawn: IntArray = rows[0]
    return drawn if len(g.apart) and violated(g, labels) else labels


def subset_log_weights(graph: Graph) -> FloatArray:
    """Return log w of every subset of the groups as a cell; −∞ with a cannot-link."""
    from partita.configurations.forest.kernels import fill_tree_weights, tree_log_weights

    apart = np.zeros(len(graph), dtype=np.int64)
    np.bitwise_or.at(apart, graph.apart[:, 0], 1 << graph.apart[:, 1])
    np.bitwise_or.at(apart, graph.apart[:, 1], 1 << graph.apart[:, 0])
    if len(graph) > PLAIN:
        table: FloatArray = tree_log_weights(graph.dense(), graph.sizes, apart)
        return table
    fill_tree_weights(graph.dense(), graph.sizes, apart, w := np.empty(1 << len(graph)))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(w, out=w))


def upper_bound(graph: Graph) -> float:
    """Return a log-weight that no configuration exceeds.

    The groups are divided into small blocks, whose best configurations are found exactly. Without
    the edges S between blocks, a cell falls into |S| + 1 pieces, whose sizes have a sum of at most
    |S| + 1 times their product. So its weight is at most the sum over S of Π_S 2W times the weight
    of the pieces, and that of a configuration Π(1 + 2W) over all pairs between blocks times the
    product of the best weights.
    """
    home = _blocks(graph, BLOCK if len(graph) <= FEW else SMALL_BLOCK)
    bound = 0.0
    for block in range(int(home.max(initial=-1)) + 1):
        inside = graph.part(np.flatnonzero(home == block))
        bound += float(compiled_best(subset_log_weights(inside))[-1])
    across = home[graph.left] != home[graph.right]
    bound += float(np.log1p(2.0 * graph.extra[across]).sum())
    charge = np.bincount(home, weights=graph.charge)
    return bound + graph.rate * float(charge.sum() ** 2 - (charge**2).sum())


def _blocks(graph: Graph, most: int) -> IntArray:
    """Return the block of each group: the heaviest edges are kept inside, as far as they fit."""
    block, members = np.arange(len(graph)), [[v] for v in range(len(graph))]
    for e in np.argsort(-graph.extra, kind="stable").tolist():
        a, b = int(block[graph.left[e]]), int(block[graph.right[e]])
        if a != b and len(members[a]) + len(members[b]) <= most:
            small, large = sorted((a, b), key=lambda c: len(members[c]))
            block[members[small]] = large
            members[large] += members[small]
    numbers: IntArray = np.unique(block, return_inverse=True)[1].ravel()
    return numbers


class _Search:
    """Moves of one template to the cell of a neighbour, or to a cell of its own."""

    def __init__(self, network: Network) -> None:
        self.network, self.graph = network, network.graph
        ends = np.concatenate([self.graph.left, self.graph.right])
        others = np.concatenate([self.graph.right, self.graph.left])
        self.ends, self.others = ends, others

    def climb(self, labels: IntArray, end: float) -> IntArray:
        """Make the best moves that do not touch the same cells, until nothing gains."""
        labels = labels.copy()
        for _ in range(SWEEPS):
            node, target, gains = self._moves(labels)
            chosen = np.flatnonzero(gains > GAIN)
            if not len(chosen) or time.monotonic() > end:
                break
            touched: set[int] = set()
            for n in chosen[np.argsort(-gains[chosen], kind="stable")].tolist():
                source, goal = int(labels[node[n]]), int(target[n])
                if source in touched or goal in touched:
                    continue
                touched |= {source, goal} - {ALONE}
                trial = labels.copy()
                trial[node[n]] = labels.max() + 1 if goal == ALONE else goal
                if not (len(self.graph.apart) and violated(self.graph, trial)):
                    labels = trial
            labels = restricted_growth_rows(labels[None])[0]
        return labels

    def neighbours(self, labels: IntArray, most: int = 64) -> IntArray:
        """Return the best configurations one move away."""
        node, target, gains = self._moves(labels)
        order = np.argsort(-gains, kind="stable")[:most]
        rows = np.repeat(labels[None], len(order), axis=0)
        rows[np.arange(len(order)), node[order]] = np.where(
            target[order] == ALONE, labels.max() + 1, target[order]
        )
        return rows

    def _moves(self, labels: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
        """Return template, target cell and gain of all moves between small cells."""
        n, sizes = len(labels), np.bincount(labels)
        across = labels[self.ends] != labels[self.others]
        pairs = np.stack([self.ends[across], labels[self.others[across]]], axis=1)
        leave = np.flatnonzero(sizes[labels] > 1)
        pairs = np.concatenate([pairs, np.stack([leave, np.full(len(leave), ALONE)], axis=1)])
        pairs = np.unique(pairs, axis=0)
        node, target = pairs.T
        small = (sizes[labels[node]] <= DENSE_CELL) & (sizes[target] < DENSE_CELL)
        node, target = node[small | (target == ALONE)], target[small | (target == ALONE)]
        members = np.split(np.argsort(labels, kind="stable"), np.cumsum(sizes)[:-1])
        before = self.network.cell_log_weights(labels)
        without = self._weights([members[labels[v]][members[labels[v]] != v] for v in range(n)])
        joined = self._weights(
            [
                np.append(members[c], v) if c != ALONE else np.array([v])
                for v, c in zip(node.tolist(), target.tolist(), strict=True)
            ]
        )
        stays = np.where(target == ALONE, 0.0, before[target])
        return node, target, without[node] + joined - before[labels[node]] - stays

    def _weights(self, cells: list[IntArray]) -> FloatArray:
        """Return log w of cells; 0 for none, −∞ for those that are too large to weigh here."""
        from partita.configurations.forest.kernels import cell_log_weights

        network, g = self.network, self.graph
        sizes = np.array([len(cell) for cell in cells], dtype=np.int64)
        logs = np.where(sizes == 0, 0.0, -np.inf)
        fit = (sizes > 0) & (sizes <= DENSE_CELL)
        order = [cell for cell, fits in zip(cells, fit.tolist(), strict=True) if fits]
        if order:
            inside = np.empty(len(order))
            cuts = np.concatenate([[0], np.cumsum(sizes[fit])])
            lists = (network.starts, network.index, network.value)
            flat = np.concatenate(order)
            cell_log_weights(*lists, g.sizes, g.charge, g.rate, flat, cuts, inside)
            logs[fit] = inside
        return logs
