"""A hierarchy of sorts, a directed acyclic graph: which subsume, and which exclude each other.

Siblings are disjoint, and so are their descendants, unless something lies below both:
x, y compatible ⇔ nothing above them is declared disjoint, and they meet (a common descendant,
or overlapping sorts, below them) or all siblings a ⊒ x, b ⊒ y are declared overlapping.
Compatibility is thereby inherited upwards, which keeps unification associative.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import product

from partita.errors import InputError
from partita.templates.words import symbol

Parents = str | Iterable[str] | None
Sets = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Sorts with their parents, ancestors (`above`) and descendants (`below`), self included."""

    parents: Sets = field(default_factory=dict)
    above: Sets = field(default_factory=dict)
    below: Sets = field(default_factory=dict)
    disjoint: Sets = field(default_factory=dict)
    overlapping: Sets = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        parents: Mapping[str, Parents] | Iterable[tuple[str, Parents]],
        disjoint: Iterable[tuple[str, str]] = (),
        overlapping: Iterable[tuple[str, str]] = (),
    ) -> Hierarchy:
        """From each sort's parents; sorts without a parent are siblings of each other."""
        given = _declared(parents.items() if isinstance(parents, Mapping) else parents)
        above = _above(given)
        links = {name: _nearest(above_it, above) for name, above_it in given.items()}
        apart, across = _pairs(disjoint, links), _pairs(overlapping, links)
        made = cls(links, above, _turned(above), apart, across)
        made._check()
        return made

    def __contains__(self, name: object) -> bool:
        return name in self.parents

    def subsumes(self, general: str, special: str) -> bool:
        return general in self.above[special]

    def compatible(self, x: str, y: str) -> bool:
        """Nothing in the hierarchy says that an x is no y."""
        if x in self.above[y] or y in self.above[x]:
            return True
        if self._apart(x, y):
            return False
        return self._meet(x, y) or self._loose(x, y)

    def _apart(self, x: str, y: str) -> bool:
        """Declared disjoint, themselves or above."""
        above = self.above[y]
        return any(not above.isdisjoint(self.disjoint.get(a, ())) for a in self.above[x])

    def _meet(self, x: str, y: str) -> bool:
        """Something is known to be both: a sort below, or two that are declared overlapping."""
        under = self.below[y]
        if not under.isdisjoint(self.below[x]):
            return True
        if not self.overlapping:
            return False
        return any(not under.isdisjoint(self.overlapping.get(a, ())) for a in self.below[x])

    def _loose(self, x: str, y: str) -> bool:
        """Wherever their lines part, they part into siblings that are declared overlapping."""
        if not self.overlapping:
            return False
        return all(b in self.overlapping.get(a, ()) for a, b in self._siblings(x, y))

    def _siblings(self, x: str, y: str) -> Iterator[tuple[str, str]]:
        """All siblings a, b with a above x and b above y, even if a is above y as well."""
        for a, b in product(self.above[x], self.above[y]):
            if a != b and _are_siblings(self.parents[a], self.parents[b]):
                yield a, b

    def _check(self) -> None:
        for a, b in _listed(self.overlapping):
            if a == b or not _are_siblings(self.parents[a], self.parents[b]):
                raise InputError(f"sorts {a} and {b} cannot overlap: they are not siblings")
        for a, b in _listed(self.disjoint):
            if self._meet(a, b):
                both = min(self.below[a] & self.below[b], default="an overlap")
                raise InputError(f"sorts {a} and {b} cannot be disjoint: {both} is in both")


def _declared(given: Iterable[tuple[str, Parents]]) -> dict[str, frozenset[str]]:
    """Each sort once, with parents that are sorts too."""
    declared: dict[str, frozenset[str]] = {}
    for name, parents in given:
        if (sort := symbol(name)) in declared or not sort:
            raise InputError(f"sort {sort} is declared twice" if sort else "a sort has no name")
        several = [parents] if isinstance(parents, str) else parents or ()
        declared[sort] = frozenset(map(symbol, several))
    for sort, parents_of in declared.items():
        if unknown := sorted(parents_of - declared.keys()):
            raise InputError(f"sort {sort} has an unknown parent {unknown[0]}")
    return declared


def _above(parents: Sets) -> dict[str, frozenset[str]]:
    """The ancestors of each sort and itself, parents before children."""
    above: dict[str, frozenset[str]] = {}
    try:
        for name in TopologicalSorter(parents).static_order():
            above[name] = frozenset({name}).union(*(above[p] for p in parents[name]))
    except CycleError as error:
        raise InputError(f"sorts go in a circle: {' > '.join(error.args[1])}") from None
    return above


def _nearest(parents: frozenset[str], above: Sets) -> frozenset[str]:
    """Parents that are not above another parent: a redundant link makes no sibling."""
    return frozenset(p for p in parents if not any(p in above[q] for q in parents - {p}))


def _turned(above: Sets) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {name: set() for name in above}
    for name, ancestors in above.items():
        for ancestor in ancestors:
            below[ancestor].add(name)
    return {name: frozenset(names) for name, names in below.items()}


def _pairs(given: Iterable[tuple[str, str]], known: Sets) -> dict[str, frozenset[str]]:
    """Declared pairs as a symmetric mapping."""
    partners: dict[str, frozenset[str]] = {}
    for pair in given:
        left, right = map(symbol, pair)
        if unknown := [name for name in (left, right) if name not in known]:
            raise InputError(f"unknown sort {unknown[0]} in the pair {left}, {right}")
        for a, b in ((left, right), (right, left)):
            partners[a] = partners.get(a, frozenset()) | {b}
    return partners


def _listed(pairs: Sets) -> list[tuple[str, str]]:
    return sorted((a, b) for a, others in pairs.items() for b in others if a <= b)


def _are_siblings(left: frozenset[str], right: frozenset[str]) -> bool:
    """They share a parent, or neither has one."""
    return not left.isdisjoint(right) or (not left and not right)
