"""Orders of values: which are more general than others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.core import FloatArray, IntArray
from partita.errors import InputError
from partita.templates.slots import symbol

Names = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Nesting:
    """The more general and the more specific values of each value, by name.

    `written` are names as the hierarchy spells them.
    """

    above: Names
    below: Names
    written: Mapping[str, str] = field(default_factory=dict)

    def __contains__(self, name: object) -> bool:
        return name in self.above

    @classmethod
    def of(cls, names: Mapping[str, str], parents: Mapping[str, str]) -> Nesting:
        """Make a nesting of nodes with names, and the parent of each node but the tops."""
        if cycle := find_cycle(parents):
            raise InputError(f"values form a cycle: {' > '.join(names[n] for n in cycle)}")
        above: dict[str, frozenset[str]] = {}
        for node, name in names.items():
            over = {names[high] for high in _ancestors(node, parents)}
            above[name] = above.get(name, frozenset()) | (over - {name})
        return cls(above, _inverse(above))

    def deepest(self, names: list[str]) -> str | None:
        """Return the name that all the others are above of, or None."""
        deepest = [n for n in names if all(m == n or m in self.above.get(n, ()) for m in names)]
        return deepest[0] if deepest else None


def find_cycle(parents: Mapping[str, str]) -> list[str]:
    """Return the nodes of a cycle, each followed by its parent; none if there is no cycle."""
    checked: set[str] = set()
    for node in parents:
        path: dict[str, None] = {}
        step: str | None = node
        while step is not None and step not in checked and step not in path:
            path[step] = None
            step = parents.get(step)
        if step in path:
            nodes = list(path)
            return nodes[nodes.index(step) :]
        checked |= path.keys()
    return []


def deepest(text: str, values: frozenset[str], nesting: Nesting | None = None) -> str:
    """Return a value, or the deepest of a path of values such as Minneapolis,Minnesota,USA.

    A path is what nobody says as a whole; without a hierarchy it goes from inside out.
    """
    whole = symbol(text)
    if whole in values or (nesting is not None and whole in nesting) or "," not in whole:
        return whole
    parts = [symbol(part) for part in text.split(",")]
    return (nesting.deepest(parts) if nesting is not None else None) or parts[0]


def _ancestors(node: str, parents: Mapping[str, str]) -> Iterator[str]:
    """Yield the nodes above one, from inside out."""
    while (parent := parents.get(node)) is not None:
        yield parent
        node = parent


def _inverse(above: Names) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {name: set() for name in above}
    for name, names in above.items():
        for high in names:
            below[high].add(name)
    return {name: frozenset(names) for name, names in below.items()}


MAX_COMPARED = 200  # distinct values compared for one object


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """For each value those above it (a flat array, by `starts`), and what is below it.

    Numbers from the count of stated values on are values that no source states. `leaf` says which
    values have nothing below them; `below` is the share of all leaves and of all inner values below
    a value; `heights` is the number of less exact ways to state a value.
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
        """Return how many values a source could state."""
        return self.leaves + self.inner


def flat_order(count: int, size: int) -> Order:
    """Return an order of `count` values of `size` possible ones, none above another."""
    zeros = np.zeros(count, dtype=np.int64)
    starts = np.zeros(count + 1, dtype=np.int64)
    shares = np.zeros((count, 2))
    return Order(zeros[:0], starts, zeros, zeros + 1, shares, size, 0)


def nested_order(values: Sequence[str], nesting: Nesting) -> Order:
    """Return the order by a hierarchy; values it does not list are unrelated to all others."""
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
    """Return an order in which values stated about one object may include each other."""
    above: dict[int, set[int]] = {}
    for values in _by_object(*pairs):
        for low in values:
            more_general = {high for high in values if high != low and general(high, low)}
            above[low] = above.get(low, set()) | more_general
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
    """Yield the distinct values of every object that has more than one."""
    for group in np.split(values, np.flatnonzero(np.diff(objects)) + 1):
        if len(group) > 1:
            yield group[:MAX_COMPARED].tolist()
