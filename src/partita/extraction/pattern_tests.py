"""Tests between brackets: attr=a|b, attr!=a, attr~/regex/, attr<n, attr>n, attr, !attr."""

from __future__ import annotations

import re

from partita.errors import PartitaError
from partita.extraction.attribute_regex import explosive
from partita.extraction.syntax import Test

_ATTRIBUTE = re.compile(r"\s*(!?)\s*([A-Za-z_][A-Za-z0-9_]*)\s*")
_OPERATOR = re.compile(r"(!=|=|~|<|>)\s*")
# a comma is a value where a value must come; anything is after a backslash
_BARE = re.compile(r'(?:,|\\.|[^,|\]"\s\\])(?:\\.|[^,|\]"\\])*')
_UNPARTED = re.compile(r"\s[A-Za-z_]\w*\s*(?:[=~<>]|!=)")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_REGEX = re.compile(r"/((?:[^/\\\n]|\\.)*)/")
_FOLDED = ("word", "lemma", "column")
_UPPER = ("sort",)


class Refused(PartitaError):
    """A pattern that is not one: what is wrong, and at which of its characters, from 0."""

    def __init__(self, problem: str, at: int) -> None:
        self.problem, self.at = problem, at
        super().__init__(problem)


def parsed_tests(text: str, at: int) -> tuple[tuple[Test, ...], int]:
    """The tests of the bracket that opens here, and where the text goes on."""
    start, at = at, at + 1
    tests = []
    while True:
        test, at = _test(text, at)
        tests.append(test)
        mark = text[at : at + 1]
        at += 1
        if mark == "]":
            return tuple(tests), at
        if mark != ",":
            if not mark:
                raise Refused("this bracket is not closed; expected ']'", start)
            raise Refused(f"found {mark!r}; expected ',' or ']' after a test", at - 1)


def quoted(text: str, at: int) -> tuple[str, int]:
    """A text in quotes, and where it goes on after them."""
    end = text.find('"', at + 1)
    if end < 0:
        raise Refused('these quotes are not closed; expected "', at)
    return text[at + 1 : end], end + 1


def _test(text: str, at: int) -> tuple[Test, int]:
    named = _ATTRIBUTE.match(text, at)
    if not named:
        raise Refused("expected an attribute: [tag=NN], [sort=DEPOT, known], [!cased]", at)
    column, at, name = named.start(2), named.end(), named[2]
    if named[1]:
        return Test(name, "not", (), column), at
    operator = _OPERATOR.match(text, at)
    if not operator:
        return Test(name, "has", (), column), at
    values, at = _values(text, operator.end(), name, operator[1])
    return Test(name, operator[1], values, column), at


def _values(text: str, at: int, name: str, operator: str) -> tuple[tuple[str, ...], int]:
    if operator == "~":
        return _regex(text, at)
    if operator in "<>":
        if not (number := _NUMBER.match(text, at)):
            raise Refused(f"expected a number after {name}{operator}", at)
        return (number[0],), _skipped(text, number.end())
    values = []
    while True:
        value, at = _value(text, at, name)
        values.append(value)
        if text[at : at + 1] != "|":
            return tuple(values), at
        at = _skipped(text, at + 1)


def _value(text: str, at: int, name: str) -> tuple[str, int]:
    if text[at : at + 1] == '"':
        value, at = quoted(text, at)
    elif bare := _BARE.match(text, at):
        if next_test := _UNPARTED.search(bare[0]):
            raise Refused("a comma is missing between two tests", at + next_test.start() + 1)
        value, at = re.sub(r"\\(.)", r"\1", bare[0]), bare.end()
    else:
        raise Refused(f"expected a value after {name}", at)
    value = " ".join(value.split())
    if name in _UPPER:
        value = value.upper()
    return value.lower() if name in _FOLDED else value, _skipped(text, at)


def _regex(text: str, at: int) -> tuple[tuple[str, ...], int]:
    found = _REGEX.match(text, at)
    if not found:
        raise Refused("expected a regular expression between slashes: text~/[0-9]+/", at)
    expression = found[1].replace(r"\/", "/")
    if problem := explosive(expression):
        raise Refused(f"a regular expression here {problem}", at)
    return (expression,), _skipped(text, found.end())


def _skipped(text: str, at: int) -> int:
    while text[at : at + 1].isspace():
        at += 1
    return at
