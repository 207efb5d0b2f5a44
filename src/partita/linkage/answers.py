"""What the forest model says about the records of many sets, in flat arrays."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from partita.configurations.forest.batch_kernels import (
    NEVER,
    Answers,
    MergeRule,
    add_draws,
    answer_draws,
    answer_rows,
    answer_small,
    count_cells,
    draw_small,
    mean_counts,
    row_shares,
    shares,
)
from partita.configurations.forest.model import (
    ForestParameters,
    Graph,
    Links,
    distinct_pairs,
    log_odds,
    strengths,
    summed,
    unlisted_rate,
)
from partita.configurations.forest.network import ForestNetwork, Watched
from partita.configurations.forest.posterior import EXACT, SampledForest
from partita.core import (
    Budget,
    FloatArray,
    IntArray,
    linked_components,
    restricted_growth_rows,
)
from partita.errors import InputError, Unavailable
from partita.linkage.sets import Sets

DRAWS = 100  # of all sets together, for the intervals of the summary
SAMPLED = 250  # draws of a large set, with which the error of a pair is at most .032
HELD = 20_000_000  # labels of draws that are held at a time
MEDIUM = 400  # nodes up to which draws take less time if all of them are eliminated
DENSE = 1500  # nodes up to which all pairs of a set or block are looked at
APART = (0.05, 0.2, 0.35, 0.5, 0.7, 0.9, 0.99)  # pairs below do not join blocks
TOGETHER = 1000  # small sets between two lines of progress

Progress = Callable[[str], None]
NONE = -1
WORLDS = 0x5851F42D4C957F2D  # makes the draws of worlds others than those of the answers


def empty_answers(nodes: int, rows: int, sets: int, draws: int) -> Answers:
    """Return answers that are to be filled in: every node is a cluster by itself."""
    own, none = np.zeros(nodes, dtype=np.int64), np.full(nodes, NONE)
    return Answers(
        own, np.ones(nodes), np.ones(nodes), np.zeros(nodes, dtype=np.bool_),
        np.zeros(nodes), np.zeros(nodes), none.copy(), np.full(nodes, np.nan),
        np.zeros(nodes), none.copy(), none.copy(), np.full(nodes, np.nan),
        np.zeros(rows), np.ones(sets), np.zeros(sets), np.zeros((3, draws)),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Answers for sets: the node of every record, and which sets come from draws.

    `relaxed` counts the sets in which cannot-links hold for their own pairs only; `cut` counts the
    compared pairs between blocks of large sets, and how many of these are expected to be true.
    """

    sets: Sets
    node: IntArray
    starts: IntArray
    answers: Answers
    draws: IntArray
    relaxed: int = 0
    cut: tuple[int, float] = (0, 0.0)

    @property
    def set_of_node(self) -> IntArray:
        return np.repeat(np.arange(len(self.sets)), np.diff(self.starts))

    @property
    def sizes(self) -> IntArray:
        return np.bincount(self.node, minlength=int(self.starts[-1]))

    def cluster_of_node(self) -> IntArray:
        """Return for every node the first node of its cluster, counted over all sets."""
        first: IntArray = self.starts[:-1][self.set_of_node] + self.answers.label
        return first

    def first_record(self) -> IntArray:
        """Return for every node its first record."""
        first = np.full(int(self.starts[-1]), len(self.node))
        np.minimum.at(first, self.node, np.arange(len(self.node)))
        return first


