"""Slot type: sets of strings that all hold, a ⊓ b = a ∪ b.

With `several=False` a slot holds one string, and two different strings are distinct.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from partita.errors import InputError
from partita.templates.slots import Json
from partita.templates.words import text_list


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

    def read(self, value: object) -> Strings:
        members = value.members if isinstance(value, Strings) else text_list(value, self.expects)
        strings = frozenset(map(_normalise, members))
        if len(strings) > 1 and not self.several:
            raise InputError(f"{sorted(strings)!r} is not {self.expects}")
        return Strings(strings)

    def unify(self, left: Strings, right: Strings) -> Strings | None:
        if not self.several and left != right:
            return None
        return Strings(left.members | right.members)


def _normalise(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
