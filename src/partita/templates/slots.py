"""The protocol of slot types: they parse values and unify two; comparison follows from that.

a ⊑ b (a is more specific) ⇔ a ⊓ b = a; distinct ⇔ a ⊓ b is not defined.
Every slot type is closed under pairs: values that unify two by two unify all together, so
that each cell without an incompatible pair has a merged template.

The type of strings, sets that all hold, is here too: a ⊓ b = a ∪ b. With `several=False` a slot
holds one string, and two different strings are distinct.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar, cast

from partita.errors import InputError

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


def fit(slot: SlotType[V], left: V, right: V) -> V | None:
    """Return the values of two sources unified, or None if they contradict each other.

    Two mentions of a message may have different states, since a state changes; for two sources this
    is a contradiction, which their days may explain.
    """
    if isinstance(slot, StringsType) and slot.contradict(cast(Strings, left), cast(Strings, right)):
        return None
    return slot.unify(left, right)


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


@dataclass(frozen=True, slots=True)
class NameSet:
    """Names that hold at once."""

    names: frozenset[str]

    def json(self) -> Json:
        return plain_texts(self.names)

    def __str__(self) -> str:
        return " & ".join(sorted(self.names))


def plain_texts(members: frozenset[str]) -> Json:
    """Return a single text as it is, several as a sorted list."""
    return next(iter(members)) if len(members) == 1 else sorted(members)


def symbol(text: str) -> str:
    """Return a text in upper case and Unicode normal form with single spaces."""
    while (again := " ".join(unicodedata.normalize("NFKC", text).upper().split())) != text:
        text = again  # upper case can undo the normal form, so repeat until stable
    return text


def text_list(value: object, expects: str) -> list[str]:
    """Return one or several non-empty texts as a list."""
    members = list(value) if isinstance(value, list | tuple | set | frozenset) else [value]
    strings = [member for member in members if isinstance(member, str) and member.strip()]
    if strings and len(strings) == len(members):
        return strings
    raise InputError(f"{value!r} is not {expects}")


@dataclass(frozen=True, slots=True)
class Aliases:
    """Groups of names for the same thing; the first of each group is the canonical name."""

    first: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, groups: Iterable[Iterable[str]]) -> Aliases:
        first: dict[str, str] = {}
        forms: dict[str, tuple[str, ...]] = {}
        for group in groups:
            if not (names := tuple(dict.fromkeys(map(symbol, group)))):
                continue
            if duplicates := [name for name in names if name in first]:
                raise InputError(f"alias {duplicates[0]!r} is in two groups")
            forms[names[0]] = names
            first.update(dict.fromkeys(names, names[0]))
        return cls(first, forms)

    def canonical(self, text: str) -> str:
        """Return the canonical name of a text."""
        name = symbol(text)
        return self.first.get(name, name)

    def all(self, name: str) -> tuple[str, ...]:
        """Return every form of a canonical name."""
        return self.forms.get(name, (name,))


@dataclass(frozen=True, slots=True)
class Strings:
    members: frozenset[str]

    def json(self) -> Json:
        return sorted(self.members)

    def __str__(self) -> str:
        return "; ".join(sorted(self.members))


@dataclass(frozen=True, slots=True)
class StateGroup:
    """Values that exclude each other; a state hardly ever leaves the `absorbing` ones.

    What is in an absorbing state is also what is `implied`: destroyed, and so not operational.
    `lasts` is for how many days a state usually lasts, 0 if this is not known.
    """

    name: str
    values: tuple[str, ...]
    absorbing: frozenset[str] = frozenset()
    implied: frozenset[str] = frozenset()
    lasts: float = 0.0

    def __post_init__(self) -> None:
        if unknown := sorted(self.absorbing - {*self.values}):
            raise InputError(f"absorbing {unknown[0]} is no value of the states {self.name}")


def checked_groups(groups: Iterable[StateGroup]) -> tuple[StateGroup, ...]:
    """Return groups of which no two have a value in common, or raise an error."""
    listed = tuple(groups)
    seen: dict[str, str] = {}
    for group in listed:
        for value in group.values:
            if seen.setdefault(value, group.name) != group.name:
                raise InputError(f"{value} is in two groups, {seen[value]} and {group.name}")
    return listed


@dataclass(frozen=True, slots=True)
class StringsType:
    """Strings that all hold at once, one string, or strings with exclusive `groups` (states)."""

    several: bool = True
    groups: tuple[StateGroup, ...] = ()

    @property
    def expects(self) -> str:
        return "a string or a list of strings" if self.several else "one string"

    def read(self, value: object) -> Strings:
        members = value.members if isinstance(value, Strings) else text_list(value, self.expects)
        states = {value for group in self.groups for value in group.values}
        strings = frozenset(symbol(m) if symbol(m) in states else _normalise(m) for m in members)
        if len(strings) > 1 and not self.several:
            raise InputError(f"{sorted(strings)!r} is not {self.expects}")
        return Strings(strings)

    def unify(self, left: Strings, right: Strings) -> Strings | None:
        if not self.several and left != right:
            return None
        return Strings(left.members | right.members)

    def contradict(self, left: Strings, right: Strings) -> bool:
        """Return whether both have states of one group, and not the same ones."""
        return any(
            not _implies(group, left.members, right.members)
            and not _implies(group, right.members, left.members)
            for group in self.groups
        )

    def updated(self, earlier: Strings, later: Strings) -> Strings:
        """Return both, without earlier states of the groups that the later ones speak of.

        An absorbing state remains if the later ones are implied by it: a depot that was destroyed
        and is not operational is destroyed.
        """
        members = later.members.difference(*(
            group.implied for group in self.groups
            if _implies(group, earlier.members, later.members)
        ))  # fmt: skip
        old = {value for group in self.groups if members & {*group.values}
               for value in group.values}  # fmt: skip
        return Strings(members | (earlier.members - old))


def _implies(group: StateGroup, stated: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether the states of a group that the others say follow from the stated ones."""
    mine, theirs = ({*group.values} & members for members in (stated, other))
    return theirs <= mine | (group.implied if mine & group.absorbing else set())


def _normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
