"""Compiled moves of two cells at once: split or merge, change sides, deal anew; a sweep of all.

Accepted with min(1, w'/w · q'/q), w the weight of a partition, q the chance of the proposal.
"""

from __future__ import annotations

import numpy as np

from partita.compilation import uncounted
from partita.configurations.sampled.kernels import (
    Pairs,
    State,
    attach,
    detach,
    new_cell,
    renew,
)


@uncounted
def partner(p: Pairs, i: int, rng: np.random.Generator) -> int:
    """Draw a compatible template with chances that do not depend on the state."""
    low, high = p.first[i], p.first[i + 1]
    if low == high:
        return i
    # a float64 below 1 never falls past the row's end, where float32 could round up to it
    t = np.searchsorted(p.pick[low:high], rng.random(), side="right")
    return int(p.near[low + t])


@uncounted
def gather(s: State, i: int, j: int, rng: np.random.Generator) -> int:
    """Shuffle the members of two cells (or one) into `room`, i and j first; return how many."""
    s.room[0], s.room[1] = i, j
    s.side[0], s.side[1] = 0, 1
    count = 2
    for start in (i, j):
        k = s.after[start]
        while k != start:
            if k != i and k != j:
                s.room[count] = k
                s.side[count] = 0 if start == i else 1
                count += 1
            k = s.after[k]
        if s.label[i] == s.label[j]:
            break
    for t in range(count - 1, 2, -1):
        u = 2 + int(rng.random() * (t - 1))
        s.room[t], s.room[u] = s.room[u], s.room[t]
        s.side[t], s.side[u] = s.side[u], s.side[t]
    return count


@uncounted
def allot(p: Pairs, s: State, count: int, drawn: bool, rng: np.random.Generator) -> float:
    """Deal `room` onto two sides one by one; return the log-chance of the deal."""
    log_q = 0.0
    for t in range(2, count):
        k = s.room[t]
        x0 = x1 = 0.0
        for u in range(t):
            if s.side[u] == 0:
                x0 += p.theta[k, s.room[u]]
            else:
                x1 += p.theta[k, s.room[u]]
        if x0 == -np.inf and x1 == -np.inf:
            return -np.inf
        first = 1.0 / (1.0 + np.exp(min(x1 - x0, 700.0)))
        if drawn:
            s.side[t] = 0 if rng.random() < first else 1
        gap = x1 - x0 if s.side[t] == 0 else x0 - x1
        log_q -= max(gap, 0.0) + np.log1p(np.exp(-abs(gap)))
    return log_q


@uncounted
def between(p: Pairs, s: State, count: int) -> float:
    """Return the sum of theta across the two sides."""
    total = 0.0
    for t in range(1, count):
        for u in range(t):
            if s.side[t] != s.side[u]:
                total += p.theta[s.room[t], s.room[u]]
    return total


@uncounted
def move_side(s: State, count: int, cell: int, side: int) -> None:
    for t in range(count):
        if s.side[t] == side:
            detach(s, s.room[t])
            attach(s, s.room[t], cell)


@uncounted
def split_merge(p: Pairs, s: State, i: int, j: int, rng: np.random.Generator) -> bool:
    """Split the cell that i and j share into one for each, or merge their two cells."""
    if i == j or p.theta[i, j] == -np.inf:
        return False
    apart = s.label[i] != s.label[j]
    count = gather(s, i, j, rng)
    if apart and between(p, s, count) == -np.inf:
        return False
    log_q = allot(p, s, count, not apart, rng)
    if log_q == -np.inf:
        return False
    sign = 1.0 if apart else -1.0
    cross = sign * between(p, s, count)
    accept = cross + sign * log_q
    if accept < 0.0 and rng.random() >= np.exp(accept):
        return False
    move_side(s, count, s.label[i] if apart else new_cell(s), 1)
    s.score[0] += cross
    return True


@uncounted
def inside(p: Pairs, s: State, count: int) -> float:
    """Return the sum of theta within the two sides."""
    total = 0.0
    for t in range(1, count):
        for u in range(t):
            if s.side[t] == s.side[u]:
                total += p.theta[s.room[t], s.room[u]]
    return total


