"""Compiled moves of Markov chains over configurations, runs of them, their counts, and the ladder.

The ladder leads down to no template: Z_k / Z_(k-1) = c · E_(k-1)[σ(l - log c)] / E_k[σ(log c - l)],
l = log(1 + sum of exp(x_c)) of the k-th template, E_k over partitions of the first k: one bridge
for every template, any c.

Throughout, `p` has the pairs of a set and is only read, `s` the state of a chain, which every move
changes in place, `e` the best partitions met, and `rng` makes the draws. After each move s.score[0]
is the log-weight of the partition, up to rounding. `order` (n) is that of the ladder's templates,
`centre` (n) its log c, `keys` (n) are random numbers of templates, of which a partition's mark is
made.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import kernel, kernel_record, uncounted
from partita.core import FloatArray, IntArray


@uncounted
def partner(p: ChainPairs, i: int, rng: np.random.Generator) -> int:
    """Draw a compatible template with chances that do not depend on the state."""
    low, high = p.first[i], p.first[i + 1]
    if low == high:
        return i
    # a float64 below 1 never falls past the row's end, where float32 could round up to it
    t = np.searchsorted(p.pick[low:high], rng.random(), side="right")
    return int(p.near[low + t])


@uncounted
def gather_templates(s: State, i: int, j: int, rng: np.random.Generator) -> int:
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
def allot(p: ChainPairs, s: State, count: int, drawn: bool, rng: np.random.Generator) -> float:
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
def between(p: ChainPairs, s: State, count: int) -> float:
    """Return the sum of theta across the two sides."""
    total = 0.0
    for t in range(1, count):
        for u in range(t):
            if s.side[t] != s.side[u]:
                total += p.theta[s.room[t], s.room[u]]
    return total


@uncounted
def move_side(s: State, count: int, cell: int, side: int) -> None:
    """Move the members of one side of `room` to a cell."""
    for t in range(count):
        if s.side[t] == side:
            detach(s, s.room[t])
            attach(s, s.room[t], cell)


@uncounted
def split_merge(p: ChainPairs, s: State, i: int, j: int, rng: np.random.Generator) -> bool:
    """Split the cell that i and j share into one for each, or merge their two cells."""
    if i == j or p.theta[i, j] == -np.inf:
        return False
    apart = s.label[i] != s.label[j]
    count = gather_templates(s, i, j, rng)
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
def inside(p: ChainPairs, s: State, count: int) -> float:
    """Return the sum of theta within the two sides."""
    total = 0.0
    for t in range(1, count):
        for u in range(t):
            if s.side[t] == s.side[u]:
                total += p.theta[s.room[t], s.room[u]]
    return total


@uncounted
def redeal(p: ChainPairs, s: State, i: int, j: int, rng: np.random.Generator) -> bool:
    """Deal the members of two cells anew, where i and j stay: whole blocks change sides at once."""
    if s.label[i] == s.label[j]:
        return False
    ours, theirs = s.label[i], s.label[j]
    count = gather_templates(s, i, j, rng)
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
def chance_of(p: ChainPairs, s: State, i: int, count: int, side: int) -> float:
    """Return the chance that `partner` picks, for i, a template of that side of `room`."""
    for t in range(count):
        s.met[s.room[t]] = 1 + s.side[t]
    total, last = 0.0, 0.0
    for t in range(p.first[i], p.first[i + 1]):
        if s.met[p.near[t]] == 1 + side:
            total += float(p.pick[t]) - last
        last = float(p.pick[t])
    for t in range(count):
        s.met[s.room[t]] = 0
    return total


@uncounted
def entangled(p: ChainPairs, s: State, count: int) -> int:
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
def exchange(p: ChainPairs, s: State, i: int, j: int, rng: np.random.Generator) -> bool:
    """Let i and its connected incompatible templates change sides with j's cell.

    The tied templates are the same seen from either state, so the move is its own reverse.
    """
    if i == j or s.label[i] == s.label[j]:
        return False
    ours, theirs = s.label[i], s.label[j]
    count = gather_templates(s, i, j, rng)
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
def swing(p: ChainPairs, s: State, tied: int, count: int) -> float:
    """Return the sum of theta between the moved and the remaining templates of the same side."""
    total = 0.0
    for t in range(tied):
        for u in range(tied, count):
            if s.side[t] == s.side[u]:
                total += p.theta[s.room[t], s.room[u]]
    return total


@uncounted
def swap_tied(s: State, tied: int, ours: int, theirs: int) -> None:
    """Move the tied templates to the cells of the sides that they have now."""
    for t in range(tied):
        detach(s, s.room[t])
    for t in range(tied):
        attach(s, s.room[t], ours if s.side[t] == 0 else theirs)


@uncounted
def sweep(p: ChainPairs, s: State, moves: int, tied: bool, rng: np.random.Generator) -> None:
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


Short = NDArray[np.int32]
LEAST_GAIN = -40.0  # a cell that is e^40 times less likely than to be alone is not considered


@kernel_record("f8[:,:], i8[:], i4[:], f4[:], i8[:]")
class ChainPairs(NamedTuple):
    """Compatible neighbours by rows, near[first[i]:first[i+1]], whom to `pick`; all of `theta`."""

    theta: FloatArray
    first: IntArray
    near: Short
    pick: NDArray[np.float32]  # running sums along each row, ending at 1
    base: IntArray  # added to a place in `near` beyond i: the number of that pair


@kernel_record(
    "i8[:], i8[:], i8[:], i8[:], i8[:], i8[:], i8[:], f8[:], f8[:], f8[:], i8[:], i8[:], i8[:], "
    "i8[:]"
)
class State(NamedTuple):
    """A partition: cells are rings of `size` members (`head`, `after`, `before`); room to work."""

    label: IntArray  # n for a template that is absent
    size: IntArray
    head: IntArray
    after: IntArray
    before: IntArray
    cells: IntArray  # the cells in use, then the empty ones; cells[n] says how many are in use
    where: IntArray  # by cell: its place among them
    score: FloatArray  # score[0] is the log-weight
    sum: FloatArray  # by cell: theta of the template in hand to it
    part: FloatArray  # by place in `seen`: the share of that cell
    met: IntArray  # by cell: how many of its members are compatible with that template
    seen: IntArray  # the cells so met
    room: IntArray  # members of two cells
    side: IntArray  # to which of the two each belongs


def blank(n: int) -> State:
    """Return a state without templates."""
    ints = np.zeros((11, n + 1), dtype=np.int64)
    ints[0] = n
    ints[5, :n] = ints[6, :n] = np.arange(n)
    floats = np.zeros((3, n + 1))
    return State(*ints[:7], *floats, *ints[7:])


@uncounted
def new_cell(s: State) -> int:
    """Return an empty cell; it is in use when a template is attached to it."""
    cell: int = s.cells[s.cells[len(s.cells) - 1]]
    return cell


@uncounted
def trade(s: State, cell: int, spot: int) -> None:
    """Swap a cell with the one at that position."""
    other, old = s.cells[spot], s.where[cell]
    s.cells[spot], s.cells[old] = cell, other
    s.where[cell], s.where[other] = spot, old


@uncounted
def attach(s: State, i: int, cell: int) -> None:
    """Put an absent template into a cell, last in its ring."""
    if s.size[cell] == 0:
        s.head[cell] = s.after[i] = s.before[i] = i
        n = len(s.cells) - 1
        trade(s, cell, s.cells[n])
        s.cells[n] += 1
    else:
        h = s.head[cell]
        last = s.before[h]
        s.after[last] = s.before[h] = i
        s.before[i], s.after[i] = last, h
    s.label[i] = cell
    s.size[cell] += 1


@uncounted
def detach(s: State, i: int) -> None:
    """Take a template out of its cell; its log-weight is left alone."""
    cell, n = s.label[i], len(s.cells) - 1
    s.label[i] = n
    s.size[cell] -= 1
    if s.size[cell] == 0:
        s.cells[n] -= 1
        trade(s, cell, s.cells[n])
        return
    s.after[s.before[i]], s.before[s.after[i]] = s.after[i], s.before[i]
    if s.head[cell] == i:
        s.head[cell] = s.after[i]


@uncounted
def list_open_cells(p: ChainPairs, s: State, i: int) -> tuple[int, float]:
    """List in `seen` the cells that may take a removed template, with its theta to each in `sum`.

    How many they are, and the largest sum, or 0 if to be alone is better.
    """
    n = len(s.cells) - 1
    if 3 * (p.first[i + 1] - p.first[i]) > n:
        return list_open_cells_densely(p, s, i)
    return list_open_cells_sparsely(p, s, i)


@uncounted
def list_open_cells_densely(p: ChainPairs, s: State, i: int) -> tuple[int, float]:
    """Do so for a template with many neighbours: incompatible members make the sum −∞."""
    n = len(s.cells) - 1
    used, kept, top = s.cells[n], 0, 0.0
    for t in range(used):
        s.sum[s.cells[t]] = 0.0
    row = p.theta[i]
    for j in range(n):
        s.sum[s.label[j]] += row[j]
    for t in range(used):
        cell = s.cells[t]
        if s.sum[cell] > LEAST_GAIN:
            s.seen[kept] = cell
            kept += 1
            top = max(top, s.sum[cell])
    return kept, top


@uncounted
def list_open_cells_sparsely(p: ChainPairs, s: State, i: int) -> tuple[int, float]:
    """Do so for a template with few neighbours: all members of a cell must be among them."""
    n, count = len(s.cells) - 1, 0
    for t in range(p.first[i], p.first[i + 1]):
        cell = s.label[p.near[t]]
        if cell == n:
            continue
        if s.met[cell] == 0:
            s.seen[count] = cell
            s.sum[cell] = 0.0
            count += 1
        s.met[cell] += 1
        s.sum[cell] += p.theta[i, p.near[t]]
    kept, top = 0, 0.0
    for t in range(count):
        cell = s.seen[t]
        if s.met[cell] == s.size[cell] and s.sum[cell] > LEAST_GAIN:
            s.seen[kept] = cell
            kept += 1
            top = max(top, s.sum[cell])
        s.met[cell] = 0
    return kept, top


@uncounted
def weigh_moves(s: State, count: int, top: float) -> float:
    """Write exp(x_c - top) of the cells seen into `part`; return their sum, and exp(-top) alone."""
    total = np.exp(-top)
    for t in range(count):
        s.part[t] = np.exp(s.sum[s.seen[t]] - top)
        total += s.part[t]
    return float(total)


@uncounted
def log_room(p: ChainPairs, s: State, i: int) -> float:
    """Return log(1 + sum over cells of exp(x_c)): what an absent template would add to log Z."""
    count, top = list_open_cells(p, s, i)
    return float(top + np.log(weigh_moves(s, count, top)))


@kernel(entry="ChainPairs, State, i8, i8, rng", _nrt=False)
def place(
    p: ChainPairs, s: State, i: int, old: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Put an absent template, last in the old cell, into a cell drawn from its conditional.

    The largest x_c, and the sum of exp(x_c) over its exponential.
    """
    count, top = list_open_cells(p, s, i)
    if s.size[old] > 0:
        s.score[0] -= s.sum[old]
    total = weigh_moves(s, count, top)
    left = rng.random() * total
    chosen = count
    for t in range(count):
        left -= s.part[t]
        if left < 0.0:
            chosen = t
            break
    if chosen < count:
        s.score[0] += s.sum[s.seen[chosen]]
        attach(s, i, s.seen[chosen])
    else:
        attach(s, i, new_cell(s))
    return top, total


