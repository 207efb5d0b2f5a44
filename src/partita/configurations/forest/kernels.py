"""Compiled loops of the forest model: cell weights, elimination and exact draws.

All elimination is free of subtraction. A graph has edges, an edge of weight `ground` from every
node to the ground (the roots of the forest), and an edge to a hub: a star through a hub with
conductances g_i is the same network as edges g_i·g_j/Σg between all pairs, which is how pairs that
were not compared are kept without a dense matrix.

Arrays belong to the caller and are changed in place. n nodes; the neighbours of node v are
index[start[v]:start[v] + length[v]] with the weights in `value`, in a pool that may grow (`starts`:
n + 1, lists without gaps). `ground` and `hub` (n) are the weights to the ground and to the hub of
the node, whose number is `home`; `hub_ground` is the weight between each hub and the ground.
Eliminating v adds w_va·w_vb/total[v] to the edge of every two of its neighbours, where total[v] is
the sum of its weights: the determinant is the product of `total`. `order` are nodes as they were
eliminated; `sizes` and `size` count the records of nodes; `apart` has a bit for every node that
must differ; a hub is made from `charge` (n) and `rate`, as weights rate·charge_i·charge_j.

Drawing restores what was eliminated, the last first. `tree` (n + 2, the hub and the ground last)
has the `parent` of every node in the tree so far, the weight of that edge (`current`) and a uniform
part of it, `limit`; the other fields of NODE are of the node that is restored. `core` are nodes not
eliminated, `hub_sums` the cumulative weights of their hub edges and then of hub_ground, `charges`
the cumulative charges, and `rng` makes the draws. `parent`, `labels`, `root` (the last before the
hub or the ground), `via`, `following`, `below` (records of the subtree) and `children` have one
entry for each node.
"""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel, uncounted
from partita.configurations.exact.kernels import convolve, number_by_appearance

DONE, STOPPED, DENSE, FULL = 0, 1, 2, 3
CLIQUE = 0.7  # of the nodes left that the next one touches: from there on a dense matrix


@kernel(entry="i8[:], i8[:], i8[:], f8[:], f8[:], f8[:], f8")
def average_neighbours(starts, index, row, x, near, lower, surest):  # type: ignore[no-untyped-def]
    """Return x of each row averaged with the rows between one end and what is near the other.

    Node v has the neighbours index[starts[v]:starts[v + 1]] through the rows `row`, of which
    `near` has the weights. No other row counts as more than `surest` or less than its negative;
    those below the row itself have the share `lower` of their weight.
    """
    sums, weights = x.copy(), np.ones(x.shape[0])
    through = np.full(starts.shape[0] - 1, -1)
    for j in range(starts.shape[0] - 1):
        for y in range(starts[j], starts[j + 1]):
            through[index[y]] = row[y]
        for y in range(starts[j], starts[j + 1]):
            i, own = index[y], row[y]
            for z in range(starts[i], starts[i + 1]):
                k, weight = index[z], near[row[z]]
                if weight > 0.0 and k != j and through[k] >= 0:
                    value = max(-surest, min(x[through[k]], surest))
                    if value < x[own]:
                        weight *= lower[own]
                    sums[own] += weight * value
                    weights[own] += weight
        for y in range(starts[j], starts[j + 1]):
            through[index[y]] = -1
    return sums / weights


@kernel(entry="f8[:,:], f8[:], i8[:], f8[:]")
def fill_tree_weights(weights, size, apart, w):  # type: ignore[no-untyped-def]
    """Fill the weight of every subset as a cell: its records times the sum over spanning trees.

    `weights` (n × n, below the diagonal) has the weights of edges, `size` the records of each node
    and `apart` a mask of the nodes that it must differ from; `w` (2^n) belongs to the caller. Of at
    most 14 nodes these are plain numbers: a product has at most 13 edges, each between e^−45 and
    e^45; of 15 to 18 if no edge weighs more than e^35 (what is then too small for a number is much
    less than the product of the same nodes apart).
    """
    n = len(size)
    links, out = np.empty(1 << n), np.empty(1 << n)
    for t in range(n):
        _fill_trees(weights, t, w, links, out)
    _count_records(size, apart, out)
    for mask in range(1 << n):
        w[mask] = out[mask] * w[mask] if out[mask] > 0.0 else 0.0


