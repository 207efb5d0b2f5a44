"""Slot types: names, and places of a gazetteer.

A name is a set of variants, a ⊓ b = a ∪ b. Two variants match if the words of one occur, in order,
among those of the other: KINSTON in KINSTON DEPOT, A. KEHLER in ANDREW KEHLER, IBM in INTERNATIONAL
BUSINESS MACHINES. A union is defined if any two of its variants match. The longer name is not more
specific: if KEHLER and ANDREW were both above ANDREW KEHLER, they would have to unify, and then so
would any two names.

Places are ordered by containment, a ⊓ b = the innermost of a ∪ b. Places of the gazetteer exclude
each other as types do. An unlisted place may lie in any place that contains others, but is not one
of the listed places: KINSTON may be in NORTH CAROLINA, not in FAIRVIEW.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from partita.errors import InputError
from partita.templates.entity_types import Hierarchy
from partita.templates.slots import Aliases, Json, NameSet, compatible_union, plain_texts, text_list

_SILENT = re.compile(r"[.'’`]")
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Name:
    variants: frozenset[str]

    def json(self) -> Json:
        return plain_texts(self.variants)

    def __str__(self) -> str:
        return " = ".join(sorted(self.variants))


@dataclass(frozen=True, slots=True)
class NameType:
    """Names, regardless of case; aliases of one group are identical."""

    aliases: Aliases = field(default_factory=Aliases)

    @property
    def expects(self) -> str:
        return "a name or a list of variants of one name"

    def read(self, value: object) -> Name:
        variants = value.variants if isinstance(value, Name) else text_list(value, self.expects)
        names = frozenset(map(self.aliases.canonical, variants))
        if compatible_union(names, names, self._fit) is None:
            raise InputError(f"{sorted(names)!r} is not {self.expects}")
        return Name(names)

    def unify(self, left: Name, right: Name) -> Name | None:
        variants = compatible_union(left.variants, right.variants, self._fit)
        return None if variants is None else Name(variants)

    def _fit(self, left: str, right: str) -> bool:
        if left == right:
            return True
        for a in self.aliases.all(left):
            for b in self.aliases.all(right):
                if _matches_within(a, b) or _matches_within(b, a):
                    return True
        return False


@lru_cache(maxsize=1 << 16)  # a name is compared with many others
def split_name(name: str) -> tuple[str, ...]:
    """Return the words of a name, letters and digits only: U.S. ARMY gives US and ARMY."""
    return tuple(_WORD.findall(_SILENT.sub("", name)))


@lru_cache(maxsize=1 << 16)
def _first_letters(name: str) -> frozenset[str]:
    return frozenset(word[0] for word in split_name(name))


def _matches_within(short: str, long: str) -> bool:
    """Return whether the short name's words match; most pairs already fail on a first letter."""
    return _first_letters(short) <= _first_letters(long) and _match_in_order(
        split_name(short), split_name(long)
    )


def _match_in_order(short: Sequence[str], long: Sequence[str]) -> bool:
    """Return whether the words match in order; each takes the earliest possible position."""
    place = 0
    for word in short:
        place = min(_ends(word, long, place), default=-1)
        if place < 0:
            return False
    return bool(short)


def _ends(word: str, long: Sequence[str], start: int) -> Iterator[int]:
    """Yield where the word can end: after a matching word, or after words that it abbreviates."""
    for n in range(start, len(long)):
        if _words_match(word, long[n]):
            yield n + 1
            break
    if len(word) > 1 and word.isalpha():
        yield from _initials(word, long, start)


def _initials(word: str, long: Sequence[str], start: int) -> Iterator[int]:
    letters = iter(word)
    letter = next(letters)
    for n in range(start, len(long)):
        if long[n][0] == letter:
            following = next(letters, None)
            if following is None:
                yield n + 1
                break
            letter = following


def _words_match(left: str, right: str) -> bool:
    """Return whether two words are equal or one is the other's initial; 1 is no initial of 12."""
    if left == right:
        return True
    return 1 in (len(left), len(right)) and left[0] == right[0] and left[0].isalpha()


@dataclass(frozen=True, slots=True)
class NamedPlace(NameSet):
    """A place, or several that contain each other."""


@dataclass(frozen=True, slots=True)
class PlaceType:
    """Places; in the gazetteer a place is below those that contain it."""

    gazetteer: Hierarchy = field(default_factory=Hierarchy)
    aliases: Aliases = field(default_factory=Aliases)

    @property
    def expects(self) -> str:
        return "a place or a list of places that contain each other"

    def read(self, value: object) -> NamedPlace:
        names = value.names if isinstance(value, NamedPlace) else text_list(value, self.expects)
        places = frozenset(map(self.aliases.canonical, names))
        if compatible_union(places, places, self._compatible) is None:
            raise InputError(f"{sorted(places)!r} is not {self.expects}")
        return NamedPlace(self._innermost(places))

    def unify(self, left: NamedPlace, right: NamedPlace) -> NamedPlace | None:
        names = compatible_union(left.names, right.names, self._compatible)
        return None if names is None else NamedPlace(self._innermost(names))

    def _compatible(self, left: str, right: str) -> bool:
        listed = [name for name in (left, right) if name in self.gazetteer]
        if left == right or len(listed) == 2:
            return left == right or self.gazetteer.compatible(left, right)
        return bool(listed) and len(self.gazetteer.below[listed[0]]) > 1

    def _innermost(self, names: frozenset[str]) -> frozenset[str]:
        above = (self.gazetteer.above.get(name, frozenset()) - {name} for name in names)
        return names.difference(*above)