@uncounted
def renew(p: ChainPairs, s: State, i: int, rng: np.random.Generator) -> tuple[float, float]:
    """Remove a template and put it into a cell drawn from its conditional."""
    old = s.label[i]
    detach(s, i)
    return place(p, s, i, old, rng)


@uncounted
def to_cell(p: ChainPairs, s: State, i: int) -> float:
    """Return the theta of a template to the other members of its own cell."""
    total, j = 0.0, s.after[i]
    while j != i:
        total += p.theta[i, j]
        j = s.after[j]
    return total


@uncounted
def take(p: ChainPairs, s: State, i: int) -> None:
    """Take a template out of its cell, with its log-weight."""
    s.score[0] -= to_cell(p, s, i)
    detach(s, i)


@kernel_record("i4[:,:], f8[:], u8[:], u8[:], i8[:]")
class Elite(NamedTuple):
    """The best distinct partitions met so far, in no order.

    `labels` (places × n), their log-weights `scores` and `marks`, of which filled[0] are in use;
    `keys` (n) are those that marks are made of.
    """

    labels: Short
    scores: FloatArray
    marks: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    filled: NDArray[np.int64]


def elite(capacity: int, n: int) -> Elite:
    keys = np.random.default_rng(n).integers(0, 2**64, n, dtype=np.uint64)
    return Elite(
        np.zeros((capacity, n), dtype=np.int32),
        np.full(capacity, -np.inf),
        np.zeros(capacity, dtype=np.uint64),
        keys,
        np.zeros(1, dtype=np.int64),
    )


