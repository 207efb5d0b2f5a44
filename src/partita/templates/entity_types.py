"""A hierarchy of types, a directed acyclic graph: which types subsume or exclude each other.

Siblings and their descendants are disjoint unless they share a descendant:
x, y compatible ⇔ nothing above them is declared disjoint, and they meet (a common descendant,
or overlapping types, below them) or all siblings a ⊒ x, b ⊒ y are declared overlapping.
Compatibility is thereby inherited upwards, which keeps unification associative.

The slot type of such a hierarchy holds conjunctions of types, none of which subsumes another:
a ⊓ b = the most specific types of a ∪ b. MEDICAL and MILITARY unify to both; the result is not
MILITARY HOSPITAL, even if that is the only type listed below both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import product

from partita.errors import InputError
from partita.templates.slots import NameSet, compatible_union, symbol, text_list

Parents = str | Iterable[str] | None
Sets = Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Types with their parents, ancestors (`above`) and descendants (`below`), self included."""

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
        """Return the hierarchy of types with these parents; types without a parent are siblings."""
        declared = _declared_parents(parents.items() if isinstance(parents, Mapping) else parents)
        above = _ancestors(declared)
        links = {name: _direct_parents(above_it, above) for name, above_it in declared.items()}
        apart, across = _partners(disjoint, links), _partners(overlapping, links)
        hierarchy = cls(links, above, _inverted(above), apart, across)
        hierarchy._check()
        return hierarchy

    def __contains__(self, name: object) -> bool:
        return name in self.parents

    def subsumes(self, general: str, special: str) -> bool:
        return general in self.above[special]

    def compatible(self, x: str, y: str) -> bool:
        """Return whether the hierarchy allows an x to be a y."""
        if x in self.above[y] or y in self.above[x]:
            return True
        if self._declared_disjoint(x, y):
            return False
        return self._meet(x, y) or self._siblings_overlap(x, y)

    def _declared_disjoint(self, x: str, y: str) -> bool:
        """Return whether the types, or types above them, are declared disjoint."""
        above = self.above[y]
        return any(not above.isdisjoint(self.disjoint.get(a, ())) for a in self.above[x])

    def _meet(self, x: str, y: str) -> bool:
        """Return whether something is both: a type below, or two that are declared overlapping."""
        under = self.below[y]
        if not under.isdisjoint(self.below[x]):
            return True
        if not self.overlapping:
            return False
        return any(not under.isdisjoint(self.overlapping.get(a, ())) for a in self.below[x])

    def _siblings_overlap(self, x: str, y: str) -> bool:
        """Return whether all siblings above them are declared overlapping."""
        if not self.overlapping:
            return False
        return all(b in self.overlapping.get(a, ()) for a, b in self._siblings(x, y))

    def _siblings(self, x: str, y: str) -> Iterator[tuple[str, str]]:
        """Yield all siblings a, b with a above x and b above y, even if a is above y as well."""
        for a, b in product(self.above[x], self.above[y]):
            if a != b and _are_siblings(self.parents[a], self.parents[b]):
                yield a, b

    def _check(self) -> None:
        for a, b in _sorted_pairs(self.overlapping):
            if a == b or not _are_siblings(self.parents[a], self.parents[b]):
                raise InputError(f"sorts {a} and {b} cannot overlap: they are not siblings")
        for a, b in _sorted_pairs(self.disjoint):
            if self._meet(a, b):
                both = min(self.below[a] & self.below[b], default="an overlap")
                raise InputError(f"sorts {a} and {b} cannot be disjoint: {both} is in both")