@kernel()
def _count_records(size, apart, counts):  # type: ignore[no-untyped-def]
    """Fill `counts`, the records of every subset; -1 if two of its nodes must differ."""
    counts[0] = 0.0
    for t in range(len(size)):
        for c in range(1 << t):
            possible = counts[c] >= 0.0 and (apart[t] & c) == 0
            counts[1 << t | c] = counts[c] + size[t] if possible else -1.0


@kernel()
def _fill_trees(weights, t, trees, links, out):  # type: ignore[no-untyped-def]
    """Fill `trees`, the sum over spanning trees of every subset, where its last node is t.

    Without t a tree falls into subtrees, each linked to t by one edge; the subtree with the last of
    the other nodes is one of the subsets that are already filled. `links` and `out` (2^n) are
    overwritten.
    """
    top = 1 << t
    trees[top], links[0] = 1.0, 0.0
    for b in range(t):
        low = 1 << b
        for c in range(low):
            links[low | c] = links[c] + weights[t, b]
    for c in range(1, top):
        links[c] *= trees[c]
    for b in range(t):
        low = 1 << b
        convolve(links[low : 2 * low], trees[top : top + low], out, b)
        trees[top + low : top + 2 * low] = out[:low]


@kernel(entry="i8[:], i8[:], i8[:], f8[:], f8[:], f8[:], i8[:], f8[:], i8[:], f8[:], i8, i8")
def eliminate(  # type: ignore[no-untyped-def]
    start, length, index, value, ground, hub, home, hub_ground, order, total, stop, most
):
    """Eliminate nodes, those of least degree first; return how it ended and the grown lists.

    The list of a node when it is eliminated is its column of the factor, and stays in the pool. It
    ends at a degree above `stop`, or when the pool has more than `most` entries.
    """
    n = start.shape[0]
    room, used = length.copy(), index.shape[0]
    where = np.full(n, -1)
    queue = (np.full(n + 1, -1), np.full(n, -1), np.full(n, -1))  # by degree, in linked lists
    for v in range(n - 1, -1, -1):
        _enqueue(queue, v, length[v])
    count, status, least = 0, DONE, 0
    while count < n:
        while queue[0][least] < 0:
            least += 1
        k, v, left = least, queue[0][least], n - count - 1
        if k > stop or (k > 48 and k > CLIQUE * left) or used > most:
            status = FULL if used > most else STOPPED if k > stop else DENSE
            break
        _dequeue(queue, v, k)
        order[count] = v
        count += 1
        s = start[v]
        whole = ground[v] + hub[v]
        for x in range(k):
            whole += value[s + x]
        total[v] = whole
        if whole <= 0.0:
            continue
        hub_ground[home[v]] += hub[v] * ground[v] / whole
        for x in range(k):
            a, share = index[s + x], value[s + x] / whole
            ground[a] += share * ground[v]
            hub[a] += share * hub[v]
            before = length[a]
            if before - 1 + k > room[a]:
                index, value, used = _moved(start, length, room, index, value, used, a, k)
            length[a] = _spread(index, value, start[a], before, s, k, v, a, share, where)
            if length[a] != before:
                _dequeue(queue, a, before)
                _enqueue(queue, a, length[a])
                least = min(least, length[a])
    return status, count, index, value


@uncounted
def _enqueue(queue, v, degree):  # type: ignore[no-untyped-def]
    """Put v first among the nodes of its degree; `queue`: the first of each, after, before."""
    head, after, before = queue
    following = head[degree]
    head[degree], after[v], before[v] = v, following, -1
    if following >= 0:
        before[following] = v


@uncounted
def _dequeue(queue, v, degree):  # type: ignore[no-untyped-def]
    """Take v out of the list of its degree in the `queue`."""
    head, after, before = queue
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[degree] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@kernel()
def _moved(start, length, room, index, value, used, a, k):  # type: ignore[no-untyped-def]
    """Move the list of node a to the end of the pool, where it has `room` for k more.

    `used` are the entries of the pool.
    """
    at, size = start[a], length[a]
    room[a] = (size + k) * 3 // 2
    if used + room[a] > index.shape[0]:
        grown = max(2 * index.shape[0], used + room[a])
        wide, deep = np.empty(grown, dtype=np.int64), np.empty(grown)
        wide[:used], deep[:used] = index[:used], value[:used]
        index, value = wide, deep
    index[used : used + size] = index[at : at + size]
    value[used : used + size] = value[at : at + size]
    start[a] = used
    return index, value, used + room[a]