@kernel_record("i4[:], f8[:], Elite, i4[:,:]")
class Notes(NamedTuple):
    """The records of a run: `counts` of pairs, `scores`, one a sweep, the best, and states.

    Without scores none of the first three (`elite`: the best); without `rows` (states × n labels)
    no states.
    """

    counts: NDArray[np.int32]
    scores: FloatArray
    elite: Elite
    rows: Short


def states(count: int, n: int) -> Notes:
    """Return notes of nothing but so many states."""
    rows = np.zeros((count, n), dtype=np.int32)
    return Notes(np.zeros(0, dtype=np.int32), np.zeros(0), elite(0, n), rows)


@kernel(entry="State, u8[:]", _nrt=False)
def mark(s: State, keys: NDArray[np.uint64]) -> np.uint64:
    """Return a hash of the partition, whatever its cells are called."""
    total = np.uint64(0)
    for i in range(len(keys)):
        if s.head[s.label[i]] != i:
            continue
        cell, j = keys[i], s.after[i]
        while j != i:
            cell += keys[j]
            j = s.after[j]
        cell ^= cell >> np.uint64(29)
        total += cell * np.uint64(0xBF58476D1CE4E5B9)
    return total


@uncounted
def weakest(e: Elite) -> int:
    """Return a free place, or that of the least of them."""
    filled: int = e.filled[0]
    if filled < len(e.scores):
        return filled
    slot = 0
    for t in range(filled):
        slot = t if e.scores[t] < e.scores[slot] else slot
    return slot