@uncounted
def redeal(p: Pairs, s: State, i: int, j: int, rng: np.random.Generator) -> bool:
    """Deal the members of two cells anew, where i and j stay: whole blocks change sides at once."""
    if s.label[i] == s.label[j]:
        return False
    ours, theirs = s.label[i], s.label[j]
    count = gather(s, i, j, rng)
    if count == 2:
        return False
    accept = allot(p, s, count, False, rng)
    delta = -inside(p, s, count)
    for t in range(count):
        s.seen[t] = s.side[t]
    log_q = allot(p, s, count, True, rng)
    if log_q == -np.inf:
        return False
    delta += inside(p, s, count)
    accept += delta - log_q
    if accept < 0.0 and rng.random() >= np.exp(accept):
        return False
    for t in range(2, count):
        if s.side[t] != s.seen[t]:
            detach(s, s.room[t])
            attach(s, s.room[t], ours if s.side[t] == 0 else theirs)
    s.score[0] += delta
    return True


@uncounted
def chance_of(p: Pairs, s: State, i: int, count: int, side: int) -> float:
    """Return the chance that `partner` picks, for i, a template of that side of `room`."""
    for t in range(count):
        s.met[s.room[t]] = 1 + s.side[t]
    total, last = 0.0, 0.0
    for t in range(p.first[i], p.first[i + 1]):
        if s.met[p.near[t]] == 1 + side:
            total += p.pick[t] - last
        last = p.pick[t]
    for t in range(count):
        s.met[s.room[t]] = 0
    return total


@uncounted
def entangled(p: Pairs, s: State, count: int) -> int:
    """Move to the front of `room` what is connected with room[0] by incompatibility."""
    tied, t = 1, 0
    while t < tied:
        for u in range(tied, count):
            if p.theta[s.room[t], s.room[u]] == -np.inf:
                s.room[tied], s.room[u] = s.room[u], s.room[tied]
                s.side[tied], s.side[u] = s.side[u], s.side[tied]
                tied += 1
        t += 1
    return tied


@uncounted
def exchange(p: Pairs, s: State, i: int, j: int, rng: np.random.Generator) -> bool:
    """Let i and its connected incompatible templates change sides with j's cell.

    The tied templates are the same seen from either state, so the move is its own reverse.
    """
    if i == j or s.label[i] == s.label[j]:
        return False
    ours, theirs = s.label[i], s.label[j]
    count = gather(s, i, j, rng)
    tied = entangled(p, s, count)
    if tied == count or (tied == 1 and s.size[ours] == 1):
        return False
    to = 1
    forward = chance_of(p, s, i, count, to)
    delta = -swing(p, s, tied, count)
    for t in range(tied):
        s.side[t] = 1 - s.side[t]
    delta += swing(p, s, tied, count)
    accept = delta + np.log(chance_of(p, s, i, count, 1 - to)) - np.log(forward)
    if accept < 0.0 and rng.random() >= np.exp(accept):
        return False
    s.score[0] += delta
    swap_tied(s, tied, ours, theirs)
    return True


@uncounted
def swing(p: Pairs, s: State, tied: int, count: int) -> float:
    """Return the sum of theta between the moved and the remaining templates of the same side."""
    total = 0.0
    for t in range(tied):
        for u in range(tied, count):
            if s.side[t] == s.side[u]:
                total += p.theta[s.room[t], s.room[u]]
    return total


@uncounted
def swap_tied(s: State, tied: int, ours: int, theirs: int) -> None:
    for t in range(tied):
        detach(s, s.room[t])
    for t in range(tied):
        attach(s, s.room[t], ours if s.side[t] == 0 else theirs)


@uncounted
def sweep(p: Pairs, s: State, moves: int, tied: bool, rng: np.random.Generator) -> None:
    """Renew every template once, then make so many moves of two cells (a third exchanges if tied).

    Two cells are dealt anew around two partners of one template, which need not be compatible.
    """
    n = len(p.first) - 1
    for i in range(n):
        renew(p, s, i, rng)
    for _ in range(moves):
        kind = rng.random() * (3.0 if tied else 2.0)
        i = int(rng.random() * n)
        j = partner(p, i, rng)
        if kind < 1.0:
            split_merge(p, s, i, j, rng)
        elif kind < 2.0:
            redeal(p, s, partner(p, i, rng), j, rng)
        else:
            exchange(p, s, i, j, rng)
