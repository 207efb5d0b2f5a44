"""Normalise words to symbols, and group aliases of names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from partita.errors import InputError


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