@uncounted
def remember_state(e: Elite, s: State) -> bool:
    """Keep this partition if it is among the best and new."""
    slot, filled = weakest(e), e.filled[0]
    if s.score[0] <= e.scores[slot]:
        return False
    name = mark(s, e.keys)
    for t in range(filled):
        if e.marks[t] == name:
            return False
    e.scores[slot], e.marks[slot] = s.score[0], name
    for i in range(len(e.keys)):
        e.labels[slot, i] = s.label[i]
    e.filled[0] = min(filled + 1, len(e.scores))
    return True


@uncounted
def rescore(p: ChainPairs, s: State) -> None:
    """Compute the log-weight afresh, so that rounding does not add up."""
    n = len(p.first) - 1
    total = 0.0
    for i in range(n):
        j = s.after[i]
        while j != i:
            if j < i:
                total += p.theta[i, j]
            j = s.after[j]
    s.score[0] = total


@uncounted
def count_joined_pairs(p: ChainPairs, s: State, counts: NDArray[np.int32]) -> None:
    """Count every pair that shares a cell; compatible pairs i < j are numbered by rows."""
    n = len(p.first) - 1
    for i in range(n):
        low, high = p.first[i], p.first[i + 1]
        j = s.after[i]
        while j != i:
            if j > i:
                full = high - low == n - 1
                t = j - 1 if full else np.searchsorted(p.near[low:high], j)
                counts[p.base[i] + low + t] += 1
            j = s.after[j]


