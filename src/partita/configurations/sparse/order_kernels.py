"""Compiled elimination of templates and counting of cliques."""

from __future__ import annotations

import numpy as np

from partita.compilation import kernel

DEGREE, FILL = 0, 1


@kernel(inline="always")
def bit_count(word):  # type: ignore[no-untyped-def]
    """Return the number of bits that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel()
def _listed(row, found):  # type: ignore[no-untyped-def]
    """Write the members of a bit row into `found`; return their number."""
    size = 0
    for block in range(len(row)):
        word = row[block]
        while word:
            low = word & (~word + np.uint64(1))
            found[size] = block * 64 + bit_count(low - np.uint64(1))
            size += 1
            word ^= low
    return size


@kernel()
def _missing(rows, vertex, found):  # type: ignore[no-untyped-def]
    """Return twice the number of pairs of its neighbours that are not linked; and words read."""
    size = _listed(rows[vertex], found)
    missing = 0
    for k in range(size):
        other = rows[found[k]]
        for block in range(rows.shape[1]):
            missing += bit_count(rows[vertex, block] & ~other[block])
        missing -= 1
    return missing, size * rows.shape[1]


@kernel()
def _remove(rows, vertex, neighbours, size):  # type: ignore[no-untyped-def]
    """Join the neighbours of a template with each other and forget it in their rows."""
    for k in range(size):
        other = neighbours[k]
        for block in range(rows.shape[1]):
            rows[other, block] |= rows[vertex, block]
        rows[other, other >> 6] &= ~(np.uint64(1) << np.uint64(other & 63))
        rows[other, vertex >> 6] &= ~(np.uint64(1) << np.uint64(vertex & 63))


@kernel()
def _touched(rows, neighbours, size, wide, mark):  # type: ignore[no-untyped-def]
    """Return a row of those whose score may have changed: the neighbours and, if wide, theirs."""
    mark[:] = 0
    for k in range(size):
        other = neighbours[k]
        mark[other >> 6] |= np.uint64(1) << np.uint64(other & 63)
        if wide:
            mark |= rows[other]


@kernel()
def _score(rows, vertex, rule, found):  # type: ignore[no-untyped-def]
    """Return the score of eliminating a template now, and the words read."""
    if rule == FILL:
        return _missing(rows, vertex, found)
    return _listed(rows[vertex], found), 1


@kernel()
def _least(alive, score, visit):  # type: ignore[no-untyped-def]
    """Return the remaining template with the least score, the first visited among equals."""
    best = -1
    for vertex in visit:
        if alive[vertex] and (best < 0 or score[vertex] < score[best]):
            best = vertex
    return best


@kernel()
def eliminate(rows, visit, rule, widest, patience):  # type: ignore[no-untyped-def]
    """Return an order in which each next template has the least degree or fill.

    Ends early, with a shorter order, at a template with more than `widest` neighbours or when
    `patience` words have been read. The rows are used up.
    """
    n = len(rows)
    order, score = np.empty(n, np.int64), np.zeros(n, np.int64)
    alive = np.ones(n, np.bool_)
    neighbours, found = np.empty(n, np.int64), np.empty(n, np.int64)
    mark = np.zeros(rows.shape[1], np.uint64)
    work = 0
    for vertex in range(n):
        score[vertex], read = _score(rows, vertex, rule, found)
        work += read
    for step in range(n):
        best = _least(alive, score, visit)
        size = _listed(rows[best], neighbours)
        if size > widest or work > patience:
            return order[:step]
        order[step], alive[best] = best, False
        _remove(rows, best, neighbours, size)
        _touched(rows, neighbours, size, rule == FILL and score[best] > 0, mark)
        for k in range(_listed(mark, neighbours)):
            score[neighbours[k]], read = _score(rows, neighbours[k], rule, found)
            work += read
    return order


@kernel()
def degeneracy(rows):  # type: ignore[no-untyped-def]
    """Return the largest least degree of any part of the graph: no order is narrower."""
    n = len(rows)
    found = np.empty(n, np.int64)
    degree = np.empty(n, np.int64)
    for vertex in range(n):
        degree[vertex] = _listed(rows[vertex], found)
    alive = np.ones(n, np.bool_)
    most = 0
    for _ in range(n):
        best = -1
        for vertex in range(n):
            if alive[vertex] and (best < 0 or degree[vertex] < degree[best]):
                best = vertex
        most = max(most, degree[best])
        alive[best] = False
        for k in range(_listed(rows[best], found)):
            degree[found[k]] -= 1
    return most


@kernel()
def count_cliques(compatible, members, known, limit):  # type: ignore[no-untyped-def]
    """Return the number of cliques, and Σ 2^-(how many of its first `known` each holds).

    The empty one counts; after `limit` cliques it gives up and says so by the count -1.
    """
    size = len(members)
    later = np.zeros(size, np.int64)
    for i in range(size):
        for j in range(i + 1, size):
            if compatible[members[i], members[j]]:
                later[i] |= np.int64(1) << j
    candidates = np.empty(size + 1, np.int64)
    share = np.empty(size + 1)
    candidates[0], share[0] = (np.int64(1) << size) - 1, 1.0
    count, total, depth = 1, 1.0, 0
    while depth >= 0:
        rest = candidates[depth]
        if rest == 0:
            depth -= 1
            continue
        low = rest & -rest
        i = bit_count(np.uint64(low - 1))
        candidates[depth] = rest ^ low
        share[depth + 1] = share[depth] * (0.5 if i < known else 1.0)
        candidates[depth + 1] = rest & later[i]
        depth += 1
        count += 1
        total += share[depth]
        if count > limit:
            return -1, 0.0
    return count, total
