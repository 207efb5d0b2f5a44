"""A hierarchy of values in which one name may stand for several things: MEXICO, state and country.

above(v) = names on the way up from every node that is called v, v itself left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from partita.errors import InputError

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

    @classmethod
    def simple(cls, parents: Mapping[str, str]) -> Nesting:
        """From names that each stand for one thing."""
        names = {name: name for pair in parents.items() for name in pair}
        return cls.of(names, parents)

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
            raise InputError(f"values go in a circle: {circle}")
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
