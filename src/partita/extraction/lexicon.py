"""The lexicon: words and multiwords, in all their forms, with what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from partita.extraction.domain import Entry
from partita.extraction.morphology import Forms
from partita.templates.words import symbol

Cut = Callable[[str], tuple[str, ...]]

# What else a tag of the lexicon covers.
_COVERED = {
    "NN": ("NN", "NNS", "NNP", "NNPS"),
    "NNP": ("NNP", "NNPS"),
    "JJ": ("JJ", "JJR", "JJS"),
    "RB": ("RB", "RBR", "RBS"),
    "VB": ("VB", "VBD", "VBG", "VBN", "VBP", "VBZ"),
}


@dataclass(frozen=True, slots=True)
class Meaning:
    """What one form of a word says, if the tagger agrees with one of the tags."""

    lemma: str
    tag: str  # of this form, where the words' own tags do not tell
    tags: frozenset[str]  # allowed; any, if there are none
    sorts: tuple[str, ...]
    says: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Longer:
    """A multiword by what comes after its first word, in lower case; at least one word does."""

    rest: tuple[str, ...]
    meanings: tuple[Meaning, ...]


@dataclass(slots=True)
class Lexicon:
    """Meanings by word in lower case; multiwords by their first two words, longest first."""

    forms: Forms
    words: dict[str, list[Meaning]] = field(default_factory=dict)
    longer: dict[str, dict[str, list[Longer]]] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry], verbs: Iterable[str], cut: Cut) -> Lexicon:
        forms = Forms()
        forms.know(verbs)
        made = cls(forms)
        several: dict[tuple[str, ...], list[Meaning]] = {}
        for entry in entries:
            for form, meaning in _meanings(entry, forms):
                for pieces in {cut(form): None, cut(form.upper()): None}:
                    if len(pieces) == 1:
                        made.words.setdefault(pieces[0], []).append(meaning)
                    elif pieces:
                        several.setdefault(pieces, []).append(meaning)
        for pieces in sorted(several, key=len, reverse=True):
            longer = Longer(pieces[1:], tuple(several[pieces]))
            made.longer.setdefault(pieces[0], {}).setdefault(pieces[1], []).append(longer)
        return made

    def meanings(self, word: str, tag: str) -> list[Meaning]:
        """What a word can mean with this tag."""
        found = self.words.get(word, ())
        return [one for one in found if not one.tags or tag in one.tags]


def united(meanings: Iterable[Meaning]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The sorts and slots of all meanings; of two that fill the same slot the first."""
    sorts: dict[str, None] = {}
    says: dict[str, Any] = {}
    for one in meanings:
        sorts.update(dict.fromkeys(one.sorts))
        for slot, value in one.says.items():
            says.setdefault(slot, value)
    return tuple(sorts), says


def _meanings(entry: Entry, forms: Forms) -> Iterator[tuple[str, Meaning]]:
    """Every form of every word of the entry."""
    tags = frozenset(tag for given in entry.tags for tag in _COVERED.get(given, (given,)))
    for word, stands_for in entry.words.items():
        lemma = word.lower()
        says = {slot: _said(value, stands_for or word) for slot, value in entry.says.items()}
        for form, tag in _forms(lemma, entry, forms):
            yield form, Meaning(lemma, tag, tags, entry.sorts, says)


def _said(value: object, word: str) -> object:
    if isinstance(value, str):
        return symbol(word) if value == "$word" else value
    return tuple(_said(one, word) for one in value) if isinstance(value, tuple) else value


def _forms(lemma: str, entry: Entry, forms: Forms) -> Iterator[tuple[str, str]]:
    """The forms of a lemma with their tags, each form once."""
    made: dict[str, str] = {lemma: entry.tags[0] if entry.tags else ""}
    listed = entry.forms.get(lemma)
    if listed is not None:
        tag = "NNS" if "NN" in entry.tags else made[lemma]
        for form in listed:
            made.setdefault(form.lower(), tag)
    elif "NN" in entry.tags:
        made.setdefault(forms.plural(lemma), "NNS")
    if "VB" in entry.tags and listed is None:
        for form, tag in forms.conjugated(lemma):
            made.setdefault(form, tag)
    yield from made.items()
