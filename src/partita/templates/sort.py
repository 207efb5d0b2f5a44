"""Slot type: conjunctions of sorts, none of which subsumes another.

a ⊓ b = the most specific sorts of a ∪ b. MEDICAL and MILITARY unify to both; the result is not
MILITARY HOSPITAL, even if that is the only sort listed below both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from partita.errors import InputError
from partita.templates.slots import Json, compatible_union, plain_texts
from partita.templates.sorts import Hierarchy
from partita.templates.words import symbol, text_list


@dataclass(frozen=True, slots=True)
class Sort:
    names: frozenset[str]

    def json(self) -> Json:
        return plain_texts(self.names)

    def __str__(self) -> str:
        return " & ".join(sorted(self.names))


@dataclass(frozen=True, slots=True)
class SortType:
    """Sorts of a hierarchy; with `under`, only those that it subsumes."""

    hierarchy: Hierarchy
    under: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "under", symbol(self.under))
        if self.under and self.under not in self.hierarchy:
            raise InputError(f"unknown sort {self.under} for a slot")

    @property
    def expects(self) -> str:
        return f"a sort under {self.under}" if self.under else "a sort of the hierarchy"

    def read(self, value: object) -> Sort:
        names = value.names if isinstance(value, Sort) else text_list(value, self.expects)
        sorts = frozenset(map(symbol, names))
        if not all(map(self._admits, sorts)):
            raise InputError(f"{_joined(names)} is not {self.expects}")
        if compatible_union(sorts, sorts, self.hierarchy.compatible) is None:
            raise InputError(f"{_joined(names)} are mutually exclusive sorts")
        return Sort(self._strictest(sorts))

    def unify(self, left: Sort, right: Sort) -> Sort | None:
        names = compatible_union(left.names, right.names, self.hierarchy.compatible)
        return None if names is None else Sort(self._strictest(names))

    def _admits(self, name: str) -> bool:
        return name in self.hierarchy and (
            not self.under or self.hierarchy.subsumes(self.under, name)
        )

    def _strictest(self, names: frozenset[str]) -> frozenset[str]:
        implied = (self.hierarchy.above[name] - {name} for name in names)
        return names.difference(*implied)


def _joined(names: Iterable[str]) -> str:
    return " & ".join(repr(name) for name in sorted(names))
