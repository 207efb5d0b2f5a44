"""Tests of attributes as bits: each attribute's value flips the bits of the tests about it.

mask(phrase) = tests that hold of nothing ⊕ Σ over attributes of the bits that the value flips
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.extraction.attribute_regex import LONGEST_VALUE
from partita.extraction.phrases import truth
from partita.extraction.syntax import Test

REMEMBERED = 50_000  # values of an attribute

Below = Mapping[str, frozenset[str]]


def shown(value: object) -> str:
    """A value as tests compare it."""
    if value is True or value is False:
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _members(value: Any) -> tuple[str, ...]:
    return tuple(map(shown, value)) if isinstance(value, tuple) else (shown(value),)


def _wanted(test: Test, below: Below) -> frozenset[str]:
    wanted = frozenset(test.values)
    if test.attribute == "sort":
        return wanted.union(*(below.get(value, frozenset()) for value in wanted))
    return wanted


def _compared(test: Test) -> Callable[[str], bool]:
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


class Column(dict[Any, int]):
    """All tests of one attribute: which bits each value flips, remembered.

    Texts are their own keys; True, 1 and 1.0, which are equal, go with their class.
    """

    def __init__(self) -> None:
        super().__init__()
        self.present = self.absent = self.unequal = 0  # tests: attr, !attr, attr!=…
        self.equal: dict[str, int] = {}  # bits of attr=… and attr!=… by value
        self.others: list[tuple[int, Callable[[str], bool]]] = []  # attr<n, attr>n
        self.regexes: list[tuple[int, str, Callable[[str], Any]]] = []
        self.any_regex: Callable[[str], Any] = lambda value: None

    def add(self, bit: int, test: Test, below: Below) -> None:
        self.clear()
        if test.operator in ("=", "!="):
            for value in _wanted(test, below):
                self.equal[value] = self.equal.get(value, 0) | bit
            self.unequal |= bit if test.operator == "!=" else 0
        elif test.operator == "has":
            self.present |= bit
        elif test.operator == "not":
            self.absent |= bit
        elif test.operator == "~":
            self._add_regex(bit, test.values[0])
        else:
            self.others.append((bit, _compared(test)))

    def _add_regex(self, bit: int, regex: str) -> None:
        """Most values match none: one expression tells that at once."""
        self.regexes.append((bit, regex, re.compile(regex).fullmatch))
        self.any_regex = re.compile("|".join(f"(?:{one})" for _, one, _ in self.regexes)).fullmatch

    def flipped(self, value: Any) -> int:
        """The bits of a value that is no text."""
        if isinstance(value, tuple):
            return self[tuple(map(shown, value))]
        return self[value.__class__, value] if value.__hash__ else self._bits(value)

    def __missing__(self, key: Any) -> int:
        if len(self) >= REMEMBERED:
            self.clear()
        plain = isinstance(key, str) or not key or isinstance(key[0], str)
        self[key] = bits = self._bits(key if plain else key[1])
        return bits

    def _bits(self, value: Any) -> int:
        bits = (self.present | self.absent) if truth(value) else 0
        named = 0
        for member in _members(value):
            named |= self.equal.get(member, 0)
            for bit, holds in self.others:
                bits |= bit if holds(member) else 0
            if len(member) <= LONGEST_VALUE and self.any_regex(member):
                bits |= sum(bit for bit, _, fits in self.regexes if fits(member))
        return bits | (named ^ self.unequal)


@dataclass(slots=True)
class Tests:
    """Every different test of all phases, a bit each."""

    __test__ = False

    below: Below
    bits: dict[Test, int] = field(default_factory=dict)
    columns: dict[str, Column] = field(default_factory=dict)
    absent: int = 0

    def bit(self, test: Test) -> int:
        """The bit of a test, which is its own from now on."""
        if test not in self.bits:
            self._add(test)
        return self.bits[test]

    def needed(self, tests: Iterable[Test]) -> int:
        """The bits that must be set for all of the tests to hold."""
        bits = 0
        for test in tests:
            bits |= self.bit(test)
        return bits

    def mask(self, attributes: Mapping[str, Any]) -> int:
        """The tests that hold of a phrase."""
        mask, columns = self.absent, self.columns
        for name, value in attributes.items():
            if name in columns:
                column = columns[name]
                mask ^= column[value] if value.__class__ is str else column.flipped(value)
        return mask

    def _add(self, test: Test) -> None:
        bit = self.bits[test] = 1 << len(self.bits)
        column = self.columns.setdefault(test.attribute, Column())
        column.add(bit, test, self.below)
        if test.operator == "not":
            self.absent |= bit