@uncounted
def _spread(index, value, at, before, s, k, v, a, share, where):  # type: ignore[no-untyped-def]
    """Take v out of the list of a, and add its share of the edges of v; return the length.

    The list of a has `before` entries from `at` on, that of v has k from `s` on; `where` (n) is -1
    throughout before and after.
    """
    for y in range(before):
        where[index[at + y]] = y
    size, y = before - 1, where[v]
    index[at + y], value[at + y] = index[at + size], value[at + size]
    where[index[at + y]] = y
    where[v] = -1
    for z in range(k):
        b = index[s + z]
        if b != a:
            y = where[b]
            if y < 0:
                y = size
                size += 1
                index[at + y], value[at + y] = b, 0.0
            value[at + y] += share * value[s + z]
    for y in range(size):
        where[index[at + y]] = -1
    return size


@kernel(entry="f8[:,:], f8[:], f8[:], i8[:], f8[:], f8[:]")
def eliminate_dense(weights, ground, hub, home, hub_ground, total):  # type: ignore[no-untyped-def]
    """Eliminate all nodes of a dense graph, the last first; its rows become the columns."""
    for v in range(weights.shape[0] - 1, -1, -1):
        row = weights[v, :v]
        whole = ground[v] + hub[v] + row.sum()
        total[v] = whole
        if whole <= 0.0:
            continue
        hub_ground[home[v]] += hub[v] * ground[v] / whole
        for a in range(v):
            share = row[a] / whole
            if share > 0.0:
                ground[a] += share * ground[v]
                hub[a] += share * hub[v]
                target = weights[a, :a]
                for b in range(a):
                    target[b] += share * row[b]


# What drawing keeps of every node, of the hub and of the ground: one line of the cache.
NODE = np.dtype(
    [(name, np.float64) for name in ("weight", "sum", "current", "limit")]
    + [(name, np.int64) for name in ("parent", "dropped", "component", "pick")]
)


@uncounted
def _root_at(y, z, v, weight, threshold, tree):  # type: ignore[no-untyped-def]
    """Attach y to v by an edge (weight, threshold), and turn the path from y up to z around."""
    before, w, t = v, weight, threshold
    node = y
    while True:
        above, cw, ct = tree[node]["parent"], tree[node]["current"], tree[node]["limit"]
        tree[node]["parent"], tree[node]["current"], tree[node]["limit"] = before, w, t
        if node == z:
            return
        before, w, t = node, cw, ct
        node = above


@uncounted
def _restore(  # type: ignore[no-untyped-def]
    v, start, length, index, value, ground, hub, total, tree, rng
):
    """Put an eliminated node back into the tree.

    Each tree edge between its neighbours came through it with the share that it gave the edge.
    Such edges are dropped, and the node is linked to each of the components by one edge.
    """
    n = start.shape[0]
    h, earth = n, n + 1
    first, k = start[v], length[v]
    for x in range(first, first + k):
        tree[index[x]]["weight"] = value[x]
    tree[h]["weight"], tree[earth]["weight"] = hub[v], ground[v]
    dropped = 0
    for x in range(first, first + k):
        dropped += _attribute(index[x], total[v], tree)
    dropped += _attribute(h, total[v], tree)
    if dropped == 0:
        x = _choose_one(first, k, index, value, ground[v], hub[v], h, rng)
    else:
        _choose(first, k, index, tree, rng)
        x = tree[earth]["pick"]
    tree[v]["parent"], tree[v]["current"] = x, tree[x]["weight"]
    tree[v]["limit"] = tree[x]["weight"] * rng.random()
    if dropped > 0:
        _relink(v, first, k, index, tree, rng)
    for x in range(first, first + k):
        tree[index[x]]["weight"] = 0.0
    tree[h]["weight"] = tree[earth]["weight"] = 0.0


@uncounted
def _attribute(a, total, tree):  # type: ignore[no-untyped-def]
    """Drop the tree edge above a if it came through the node of this total; return if it did."""
    product = tree[a]["weight"] * tree[tree[a]["parent"]]["weight"]
    if product > 0.0:
        tree[a]["current"] -= product / total
        tree[a]["dropped"] = tree[a]["limit"] > tree[a]["current"]
        return tree[a]["dropped"]
    return 0


