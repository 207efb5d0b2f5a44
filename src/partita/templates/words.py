"""Words as symbols: one spelling for every way of writing the same, and aliases of names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from partita.errors import InputError


def symbol(text: str) -> str:
    """Upper case, compatible characters and single spaces: the way the paper writes values."""
    while (again := " ".join(unicodedata.normalize("NFKC", text).upper().split())) != text:
        text = again  # upper case can undo the normal form, so go on until nothing moves
    return text


def texts(given: object, expects: str) -> list[str]:
    """One text or several, as texts that are not empty."""
    several = list(given) if isinstance(given, list | tuple | set | frozenset) else [given]
    written = [one for one in several if isinstance(one, str) and one.strip()]
    if written and len(written) == len(several):
        return written
    raise InputError(f"{given!r} is not {expects}")


@dataclass(frozen=True, slots=True)
class Aliases:
    """Groups of names for the same thing; the first of each group stands for it."""

    first: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, groups: Iterable[Iterable[str]]) -> Aliases:
        first: dict[str, str] = {}
        forms: dict[str, tuple[str, ...]] = {}
        for group in groups:
            if not (names := tuple(dict.fromkeys(map(symbol, group)))):
                continue
            if twice := [name for name in names if name in first]:
                raise InputError(f"alias {twice[0]!r} stands in two groups")
            forms[names[0]] = names
            first.update(dict.fromkeys(names, names[0]))
        return cls(first, forms)

    def canonical(self, text: str) -> str:
        """The name that stands for this one."""
        name = symbol(text)
        return self.first.get(name, name)

    def all(self, name: str) -> tuple[str, ...]:
        """Every form of a canonical name."""
        return self.forms.get(name, (name,))
