"""Derive strings from templates, and number strings for use in columns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.core import Template

NIL = -1

Column = NDArray[np.int32]
Codes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


def intern_values(values: Iterable[Hashable | None]) -> Column:
    """Return the number of each value by first occurrence; NIL for None and empty strings."""
    first: dict[Hashable, int] = {}
    numbers = [
        NIL if value is None or value == "" else first.setdefault(value, len(first))
        for value in values
    ]
    return np.array(numbers, dtype=np.int32)


def class_indices(values: Iterable[object], classes: Sequence[str], other: int) -> Column:
    """Return the index of each value among the classes, `other` for values outside them."""
    place = {name: n for n, name in enumerate(classes)}
    return np.array([place.get(str(value), other) for value in values], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class StringSets:
    """A set of strings per template: its size, and bits for strings in more than one set."""

    size: Column
    bits: NDArray[np.uint64]
    place: dict[str, int]

    def common(self, s: Places, t: Places) -> Column:
        """Return the number of strings that two sets share."""
        common = np.zeros(len(s), dtype=np.int32)
        for block in self.bits:
            common += np.bitwise_count(block[s] & block[t])
        return common

    def holds(self, sets: Places, bit: Column) -> Bools:
        """Return whether a set holds the string of a bit; NIL is in none."""
        if not len(self.bits):
            return np.zeros(len(sets), dtype=np.bool_)
        block = self.bits[np.maximum(bit, 0) >> 6, sets]
        inside = (block >> (np.maximum(bit, 0) & 63).astype(np.uint64)) & np.uint64(1)
        held: Bools = (bit != NIL) & (inside == 1)
        return held

    def bit_of(self, strings: Iterable[str]) -> Column:
        """Return the bits of strings, NIL for strings that no two sets share."""
        return np.array([self.place.get(string, NIL) for string in strings], dtype=np.int32)


def string_sets(members: Sequence[Collection[str]]) -> StringSets:
    """Return the collections as sets with bits."""
    distinct = [set(each) for each in members]
    counts = Counter(string for each in distinct for string in each)
    shared = sorted(string for string, times in counts.items() if times > 1)
    place = {string: n for n, string in enumerate(shared)}
    bits = np.zeros((-(-len(shared) // 64), len(members)), dtype=np.uint64)
    for owner, each in enumerate(distinct):
        for bit in (place[string] for string in each if string in place):
            bits[bit >> 6, owner] |= np.uint64(1 << (bit & 63))
    return StringSets(np.array([len(each) for each in distinct], dtype=np.int32), bits, place)


PRONOUNS = (
    "i me my mine myself",
    "we us our ours ourselves",
    "you your yours yourself yourselves",
    "he him his himself",
    "she her hers herself",
    "it its itself",
    "they them their theirs themselves themself",
    "this that these those",
    "who whom whose which",
)
DETERMINERS = (
    "the",
    "a an",
    "this that these those",
    "my your his her its our their whose",
    "no any every each all some",
)

_WORD = re.compile(r"\w+")
_FUNCTION_WORDS = frozenset(
    re.findall(_WORD, "the a an this that these those of and in on at for to with by s")
)


def group_numbers(groups: Iterable[str]) -> dict[str, int]:
    """Return the group number of each word."""
    return {word: n for n, group in enumerate(groups) for word in group.split()}


PRONOUN_GROUP = group_numbers(PRONOUNS)
DETERMINER_GROUP = group_numbers(DETERMINERS)


def head(template: Template) -> str:
    """Return the head, or else the last word of the expression."""
    if template.head:
        return template.head.casefold()
    return next(reversed(all_words(template)), "")


def all_words(template: Template) -> list[str]:
    """Return the words of the expression, or of the name if there is none."""
    if listed := template.context.get("WORDS"):
        return [str(word).casefold() for word in listed]
    return name_words(template.text or name(template))


def content_words(template: Template) -> set[str]:
    """Return the content words, and the head in its own form."""
    if template.form == "pronoun":
        return set()
    return ({*all_words(template), head(template)} - _FUNCTION_WORDS) - {""}


def name(template: Template) -> str:
    value = template.slots.get("NAME", "")
    text = " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text.casefold().split())


def name_words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def compact(text: str) -> str:
    """Return a short one-word name without full stops (u.s. gives us), or an empty string."""
    joined = "".join(_WORD.findall(text))
    return joined if " " not in text and 2 <= len(joined) <= 6 else ""


def initials(text: str) -> str:
    """Return the initials of a name of several words, function words left out."""
    letters = [word[0] for word in _WORD.findall(text) if word not in _FUNCTION_WORDS]
    return "".join(letters) if len(letters) > 1 else ""


def pronoun(template: Template) -> int:
    """Return the group of a pronoun; the next number for others, one more for no pronoun."""
    if template.form != "pronoun":
        return len(PRONOUNS) + 1
    return PRONOUN_GROUP.get(template.head.casefold(), len(PRONOUNS))


def determiner(template: Template) -> int:
    """Return the group of the determiner; the next number for others, one more for none."""
    word = str(template.context.get("DETERMINER", "")).casefold()
    if not word:
        return len(DETERMINERS) + 1
    return DETERMINER_GROUP.get(word, len(DETERMINERS))


def template_number(template: Template) -> str | None:
    """Return singular or plural, also of a count."""
    if isinstance(template.number, int):
        return "singular" if template.number == 1 else "plural"
    return template.number or None


def slot_texts(value: object) -> list[str]:
    """Return a slot's value as a list of texts."""
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return [] if value in (None, "") else [str(value)]
