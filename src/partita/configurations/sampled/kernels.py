"""Compiled: a partition that can be changed, and the renewal of one template given all others.

P(cell | the rest) = exp(x_c) / (1 + sum of exp(x_c)), x_c its theta to the members of cell c.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.compilation import uncounted
from partita.core import FloatArray, IntArray

Short = NDArray[np.int32]
LEAST = -40.0  # a cell that is e^40 times less likely than to be alone is not considered


class Pairs(NamedTuple):
    """Compatible neighbours by rows, `near[first[i]:first[i+1]]`, and whom to pick of them."""

    theta: FloatArray
    first: IntArray
    near: Short
    pick: NDArray[np.float32]  # running sums along each row, ending at 1
    base: IntArray  # added to a place in `near` beyond i: the number of that pair


class State(NamedTuple):
    """A partition: each cell a ring of members; and room to work in."""

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
def meet(p: Pairs, s: State, i: int) -> tuple[int, float]:
    """List in `seen` the cells that may take a removed template, with its theta to each in `sum`.

    How many they are, and the largest sum, or 0 if to be alone is better.
    """
    n = len(s.cells) - 1
    if 3 * (p.first[i + 1] - p.first[i]) > n:
        return meet_all(p, s, i)
    return meet_near(p, s, i)


@uncounted
def meet_all(p: Pairs, s: State, i: int) -> tuple[int, float]:
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
        if s.sum[cell] > LEAST:
            s.seen[kept] = cell
            kept += 1
            top = max(top, s.sum[cell])
    return kept, top


@uncounted
def meet_near(p: Pairs, s: State, i: int) -> tuple[int, float]:
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
        if s.met[cell] == s.size[cell] and s.sum[cell] > LEAST:
            s.seen[kept] = cell
            kept += 1
            top = max(top, s.sum[cell])
        s.met[cell] = 0
    return kept, top


@uncounted
def weigh(s: State, count: int, top: float) -> float:
    """Write exp(x_c - top) of the cells seen into `part`; return their sum, and exp(-top) alone."""
    total = np.exp(-top)
    for t in range(count):
        s.part[t] = np.exp(s.sum[s.seen[t]] - top)
        total += s.part[t]
    return float(total)


@uncounted
def log_room(p: Pairs, s: State, i: int) -> float:
    """Return log(1 + sum over cells of exp(x_c)): what an absent template would add to log Z."""
    count, top = meet(p, s, i)
    return float(top + np.log(weigh(s, count, top)))


@uncounted
def place(p: Pairs, s: State, i: int, old: int, rng: np.random.Generator) -> tuple[float, float]:
    """Put an absent template, last in the old cell, into a cell drawn from its conditional.

    The largest x_c, and the sum of exp(x_c) over its exponential.
    """
    count, top = meet(p, s, i)
    if s.size[old] > 0:
        s.score[0] -= s.sum[old]
    total = weigh(s, count, top)
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
def renew(p: Pairs, s: State, i: int, rng: np.random.Generator) -> tuple[float, float]:
    """Remove a template and put it into a cell drawn from its conditional."""
    old = s.label[i]
    detach(s, i)
    return place(p, s, i, old, rng)


@uncounted
def to_cell(p: Pairs, s: State, i: int) -> float:
    """Return the theta of a template to the other members of its own cell."""
    total, j = 0.0, s.after[i]
    while j != i:
        total += p.theta[i, j]
        j = s.after[j]
    return total


@uncounted
def take(p: Pairs, s: State, i: int) -> None:
    s.score[0] -= to_cell(p, s, i)
    detach(s, i)
