"""Evaluate attribute tests as bit sets, and map phrases to the alphabet of a phase."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from partita.errors import TooLarge
from partita.rules.patterns import LONGEST_VALUE
from partita.rules.phrases import has_value
from partita.rules.syntax import Atom, Test

CACHE_SIZE = 50_000  # values per attribute

Descendants = Mapping[str, frozenset[str]]
Fits = Callable[[str], Any]


def compared_text(value: object) -> str:
    """Return a value as text, as tests compare it."""
    if value is True or value is False:
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _members(value: Any) -> tuple[str, ...]:
    return tuple(map(compared_text, value)) if isinstance(value, tuple) else (compared_text(value),)


def _accepted_values(test: Test, below: Descendants) -> frozenset[str]:
    values = frozenset(test.values)
    if test.attribute == "sort":
        return values.union(*(below.get(value, frozenset()) for value in values))
    return values


def _comparison(test: Test) -> Callable[[str], bool]:
    bound, less = float(test.values[0]), test.operator == "<"

    def holds(value: str) -> bool:
        number = _number(value)
        return number is not None and (number < bound if less else number > bound)

    return holds


def _number(value: str) -> float | None:
    try:
        return float(value) if len(value) <= LONGEST_VALUE else None
    except ValueError:
        return None


class AttributeTests(dict[Any, int]):
    """All tests of one attribute: the bits that each value flips, cached.

    Texts are their own keys; True, 1 and 1.0 are equal, so their class is part of the key.
    """

    def __init__(self) -> None:
        super().__init__()
        self.present = self.absent = self.unequal = 0  # tests: attr, !attr, attr!=…
        self.equal: dict[str, int] = {}  # bits of attr=… and attr!=… by value
        self.others: list[tuple[int, Callable[[str], bool]]] = []  # attr<n, attr>n
        self.regexes: dict[int, str] = {}  # attr~/…/

    def add(self, bit: int, test: Test, below: Descendants) -> None:
        self.clear()
        if test.operator in ("=", "!="):
            for value in _accepted_values(test, below):
                self.equal[value] = self.equal.get(value, 0) | bit
            self.unequal |= bit if test.operator == "!=" else 0
        elif test.operator == "has":
            self.present |= bit
        elif test.operator == "not":
            self.absent |= bit
        elif test.operator == "~":
            self.regexes[bit] = test.values[0]
            vars(self).pop("fitting", None)
        else:
            self.others.append((bit, _comparison(test)))

    def flipped(self, value: Any) -> int:
        """Return the bits of a value that is not a text."""
        if isinstance(value, tuple):
            return self[tuple(map(compared_text, value))]
        return self[value.__class__, value] if value.__hash__ else self._bits(value)

    def __missing__(self, key: Any) -> int:
        if len(self) >= CACHE_SIZE:
            self.clear()
        plain = isinstance(key, str) or not key or isinstance(key[0], str)
        self[key] = bits = self._bits(key if plain else key[1])
        return bits

    def _bits(self, value: Any) -> int:
        bits = (self.present | self.absent) if has_value(value) else 0
        equal = 0
        for member in _members(value):
            equal |= self.equal.get(member, 0)
            for bit, holds in self.others:
                bits |= bit if holds(member) else 0
            if self.regexes and len(member) <= LONGEST_VALUE:
                bits |= self._matching(member)
        return bits | (equal ^ self.unequal)

    def _matching(self, member: str) -> int:
        """Return the bits of the regular expressions that match; one of all rejects most texts."""
        some, each = self.fitting
        return sum(bit for bit, fits in each if fits(member)) if some(member) else 0

    @cached_property
    def fitting(self) -> tuple[Fits, list[tuple[int, Fits]]]:
        """All regular expressions as one, and each of them."""
        some = re.compile("|".join(f"(?:{written})" for written in self.regexes.values()))
        each: list[tuple[int, Fits]] = [
            (bit, re.compile(written).fullmatch) for bit, written in self.regexes.items()
        ]
        return some.fullmatch, each


@dataclass(slots=True)
class Tests:
    """Every distinct test of all phases, one bit each.

    A mask has the bits of all passed tests.
    """

    __test__ = False

    below: Descendants
    bits: dict[Test, int] = field(default_factory=dict)
    columns: dict[str, AttributeTests] = field(default_factory=dict)
    absent: int = 0

    def needed(self, tests: Iterable[Test]) -> int:
        """Return the bits of all tests of an atom."""
        bits = 0
        for test in tests:
            if test not in self.bits:
                self._add(test)
            bits |= self.bits[test]
        return bits

    def mask(self, attributes: Mapping[str, Any]) -> int:
        """Return the bits of the tests that a phrase passes."""
        mask, columns = self.absent, self.columns
        for name, value in attributes.items():
            if name in columns:
                column = columns[name]
                mask ^= column[value] if value.__class__ is str else column.flipped(value)
        return mask

    def _add(self, test: Test) -> None:
        bit = self.bits[test] = 1 << len(self.bits)
        column = self.columns.setdefault(test.attribute, AttributeTests())
        column.add(bit, test, self.below)
        if test.operator == "not":
            self.absent |= bit


SEPARATOR = "\0"  # between sentences and regions
ANY = "[^\\x00]"
LARGEST = 50_000  # characters

# One-byte characters without special meaning in a character class; others follow.
_PLAIN = [chr(code) for code in range(1, 256) if not 32 <= code < 127 or chr(code).isalnum()]


@dataclass(slots=True)
class Alphabet:
    """Atoms as bits in the order of addition; `sets` holds the atoms of each character."""

    tests: Tests
    atoms: dict[Atom, int] = field(default_factory=dict)
    needed: list[int] = field(default_factory=list)
    about: int = 0
    by_mask: dict[int, str] = field(default_factory=dict)
    by_set: dict[int, str] = field(default_factory=dict)
    sets: dict[str, int] = field(default_factory=dict)

    def add(self, atom: Atom) -> int:
        """Return the bit of an atom; add all atoms before the first phrase is read."""
        if atom not in self.atoms:
            self.atoms[atom] = 1 << len(self.needed)
            needed = self.tests.needed(atom.tests)
            self.needed.append(needed)
            self.about |= needed
        return self.atoms[atom]

    def character(self, mask: int) -> str:
        """Return the character of a phrase that passes these tests."""
        character = self.by_mask.get(mask & self.about)
        return character if character is not None else self._learn(mask & self.about)

    def _learn(self, mask: int) -> str:
        atoms = sum(1 << n for n, needed in enumerate(self.needed) if mask & needed == needed)
        if atoms not in self.by_set:
            self._grow(atoms)
        self.by_mask[mask] = character = self.by_set[atoms]
        return character

    def _grow(self, atoms: int) -> None:
        if len(self.by_set) >= LARGEST:
            raise TooLarge(
                "the phrases of a phase", f"more than {LARGEST:,} characters", f"{LARGEST:,}"
            )
        count = len(self.by_set)
        character = _PLAIN[count] if count < len(_PLAIN) else chr(256 + count - len(_PLAIN))
        self.by_set[atoms] = character
        self.sets[character] = atoms

    def members(self, atoms: int) -> list[str]:
        """Return the characters of phrases that satisfy one of the atoms."""
        return [character for character, has in self.sets.items() if has & atoms]

    def bits(self, atoms: Iterable[Atom]) -> int:
        bits = 0
        for atom in atoms:
            bits |= self.atoms[atom]
        return bits


def character_class(characters: Sequence[str]) -> str:
    """Return a regular expression for any of the characters; for none, one that never matches."""
    return f"[{''.join(characters)}]" if characters else "(?!)"
