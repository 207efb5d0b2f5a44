"""Words of a message with their attributes: shared by all that look the same, multiwords joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from partita.extraction.lexicon import Lexicon, Longer, Meaning, united
from partita.extraction.phrases import Described

Coded = Callable[[Mapping[str, Any]], list[str]]


def shape(text: str) -> str:
    """What a word looks like."""
    if text.islower():
        return "lower" if not _has_digit(text) else "alnum"
    if text.isupper():
        return "upper" if not _has_digit(text) else "alnum"
    if _has_digit(text):
        return "digits" if not any(map(str.isalpha, text)) else "alnum"
    if not any(map(str.isalnum, text)):
        return "punct"
    return "capital" if text[0].isupper() and text[1:].islower() else "mixed"


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


@dataclass(frozen=True, slots=True)
class Setting:
    """What words have from the region and the sentence in which they stand."""

    region: str
    column: str
    cased: bool


class Words(dict[tuple[str, str], Described]):
    """The words of one setting by text and tag, described as they turn up."""

    def __init__(self, setting: Setting, lexicon: Lexicon, coded: Coded) -> None:
        super().__init__()
        self.setting, self.lexicon, self.coded = setting, lexicon, coded

    def __missing__(self, key: tuple[str, str]) -> Described:
        text, tag = key
        word = text.lower()
        meanings = self.lexicon.meanings(word, tag)
        lemma = meanings[0].lemma if meanings else word
        if lemma == word and not (meanings and tag.startswith("N")):  # guarded is listed as it is
            lemma = self.lexicon.forms.lemma(word, tag)
        attributes = self.described(text, word, lemma, tag, meanings)
        longer = self.lexicon.longer.get(word)
        self[key] = made = Described(attributes, self.coded(attributes), longer=longer)
        return made

    def described(
        self, text: str, word: str, lemma: str, tag: str, meanings: Sequence[Meaning]
    ) -> dict[str, Any]:
        """The attributes of a word or multiword."""
        attributes: dict[str, Any] = {
            "kind": "word",
            "text": text,
            "word": word,
            "lemma": lemma,
            "tag": tag,
            "shape": shape(text),
            "region": self.setting.region,
            "cased": self.setting.cased,
        }
        if self.setting.column:
            attributes["column"] = self.setting.column
        if meanings:
            attributes["known"] = True
            sorts, says = united(meanings)
            attributes.update({"sort": sorts} if sorts else {})
            attributes.update({"says": says} if says else {})
        return attributes


@dataclass(slots=True)
class Vocabulary:
    """All words that a cascade has met, by setting."""

    lexicon: Lexicon
    coded: Coded
    settings: dict[Setting, Words] = field(default_factory=dict)
    multiwords: dict[tuple[Any, ...], Described] = field(default_factory=dict)

    def words(self, region: str, column: str, cased: bool) -> Words:
        setting = Setting(region, column.lower(), cased)
        if setting not in self.settings:
            self.settings[setting] = Words(setting, self.lexicon, self.coded)
        return self.settings[setting]

    @property
    def size(self) -> int:
        return sum(map(len, self.settings.values())) + len(self.multiwords)

    def clear(self) -> None:
        self.settings.clear()
        self.multiwords.clear()

    def joined(
        self, items: list[Described], pieces: Sequence[str], begin: int
    ) -> tuple[list[Described], list[int]]:
        """The words of a sentence, the longest multiwords made one, and their first tokens."""
        made: list[Described] = []
        starts: list[int] = []
        n = 0
        while n < len(items):
            found = self._longest(items, n)
            end = n + 1 + (len(found.rest) if found else 0)
            text = "".join(pieces[n:end]).rstrip() if found else ""
            made.append(self._multiword(found, items[n:end], text) if found else items[n])
            starts.append(begin + n)
            n = end
        return made, starts

    def _longest(self, items: list[Described], n: int) -> Longer | None:
        word, following = items[n], items[n + 1 : n + 2]
        if word.longer is None or not following:
            return None
        for longer in word.longer.get(following[0].attributes["word"], ()):
            after = items[n + 1 : n + 1 + len(longer.rest)]
            if tuple([one.attributes["word"] for one in after]) == longer.rest:
                return longer
        return None

    def _multiword(self, longer: Longer, parts: list[Described], text: str) -> Described:
        """One word of several: its tag is its head's, where the lexicon allows that."""
        setting = _setting(parts[0])
        tag = _tag(longer, parts)
        key = (id(longer), text, tag, setting)
        if key not in self.multiwords:
            words = Words(setting, self.lexicon, self.coded)
            lemma = longer.meanings[0].lemma
            attributes = words.described(text, text.lower(), lemma, tag, longer.meanings)
            offsets = tuple(range(len(parts)))
            self.multiwords[key] = Described(
                attributes, self.coded(attributes), "", tuple(parts), offsets
            )
        return self.multiwords[key]


def _setting(word: Described) -> Setting:
    said = word.attributes
    return Setting(said["region"], said.get("column", ""), said["cased"])


def _tag(longer: Longer, parts: list[Described]) -> str:
    meaning = longer.meanings[0]
    head = parts[0] if meaning.tag.startswith("V") else parts[-1]
    tag = str(head.attributes["tag"])
    return tag if not meaning.tag or tag in meaning.tags else meaning.tag
