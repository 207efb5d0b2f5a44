"""Forms of English words: plurals and verb forms from a lemma, and the lemma from a form."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from partita.extraction.irregular import REGULAR, pasts, plurals

_HISSING = re.compile(r"(?:s|x|z|ch|sh)$")
_Y = re.compile(r"[^aeiou]y$")
_DOUBLED = re.compile(r"[^aeiou]?[^aeiou][aeiou]([bdgklmnprt])$")
_TWIN = re.compile(r"([bdgmnprt])\1$")
# Stems that a silent e has been taken from: stor-ed, locat-ed, mov-ed, charg-ed.
_SILENT = re.compile(
    r"(?:[^aeiou][aeiou][bcdgkmprtvz]|[aeiou]{2}[vsz]|at|it|ut|iz|is|us|os|as|ys|iv|ov|uc|ic|ac|ag|ug|dg|rg"
    r"|lg|ng|nc|rc|rs|ns|ps|ls|rv|lv|ur|ar|ir|or|[bcdfgkpstz]l|u|e)$"
)
_FINAL = re.compile(r"(?:[^aeiou](?:er|en|on|or|it|et|el|il|op|ow|om|ep|ic)|at|ew|ow|oy|ay)$")


@dataclass(slots=True)
class Forms:
    """Irregular words, and lemmas that are known for sure by their forms."""

    plurals: Mapping[str, str] = field(default_factory=plurals)
    verbs: Mapping[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = field(
        default_factory=pasts
    )
    nouns_by_form: dict[str, str] = field(default_factory=dict)
    verbs_by_form: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nouns_by_form.update({form: noun for noun, form in self.plurals.items()})
        self.know(self.verbs)
        self.know(REGULAR.split())

    def know(self, verbs: Iterable[str]) -> None:
        """Their forms will be brought back to them."""
        for verb in verbs:
            for form, _ in self.conjugated(verb):
                self.verbs_by_form.setdefault(form, verb)

    def plural(self, noun: str) -> str:
        """The plural; of several words that of the last."""
        start, space, last = noun.rpartition(" ")
        return f"{start}{space}{self._plural(last)}"

    def _plural(self, noun: str) -> str:
        if noun in self.plurals:
            return self.plurals[noun]
        if noun.endswith("man") and len(noun) > 4:
            return f"{noun[:-3]}men"
        return f"{noun[:-1]}ies" if _Y.search(noun) else f"{noun}{_s(noun)}"

    def conjugated(self, verb: str) -> Iterator[tuple[str, str]]:
        """The forms of a verb with their tags; of several words the first is conjugated."""
        first, space, rest = verb.partition(" ")
        for form, tag in self._conjugated(first):
            yield f"{form}{space}{rest}", tag

    def _conjugated(self, verb: str) -> Iterator[tuple[str, str]]:
        past, participle, present = self.verbs.get(verb, ((), (), ()))
        yield verb, "VB"
        third = f"{verb[:-1]}ies" if _Y.search(verb) else f"{verb}{_s(verb)}"
        yield from ((form, "VBZ") for form in present or (third,))
        yield _stem(verb, "ing"), "VBG"
        regular = _stem(verb, "ed")
        yield from ((form, "VBD") for form in past or (regular,))
        yield from ((form, "VBN") for form in participle or (regular,))

    def lemma(self, word: str, tag: str) -> str:
        """Singular or infinitive of a word in lower case, as its tag says."""
        if tag in ("NNS", "NNPS"):
            return self.nouns_by_form.get(word) or _singular(word)
        if not tag.startswith("V") and tag != "MD":
            return word
        if known := self.verbs_by_form.get(word):
            return known
        if tag == "VBZ" and word.endswith("s"):
            return _singular(word)
        if word.endswith("ied") and len(word) > 4:
            return f"{word[:-3]}y"
        ending = {"VBG": "ing", "VBD": "ed", "VBN": "ed"}.get(tag, "")
        if ending and word.endswith(ending) and len(word) > len(ending) + 1:
            return _infinitive(word[: -len(ending)])
        return word


def _s(word: str) -> str:
    return "es" if _HISSING.search(word) else "s"


def _stem(verb: str, ending: str) -> str:
    if verb.endswith("ie") and ending == "ing":
        return f"{verb[:-2]}ying"
    if verb.endswith("e") and not (ending == "ing" and verb.endswith(("ee", "oe", "ye"))):
        return f"{verb[:-1]}{ending}"
    if _Y.search(verb) and ending == "ed":
        return f"{verb[:-1]}ied"
    short = _DOUBLED.fullmatch(verb)
    return f"{verb}{short[1] if short else ''}{ending}"


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if re.search(r"(?:ss|sh|ch|x|zz)es$", word):
        return word[:-2]
    if word.endswith("men") and len(word) > 4:
        return f"{word[:-3]}man"
    return word if re.search(r"(?:ss|us|is|[^s])$", word) or len(word) < 3 else word[:-1]


def _infinitive(stem: str) -> str:
    if _TWIN.search(stem):
        return stem[:-1]
    if _DOUBLED.fullmatch(stem):  # a short stem would have been doubled: hop-ed is of hope
        return f"{stem}e"
    if _FINAL.search(stem) and not stem.endswith(("at", "ic")):
        return stem
    return (
        f"{stem}e" if _SILENT.search(stem) and not re.search(r"[aeiou]{2}[^vsz]$", stem) else stem
    )
