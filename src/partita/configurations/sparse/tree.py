"""The steps of an elimination."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from partita.configurations.sparse.order_kernels import count_cliques
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
class Step:
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


def _product(children: Sequence[Step]) -> _Product:
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


def steps(order: Sequence[int], compatible: BoolArray, widest: int) -> list[Step] | None:
    """Return the steps, children first; None if a message has more than `widest` bits."""
    place = {vertex: n for n, vertex in enumerate(order)}
    later = _later(order, compatible)
    below: list[list[int]] = [[] for _ in order]
    result: list[Step] = []
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
    steps: list[Step],
    later: list[int],
    compatible: BoolArray,
    limit: int,
) -> Step:
    children = tuple(sorted(below, key=lambda n: steps[n].entries, reverse=True))
    product = _product([steps[n] for n in children])
    near, had = set(later), set(product.dims)
    own = [d for d in product.dims if d not in near and d != vertex]
    shared = [d for d in product.dims if d in near]
    above = [d for d in later if d not in had]
    members = np.array(shared + above, dtype=np.int64)
    cliques, pairs = _choices(compatible, members, len(own), len(shared), limit)
    dims = (*own, *shared, *above)
    return Step(
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


def _children_first(steps: list[Step]) -> list[Step]:
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