def cluster_sets(
    sets: Sets,
    parameters: ForestParameters,
    rule: MergeRule,
    budget: Budget,
    seed: int = 0,
    progress: Progress | None = None,
) -> Clustering:
    """Answer all sets: small ones exactly, others from exact draws."""
    node, starts, apart = _contracted(sets)
    links = _links(sets, node, starts, apart, parameters, seed)
    answers = empty_answers(int(starts[-1]), len(sets.left), len(sets), DRAWS)
    draws = np.where(np.diff(starts) > EXACT, budget.work or SAMPLED, 0)
    small, large = np.flatnonzero(draws == 0), np.flatnonzero(draws)
    for at in range(0, len(small), TOGETHER):
        answer_small(links, small[at : at + TOGETHER], rule, answers)
        _report(progress, min(at + TOGETHER, len(small)), len(sets))
    relaxed, cut, soft = 0, np.zeros(2), _softened(sets.probability)
    for done, k in enumerate(large.tolist()):
        if done % TOGETHER == 0:
            _report(progress, len(small) + done, len(sets))
        draws[k], free, between = _answer_large(links, k, apart.get(k), rule, budget, soft, answers)
        relaxed += free
        cut += between
        _report(progress, len(small) + done + 1, len(sets))
    return Clustering(sets, node, starts, answers, draws, relaxed, (int(cut[0]), float(cut[1])))


def row_probabilities(
    sets: Sets, parameters: ForestParameters, rows: IntArray, draws: int, seed: int
) -> FloatArray:
    """Return the probabilities of some rows of sets without labels: exact in small sets."""
    node, starts, apart = _contracted(sets)
    links = _links(sets, node, starts, apart, parameters, seed)
    answers = empty_answers(int(starts[-1]), len(sets.left), len(sets), 1)
    large = np.diff(starts) > EXACT
    answer_small(links, np.flatnonzero(~large), MergeRule.fixed(0.5), answers)
    soft = _softened(sets.probability)
    for k in np.flatnonzero(large).tolist():
        own = rows[(rows >= links.row_starts[k]) & (rows < links.row_starts[k + 1])]
        graph, left, right = _graph(links, k, apart.get(k)), links.left[own], links.right[own]
        weight, p = graph.weight_of(left, right), np.zeros(len(own))
        rng = np.random.default_rng(int(links.seeds[k]))
        ForestNetwork(graph).draws(draws, rng, Watched(left, right, weight, p))
        answers.pair[own] = (p * draws + soft[own]) / (draws + 1.0)
    return answers.pair[rows]


def draw_worlds(
    sets: Sets, parameters: ForestParameters, count: int, budget: Budget, seed: int = 0
) -> IntArray:
    """Return independent draws of all sets together: in each row the cluster of every record.

    A cluster is given by the place of its first record. Draws keep all that is assumed, but for
    sets in which hardly any draw keeps the cannot-links (`Clustering.relaxed`).
    """
    node, starts, apart = _contracted(sets)
    links = _links(sets, node, starts, apart, parameters, seed)
    links = links._replace(seeds=links.seeds ^ np.uint64(WORLDS))
    labels = np.zeros((count, int(starts[-1])), dtype=np.int64)
    large = np.diff(starts) > EXACT
    draw_small(links, np.flatnonzero(~large), labels)
    for k in np.flatnonzero(large).tolist():
        limits = Budget(budget.seconds, budget.memory, count)
        drawn = _rows_of(_graph(links, k, apart.get(k)), limits, int(links.seeds[k]))[0]
        inside = slice(int(starts[k]), int(starts[k + 1]))
        labels[:, inside] = first_members(drawn)
    nodes = labels + np.repeat(starts[:-1], np.diff(starts))
    first = np.unique(node, return_index=True)[1]
    worlds: IntArray = first[nodes[:, node]]
    return worlds


def first_members(rows: IntArray) -> IntArray:
    """Replace the labels of each row by the first place that has the label."""
    first = np.full((len(rows), int(rows.max(initial=0)) + 1), rows.shape[1])
    draw, place = np.indices(rows.shape)
    np.minimum.at(first, (draw, rows), place)
    return np.take_along_axis(first, rows, axis=1)


def _report(progress: Progress | None, done: int, total: int) -> None:
    if progress is not None:
        progress(f"{done:,} of {total:,} sets")


