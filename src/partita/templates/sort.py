"""The slot type of sorts: a conjunction of sorts, none of which follows from another.

a ⊓ b = the most specific of a ∪ b. A thing known as MEDICAL and as MILITARY is both; that it
is a MILITARY HOSPITAL, because this is the only sort listed below both, does not follow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from partita.errors import InputError
from partita.templates.slots import Json, coherent, plain
from partita.templates.sorts import Hierarchy
from partita.templates.words import symbol, texts


@dataclass(frozen=True, slots=True)
class Sort:
    names: frozenset[str]

    def json(self) -> Json:
        return plain(self.names)

    def __str__(self) -> str:
        return " & ".join(sorted(self.names))


@dataclass(frozen=True, slots=True)
class SortType:
    """Sorts of a hierarchy; where `under` is given, only those that it subsumes."""

    hierarchy: Hierarchy
    under: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "under", symbol(self.under))
        if self.under and self.under not in self.hierarchy:
            raise InputError(f"unknown sort {self.under} over a slot")

    @property
    def expects(self) -> str:
        return f"a sort under {self.under}" if self.under else "a sort of the hierarchy"

    def read(self, given: object) -> Sort:
        names = given.names if isinstance(given, Sort) else texts(given, self.expects)
        sorts = frozenset(map(symbol, names))
        if not all(map(self._admits, sorts)):
            raise InputError(f"{_shown(names)} is not {self.expects}")
        if coherent(sorts, sorts, self.hierarchy.compatible) is None:
            raise InputError(f"{_shown(names)} are sorts that exclude each other")
        return Sort(self._strictest(sorts))

    def unify(self, left: Sort, right: Sort) -> Sort | None:
        names = coherent(left.names, right.names, self.hierarchy.compatible)
        return None if names is None else Sort(self._strictest(names))

    def _admits(self, name: str) -> bool:
        return name in self.hierarchy and (
            not self.under or self.hierarchy.subsumes(self.under, name)
        )

    def _strictest(self, names: frozenset[str]) -> frozenset[str]:
        implied = (self.hierarchy.above[name] - {name} for name in names)
        return names.difference(*implied)


def _shown(names: Iterable[str]) -> str:
    return " & ".join(repr(name) for name in sorted(names))
