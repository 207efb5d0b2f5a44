"""Lists of people as catalogues write them: who is named, whatever the order and the case.

KNUTH, DONALD E. = Donald E. Knuth = Knuth. Whether a word is a surname is told by how often all
sources write it before a comma or last; a source names a person whose surname it has anywhere.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Words = tuple[str, ...]
NameParts = tuple[Words, Words]  # the surname's words, the given names'

_ASIDES = re.compile(
    r"\([^)]*\)?|\[[^\]]*\]?|\b(?:EDITED BY|TRANSLATED BY|BY|WITH|EDITORS?|AUTHORS?|EDS?|ET AL|ETC"
    r"|JR|SR|II|III|DR|PROF|PH\.? ?D)\b[.:]?"
)
_STRONG = re.compile(r"[;/|~&\n]|\bAND\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’`-][^\W\d_]+)*")
_SILENT = re.compile(r"['’`-]")
APART = 8  # one mention in so many must be in a text that has two people of a surname
NOBODY = frozenset(
    ("", "NOT AVAILABLE", "UNKNOWN", "NONE", "NULL", "NA", "N A", "VARIOUS", "ANONYMOUS")
)


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """How often every word was written where surnames stand, and where given names do."""

    surnames: Counter[str]
    given: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Lexicon:
        """From names that leave no doubt: one comma, or none and two or three words."""
        made = cls(Counter(), Counter())
        for text in texts:
            for parts in map(_parts, _pieces(text)):
                made._count(parts)
        return made

    def _count(self, parts: Sequence[Words]) -> None:
        if len(parts) == 2 and len(parts[0]) == 1 and len(parts[1]) <= 2:
            self.surnames[parts[0][0]] += 1
            self.given[parts[1][0]] += 1
        if len(parts) == 1 and len(parts[0]) in (2, 3):
            self.surnames[parts[0][-1]] += 1
            self.given[parts[0][0]] += 1

    def surname(self, word: str) -> float:
        """The probability that the word is a surname; one half of a word never seen."""
        return (self.surnames[word] + 0.5) / (self.surnames[word] + self.given[word] + 1)


def nobody(text: str) -> bool:
    """The text names no one: it is empty, or says that nothing is known."""
    return " ".join(_words(_plain(text))) in NOBODY


def people(text: str, lexicon: Lexicon) -> Iterator[NameParts]:
    """The names in a text, from left to right."""
    for piece in _pieces(text):
        parts = _parts(piece)
        n = 0
        while n < len(parts):
            if n + 1 < len(parts) and _turned(parts[n], parts[n + 1], lexicon):
                yield parts[n], parts[n + 1]
                n += 2
            else:
                yield parts[n][-1:], parts[n][:-1]
                n += 1


def named_together(texts: Sequence[str], lexicon: Lexicon) -> list[frozenset[str]]:
    """Whom each of several texts about one object names, each person written in one way.

    Two people of one surname are told apart by an initial where a text names both.
    """
    read = [list(people(text, lexicon)) for text in texts]
    surnames = Counter(surname[-1] for names in read for surname, _ in names)
    given = Counter(word for names in read for _, words in names for word in words)
    kept = {word for word in surnames if len(word) > 1 and surnames[word] >= given[word]}
    twice = Counter(word for names in read for word in _twice(names))
    shared = {word for word in kept if twice[word] and APART * twice[word] >= surnames[word]}
    found = [_named(text, names, kept, shared) for text, names in zip(texts, read, strict=True)]
    written = _written(read, shared, kept)
    return [frozenset(written.get(key, key[0]) for key in keys) for keys in found]


Key = tuple[str, str]  # a surname and, where it is shared, an initial


def _named(text: str, names: Sequence[NameParts], kept: set[str], shared: set[str]) -> set[Key]:
    apart = {_key(name, shared) for name in names if name[0][-1] in shared and name[1]}
    told = {surname for surname, _ in apart}
    return apart | {(word, "") for word in kept.intersection(_words(_plain(text))) - told}


def _key(name: NameParts, shared: set[str]) -> Key:
    surname, given = name[0][-1], name[1]
    return surname, given[0][0] if given and surname in shared else ""


def _written(
    read: Iterable[Sequence[NameParts]], shared: set[str], kept: set[str]
) -> dict[Key, str]:
    """The name that most texts have, the longest of several, given names first.

    Given names among which a surname stands are several people run together.
    """
    forms: dict[Key, Counter[Words]] = {}
    alone = (n for names in read for n in names if n[1] and kept.isdisjoint(n[1]))
    for name in alone:
        forms.setdefault(_key(name, shared), Counter())[name[1]] += 1
    best = {key: min(f, key=lambda g: (-f[g], -len(" ".join(g)), g)) for key, f in forms.items()}
    return {key: " ".join((*given, key[0])) for key, given in best.items()}


def same_people(members: Iterable[str], text: str, lexicon: Lexicon) -> bool:
    """The people of a set are those that a text names, each by surname and, if given, initial."""
    wanted = list(people(text, lexicon))
    left = [tuple(name.split()) for name in sorted(members)]
    for surname, given in wanted:
        fits = [n for n in left if n[-1] == surname[-1] and _initials_fit(n[:-1], given)]
        if not fits:
            return False
        left.remove(fits[0])
    return not left


def _initials_fit(left: Words, right: Words) -> bool:
    return not left or not right or left[0][0] == right[0][0]


def _twice(names: Sequence[NameParts]) -> set[str]:
    """Surnames that go with two different initials."""
    initials: dict[str, set[str]] = {}
    for surname, given in names:
        if given:
            initials.setdefault(surname[-1], set()).add(given[0][0])
    return {surname for surname, letters in initials.items() if len(letters) > 1}


def _turned(left: Words, right: Words, lexicon: Lexicon) -> bool:
    """The comma between the two stands between a surname and given names."""
    if len(left) > 2 or len(right) > 3 or lexicon.surname(left[-1]) < lexicon.surname(right[0]):
        return False
    whole = len(right) > 1 and lexicon.surname(right[-1]) > lexicon.surname(right[0])
    return len(left) == 1 or (len(right) <= 2 and not whole)


def _pieces(text: str) -> list[str]:
    return _STRONG.split(_ASIDES.sub(" ; ", _plain(text)))


def _parts(piece: str) -> list[Words]:
    """What commas separate, as words."""
    return [words for words in map(_words, piece.split(",")) if words]


def _words(text: str) -> Words:
    return tuple(_SILENT.sub("", word) for word in _WORD.findall(text))


def _plain(text: str) -> str:
    """Capital letters without accents; web pages may have been escaped twice."""
    letters = unicodedata.normalize("NFKD", html.unescape(html.unescape(text)))
    return "".join(c for c in letters if not unicodedata.combining(c)).upper()