def _contracted(sets: Sets) -> tuple[IntArray, IntArray, dict[int, IntArray]]:
    """Return the node of every record, where the nodes of sets begin, and cannot-links.

    Records that must be the same are one node.
    """
    records = int(sets.starts[-1])
    must = [_places(sets, k, known.must) for k, known in sets.assumed.items()]
    joined = np.concatenate(must) if must else np.zeros((0, 2), dtype=np.int64)
    home = linked_components(records, joined[:, 0], joined[:, 1])
    own = home == np.arange(records)
    node = (np.cumsum(own) - 1)[home]
    starts = np.concatenate([[0], np.cumsum(own)])[sets.starts]
    apart = {}
    for k, known in sets.assumed.items():
        pairs = _places(sets, k, known.apart)
        if len(wrong := pairs[node[pairs[:, 0]] == node[pairs[:, 1]]]):
            one, other = (sets.ids[n] for n in wrong[0].tolist())
            raise InputError(f"{one} and {other} are labelled both the same and different")
        apart[k] = node[pairs] - starts[k]
    return node, starts, {k: pairs for k, pairs in apart.items() if len(pairs)}


def _places(sets: Sets, k: int, pairs: frozenset[tuple[str, str]]) -> IntArray:
    """Return pairs of ids as records, counted over all sets."""
    first, last = int(sets.starts[k]), int(sets.starts[k + 1])
    place = {name: first + n for n, name in enumerate(sets.ids[first:last])}
    rows = [[place[a], place[b]] for a, b in sorted(pairs)]
    return np.array(rows, dtype=np.int64).reshape(-1, 2)


def _links(
    sets: Sets,
    node: IntArray,
    starts: IntArray,
    apart: dict[int, IntArray],
    parameters: ForestParameters,
    seed: int,
) -> Links:
    """Return the weights of all sets, whose records are contracted to nodes."""
    rows, nodes = np.diff(sets.row_starts), int(starts[-1])
    offset = np.repeat(sets.starts[:-1], rows)
    left, right, theta, known = _known(sets, sets.left + offset, sets.right + offset)
    rate = np.where(sets.unlisted() > known, unlisted_rate(parameters, sets.sizes), 0.0)
    rates = np.append(np.repeat(rate, rows), np.zeros(len(theta) - len(sets.left)))
    charge, extra = strengths(left, right, theta, rates, len(node), parameters)
    first = np.repeat(starts[:-1], rows)
    left, right, extra = left[: len(first)], right[: len(first)], extra[: len(first)]
    masks = np.zeros(nodes, dtype=np.int64)
    for k, pairs in apart.items():
        if starts[k + 1] - starts[k] <= EXACT:
            np.bitwise_or.at(masks, starts[k] + pairs[:, 0], 1 << pairs[:, 1])
            np.bitwise_or.at(masks, starts[k] + pairs[:, 1], 1 << pairs[:, 0])
    return Links(
        starts,
        sets.row_starts,
        node[left] - first,
        node[right] - first,
        extra,
        np.bincount(node, charge, nodes).astype(np.float64),
        rate,
        np.bincount(node, minlength=nodes).astype(np.float64),
        masks,
        _seeds(sets, seed),
    )


def _known(
    sets: Sets, left: IntArray, right: IntArray
) -> tuple[IntArray, IntArray, FloatArray, IntArray]:
    """Return rows with θ, −∞ or ∞ where a pair is known; pairs known and not listed come last.

    The last value counts the latter, set by set.
    """
    theta, unlisted = log_odds(sets.probability), np.zeros(len(sets), dtype=np.int64)
    more: list[tuple[int, int, float]] = []
    for k, known in sets.assumed.items():
        at, end = int(sets.row_starts[k]), int(sets.row_starts[k + 1])
        ends = zip(left[at:end].tolist(), right[at:end].tolist(), strict=True)
        row = {both: at + n for n, both in enumerate(ends)}
        for value, pairs in ((np.inf, known.must), (-np.inf, known.apart)):
            for a, b in np.sort(_places(sets, k, pairs), axis=1).tolist():
                if (a, b) in row:
                    theta[row[a, b]] = value
                else:
                    more.append((a, b, value))
                    unlisted[k] += 1
    if not more:
        return left, right, theta, unlisted
    a, b, values = zip(*more, strict=True)
    ends_left, ends_right = np.append(left, a), np.append(right, b)
    return ends_left, ends_right, np.append(theta, values), unlisted