def _declared_parents(types: Iterable[tuple[str, Parents]]) -> dict[str, frozenset[str]]:
    """Return the parents of each type, checked for duplicate and unknown types."""
    declared: dict[str, frozenset[str]] = {}
    for name, parents in types:
        if (entity_type := symbol(name)) in declared or not entity_type:
            raise InputError(
                f"sort {entity_type} is declared twice" if entity_type else "a sort has no name"
            )
        names = [parents] if isinstance(parents, str) else parents or ()
        declared[entity_type] = frozenset(map(symbol, names))
    for entity_type, parents_of in declared.items():
        if unknown := sorted(parents_of - declared.keys()):
            raise InputError(f"sort {entity_type} has an unknown parent {unknown[0]}")
    return declared


def _ancestors(parents: Sets) -> dict[str, frozenset[str]]:
    """Return the ancestors of each type, itself included."""
    above: dict[str, frozenset[str]] = {}
    try:
        for name in TopologicalSorter(parents).static_order():
            above[name] = frozenset({name}).union(*(above[p] for p in parents[name]))
    except CycleError as error:
        raise InputError(f"circular sorts: {' > '.join(error.args[1])}") from None
    return above


def _direct_parents(parents: frozenset[str], above: Sets) -> frozenset[str]:
    """Return the parents that are not above another parent."""
    return frozenset(p for p in parents if not any(p in above[q] for q in parents - {p}))


def _inverted(above: Sets) -> dict[str, frozenset[str]]:
    below: dict[str, set[str]] = {name: set() for name in above}
    for name, ancestors in above.items():
        for ancestor in ancestors:
            below[ancestor].add(name)
    return {name: frozenset(names) for name, names in below.items()}


def _partners(pairs: Iterable[tuple[str, str]], types: Sets) -> dict[str, frozenset[str]]:
    """Return declared pairs as a symmetric mapping."""
    partners: dict[str, frozenset[str]] = {}
    for pair in pairs:
        left, right = map(symbol, pair)
        if unknown := [name for name in (left, right) if name not in types]:
            raise InputError(f"unknown sort {unknown[0]} in the pair {left}, {right}")
        for a, b in ((left, right), (right, left)):
            partners[a] = partners.get(a, frozenset()) | {b}
    return partners


def _sorted_pairs(pairs: Sets) -> list[tuple[str, str]]:
    return sorted((a, b) for a, others in pairs.items() for b in others if a <= b)


def _are_siblings(left: frozenset[str], right: frozenset[str]) -> bool:
    """Return whether two types share a parent, or both have none."""
    return not left.isdisjoint(right) or (not left and not right)


@dataclass(frozen=True, slots=True)
class EntityType(NameSet):
    """One type, or several that something has at once."""


@dataclass(frozen=True, slots=True)
class HierarchyType:
    """Types of a hierarchy; with `under`, only those that it subsumes."""

    hierarchy: Hierarchy
    under: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "under", symbol(self.under))
        if self.under and self.under not in self.hierarchy:
            raise InputError(f"unknown sort {self.under} for a slot")

    @property
    def expects(self) -> str:
        return f"a sort under {self.under}" if self.under else "a sort of the hierarchy"

    def read(self, value: object) -> EntityType:
        names = value.names if isinstance(value, EntityType) else text_list(value, self.expects)
        types = frozenset(map(symbol, names))
        if not all(map(self._admits, types)):
            raise InputError(f"{_joined(names)} is not {self.expects}")
        if compatible_union(types, types, self.hierarchy.compatible) is None:
            raise InputError(f"{_joined(names)} are mutually exclusive sorts")
        return EntityType(self._strictest(types))

    def unify(self, left: EntityType, right: EntityType) -> EntityType | None:
        names = compatible_union(left.names, right.names, self.hierarchy.compatible)
        return None if names is None else EntityType(self._strictest(names))

    def _admits(self, name: str) -> bool:
        return name in self.hierarchy and (
            not self.under or self.hierarchy.subsumes(self.under, name)
        )

    def _strictest(self, names: frozenset[str]) -> frozenset[str]:
        implied = (self.hierarchy.above[name] - {name} for name in names)
        return names.difference(*implied)


def _joined(names: Iterable[str]) -> str:
    return " & ".join(repr(name) for name in sorted(names))
