"""Compiled loops over many sets: what a distribution says about each record and pair.

Sets of up to 14 records have tables over all subsets, the same as a single set has
(`exact.kernels`), one set after another in the same memory.

Arrays, unless a function says otherwise: `links` are all sets and `answers` is what is filled, both
the caller's; `rule` says when clusters merge. Set `k` has the n nodes from `first` on, `size` of
them (n; `sizes` where `size` becomes those of clusters) counts their records. `weights` (n × n,
below the diagonal) are those of edges; `w`, `z` and `sums` (2^n) are tables over subsets; `p`
(n × n) has the probability of every pair. `rows` (draws × n) are drawn labels, of which `label`,
`labels` and `row` are those of one configuration; `order` has the nodes cluster by cluster, and
`state` (1) is that of the random numbers. `mean` and `nearest` (n × n, n): the mean probability
between clusters, which are called by their first nodes, and the nearest one of each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from partita.compilation import kernel, kernel_record, uncounted
from partita.configurations.exact.kernels import fill_normalisers, fill_together, last_bit
from partita.configurations.forest.kernels import fill_tree_weights
from partita.configurations.forest.model import Links
from partita.core import BoolArray, FloatArray, IntArray

NONE = -1
SEVERAL = 8.0  # pairs between two clusters above which a merge needs a higher mean again …
MANY = 0.75  # … up to this share of what a single pair needs
NEVER = 1e9  # against a pair that must differ, so that no mean with it is a reason to merge


@kernel_record("f8, f8")
class MergeRule(NamedTuple):
    """The mean probability from which two clusters are merged.

    It is `least` where one or two pairs lie between them, `lowered` of that with some eight pairs,
    and three quarters of it with fifty or more.
    """

    least: float
    lowered: float

    @classmethod
    def fixed(cls, least: float) -> MergeRule:
        """Return the rule that merges from one mean probability on."""
        return cls(least, 1.0)


@kernel_record(
    "i8[:], f8[:], f8[:], b1[:], f8[:], f8[:], i8[:], f8[:], f8[:], i8[:], i8[:], f8[:], f8[:], "
    "f8[:], f8[:], f8[:,:]"
)
class Answers(NamedTuple):
    """Answers for all sets in flat arrays; positions of nodes are those within their set.

    For each node: `label`, the first node of its cluster; `membership`, the mean probability that
    one of its records is the same as another of its cluster; `exact`, the probability that the
    cluster is exactly right; `side`, its side of the best split. At the first node of a cluster:
    the probabilities of its best `split` and of its best `merge`, which is `merge_with`. At every
    node but the first of a set, one merge of the hierarchy: its `height`, the mean probability
    between both parts; how many pairs lie `between` them, and of these the pair (`ask_left`,
    `ask_right`) whose probability `ask` is nearest ½. For each row the probability of the `pair`;
    for each set the expected numbers of `entities` and of `true_pairs`; `drawn`: for each draw the
    numbers of entities, true pairs, and true pairs within clusters, over all sets (3 × draws).
    """

    label: IntArray
    membership: FloatArray
    exact: FloatArray
    side: BoolArray
    split: FloatArray
    merge: FloatArray
    merge_with: IntArray
    height: FloatArray
    between: FloatArray
    ask_left: IntArray
    ask_right: IntArray
    ask: FloatArray
    pair: FloatArray
    entities: FloatArray
    true_pairs: FloatArray
    drawn: FloatArray


@kernel(entry="Links, i8[:], MergeRule, Answers")
def answer_small(links: Links, chosen: IntArray, rule: MergeRule, answers: Answers) -> None:
    """Answer the chosen sets, each of at most 14 records, exactly."""
    w, z, weights = _room(links, chosen)
    p, sums = np.empty_like(weights), np.empty_like(w)
    for k in chosen:
        first, n = links.starts[k], _fill_tables(links, k, weights, w, z)
        size = links.size[first : first + n]
        answers.entities[k], answers.true_pairs[k] = _pair_marginals(w, z, size, p, sums)
        _rows(links, k, p, answers)
        for i in range(n):
            for j in range(n):
                if links.apart[first + i] >> j & 1:
                    p[i, j] = -NEVER
        _link(p, size, first, rule, answers)
        _exact_clusters(w, z, n, first, answers)
        _draw_totals(w, z, sums, size, first, links.seeds[k], answers)


@kernel(entry="Links, i8[:], i8[:,:]")
def draw_small(links: Links, chosen: IntArray, rows: IntArray) -> None:
    """Draw configurations of the `chosen` sets, each of at most 14 records, one in each of `rows`.

    The label of a node is the first node of its cell, counted within the set.
    """
    w, z, weights = _room(links, chosen)
    for k in chosen:
        first, n = links.starts[k], _fill_tables(links, k, weights, w, z)
        state = np.array([links.seeds[k]], dtype=np.uint64)
        for d in range(rows.shape[0]):
            left = (1 << n) - 1
            while left > 0:
                cell = _drawn_cell(w, z, left, state)
                left ^= cell
                lowest = NONE
                for i in range(n):
                    if cell >> i & 1:
                        lowest = i if lowest == NONE else lowest
                        rows[d, first + i] = lowest


@kernel()
def _room(links, chosen):  # type: ignore[no-untyped-def]
    """Return tables over subsets and a matrix of weights for the largest of the chosen sets."""
    most = 1
    for k in chosen:
        most = max(most, links.starts[k + 1] - links.starts[k])
    return np.empty(1 << most), np.empty(1 << most), np.empty((most, most))


@kernel()
def _fill_tables(links, k, weights, w, z):  # type: ignore[no-untyped-def]
    """Fill the weights of the pairs of set k, of its cells and of its subsets; return its nodes."""
    first, last, rate = links.starts[k], links.starts[k + 1], links.rate[k]
    n = last - first
    for i in range(n):
        for j in range(i):
            weights[i, j] = rate * links.charge[first + i] * links.charge[first + j]
    for row in range(links.row_starts[k], links.row_starts[k + 1]):
        a, b = links.left[row], links.right[row]
        if a != b:
            weights[max(a, b), min(a, b)] += links.extra[row]
    fill_tree_weights(weights, links.size[first:last], links.apart[first:last], w)
    fill_normalisers(w[: 1 << n], z[: 1 << n])
    return n


@kernel()
def _pair_marginals(w, z, size, p, sums):  # type: ignore[no-untyped-def]
    """Fill the probability of every pair; return the expected numbers of cells and of pairs.

    `sums` become the probabilities that all of a subset are in one cell.
    """
    n = len(size)
    cells, pairs = fill_together(w[: 1 << n], z[: 1 << n], sums[: 1 << n]), 0.0
    for i in range(n):
        p[i, i] = 1.0
        pairs += 0.5 * size[i] * (size[i] - 1.0)
        for j in range(i):
            p[i, j] = min(1.0, sums[1 << i | 1 << j])
            p[j, i] = p[i, j]
            pairs += p[i, j] * size[i] * size[j]
    return cells, pairs


@kernel()
def _link(p, sizes, first, rule, answers):  # type: ignore[no-untyped-def]
    """Merge records by the mean probability between clusters, the most probable first.

    Clusters are what is merged as the rule says (`MergeRule`). All other merges are kept as
    questions.
    """
    n = len(sizes)
    mean, size = p[:n, :n].copy(), sizes.copy()
    cluster, nearest = np.arange(n), np.zeros(n, dtype=np.int64)
    merges = np.empty((n, 2), dtype=np.int64)
    for i in range(n):
        nearest[i] = _nearest(mean, size, i, n)
    for step in range(1, n):
        a, b = _closest(mean, size, nearest)
        merges[step, 0], merges[step, 1] = a, b
        _ask(p, n, cluster, a, b, first + step, answers)
        answers.height[first + step] = max(0.0, mean[a, b])
        answers.between[first + step] = size[a] * size[b]
        for i in range(n):
            if cluster[i] == b:
                cluster[i] = a
        _merge(mean, size, nearest, a, b)
    _cut(merges, sizes, first, rule, size, nearest, answers)
    _memberships(p, sizes, first, answers)


@uncounted
def _cut(merges, sizes, first, rule, whole, into, answers):  # type: ignore[no-untyped-def]
    """Fill the clusters: the second of each two that merge joins the first where the rule says so.

    `merges` (n × 2) are those of the hierarchy, from row 1 on. `whole` and `into` (n) are
    overwritten: whether all merges of a cluster so far were made (1 or 0), and which cluster it
    joined.
    """
    n = len(sizes)
    for i in range(n):
        whole[i], into[i] = 1.0, i
    for step in range(1, n):
        a, b = merges[step, 0], merges[step, 1]
        least = _least(rule, answers.between[first + step])
        made = whole[a] > 0.0 and whole[b] > 0.0 and answers.height[first + step] >= least
        whole[a] = 1.0 if made else 0.0
        if made:
            into[b] = a
    for i in range(n):  # a cluster is called by its first node
        into[i] = into[into[i]]
        answers.label[first + i] = into[i]


@uncounted
def _least(rule, between):  # type: ignore[no-untyped-def]
    """Return the least mean to merge two clusters with so many pairs `between` them."""
    if between <= 2.0:
        return rule.least
    few = rule.lowered + (1.0 - rule.lowered) * (2.0 / between) ** 2
    many = min(MANY, rule.lowered * (between / SEVERAL) ** 0.3)
    return rule.least * max(few, many)


@kernel()
def _closest(mean, size, nearest):  # type: ignore[no-untyped-def]
    """Return the two clusters with the largest mean."""
    a, best = 0, -np.inf
    for i in range(len(size)):
        if size[i] > 0.0 and nearest[i] >= 0 and mean[i, nearest[i]] > best:
            a, best = i, mean[i, nearest[i]]
    return min(a, nearest[a]), max(a, nearest[a])


@kernel()
def _merge(mean, size, nearest, a, b):  # type: ignore[no-untyped-def]
    """Merge cluster b into a: the means are weighted by the numbers of records."""
    n, total = len(size), size[a] + size[b]
    for c in range(n):
        if size[c] > 0.0 and c != a and c != b:
            mean[a, c] = (size[a] * mean[a, c] + size[b] * mean[b, c]) / total
            mean[c, a] = mean[a, c]
    size[a], size[b] = total, 0.0
    for c in range(n):
        if size[c] > 0.0 and (c == a or nearest[c] == a or nearest[c] == b):
            nearest[c] = _nearest(mean, size, c, n)
        elif size[c] > 0.0 and mean[c, a] > mean[c, nearest[c]]:
            nearest[c] = a


@kernel()
def _nearest(mean, size, i, n):  # type: ignore[no-untyped-def]
    """Return the cluster with the largest mean to cluster i, of n."""
    found, best = NONE, -np.inf
    for j in range(n):
        if j != i and size[j] > 0.0 and mean[i, j] > best:
            found, best = j, mean[i, j]
    return found


@kernel()
def _ask(p, n, cluster, a, b, place, answers):  # type: ignore[no-untyped-def]
    """Note at `place` the pair between clusters a and b whose probability is nearest ½.

    `cluster` (n) has the cluster of each node so far.
    """
    distance = 2.0
    for i in range(n):
        if cluster[i] == a:
            for j in range(n):
                if cluster[j] == b and abs(p[i, j] - 0.5) < distance:
                    distance = abs(p[i, j] - 0.5)
                    answers.ask_left[place], answers.ask_right[place] = min(i, j), max(i, j)
                    answers.ask[place] = p[i, j]


@kernel()
def _memberships(p, size, first, answers):  # type: ignore[no-untyped-def]
    """Fill the mean probability that a record of a node is the same as another of its cluster."""
    for i in range(len(size)):
        total = others = size[i] - 1.0
        for j in range(len(size)):
            if j != i and answers.label[first + i] == answers.label[first + j]:
                total += p[i, j] * size[j]
                others += size[j]
        answers.membership[first + i] = total / others if others > 0.0 else 1.0


@kernel()
def _rows(links, k, p, answers):  # type: ignore[no-untyped-def]
    """Fill the probability of the pair of each row of the set."""
    for row in range(links.row_starts[k], links.row_starts[k + 1]):
        answers.pair[row] = p[links.left[row], links.right[row]]


@kernel()
def _exact_clusters(w, z, n, first, answers):  # type: ignore[no-untyped-def]
    """Fill P(exactly this cluster), the best split and the best merge, from the tables."""
    full = (1 << n) - 1
    masks = np.zeros(n, dtype=np.int64)
    for i in range(n):
        masks[answers.label[first + i]] |= 1 << i
    for c in range(n):
        mask = masks[c]
        if mask == 0:
            continue
        probability = min(1.0, w[mask] * (z[full ^ mask] / z[full]))
        side = _best_split(w, z, full, mask, first + c, answers)
        for i in range(n):
            if mask >> i & 1:
                answers.exact[first + i] = probability
                answers.side[first + i] = side >> i & 1
        for d in range(n):
            if d != c and masks[d] > 0:
                union = mask | masks[d]
                value = w[union] * (z[full ^ union] / z[full])
                if value > answers.merge[first + c]:
                    answers.merge[first + c], answers.merge_with[first + c] = value, d


@kernel()
def _best_split(w, z, full, mask, place, answers):  # type: ignore[no-untyped-def]
    """Return the part of the cluster `mask` that leaves its first record, both parts most probable.

    The probability goes to `place`; `full` is the mask of all nodes.
    """
    others, found, best = mask & (mask - 1), 0, 0.0
    c = others
    while c > 0:
        value = w[c] * w[mask ^ c]
        if value > best:
            found, best = c, value
        c = (c - 1) & others
    answers.split[place] = best * (z[full ^ mask] / z[full])
    return found


@kernel()
def _random(state):  # type: ignore[no-untyped-def]
    """Return a number from 0 to 1 and move the state on (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    x = state[0]
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x = x ^ (x >> np.uint64(31))
    return float(x >> np.uint64(11)) / 9007199254740992.0


@kernel()
def _draw_totals(w, z, sums, size, first, seed, answers):  # type: ignore[no-untyped-def]
    """Add one set, drawn from its `seed`: cells, true pairs, and true pairs within clusters.

    `sums` are overwritten by the cumulative probabilities of the cells of the last node.
    """
    n = len(size)
    state, labels = np.array([seed], dtype=np.uint64), np.empty(n, dtype=np.int64)
    counts, half, order = np.zeros(n), 1 << (n - 1), _by_cluster(answers.label[first : first + n])
    total = 0.0
    for c in range(half):
        total += w[half | c] * z[half - 1 - c]
        sums[c] = total
    for d in range(answers.drawn.shape[1]):
        c = np.searchsorted(sums[:half], _random(state) * total, side="right")
        cell = half | min(c, half - 1)
        left, cells = 2 * half - 1, 0
        while True:
            for i in range(n):
                if cell >> i & 1:
                    labels[i] = cells
            left ^= cell
            cells += 1
            if left == 0:
                break
            cell = _drawn_cell(w, z, left, state)
        _add_draw(labels, size, order, cells, first, d, counts, answers)


@kernel()
def _drawn_cell(w, z, left, state):  # type: ignore[no-untyped-def]
    """Draw the cell of the last of the nodes that are left (masks)."""
    top = last_bit(left)
    others = left ^ top
    u, c = _random(state) * z[left], others
    while True:
        u -= w[top | c] * z[others ^ c]
        if u <= 0.0 or c == 0:
            return top | c
        c = (c - 1) & others


@kernel()
def _by_cluster(label):  # type: ignore[no-untyped-def]
    """Return the nodes cluster by cluster."""
    n = len(label)
    place, order = np.zeros(n + 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    for i in range(n):
        place[label[i] + 1] += 1
    for c in range(n):
        place[c + 1] += place[c]
    for i in range(n):
        order[place[label[i]]] = i
        place[label[i]] += 1
    return order


@uncounted
def _add_draw(labels, size, order, cells, first, d, counts, answers):  # type: ignore[no-untyped-def]
    """Add a configuration with so many cells to draw d of all sets; `counts` (n) is overwritten."""
    n = len(size)
    answers.drawn[0, d] += cells
    counts[:cells] = 0.0
    for i in range(n):
        counts[labels[i]] += size[i]
    for c in range(cells):
        answers.drawn[1, d] += 0.5 * counts[c] * (counts[c] - 1.0)
    counts[:cells] = 0.0
    x = 0
    while x < n:
        y = x
        while y < n and answers.label[first + order[y]] == answers.label[first + order[x]]:
            i = order[y]
            answers.drawn[2, d] += size[i] * (counts[labels[i]] + 0.5 * (size[i] - 1.0))
            counts[labels[i]] += size[i]
            y += 1
        for z in range(x, y):
            counts[labels[order[z]]] = 0.0
        x = y


@kernel(entry="i8[:,:], i4[:,:], f8[:,:], f8[:], i8, MergeRule, Answers")
def answer_draws(  # type: ignore[no-untyped-def]
    rows, cell_sizes, p, size, first, rule, answers
):
    """Answer one set from draws (rows of labels from 0) and the probabilities of its pairs.

    `cell_sizes` has for each draw the numbers of nodes with each label.
    """
    _link(p, size, first, rule, answers)
    _drawn_clusters(rows, cell_sizes, first, answers)


@kernel(entry="i8[:,:], f8[:], i8, Answers")
def add_draws(rows, size, first, answers):  # type: ignore[no-untyped-def]
    """Add one set to the draws of all sets."""
    n = rows.shape[1]
    counts, order = np.zeros(n), _by_cluster(answers.label[first : first + n])
    for d in range(answers.drawn.shape[1]):
        row = rows[d % rows.shape[0]]
        _add_draw(row, size, order, row.max() + 1, first, d, counts, answers)


@kernel(entry="i8[:,:]")
def count_cells(rows):  # type: ignore[no-untyped-def]
    """Return for each draw the numbers of nodes with each label."""
    cell_sizes = np.zeros(rows.shape, dtype=np.int32)
    for d in range(rows.shape[0]):
        for i in range(rows.shape[1]):
            cell_sizes[d, rows[d, i]] += 1
    return cell_sizes


@kernel(entry="i8[:,:], f8[:]")
def mean_counts(rows, size):  # type: ignore[no-untyped-def]
    """Return the mean numbers of cells and of pairs of records within cells."""
    cells, pairs = 0.0, 0.0
    counts = np.zeros(rows.shape[1])
    for d in range(rows.shape[0]):
        counts[:] = 0.0
        for i in range(rows.shape[1]):
            counts[rows[d, i]] += size[i]
        for count in counts:
            cells += count > 0.0
            pairs += 0.5 * count * (count - 1.0) if count > 0.0 else 0.0
    return cells / rows.shape[0], pairs / rows.shape[0]


@kernel(entry="i8[:,:], f8[:,:], f8[:], i8, i8, MergeRule, Answers")
def answer_rows(rows, p, size, k, first, rule, answers):  # type: ignore[no-untyped-def]
    """Answer set k, whose nodes begin at `first`, from draws, and add it to the draws of all sets.

    `rows` are labels from 0, a row for each draw, `p` the probabilities of pairs, `size` the
    records of nodes; `rule` says what is merged, and `answers` are filled.
    """
    answer_draws(rows, count_cells(rows), p, size, first, rule, answers)
    add_draws(rows, size, first, answers)
    answers.entities[k], answers.true_pairs[k] = mean_counts(rows, size)


@kernel(entry="i8[:,:], i8[:], i8[:], f8[:]")
def row_shares(rows, left, right, p):  # type: ignore[no-untyped-def]
    """Fill p of rows: the share of draws in which `left` and `right` have the same label."""
    for e in range(len(left)):
        same = 0
        for d in range(rows.shape[0]):
            same += rows[d, left[e]] == rows[d, right[e]]
        p[e] = same / rows.shape[0]


@kernel(entry="i8[:,:], f8[:,:]")
def shares(rows, p):  # type: ignore[no-untyped-def]
    """Fill the share of the draws in which two records have the same label."""
    n = rows.shape[1]
    last, before = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    p[:] = 0.0
    for d in range(rows.shape[0]):
        last[:] = NONE
        for i in range(n):
            before[i] = last[rows[d, i]]
            last[rows[d, i]] = i
            j = before[i]
            while j != NONE:
                p[i, j] += 1.0
                j = before[j]
    for i in range(n):
        p[i, i] = 1.0
        for j in range(i):
            p[i, j] /= rows.shape[0]
            p[j, i] = p[i, j]


@kernel()
def _drawn_clusters(rows, cell_sizes, first, answers):  # type: ignore[no-untyped-def]
    """Count for each cluster the draws that have it exactly, split in two, or merged with one.

    `cell_sizes` as in `answer_draws`; `codes` (n) are random numbers of nodes, whose exclusive or
    identifies a part; `merged` (n) counts the draws that merge the cluster at hand with each other
    one.
    """
    n = rows.shape[1]
    sizes, merged = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    codes = np.empty(n, dtype=np.int64)
    state = np.array([n], dtype=np.uint64)
    for i in range(n):
        sizes[answers.label[first + i]] += 1
        codes[i] = int(_random(state) * 9.0e18)
    members = np.empty(n, dtype=np.int64)
    for c in range(n):
        if sizes[c] == 0:
            continue
        k = 0
        for i in range(n):
            if answers.label[first + i] == c:
                members[k] = i
                k += 1
        _drawn_cluster(rows, cell_sizes, sizes, members[:k], codes, merged, first, answers)


@kernel()
def _drawn_cluster(  # type: ignore[no-untyped-def]
    rows, cell_sizes, sizes, members, codes, merged, first, answers
):
    """Fill the answers of one cluster, its nodes `members`, from the draws.

    `cell_sizes` as in `answer_draws`; `sizes` (n) are the nodes of clusters; `codes` and `merged`
    as in `_drawn_clusters`.
    """
    draws, k = rows.shape[0], len(members)
    keys, of_draw = np.empty(draws, dtype=np.int64), np.empty(draws, dtype=np.int64)
    splits, exact = 0, 0
    merged[:] = 0
    for d in range(draws):
        one = rows[d, members[0]]
        inside, split, key = _two_parts(rows[d], cell_sizes[d], members, codes)
        if inside == k and cell_sizes[d, one] == k:
            exact += 1
        elif inside == k:
            more = cell_sizes[d, one] - k
            _count_merge(rows[d], more, members[0], sizes, merged, first, answers)
        elif split:
            keys[splits], of_draw[splits] = key, d
            splits += 1
    place = first + members[0]
    best = np.argmax(merged)
    if merged[best] > 0:
        answers.merge[place], answers.merge_with[place] = merged[best] / draws, best
    count, d = _most_frequent(keys[:splits], of_draw)
    answers.split[place] = count / draws
    for i in members:
        answers.exact[first + i] = exact / draws
        answers.side[first + i] = count > 0 and rows[d, i] != rows[d, members[0]]


@uncounted
def _two_parts(row, cell_sizes, members, codes):  # type: ignore[no-untyped-def]
    """Return how many share the cell of the first, and whether a draw is an exact split in two.

    The third value, from the `codes` of `members`, identifies the part that leaves the first
    record; `cell_sizes` is the row of the draw.
    """
    one, second = row[members[0]], NONE
    inside, other, key = 0, 0, 0
    for i in members:
        if row[i] == one:
            inside += 1
        elif second == NONE or row[i] == second:
            second = row[i]
            other += 1
            key ^= codes[i]
    split = second != NONE and inside + other == len(members)
    split = split and cell_sizes[one] == inside and cell_sizes[second] == other
    return inside, split, key


@uncounted
def _count_merge(row, more, own, sizes, merged, first, answers):  # type: ignore[no-untyped-def]
    """Count in `merged` a draw in which the cell is the cluster and exactly one other cluster.

    `own` is the first node of the cluster, `more` the nodes of its cell beyond it, `sizes` those of
    clusters.
    """
    found = NONE
    for i in range(len(row)):
        if row[i] == row[own] and answers.label[first + i] != answers.label[first + own]:
            if found != NONE and answers.label[first + i] != found:
                return
            found = answers.label[first + i]
    if found != NONE and sizes[found] == more:
        merged[found] += 1


@kernel()
def _most_frequent(keys, of_draw):  # type: ignore[no-untyped-def]
    """Return how often the most frequent of `keys` occurs, and one of its draws (`of_draw`)."""
    order, best, found, x = np.argsort(keys), 0, 0, 0
    while x < len(keys):
        y = x
        while y < len(keys) and keys[order[y]] == keys[order[x]]:
            y += 1
        if y - x > best:
            best, found = y - x, of_draw[order[x]]
        x = y
    return best, found