def _seeds(sets: Sets, seed: int) -> NDArray[np.uint64]:
    """Return a seed for every set that depends on nothing but its first record."""
    codes = [zlib.crc32(sets.ids[n].encode()) for n in sets.starts[:-1].tolist()]
    return np.array(codes, dtype=np.uint64) + (np.uint64(seed) << np.uint64(32))


def _answer_large(
    links: Links,
    k: int,
    apart: IntArray | None,
    rule: MergeRule,
    budget: Budget,
    soft: FloatArray,
    answers: Answers,
) -> tuple[int, bool, FloatArray]:
    """Answer a set from independent exact draws; return how many, whether they break cannot-links,
    and the pairs between blocks: their number, and how many are expected to be true.

    The score of a pair (a high one at half its log-odds) counts as one more draw, so that no
    probability is 0 or 1.
    """
    graph, first = _graph(links, k, apart), int(links.starts[k])
    wanted = max(1, min(budget.work or SAMPLED, HELD // len(graph)))
    limits = Budget(budget.seconds, budget.memory, wanted)
    inside = slice(links.row_starts[k], links.row_starts[k + 1])
    left, right, p = links.left[inside], links.right[inside], answers.pair[inside]
    free = False
    if len(graph.apart):
        rows, free = _rows_of(graph, limits, int(links.seeds[k]))
        row_shares(rows, left, right, p)
    else:
        watched = Watched(left, right, graph.weight_of(left, right), p)
        rng = np.random.default_rng(int(links.seeds[k]))
        walk = len(graph) > MEDIUM
        rows = ForestNetwork(graph, limits.memory, walk).draws(wanted, rng, watched)
    home = np.zeros(len(graph), dtype=np.int64)
    if len(graph) <= DENSE:
        table = _pair_table(rows, (left, right, p), graph.apart)
        answer_rows(rows, table, graph.sizes, k, first, rule, answers)
    else:
        cells = count_cells(rows)
        for number, block in enumerate(_blocks(len(graph), left, right, p)):
            home[block] = number
            _answer_block(rows, cells, block, graph, (left, right, p), first, rule, answers)
        add_draws(rows, graph.sizes, first, answers)
        answers.entities[k], answers.true_pairs[k] = mean_counts(rows, graph.sizes)
    p[:] = np.where(left == right, 1.0, (p * len(rows) + soft[inside]) / (len(rows) + 1.0))
    known = {(a, b) for a, b in graph.apart.tolist()}
    if known:
        ends = zip(np.minimum(left, right).tolist(), np.maximum(left, right).tolist(), strict=True)
        p[[n for n, both in enumerate(ends) if both in known]] = 0.0
    between = p[home[left] != home[right]]
    return len(rows), free, np.array([len(between), between.sum()])


def _rows_of(graph: Graph, budget: Budget, seed: int) -> tuple[IntArray, bool]:
    """Return draws that keep all cannot-links or, where hardly any do, the others and True.

    Then the cannot-links hold for their pairs and in the clusters, and the probabilities of other
    pairs know only that there is no direct link.
    """
    try:
        return SampledForest(graph, budget, seed).rows, False
    except Unavailable:
        free = replace(graph, apart=graph.apart[:0])
        return SampledForest(free, budget, seed).rows, True


def _softened(scores: FloatArray) -> FloatArray:
    """Return scores with half their log-odds where they are above ½."""
    theta = log_odds(scores)
    soft: FloatArray = 1.0 / (1.0 + np.exp(-np.where(theta > 0.0, 0.5, 1.0) * theta))
    return soft


def _blocks(n: int, left: IntArray, right: IntArray, p: FloatArray) -> list[IntArray]:
    """Return the nodes in blocks that are clustered each by itself: all of a set, if it fits.

    A block that is too large falls apart at pairs with a low probability, then at higher ones.
    """
    todo, blocks = [np.arange(n)], []
    for least in (0.0, *APART):
        larger = [block for block in todo if len(block) > DENSE]
        blocks += [block for block in todo if len(block) <= DENSE]
        if not larger:
            return blocks
        joined = p >= least
        inside = np.zeros(n, dtype=np.bool_)
        inside[np.concatenate(larger)] = True
        joined &= inside[left] & inside[right]
        home = linked_components(n, left[joined], right[joined])
        members = np.flatnonzero(inside)
        members = members[np.argsort(home[members], kind="stable")]
        todo = np.split(members, np.flatnonzero(np.diff(home[members])) + 1)
    for block in todo:
        blocks += np.split(block, range(DENSE, len(block), DENSE))
    return blocks


def _pair_table(
    rows: IntArray, pairs: tuple[IntArray, IntArray, FloatArray], apart: IntArray
) -> FloatArray:
    """Return the probabilities of all pairs: shares of the draws, but for those that are known."""
    (left, right, known), table = pairs, np.empty((rows.shape[1], rows.shape[1]))
    shares(rows, table)
    table[left, right] = table[right, left] = known
    table[apart[:, 0], apart[:, 1]] = table[apart[:, 1], apart[:, 0]] = -NEVER
    return table


def _answer_block(
    rows: IntArray,
    cells: IntArray,
    block: IntArray,
    graph: Graph,
    pairs: tuple[IntArray, IntArray, FloatArray],
    first: int,
    rule: MergeRule,
    answers: Answers,
) -> None:
    """Answer some nodes of a set as if they were one; positions are then those in the set."""
    n, drawn = len(block), restricted_growth_rows(rows[:, block])
    cell_sizes, row = np.zeros(drawn.shape, dtype=np.int32), np.arange(len(rows))[:, None]
    cell_sizes[row, drawn] = cells[row, rows[:, block]]
    place = np.full(len(graph), NONE)
    place[block] = np.arange(n)
    a, b = place[pairs[0]], place[pairs[1]]
    within, apart = (a >= 0) & (b >= 0), place[graph.apart]
    known = a[within], b[within], pairs[2][within]
    p = _pair_table(drawn, known, apart[(apart >= 0).all(axis=1)])
    own = empty_answers(n, 0, 1, 0)
    answer_draws(drawn, cell_sizes, p, graph.sizes[block], 0, rule, own)
    places = first + block
    for name in ("membership", "exact", "side", "split", "merge", "height", "between", "ask"):
        getattr(answers, name)[places] = getattr(own, name)
    for name in ("label", "merge_with", "ask_left", "ask_right"):
        values = getattr(own, name)
        getattr(answers, name)[places] = np.where(values >= 0, block[values], NONE)


def _graph(links: Links, k: int, apart: IntArray | None) -> Graph:
    first, last = int(links.starts[k]), int(links.starts[k + 1])
    inside = slice(links.row_starts[k], links.row_starts[k + 1])
    left, right, extra = links.left[inside], links.right[inside], links.extra[inside]
    between = left != right
    rows = summed(left[between], right[between], extra[between], last - first)
    none = np.zeros((0, 2), dtype=np.int64)
    known = none if apart is None else distinct_pairs(apart, last - first)
    size, charge = links.size[first:last], links.charge[first:last]
    return Graph(size, charge, float(links.rate[k]), *rows, known)
