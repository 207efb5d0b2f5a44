"""What a slot type is: it reads values and unifies two; the comparison follows from that.

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
    """A frozen, hashable value; its `str` is for people, and two are identical when equal."""

    def json(self) -> Json:
        """The plain form, which the slot type reads back."""

    def __hash__(self) -> int: ...


V = TypeVar("V", bound=Value)


class SlotType(Protocol[V]):
    """The kind of values that a slot takes."""

    @property
    def expects(self) -> str:
        """What a value must be, with its article, for messages to people."""

    def read(self, given: object) -> V:
        """The value from its plain form, or InputError."""

    def unify(self, left: V, right: V) -> V | None:
        """The most general value that both subsume, or None if they are distinct."""


def compare(slot: SlotType[V], left: V, right: V) -> Comparison:
    """What the left value is to the right one."""
    both = slot.unify(left, right)
    if both is None:
        return "distinct"
    if left == right:
        return "identical"
    if both == left:
        return "more specific"
    return "more general" if both == right else "compatible"


def coherent(
    left: frozenset[str], right: frozenset[str], fit: Callable[[str, str], bool]
) -> frozenset[str] | None:
    """The union, or None if a member of one does not fit a member of the other."""
    for a in left:
        for b in right:
            if not fit(a, b):
                return None
    return left | right


def plain(members: frozenset[str]) -> Json:
    """One text as it is, several as a list in order."""
    return next(iter(members)) if len(members) == 1 else sorted(members)
