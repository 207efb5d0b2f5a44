"""Compiled loops over many sets: what a distribution says about each record and pair.

Sets of up to 14 records have tables over all subsets. They hold plain weights and no logarithms:
a weight is a product of at most 13 edges, each between e^−45 and e^45.
"""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel

NONE = -1


@kernel()
def answer_small(links, chosen, threshold, answers):  # type: ignore[no-untyped-def]
    """Answer the chosen sets, each of at most 14 records, exactly."""
    most = 1
    for k in chosen:
        most = max(most, links.starts[k + 1] - links.starts[k])
    tables = np.empty(1 << most), np.empty(1 << most)
    weights, p = np.empty((most, most)), np.empty((most, most))
    for k in chosen:
        first, last = links.starts[k], links.starts[k + 1]
        n, size = last - first, links.size[first:last]
        _weigh(links, k, first, n, weights)
        w, z = tables
        _fill_tables(weights, size, links.apart[first:last], w, z)
        answers.entities[k], answers.true_pairs[k] = _pair_marginals(w, z, size, p)
        _link(p, size, first, threshold, answers)
        _rows(links, k, p, answers)
        _exact_clusters(w, z, n, first, answers)
        _draw_totals(w, z, size, first, links.seeds[k], answers)


@kernel()
def _weigh(links, k, first, n, weights):  # type: ignore[no-untyped-def]
    rate = links.rate[k]
    for i in range(n):
        for j in range(i):
            weights[i, j] = rate * links.charge[first + i] * links.charge[first + j]
    for row in range(links.row_starts[k], links.row_starts[k + 1]):
        a, b = links.left[row], links.right[row]
        if a != b:
            weights[max(a, b), min(a, b)] += links.extra[row]


@kernel()
def _fill_tables(weights, size, apart, w, z):  # type: ignore[no-untyped-def]
    """Fill the weight of every subset as a cell, and the sum over its partitions."""
    n = len(size)
    inside, work = np.empty(n, dtype=np.int64), np.empty((n, n))
    w[0], z[0] = 0.0, 1.0
    for mask in range(1, 1 << n):
        k, records, possible = 0, 0.0, True
        for i in range(n):
            if mask >> i & 1:
                inside[k] = i
                k += 1
                records += size[i]
                possible &= (apart[i] & mask) == 0
        for x in range(1, k):
            for y in range(x):
                work[x, y] = weights[inside[x], inside[y]]
        w[mask] = records * _trees(work, k) if possible else 0.0
        top = 1 << inside[k - 1]
        others, total = mask ^ top, 0.0
        c = others
        while True:
            total += w[top | c] * z[others ^ c]
            if c == 0:
                break
            c = (c - 1) & others
        z[mask] = total


@kernel()
def _trees(work, k):  # type: ignore[no-untyped-def]
    """Return the sum over spanning trees of the first k nodes; overwrites the weights."""
    product = 1.0
    for v in range(k - 1, 0, -1):
        total = 0.0
        for a in range(v):
            total += work[v, a]
        if total <= 0.0:
            return 0.0
        product *= total
        for a in range(1, v):
            share = work[v, a] / total
            if share > 0.0:
                for b in range(a):
                    work[a, b] += share * work[v, b]
    return product


@kernel()
def _pair_marginals(w, z, size, p):  # type: ignore[no-untyped-def]
    """Fill the probability of every pair; return the expected numbers of cells and of pairs."""
    n = len(size)
    full = (1 << n) - 1
    inside = np.empty(n, dtype=np.int64)
    p[:n, :n] = 0.0
    cells, pairs = 0.0, 0.0
    for mask in range(1, full + 1):
        probability = w[mask] * (z[full ^ mask] / z[full])
        if probability <= 0.0:
            continue
        cells += probability
        k, records = 0, 0.0
        for i in range(n):
            if mask >> i & 1:
                inside[k] = i
                k += 1
                records += size[i]
        for x in range(k):
            for y in range(x):
                p[inside[x], inside[y]] += probability
        pairs += probability * (0.5 * records * (records - 1.0))
    for i in range(n):
        p[i, i] = 1.0
        for j in range(i):
            p[i, j] = min(1.0, p[i, j])
            p[j, i] = p[i, j]
    return cells, pairs


@kernel()
def _link(p, sizes, first, threshold, answers):  # type: ignore[no-untyped-def]
    """Merge records by the mean probability between clusters, the most probable first.

    Clusters are what is merged at `threshold` or above: each merge at ½ or above lowers the
    expected number of wrong pairs. The merges below are kept as questions.
    """
    n = len(sizes)
    mean, size = p[:n, :n].copy(), sizes.copy()
    cluster, nearest = np.arange(n), np.zeros(n, dtype=np.int64)
    for i in range(n):
        answers.label[first + i] = i
        nearest[i] = _nearest(mean, size, i, n)
    together = True
    for step in range(1, n):
        a, b = _closest(mean, size, nearest)
        best = mean[a, b]
        together = together and best >= threshold
        _ask(p, n, cluster, a, b, first + step, answers)
        answers.height[first + step] = best
        answers.between[first + step] = size[a] * size[b]
        for i in range(n):
            if cluster[i] == b:
                cluster[i] = a
                if together:
                    answers.label[first + i] = a
        _merge(mean, size, nearest, a, b)
    _memberships(p, sizes, first, answers)


