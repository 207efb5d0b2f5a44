"""The protocol of slot types: they parse values and unify two; comparison follows from that.

a ⊑ b (a is more specific) ⇔ a ⊓ b = a; distinct ⇔ a ⊓ b is not defined.
Every slot type is closed under pairs: values that unify two by two unify all together, so
that each cell without an incompatible pair has a merged template.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TypeVar

Json = str | int | list[str]
Comparison = Literal["identical", "more general", "more specific", "compatible", "distinct"]


class Value(Protocol):
    """A frozen, hashable value; `str` gives a readable form, and equal values are identical."""

    def json(self) -> Json:
        """Return the plain form, which the slot type reads back."""

    def __hash__(self) -> int: ...


V = TypeVar("V", bound=Value)


class SlotType(Protocol[V]):
    """The kind of values of a slot."""

    @property
    def expects(self) -> str:
        """A noun phrase with article for error messages."""

    def read(self, value: object) -> V:
        """Return the value of a plain form, or raise InputError."""

    def unify(self, left: V, right: V) -> V | None:
        """Return the most general value that both subsume, or None if they are distinct."""


def compare(slot: SlotType[V], left: V, right: V) -> Comparison:
    """Return what the left value is to the right one."""
    unified = slot.unify(left, right)
    if unified is None:
        return "distinct"
    if left == right:
        return "identical"
    if unified == left:
        return "more specific"
    return "more general" if unified == right else "compatible"


def compatible_union(
    left: frozenset[str], right: frozenset[str], fit: Callable[[str, str], bool]
) -> frozenset[str] | None:
    """Return the union, or None if a member of one does not fit a member of the other."""
    for a in left:
        for b in right:
            if not fit(a, b):
                return None
    return left | right


def plain_texts(members: frozenset[str]) -> Json:
    """Return a single text as it is, several as a sorted list."""
    return next(iter(members)) if len(members) == 1 else sorted(members)
