"""The steps of an elimination, template after template, and compiled loops that count cliques."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from partita.compilation import kernel
from partita.core import BoolArray, IntArray

ABSENT = -1  # in place of a bit
CLIQUES = 2_000_000  # so many are counted along one order; then every subset counts as one


@dataclass(frozen=True, slots=True, eq=False)
class EliminationStep:
    """One template eliminated: the table T before it becomes the message after it.

    Both are over the covered subsets of templates that are still to come; bit j of the message is
    the template `dims[j]`. Bits are first those that no cell of this step holds (`own`), then its
    later neighbours (`members`), of which some are bits of T already: `table` says where T has the
    bits that both have. `bit` is the template's own bit in T, ABSENT if it has none. `cliques` and
    `pairs` bound how many cells there are to choose from, and how many pairs of a cell and a
    disjoint subset of T's bits.
    """

    vertex: int
    bit: int
    table: IntArray
    own: int
    members: IntArray
    dims: tuple[int, ...]
    cliques: int
    pairs: float

    @property
    def bits(self) -> int:
        """The number of the message's bits that are bits of T."""
        return len(self.table)


def steps(order: Sequence[int], compatible: BoolArray, widest: int) -> list[EliminationStep] | None:
    """Return the steps; None if a message has more than `widest` bits."""
    later = _later(order, compatible)
    result: list[EliminationStep] = []
    dims: tuple[int, ...] = ()
    left = CLIQUES
    for vertex in order:
        if len({*dims, *later[vertex]} - {vertex}) > widest:
            return None
        step = _step(vertex, dims, later[vertex], compatible, left)
        result.append(step)
        dims = step.dims
        left -= min(left, step.cliques)
    return result


def _later(order: Sequence[int], compatible: BoolArray) -> list[list[int]]:
    """Return, for each template, the compatible ones that come after it."""
    place = np.empty(len(order), dtype=np.int64)
    place[list(order)] = np.arange(len(order))
    near = compatible & (place[:, None] < place[None, :])
    ends = np.cumsum(near.sum(axis=1))[:-1]
    return [part.tolist() for part in np.split(np.nonzero(near)[1], ends)]


def _step(
    vertex: int, before: tuple[int, ...], later: list[int], compatible: BoolArray, limit: int
) -> EliminationStep:
    near, had = set(later), set(before)
    own = [d for d in before if d not in near and d != vertex]
    shared = [d for d in before if d in near]
    above = [d for d in later if d not in had]
    members = np.array(shared + above, dtype=np.int64)
    cliques, pairs = _choices(compatible, members, len(own), len(shared), limit)
    return EliminationStep(
        vertex,
        before.index(vertex) if vertex in had else ABSENT,
        np.array([before.index(d) for d in own + shared], dtype=np.int64),
        len(own),
        members,
        (*own, *shared, *above),
        cliques,
        pairs,
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


@kernel(inline="always")
def bit_count(word):  # type: ignore[no-untyped-def]
    """Return the number of bits of a `word` that are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


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
