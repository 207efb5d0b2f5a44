"""What a template has from its own words: head, number, form, determiner, modifiers, pronoun."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast, get_args

from partita.extraction.phrases import Phrase
from partita.records import Form

PERSONS = {"first": "1", "second": "2", "third": "3"}
GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "masc"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "fem"),
    **dict.fromkeys(("it", "its", "itself"), "neut"),
}


def head_of(phrase: Phrase) -> str:
    """The head's lemma; of a multiword its last word, by which other expressions take it up.

    The last word of "depot 14" and "warehouse b" is no head: there it is the first.
    """
    said = phrase.attributes
    words = str(said.get("lemma") or said.get("head") or phrase.text).lower().split()
    if not words:
        return ""
    named = len(words) > 1 and (len(words[-1]) == 1 or words[-1].isdecimal())
    return words[0 if named else -1].rstrip(".")


def form_of(phrase: Phrase) -> Form:
    form = phrase.attributes.get("form", "")
    return cast(Form, form) if form in get_args(Form) else ""


def number_of(phrase: Phrase) -> int | str | None:
    """A count as such, otherwise singular or plural where the group shows it."""
    number = str(phrase.attributes.get("number", ""))
    if number.isdecimal() and len(number) < 10:
        return "singular" if number == "1" else int(number)
    if number == "SINGULAR":
        return "singular"
    return "plural" if number else None


def modifiers_of(phrase: Phrase) -> list[str]:
    """What describes the head, first the words of a multiword before its last one."""
    said = phrase.attributes
    given = said.get("mods", ())
    mods = [given] if isinstance(given, str) else list(given)
    compound = str(said.get("lemma", "")).lower().split()[:-1]
    words = [word for mod in (*mods, *compound) for word in str(mod).lower().split()]
    return [word for word in dict.fromkeys(words) if word[:1].isalnum() and word not in _JOINING]


_JOINING = frozenset({"and", "or"})


def described(phrase: Phrase, words: Sequence[str]) -> dict[str, Any]:
    """The context of a template, as far as its own words give it."""
    pronoun = phrase.attributes.get("form") == "pronoun"
    lemma = words[-1] if words else ""
    return {
        "MODIFIERS": modifiers_of(phrase),
        "WORDS": list(words),
        "DETERMINER": str(phrase.attributes.get("det", "")),
        "PERSON": PERSONS.get(str(phrase.attributes.get("person", "")), "3") if pronoun else "",
        "GENDER": GENDERS.get(lemma, "") if pronoun else "",
        "REFLEXIVE": "yes" if pronoun and lemma.endswith(("self", "selves")) else "",
    }
