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


def predicate(test: Test, below: Below) -> Callable[[Any], bool]:
    """Whether a value that the phrase has passes; of several values one must."""
    if test.operator in ("has", "not"):
        return truth if test.operator == "has" else lambda value: not truth(value)
    if test.operator == "!=":
        equal = _equal(test, below)
        return lambda value: not any(map(equal, _members(value)))
    one = {"=": _equal, "~": _matching}.get(test.operator, _compared)(test, below)
    return lambda value: any(map(one, _members(value)))


def _members(value: Any) -> tuple[str, ...]:
    return tuple(map(shown, value)) if isinstance(value, tuple) else (shown(value),)


def _equal(test: Test, below: Below) -> Callable[[str], bool]:
    wanted = frozenset(test.values)
    if test.attribute == "sort":
        wanted = wanted.union(*(below.get(value, frozenset()) for value in wanted))
    return wanted.__contains__


def _matching(test: Test, below: Below) -> Callable[[str], bool]:
    fits = re.compile(test.values[0]).fullmatch
    return lambda value: len(value) <= LONGEST_VALUE and fits(value) is not None


def _compared(test: Test, below: Below) -> Callable[[str], bool]:
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


def _key(value: Any) -> Any:
    """True, 1 and 1.0 are equal as keys and different as values."""
    return tuple(map(shown, value)) if isinstance(value, tuple) else (value.__class__, value)


@dataclass(slots=True)
class Column:
    """All tests of one attribute: which bits each value flips, remembered."""

    tests: list[tuple[int, Callable[[Any], bool]]] = field(default_factory=list)
    absent: int = 0
    known: dict[Any, int] = field(default_factory=dict)

    def flipped(self, value: Any) -> int:
        key = value if value.__class__ is str else _key(value)
        try:
            return self.known[key]
        except KeyError:
            return self._learn(key, value)
        except TypeError:  # a value that cannot be a key
            return self._bits(value) ^ self.absent

    def _learn(self, key: Any, value: Any) -> int:
        if len(self.known) >= REMEMBERED:
            self.known.clear()
        self.known[key] = bits = self._bits(value) ^ self.absent
        return bits

    def _bits(self, value: Any) -> int:
        return sum(bit for bit, holds in self.tests if holds(value))


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
                mask ^= columns[name].flipped(value)
        return mask

    def _add(self, test: Test) -> None:
        bit = self.bits[test] = 1 << len(self.bits)
        column = self.columns.setdefault(test.attribute, Column())
        column.known.clear()
        column.tests.append((bit, predicate(test, self.below)))
        if test.operator == "not":
            column.absent |= bit
            self.absent |= bit