@uncounted
def _choose_one(first, k, index, value, ground, hub, h, rng):  # type: ignore[no-untyped-def]
    """Choose by weight among the k neighbours from `first` on, the ground and the hub h."""
    total, pick = ground, h + 1
    for x in range(first, first + k):
        w = value[x]
        if w > 0.0:
            total += w
            if total <= w or rng.random() * total < w:
                pick = index[x]
    if hub > 0.0:
        total += hub
        if total <= hub or rng.random() * total < hub:
            pick = h
    return pick


@uncounted
def _choose(first, k, index, tree, rng):  # type: ignore[no-untyped-def]
    """Choose by weight one of the k neighbours from `first` on in each component that is left."""
    h = tree.shape[0] - 2
    earth = h + 1
    tree[earth]["sum"], tree[earth]["pick"] = tree[earth]["weight"], earth
    for x in range(k + 1):
        a = index[first + x] if x < k else h
        tree[a]["component"] = earth
        w = tree[a]["weight"]
        if w > 0.0:
            z = a
            while z != earth and not tree[z]["dropped"]:
                z = tree[z]["parent"]
            tree[a]["component"] = z
            tree[z]["sum"] += w
            if tree[z]["sum"] <= w or rng.random() * tree[z]["sum"] < w:
                tree[z]["pick"] = a


@uncounted
def _relink(v, first, k, index, tree, rng):  # type: ignore[no-untyped-def]
    """Link each component below a dropped edge to v, whose k neighbours stand from `first` on."""
    h = tree.shape[0] - 2
    for x in range(k + 1):
        z = index[first + x] if x < k else h
        if tree[z]["dropped"]:
            y = tree[z]["pick"]
            w = tree[y]["weight"]
            _root_at(y, z, v, w, w * rng.random(), tree)
    for x in range(k + 1):
        a = index[first + x] if x < k else h
        tree[tree[a]["component"]]["sum"] = 0.0
        tree[a]["dropped"] = 0
    tree[h + 1]["sum"] = 0.0


@uncounted
def _walk(  # type: ignore[no-untyped-def]
    node, start, length, index, sums, ground, hub, hub_ground, hub_sums, core, tree, done,
    rng,
):  # fmt: skip
    """Wilson's walk from a node to the tree (`done`); `sums` are cumulative weights of lists."""
    n = start.shape[0]
    h, earth = n, n + 1
    a = node
    while not done[a]:
        if a == h:
            u = rng.random() * hub_sums[-1]
            x = np.searchsorted(hub_sums, u, side="right")
            b = earth if x >= core.shape[0] else core[x]
            w = hub_ground if b == earth else hub[b]
        else:
            first, k = start[a], length[a]
            listed = sums[first + k - 1] if k > 0 else 0.0
            u = rng.random() * (listed + ground[a] + hub[a])
            if u < listed:
                x = np.searchsorted(sums[first : first + k], u, side="right")
                b = index[first + x]
                w = sums[first + x] - (sums[first + x - 1] if x > 0 else 0.0)
            elif u < listed + ground[a]:
                b, w = earth, ground[a]
            else:
                b, w = h, hub[a]
        tree[a]["parent"], tree[a]["current"] = b, w
        a = b
    a = node
    while not done[a]:
        done[a] = True
        tree[a]["limit"] = tree[a]["current"] * rng.random()
        a = tree[a]["parent"]