@kernel()
def _closest(mean, size, nearest):  # type: ignore[no-untyped-def]
    a, best = 0, -1.0
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
    found, best = NONE, -1.0
    for j in range(n):
        if j != i and size[j] > 0.0 and mean[i, j] > best:
            found, best = j, mean[i, j]
    return found


@kernel()
def _ask(p, n, cluster, a, b, place, answers):  # type: ignore[no-untyped-def]
    """Note the pair between two clusters whose probability is nearest ½."""
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
    for i in range(len(size)):
        total = others = size[i] - 1.0
        for j in range(len(size)):
            if j != i and answers.label[first + i] == answers.label[first + j]:
                total += p[i, j] * size[j]
                others += size[j]
        answers.membership[first + i] = total / others if others > 0.0 else 1.0


@kernel()
def _rows(links, k, p, answers):  # type: ignore[no-untyped-def]
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
    """Return the part that leaves the first record, where both parts are most probable."""
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
def _draw_totals(w, z, size, first, seed, answers):  # type: ignore[no-untyped-def]
    """Add one set to the draws: cells, true pairs, and true pairs within clusters."""
    n = len(size)
    state, labels = np.array([seed], dtype=np.uint64), np.empty(n, dtype=np.int64)
    counts = np.zeros(n)
    for d in range(answers.drawn.shape[1]):
        left, cell = (1 << n) - 1, 0
        while left > 0:
            top = 1
            while top * 2 <= left:
                top *= 2
            others = left ^ top
            u, c = _random(state) * z[left], others
            while True:
                u -= w[top | c] * z[others ^ c]
                if u <= 0.0 or c == 0:
                    break
                c = (c - 1) & others
            for i in range(n):
                if (top | c) >> i & 1:
                    labels[i] = cell
            left ^= top | c
            cell += 1
        _add_draw(labels, size, cell, first, d, counts, answers)


@kernel()
def _add_draw(labels, size, cells, first, d, counts, answers):  # type: ignore[no-untyped-def]
    n = len(size)
    answers.drawn[0, d] += cells
    counts[:n] = 0.0
    for i in range(n):
        counts[labels[i]] += size[i]
    for c in range(cells):
        answers.drawn[1, d] += 0.5 * counts[c] * (counts[c] - 1.0)
    for c in range(n):
        if answers.label[first + c] == c:
            counts[:n] = 0.0
            for i in range(n):
                if answers.label[first + i] == c:
                    have = counts[labels[i]]
                    answers.drawn[2, d] += size[i] * (have + 0.5 * (size[i] - 1.0))
                    counts[labels[i]] += size[i]


@kernel()
def answer_draws(rows, p, size, first, threshold, answers):  # type: ignore[no-untyped-def]
    """Answer one set from draws (rows of labels from 0) and the probabilities of its pairs."""
    n = rows.shape[1]
    _link(p, size, first, threshold, answers)
    counts = np.zeros(n)
    for d in range(answers.drawn.shape[1]):
        row = rows[d % rows.shape[0]]
        _add_draw(row, size, row.max() + 1, first, d, counts, answers)
    _drawn_clusters(rows, first, answers)


@kernel()
def shares(rows, p):  # type: ignore[no-untyped-def]
    """Fill the share of the draws in which two records have the same label."""
    n = rows.shape[1]
    p[:] = 0.0
    for d in range(rows.shape[0]):
        order = np.argsort(rows[d])
        x = 0
        while x < n:
            y = x
            while y < n and rows[d, order[y]] == rows[d, order[x]]:
                for a in range(x, y):
                    p[order[a], order[y]] += 1.0
                    p[order[y], order[a]] += 1.0
                y += 1
            x = y
    p /= rows.shape[0]
    for i in range(n):
        p[i, i] = 1.0


@kernel()
def _drawn_clusters(rows, first, answers):  # type: ignore[no-untyped-def]
    """Count for each cluster the draws that have it exactly, split in two, or merged with one."""
    draws, n = rows.shape
    sizes, merged = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    cell_sizes = np.zeros((draws, n), dtype=np.int32)
    codes = np.empty(n, dtype=np.int64)
    state = np.array([n], dtype=np.uint64)
    for i in range(n):
        sizes[answers.label[first + i]] += 1
        codes[i] = int(_random(state) * 9.0e18)
    for d in range(draws):
        for i in range(n):
            cell_sizes[d, rows[d, i]] += 1
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


@kernel()
def _two_parts(row, cell_sizes, members, codes):  # type: ignore[no-untyped-def]
    """Return how many share the cell of the first, and whether a draw is an exact split in two.

    The third value identifies the part that leaves the first record.
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


@kernel()
def _count_merge(row, more, own, sizes, merged, first, answers):  # type: ignore[no-untyped-def]
    """Count a draw in which the cell is the cluster and exactly one other cluster."""
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
    """Return how often the most frequent key occurs, and one of its draws."""
    order, best, found, x = np.argsort(keys), 0, 0, 0
    while x < len(keys):
        y = x
        while y < len(keys) and keys[order[y]] == keys[order[x]]:
            y += 1
        if y - x > best:
            best, found = y - x, of_draw[order[x]]
        x = y
    return best, found
