"""Which values of a slot are more general than others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.errors import InputError
from partita.records import FloatArray, IntArray

Names = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Nesting:
    """What is more general than each value, and what more special, by name."""

    above: Names
    below: Names

    def __contains__(self, name: object) -> bool:
        return name in self.above

    @classmethod
    def of(cls, names: Mapping[str, str], parents: Mapping[str, str]) -> Nesting:
        """From nodes with their names and the node above each; a top has none."""
        lines: dict[str, frozenset[str]] = {}
        for node in names:
            _climb(node, names, parents, lines)
        above: dict[str, frozenset[str]] = {}
        for node, name in names.items():
            above[name] = above.get(name, frozenset()) | (lines[node] - {name})
        return cls(above, _turned(above))

    def deepest(self, names: list[str]) -> str | None:
        """The one that all others are above of."""
        found = [n for n in names if all(m == n or m in self.above.get(n, ()) for m in names)]
        return found[0] if found else None


def _climb(
    node: str,
    names: Mapping[str, str],
    parents: Mapping[str, str],
    lines: dict[str, frozenset[str]],
) -> None:
    """The names above a node, and above every node on the way that had none yet."""
    way = [node]
    while (up := parents.get(way[-1])) is not None and way[-1] not in lines:
        if up in way:
            circle = " > ".join(names[n] for n in way[way.index(up) :])
            raise InputError(f"values form a cycle: {circle}")
        way.append(up)
    for n in reversed(way):
        if n not in lines:
            up = parents.get(n)
            lines[n] = frozenset() if up is None else lines[up] | {names[up]}


def _turned(above: Names) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {name: set() for name in above}
    for name, names in above.items():
        for high in names:
            below[high].add(name)
    return {name: frozenset(names) for name, names in below.items()}


MANY = 200  # different values of one object; more are not compared with each other


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Of every value those above it (flat, by `starts`), and what lies below it.

    Numbers from the count of said values on stand for values that nobody said. `leaf` tells which
    values have nothing below them, `below` the shares of all leaves and of all inner values that
    lie below a value; `heights` is how many ways there are to say a value less exactly.
    """

    above: IntArray
    starts: IntArray
    heights: IntArray
    leaf: IntArray
    below: FloatArray
    leaves: int
    inner: int

    @property
    def size(self) -> int:
        """How many values a source could have said."""
        return self.leaves + self.inner


def flat_order(count: int, size: int) -> Order:
    """Values none of which is above another, of so many possible ones."""
    zeros = np.zeros(count, dtype=np.int64)
    starts = np.zeros(count + 1, dtype=np.int64)
    shares = np.zeros((count, 2))
    return Order(zeros[:0], starts, zeros, zeros + 1, shares, size, 0)


def nested_order(values: Sequence[str], nesting: Nesting) -> Order:
    """By a hierarchy; a value that it does not list has nothing above or below it."""
    names = [*values, *sorted(nesting.above.keys() - set(values))]
    place = {name: n for n, name in enumerate(names)}
    leaf_names = {name for name, below in nesting.below.items() if not below}
    leaves = len(leaf_names) + sum(1 for value in values if value not in nesting)
    inner = len(nesting.below) - len(leaf_names)
    nothing: frozenset[str] = frozenset()
    over = [sorted(nesting.above.get(value, nothing)) for value in values]
    below = [_shares(nesting.below.get(value, nothing), leaf_names) for value in values]
    return Order(
        np.array([place[name] for above in over for name in above], dtype=np.int64),
        np.cumsum([0, *map(len, over)]),
        np.array([len(above) for above in over], dtype=np.int64),
        np.array([v in leaf_names or v not in nesting for v in values], dtype=np.int64),
        np.array(below, dtype=float).reshape(-1, 2) / [max(leaves, 1), max(inner, 1)],
        leaves,
        inner,
    )


def _shares(names: frozenset[str], leaf_names: set[str]) -> tuple[int, int]:
    leaves = len(names & leaf_names)
    return leaves, len(names) - leaves


def object_order(
    pairs: tuple[IntArray, IntArray],
    count: int,
    size: int,
    general: Callable[[int, int], bool],
    heights: IntArray,
) -> Order:
    """Values of which some that are said of one object are more general than others."""
    above: dict[int, set[int]] = {}
    for values in _by_object(*pairs):
        for low in values:
            found = {high for high in values if high != low and general(high, low)}
            above[low] = above.get(low, set()) | found
    over = [sorted(above.get(n, ())) for n in range(count)]
    return Order(
        np.array([n for row in over for n in row], dtype=np.int64),
        np.cumsum([0, *map(len, over)]),
        heights,
        np.ones(count, dtype=np.int64),
        np.zeros((count, 2)),
        size,
        0,
    )


def _by_object(objects: IntArray, values: IntArray) -> Iterator[list[int]]:
    """The different values of every object that has more than one; of very many the first."""
    for group in np.split(values, np.flatnonzero(np.diff(objects)) + 1):
        if len(group) > 1:
            yield group[:MANY].tolist()