@kernel(entry="ChainPairs, State, i8, i8, b1, Notes, rng", _nrt=False)
def run_chain(
    p: ChainPairs,
    s: State,
    sweeps: int,
    moves: int,
    tied: bool,
    notes: Notes,
    rng: np.random.Generator,
) -> None:
    """Run so many sweeps, and take notes of them."""
    n = len(p.first) - 1
    rescore(p, s)
    for t in range(sweeps):
        sweep(p, s, moves, tied, rng)
        if len(notes.scores):
            count_joined_pairs(p, s, notes.counts)
            notes.scores[t] = s.score[0]
            remember_state(notes.elite, s)
        if len(notes.rows) and (t + 1) % (sweeps // len(notes.rows)) == 0:
            row = notes.rows[t * len(notes.rows) // sweeps]
            for i in range(n):
                row[i] = s.label[i]


@kernel(entry="ChainPairs, State, i8, b1, u8[:], u8[:], f8[:], rng", _nrt=False)
def hits(
    p: ChainPairs,
    s: State,
    moves: int,
    tied: bool,
    keys: NDArray[np.uint64],
    marks: NDArray[np.uint64],
    found: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Write in `found`, for each sweep, 1 if its partition has one of the sorted marks, else 0."""
    for t in range(len(found)):
        sweep(p, s, moves, tied, rng)
        name = mark(s, keys)
        low, high = 0, len(marks)
        while low < high:
            middle = (low + high) // 2
            if marks[middle] < name:
                low = middle + 1
            else:
                high = middle
        found[t] = 1.0 if low < len(marks) and marks[low] == name else 0.0


@kernel(entry="ChainPairs, State, i8[:]", _nrt=False)
def adopt(p: ChainPairs, s: State, labels: IntArray) -> None:
    """Make this blank state the partition of the `labels` (n)."""
    for i in range(len(labels)):
        attach(s, i, labels[i])
    rescore(p, s)


@uncounted
def nearby(
    p: ChainPairs, s: State, order: IntArray, k: int, tied: bool, rng: np.random.Generator
) -> None:
    """Renew the last few of the first k: 8, seldom 16, more seldom 32, … up to all of them."""
    width = 8
    while width < k and rng.random() < 0.5:
        width *= 2
    width = min(width, k)
    for t in range(k - width, k):
        renew(p, s, order[t], rng)
    for m in range(1 + width // 8):
        i = order[k - width + int(rng.random() * width)]
        j = partner(p, i, rng)
        if s.label[j] == len(order):
            continue
        if tied and m % 2:
            exchange(p, s, i, j, rng)
        else:
            split_merge(p, s, i, j, rng)


@kernel(entry="ChainPairs, State, i8[:], i8, b1, f8[:], f8[:,:], rng", _nrt=False)
def ladder(
    p: ChainPairs,
    s: State,
    order: IntArray,
    steps: int,
    tied: bool,
    centre: FloatArray,
    sums: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Go down the rungs and up again.

    sums[0, k] is of σ(l - c) without template k, sums[1, k] of σ(c - l) with it, sums[2:] the same
    on the way up.

    On the way down a state lags towards more templates, on the way up towards fewer: together the
    lags cancel, apart they show themselves.
    """
    n = len(order)
    for k in range(n - 1, -1, -1):
        rung(p, s, order, k, steps, tied, centre, sums[:2], rng)
        take(p, s, order[k])
    for k in range(n):
        place(p, s, order[k], n, rng)
        rung(p, s, order, k, steps, tied, centre, sums[2:], rng)


@uncounted
def rung(
    p: ChainPairs,
    s: State,
    order: IntArray,
    k: int,
    steps: int,
    tied: bool,
    centre: FloatArray,
    sums: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Make so many steps with the first k + 1, after a quarter as many to settle.

    Where the centre is not a number yet, sums[1, k] is of l itself (`sums` as in `ladder`).
    """
    for t in range(-(steps // 4), steps):
        nearby(p, s, order, k + 1, tied, rng)
        top, total = renew(p, s, order[k], rng)
        if t < 0:
            continue
        room = top + np.log(total)
        sums[1, k] += room if np.isnan(centre[k]) else sigmoid(centre[k] - room)
        if k + 1 < len(order):
            sums[0, k + 1] += sigmoid(log_room(p, s, order[k + 1]) - centre[k + 1])


@uncounted
def sigmoid(x: float) -> float:
    """Return 1/(1 + e^−x), where e^−x does not overflow."""
    return float(1.0 / (1.0 + np.exp(min(-x, 700.0))))
