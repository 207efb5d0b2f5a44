"""Describe a template's words, its clause and its relation to other expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from partita.records import Form
from partita.rules.phrases import Phrase

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


Said = Mapping[str, Any]

POSSESSIVE = frozenset({"'s", "’s", "'", "’"})
OPENING = frozenset({",", "(", "-", "--", "–", "—"})
CLOSING = OPENING | {")", ".", ";", ":"}
COPULAS = frozenset({"be", "become", "remain"})
LITTLE = frozenset({"when", "location", "time", "date"})  # stands between subject and verb


@dataclass(frozen=True, slots=True)
class Ties:
    """The role of a phrase, and the places of what it is tied to (−1: nothing)."""

    role: str
    apposition: int
    copula: int


def ties(phrases: Sequence[Said], n: int) -> Ties:
    """The ties of the noun group at a place; what ends a sentence says nothing of itself."""
    apposition = _apposition(phrases, n)
    return Ties(_role(phrases, n, apposition), apposition, _copula(phrases, n))


def _at(phrases: Sequence[Said], n: int) -> Said:
    return phrases[n] if 0 <= n < len(phrases) else {}


def _text(phrase: Said) -> str:
    return str(phrase.get("text", ""))


def _role(phrases: Sequence[Said], n: int, apposition: int) -> str:
    if _text(_at(phrases, n + 1)) in POSSESSIVE:
        return "possessive"
    if apposition >= 0:
        return "apposition"
    before = _at(phrases, n - 1)
    if _preposition(before):
        return "oblique"
    if before.get("kind") == "vg":
        return "other" if before.get("lemma") in COPULAS else "object"
    return "subject" if _followed_by_verb(phrases, n) else "other"


def _preposition(phrase: Said) -> bool:
    kind = phrase.get("kind")
    if kind == "word":
        return phrase.get("tag") in ("IN", "TO")
    return kind in ("bearing", "location")


def _followed_by_verb(phrases: Sequence[Said], n: int) -> bool:
    """Whether a finite verb comes next, over prepositional phrases, times and adverbs."""
    at = n + 1
    while here := _at(phrases, at):
        if here["kind"] == "vg":
            return bool(here.get("form", "finite") == "finite")
        if _preposition(here) and _at(phrases, at + 1).get("kind") == "ng":
            at += 1
        elif here["kind"] not in LITTLE and not _adverb(here):
            return False
        at += 1
    return False


def _adverb(phrase: Said) -> bool:
    return phrase.get("kind") == "word" and str(phrase.get("tag", "")).startswith("RB")


def _apposition(phrases: Sequence[Said], n: int) -> int:
    """The name before a comma or bracket that this group describes: "Landers, the air base, …".

    What another conjunct follows is a member of a list: "Landers, a depot, and a bridge".
    """
    named, mark, mine, after = (_at(phrases, n + k) for k in (-2, -1, 0, 1))
    if named.get("kind") != "ng" or _text(mark) not in OPENING or not mark:
        return -1
    closed = not after or _text(after) in CLOSING or _preposition(after)
    listed = _text(_at(phrases, n + 2)).lower() in ("and", "or", "&")
    describes = named.get("form") == "name" and mine.get("form") in ("definite", "indefinite")
    return n - 2 if closed and describes and not listed and _agree(mine, named) else -1


def _copula(phrases: Sequence[Said], n: int) -> int:
    """The subject of "the facility is an ammunition depot", not of "is not"."""
    subject, verb = _at(phrases, n - 2), _at(phrases, n - 1)
    if verb.get("kind") != "vg" or not verb or subject.get("kind") != "ng":
        return -1
    plain = verb.get("lemma") in COPULAS and not verb.get("negated") and not verb.get("modal")
    pointing = subject.get("person") in ("there", "relative")
    return n - 2 if plain and not pointing and _agree(phrases[n], subject) else -1


def _agree(left: Said, right: Said) -> bool:
    return str(left.get("number", "")) == str(right.get("number", ""))
