"""The slot type of string sets: strings that hold together, a ⊓ b = a ∪ b.

With `several=False` a slot holds one string, and two different strings are distinct.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from partita.errors import InputError
from partita.templates.slots import Json
from partita.templates.words import texts


@dataclass(frozen=True, slots=True)
class Strings:
    members: frozenset[str]

    def json(self) -> Json:
        return sorted(self.members)

    def __str__(self) -> str:
        return "; ".join(sorted(self.members))


@dataclass(frozen=True, slots=True)
class StringsType:
    several: bool = True

    @property
    def expects(self) -> str:
        return "a string or a list of strings" if self.several else "one string"

    def read(self, given: object) -> Strings:
        members = given.members if isinstance(given, Strings) else texts(given, self.expects)
        read = frozenset(map(_tidy, members))
        if len(read) > 1 and not self.several:
            raise InputError(f"{sorted(read)!r} is not {self.expects}")
        return Strings(read)

    def unify(self, left: Strings, right: Strings) -> Strings | None:
        if not self.several and left != right:
            return None
        return Strings(left.members | right.members)


def _tidy(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
