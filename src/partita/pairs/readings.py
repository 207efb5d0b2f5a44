"""Read strings and templates into the integers that columns hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from partita.records import Template

NIL = -1

Column = NDArray[np.int32]
Codes = NDArray[np.uint8]
Bools = NDArray[np.bool_]
Places = NDArray[np.intp]


def interned(values: Iterable[Hashable | None]) -> Column:
    """For each value the number of its first appearance; NIL for None and for nothing."""
    seen: dict[Hashable, int] = {}
    numbers = [
        NIL if value is None or value == "" else seen.setdefault(value, len(seen))
        for value in values
    ]
    return np.array(numbers, dtype=np.int32)


def classed(values: Iterable[object], classes: Sequence[str], other: int) -> Column:
    """For each value its place among the classes, or the one for all others."""
    place = {name: n for n, name in enumerate(classes)}
    return np.array([place.get(str(value), other) for value in values], dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """A set of strings for each template: how many, and bits for those that others hold too."""

    size: Column
    bits: NDArray[np.uint64]
    place: dict[str, int]

    def common(self, s: Places, t: Places) -> Column:
        """How many strings two sets share."""
        found = np.zeros(len(s), dtype=np.int32)
        for block in self.bits:
            found += np.bitwise_count(block[s] & block[t])
        return found

    def holds(self, sets: Places, bit: Column) -> Bools:
        """Whether a set holds the string of that bit; NIL is in none."""
        if not len(self.bits):
            return np.zeros(len(sets), dtype=np.bool_)
        block = self.bits[np.maximum(bit, 0) >> 6, sets]
        inside = (block >> (np.maximum(bit, 0) & 63).astype(np.uint64)) & np.uint64(1)
        found: Bools = (bit != NIL) & (inside == 1)
        return found

    def bit_of(self, strings: Iterable[str]) -> Column:
        """The bits of single strings, NIL for one that no two sets share."""
        return np.array([self.place.get(string, NIL) for string in strings], dtype=np.int32)


def sets(members: Sequence[Collection[str]]) -> Sets:
    """Each collection as a set."""
    distinct = [set(each) for each in members]
    met = Counter(string for each in distinct for string in each)
    shared = sorted(string for string, times in met.items() if times > 1)
    place = {string: n for n, string in enumerate(shared)}
    bits = np.zeros((-(-len(shared) // 64), len(members)), dtype=np.uint64)
    for owner, each in enumerate(distinct):
        for bit in (place[string] for string in each if string in place):
            bits[bit >> 6, owner] |= np.uint64(1 << (bit & 63))
    return Sets(np.array([len(each) for each in distinct], dtype=np.int32), bits, place)


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
_SMALL = frozenset(
    re.findall(_WORD, "the a an this that these those of and in on at for to with by s")
)


def grouped(groups: Iterable[str]) -> dict[str, int]:
    """For each word of each group the group's number."""
    return {word: n for n, group in enumerate(groups) for word in group.split()}


PRONOUN_GROUP = grouped(PRONOUNS)
DETERMINER_GROUP = grouped(DETERMINERS)


def head(template: Template) -> str:
    """The head; where none is given the last word of the expression."""
    if template.head:
        return template.head.casefold()
    found = all_words(template)
    return found[-1] if found else ""


def all_words(template: Template) -> list[str]:
    """The words of the expression, or of the name where there is no expression."""
    if given := template.context.get("WORDS"):
        return [str(word).casefold() for word in given]
    return name_words(template.text or name(template))


def words(template: Template) -> set[str]:
    """The words that say something, with the head in its own form."""
    if template.form == "pronoun":
        return set()
    return ({*all_words(template), head(template)} - _SMALL) - {""}


def name(template: Template) -> str:
    given = template.slots.get("NAME", "")
    text = " ".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    return " ".join(text.casefold().split())


def name_words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def compact(text: str) -> str:
    """A name of one short word without its points: what an acronym looks like (u.s. is us)."""
    joined = "".join(_WORD.findall(text))
    return joined if " " not in text and 2 <= len(joined) <= 6 else ""


def initials(text: str) -> str:
    """The first letters of the words of a longer name, small words left out."""
    found = [word[0] for word in _WORD.findall(text) if word not in _SMALL]
    return "".join(found) if len(found) > 1 else ""


def pronoun(template: Template) -> int:
    """Which group of pronouns it is of; their number for another one, one more for none."""
    if template.form != "pronoun":
        return len(PRONOUNS) + 1
    return PRONOUN_GROUP.get(template.head.casefold(), len(PRONOUNS))


def determiner(template: Template) -> int:
    """Which group of determiners it has; their number for another one, one more for none."""
    given = str(template.context.get("DETERMINER", "")).casefold()
    if not given:
        return len(DETERMINERS) + 1
    return DETERMINER_GROUP.get(given, len(DETERMINERS))


def number(template: Template) -> str | None:
    """Singular or plural, of a count too."""
    if isinstance(template.number, int):
        return "singular" if template.number == 1 else "plural"
    return template.number or None


def texts(given: object) -> list[str]:
    """A slot's value as a list of texts."""
    if isinstance(given, list | tuple):
        return [str(each) for each in given]
    return [] if given in (None, "") else [str(given)]
