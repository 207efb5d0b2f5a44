"""The tree of an elimination, and compiled loops that eliminate templates and count cliques.

`rows` (n × words) is a graph, 64 templates to a word: bit j of row i says that i and j are linked;
it belongs to the caller and is changed by elimination. `found` and `neighbours` (n) are overwritten
by lists of templates, of which the first `size` count; `vertex` is a template.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from partita.compilation import kernel
from partita.core import BoolArray, IntArray

ABSENT = -1  # in place of a bit
CLIQUES = 2_000_000  # so many are counted along one order; then every subset counts as one


@dataclass(frozen=True, slots=True, eq=False)
class Join:
    """Two tables into one: bit j of the dense operand lies at `dense[j]` of the result.

    The bits of the result are first those of the dense operand alone (`own` of them), then the
    shared ones, then those of the listed operand alone. The dense operand is the left one.
    `entries` bounds how many entries of the listed operand are possible.
    """

    dense: IntArray
    listed: IntArray
    own: int
    entries: float
    dims: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EliminationStep:
    """One template eliminated; bit j of its message is the template `dims[j]`.

    Bits are first those that no cell of this step holds (`own`), then its later neighbours, of
    which some are bits of T already. `bit` is the template's own bit in T, ABSENT if it has none.
    `cliques` and `pairs` bound how many cells there are to choose from, and how many pairs of a
    cell and a disjoint subset of T's bits; `entries` how many subsets the message can have.
    """

    vertex: int
    children: tuple[int, ...]
    joins: tuple[Join, ...]
    bit: int
    table: IntArray
    own: int
    members: IntArray
    dims: tuple[int, ...]
    cliques: int
    pairs: float
    entries: float

    @property
    def bits(self) -> int:
        """The number of the message's bits that are bits of T."""
        return len(self.table)


class _Product(NamedTuple):
    """The product of messages: its joins, its bits, a bound on its possible entries."""

    joins: tuple[Join, ...]
    dims: tuple[int, ...]
    entries: float


def _join(left: tuple[int, ...], right: tuple[int, ...], entries: float) -> Join:
    inside, outside = set(right), set(left)
    own = [d for d in left if d not in inside]
    shared = [d for d in left if d in inside]
    above = [d for d in right if d not in outside]
    dense, listed = _positions(own + shared, left), _positions(shared + above, right)
    return Join(dense, listed, len(own), entries, (*own, *shared, *above))


def _positions(dims: Sequence[int], source: Sequence[int]) -> IntArray:
    return np.array([source.index(d) for d in dims], dtype=np.int64)


def _product(children: Sequence[EliminationStep]) -> _Product:
    """Return the joins of messages, the fullest first and each of the others then listed."""
    if not children:
        return _Product((), (), 1.0)
    joins: list[Join] = []
    dims, entries = children[0].dims, children[0].entries
    for child in children[1:]:
        joins.append(_join(dims, child.dims, child.entries))
        dims = joins[-1].dims
        entries = min(entries * child.entries, 2.0 ** len(dims))
    return _Product(tuple(joins), dims, entries)


def steps(order: Sequence[int], compatible: BoolArray, widest: int) -> list[EliminationStep] | None:
    """Return the steps, children first; None if a message has more than `widest` bits."""
    place = {vertex: n for n, vertex in enumerate(order)}
    later = _later(order, compatible)
    below: list[list[int]] = [[] for _ in order]
    result: list[EliminationStep] = []
    left = CLIQUES
    for n, vertex in enumerate(order):
        result.append(_step(vertex, below[n], result, later[vertex], compatible, left))
        if len(result[n].dims) > widest:
            return None
        if result[n].dims:
            below[min(place[d] for d in result[n].dims)].append(n)
        left -= min(left, result[n].cliques)
    return _children_first(result)


def _later(order: Sequence[int], compatible: BoolArray) -> list[list[int]]:
    """Return, for each template, the compatible ones that come after it."""
    place = np.empty(len(order), dtype=np.int64)
    place[list(order)] = np.arange(len(order))
    near = compatible & (place[:, None] < place[None, :])
    ends = np.cumsum(near.sum(axis=1))[:-1]
    return [part.tolist() for part in np.split(np.nonzero(near)[1], ends)]