@kernel(
    entry="i8[:], i8[:], i8[:], f8[:], f8[:], f8[:], f8, i8[:], i8, f8[:], f8[:], i8[:], f8[:], "
    "i8[:,:], rng, (i8[:], i8[:], f8[:], f8[:], f8[:])"
)
def draw(  # type: ignore[no-untyped-def]
    start,
    length,
    index,
    value,
    ground,
    hub,
    hub_ground,
    order,
    count,
    total,
    charges,
    core,
    hub_sums,
    labels,
    rng,
    watched,
):
    """Draw forests, one row of labels each: Wilson's walk on the core, then node by node back.

    `value` holds cumulative weights in the lists of the core, plain ones elsewhere; `count` nodes
    are in `order`. `charges` is empty without a hub. `watched` are pairs of nodes (both ends, the
    weight of their edge), the sizes of nodes, and what is filled: the probability that a pair
    shares a cell, as the mean over the draws of its probability given all edges but its own.
    """
    n = start.shape[0]
    h, earth = n, n + 1
    tree = np.zeros(n + 2, dtype=NODE)
    parent = tree["parent"]
    done = np.zeros(n + 2, dtype=np.bool_)
    root, following = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    via = np.empty(n, dtype=np.int64)
    below, children, inside = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
    for row in range(labels.shape[0]):
        parent[h] = earth
        done[:] = False
        done[earth] = True
        if charges.shape[0] > 0:
            if core.shape[0] == 0:
                tree[h]["current"] = hub_ground
                tree[h]["limit"] = hub_ground * rng.random()
            else:
                _walk(
                    h, start, length, index, value, ground, hub, hub_ground, hub_sums, core,
                    tree, done, rng,
                )  # fmt: skip
        for x in range(core.shape[0]):
            _walk(
                core[x], start, length, index, value, ground, hub, hub_ground, hub_sums, core,
                tree, done, rng,
            )  # fmt: skip
        for x in range(count - 1, -1, -1):
            _restore(order[x], start, length, index, value, ground, hub, total, tree, rng)
        _label(parent, charges, root, following, via, labels[row], rng)
        if watched[0].shape[0] > 0:
            _watch(parent, via, labels[row], watched, below, children, inside)
        number_by_appearance(labels[row], root)
    for e in range(watched[4].shape[0]):
        watched[4][e] /= labels.shape[0]


@uncounted
def _watch(  # type: ignore[no-untyped-def]
    parent, via, labels, watched, below, children, total
):
    """Add the probability of each watched pair, given all edges of a forest but its own.

    If other edges join both, it is 1. Otherwise they are in two parts with A and B templates, and
    the odds of their edge are its weight times (A + B)/(A·B).
    """
    left, right, weight, sizes, expected = watched
    _count_below(parent, via, labels, sizes, below, children, total)
    for e in range(left.shape[0]):
        a, b = left[e], right[e]
        one, other = total[labels[a]], total[labels[b]]
        if labels[a] == labels[b]:
            if parent[a] == b:
                one = below[a]
            elif parent[b] == a:
                one = below[b]
            else:
                expected[e] += 1.0
                continue
            other -= one
        joined = weight[e] * (one + other)
        expected[e] += joined / (one * other + joined)


@uncounted
def _count_below(  # type: ignore[no-untyped-def]
    parent, via, labels, sizes, below, children, total
):
    """Fill the size of the subtree of each node, and the size of each cell by its label."""
    n = labels.shape[0]
    for v in range(n):
        below[v], children[v], total[v] = sizes[v], 0, 0.0
    for v in range(n):
        total[labels[v]] += sizes[v]
        above = parent[v] if parent[v] < n else via[v] if parent[v] == n else -1
        if above >= 0:
            children[above] += 1
    for leaf in range(n):
        v = leaf
        while v >= 0 and children[v] == 0:
            children[v] = -1
            above = parent[v] if parent[v] < n else via[v] if parent[v] == n else -1
            if above >= 0:
                below[above] += below[v]
                children[above] -= 1
            v = above


@uncounted
def _label(parent, charges, root, following, via, labels, rng):  # type: ignore[no-untyped-def]
    """Turn a tree with a hub into labels.

    What hangs on the hub is linked by edges between all pairs instead: Wilson's walk on the
    components, whose steps go to a node by its charge; `via` has that node for each component.
    """
    n = root.shape[0]
    _find_roots(parent, root)
    following[:] = -1
    for v in range(n):
        if parent[v] == n and following[v] < 0:
            a = v
            while parent[a] == n and following[a] < 0:
                x = np.searchsorted(charges, rng.random() * charges[-1], side="right")
                b = root[min(x, n - 1)]
                if b != a:
                    labels[a], via[a] = b, min(x, n - 1)
                    a = b
            end = a if parent[a] != n else following[a]
            a = v
            while parent[a] == n and following[a] < 0:
                following[a] = end
                a = labels[a]
    for v in range(n):
        r = root[v]
        labels[v] = following[r] if parent[r] == n else r


@uncounted
def _find_roots(parent, root):  # type: ignore[no-untyped-def]
    """Find for each node the last one before the hub or the ground."""
    n = root.shape[0]
    root[:] = -1
    for v in range(n):
        top = v
        while root[top] < 0 and parent[top] < n:
            top = parent[top]
        top = root[top] if root[top] >= 0 else top
        a = v
        while root[a] < 0:
            root[a] = top
            a = parent[a] if a != top else a
