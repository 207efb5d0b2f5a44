"""Parse lists of people as catalogues write them, whatever the order and case of names.

KNUTH, DONALD E. = Donald E. Knuth = Knuth. A word is a surname if the sources mostly write it
before a comma or last; a text names a person if it has the surname anywhere.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

Words = tuple[str, ...]
NameParts = tuple[Words, Words]  # words of the surname, words of the given names

_ASIDES = re.compile(
    r"\([^)]*\)?|\[[^\]]*\]?|\b(?:EDITED BY|TRANSLATED BY|BY|WITH|EDITORS?|AUTHORS?|EDS?|ET AL|ETC"
    r"|JR|SR|II|III|DR|PROF|PH\.? ?D)\b[.:]?"
)
_STRONG = re.compile(r"[;/|~&\n]|\bAND\b")
_WORD = re.compile(r"[^\W\d_]+(?:['’`-][^\W\d_]+)*")
_MARKS = re.compile(r"['’`-]")
MIN_SHARE_WITH_TWO = 8  # mentions of a shared surname for each text with both people
NO_NAMES = frozenset(
    ("", "NOT AVAILABLE", "UNKNOWN", "NONE", "NULL", "NA", "N A", "VARIOUS", "ANONYMOUS")
)


@dataclass(frozen=True, slots=True, eq=False)
class NameLexicon:
    """How often each word occurs as a surname and as a given name."""

    surnames: Counter[str]
    given_names: Counter[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> NameLexicon:
        """Count words of unambiguous names: with one comma, or none and two or three words."""
        lexicon = cls(Counter(), Counter())
        for text in texts:
            for parts in map(_parts, _pieces(text)):
                lexicon._count(parts)
        return lexicon

    def _count(self, parts: Sequence[Words]) -> None:
        if len(parts) == 2 and len(parts[0]) == 1 and len(parts[1]) <= 2:
            self.surnames[parts[0][0]] += 1
            self.given_names[parts[1][0]] += 1
        if len(parts) == 1 and len(parts[0]) in (2, 3):
            self.surnames[parts[0][-1]] += 1
            self.given_names[parts[0][0]] += 1

    def surname(self, word: str) -> float:
        """Return the probability that the word is a surname (0.5 for an unseen word)."""
        return (self.surnames[word] + 0.5) / (self.surnames[word] + self.given_names[word] + 1)


def names_nobody(text: str) -> bool:
    """Return whether the text is empty or says that the names are not available."""
    return " ".join(_words(_plain(text))) in NO_NAMES


def people(text: str, lexicon: NameLexicon) -> Iterator[NameParts]:
    """Yield the names in a text, from left to right."""
    for piece in _pieces(text):
        parts = _parts(piece)
        n = 0
        while n < len(parts):
            if n + 1 < len(parts) and _is_inverted(parts[n], parts[n + 1], lexicon):
                yield parts[n], parts[n + 1]
                n += 2
            else:
                yield parts[n][-1:], parts[n][:-1]
                n += 1


def people_by_text(texts: Sequence[str], lexicon: NameLexicon) -> list[frozenset[str]]:
    """Return the people named in each of several texts about one object.

    Two people with the same surname are distinguished by an initial if a text names both.
    """
    names_by_text = [list(people(text, lexicon)) for text in texts]
    surnames = Counter(surname[-1] for names in names_by_text for surname, _ in names)
    given_names = Counter(word for names in names_by_text for _, words in names for word in words)
    surnames_used = {
        word for word in surnames if len(word) > 1 and surnames[word] >= given_names[word]
    }
    shared_counts = Counter(word for names in names_by_text for word in _shared_surnames(names))
    shared = {
        word
        for word in surnames_used
        if shared_counts[word] and MIN_SHARE_WITH_TWO * shared_counts[word] >= surnames[word]
    }
    keys_by_text = [
        _keys_in_text(text, names, surnames_used, shared)
        for text, names in zip(texts, names_by_text, strict=True)
    ]
    full_names = _full_names(names_by_text, shared, surnames_used)
    return [frozenset(full_names.get(key, key[0]) for key in keys) for keys in keys_by_text]


Key = tuple[str, str]  # a surname and, where it is shared, an initial


def _keys_in_text(
    text: str, names: Sequence[NameParts], kept: set[str], shared: set[str]
) -> set[Key]:
    with_initials = {_key(name, shared) for name in names if name[0][-1] in shared and name[1]}
    surnames = {surname for surname, _ in with_initials}
    return with_initials | {
        (word, "") for word in kept.intersection(_words(_plain(text))) - surnames
    }


def _key(name: NameParts, shared: set[str]) -> Key:
    surname, given = name[0][-1], name[1]
    return surname, given[0][0] if given and surname in shared else ""


def _full_names(
    names_by_text: Iterable[Sequence[NameParts]], shared: set[str], kept: set[str]
) -> dict[Key, str]:
    """Return the most frequent full name of each person, the longest in a tie.

    Given names that include a surname are skipped: they are several people run together.
    """
    forms: dict[Key, Counter[Words]] = {}
    clean = (n for names in names_by_text for n in names if n[1] and kept.isdisjoint(n[1]))
    for name in clean:
        forms.setdefault(_key(name, shared), Counter())[name[1]] += 1
    best = {key: min(f, key=lambda g: (-f[g], -len(" ".join(g)), g)) for key, f in forms.items()}
    return {key: " ".join((*given, key[0])) for key, given in best.items()}


def same_people(members: Iterable[str], text: str, lexicon: NameLexicon) -> bool:
    """Return whether a set has the people of a text, by surname and, if given, initial."""
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


def _shared_surnames(names: Sequence[NameParts]) -> set[str]:
    """Return surnames that occur with two different initials."""
    initials: dict[str, set[str]] = {}
    for surname, given in names:
        if given:
            initials.setdefault(surname[-1], set()).add(given[0][0])
    return {surname for surname, letters in initials.items() if len(letters) > 1}


def _is_inverted(left: Words, right: Words, lexicon: NameLexicon) -> bool:
    """Return whether the comma between two parts separates a surname and given names."""
    if len(left) > 2 or len(right) > 3 or lexicon.surname(left[-1]) < lexicon.surname(right[0]):
        return False
    whole = len(right) > 1 and lexicon.surname(right[-1]) > lexicon.surname(right[0])
    return len(left) == 1 or (len(right) <= 2 and not whole)


def _pieces(text: str) -> list[str]:
    return _STRONG.split(_ASIDES.sub(" ; ", _plain(text)))


def _parts(piece: str) -> list[Words]:
    """Return the words of each comma-separated part."""
    return [words for words in map(_words, piece.split(",")) if words]


def _words(text: str) -> Words:
    return tuple(_MARKS.sub("", word) for word in _WORD.findall(text))


def _plain(text: str) -> str:
    """Return upper-case letters without accents; HTML entities may be escaped twice."""
    letters = unicodedata.normalize("NFKD", html.unescape(html.unescape(text)))
    return "".join(c for c in letters if not unicodedata.combining(c)).upper()