def _step(
    vertex: int,
    below: list[int],
    steps: list[EliminationStep],
    later: list[int],
    compatible: BoolArray,
    limit: int,
) -> EliminationStep:
    children = tuple(sorted(below, key=lambda n: steps[n].entries, reverse=True))
    product = _product([steps[n] for n in children])
    near, had = set(later), set(product.dims)
    own = [d for d in product.dims if d not in near and d != vertex]
    shared = [d for d in product.dims if d in near]
    above = [d for d in later if d not in had]
    members = np.array(shared + above, dtype=np.int64)
    cliques, pairs = _choices(compatible, members, len(own), len(shared), limit)
    dims = (*own, *shared, *above)
    return EliminationStep(
        vertex,
        children,
        product.joins,
        product.dims.index(vertex) if vertex in had else ABSENT,
        _positions(own + shared, product.dims),
        len(own),
        members,
        dims,
        cliques,
        pairs,
        min(product.entries * (cliques + 1.0), 2.0 ** len(dims)),
    )


def _choices(
    compatible: BoolArray, members: IntArray, own: int, shared: int, limit: int
) -> tuple[int, float]:
    """Return the number of cells, and of pairs of one and a disjoint subset of T's bits."""
    if len(members) < 63:
        cliques, share = count_cliques(compatible, members, shared, limit)
        if cliques >= 0:
            return cliques, math.ldexp(share, own + shared)
    return 1 << len(members), 2.0**own * 3.0**shared * 2.0 ** (len(members) - shared)


def _children_first(steps: list[EliminationStep]) -> list[EliminationStep]:
    """Return the same steps, each subtree in one piece, the child with the largest tables first.

    Fewer messages then wait for their parents at any time.
    """
    largest = [0] * len(steps)
    for n, step in enumerate(steps):
        largest[n] = max([len(step.dims), *(largest[child] for child in step.children)])
    roots = [n for n, step in enumerate(steps) if not step.dims]
    sequence: list[int] = []
    stack = roots
    while stack:
        sequence.append(n := stack.pop())
        stack.extend(sorted(steps[n].children, key=lambda child: largest[child], reverse=True))
    sequence.reverse()
    place = {n: k for k, n in enumerate(sequence)}
    return [
        replace(steps[n], children=tuple(place[child] for child in steps[n].children))
        for n in sequence
    ]


DEGREE, FILL = 0, 1


@kernel(inline="always")
def bit_count(word):  # type: ignore[no-untyped-def]
    """Return the number of bits of a `word` that are set."""
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
    """Fill `mark` (a row): whose score may have changed, the neighbours and, if wide, theirs."""
    mark[:] = 0
    for k in range(size):
        other = neighbours[k]
        mark[other >> 6] |= np.uint64(1) << np.uint64(other & 63)
        if wide:
            mark |= rows[other]


@kernel()
def _score(rows, vertex, rule, found):  # type: ignore[no-untyped-def]
    """Return the score of eliminating a template now (`rule`: FILL or degree) and words read."""
    if rule == FILL:
        return _missing(rows, vertex, found)
    return _listed(rows[vertex], found), 1


@kernel()
def _least(alive, score, visit):  # type: ignore[no-untyped-def]
    """Return the template `alive` with the least score, the first one in `visit` among equals."""
    best = -1
    for vertex in visit:
        if alive[vertex] and (best < 0 or score[vertex] < score[best]):
            best = vertex
    return best


@kernel(entry="u8[:,:], i8[:], i8, i8, i8")
def eliminate(rows, visit, rule, widest, patience):  # type: ignore[no-untyped-def]
    """Return an order in which each next template has the least degree or fill, as the `rule` says.

    Ends early, with a shorter order, at a template with more than `widest` neighbours or when
    `patience` words have been read. The rows are used up; `visit` breaks ties.
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


@kernel(entry="u8[:,:]")
def degeneracy(rows):  # type: ignore[no-untyped-def]
    """Return the largest least degree of any part of the graph `rows`: no order is narrower."""
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


@kernel(entry="b1[:,:], i8[:], i8, i8")
def count_cliques(compatible, members, known, limit):  # type: ignore[no-untyped-def]
    """Return the number of cliques, and Σ 2^-(how many of its first `known` each holds).

    Cliques of `members`, where `compatible` (n × n) says which pairs may share a cell. The empty
    one counts; after `limit` cliques it gives up and says so by the count -1.
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
