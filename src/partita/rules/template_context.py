"""Describe a template's words, its clause and its relation to other expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from partita.core import Form
from partita.rules.phrases import Phrase
from partita.text.assertions import BELIEVING, SAYING
from partita.text.tokens import POSSESSIVE

PERSONS = {"first": "1", "second": "2", "third": "3"}
GENDERS = {
    **dict.fromkeys(("he", "him", "his", "himself"), "masc"),
    **dict.fromkeys(("she", "her", "hers", "herself"), "fem"),
    **dict.fromkeys(("it", "its", "itself"), "neut"),
}


def phrase_head(phrase: Phrase) -> str:
    """Return the lemma of the head; for a multiword its last word.

    In "depot 14" and "warehouse b" the first word is the head, and so it is in the name of a
    person: GUM has it so, from which the pair parameters that Partita ships were learned.
    """
    attributes = phrase.attributes
    if attributes.get("form") == "name" and "PERSON" in attributes.get("namesort", ()):
        return str(attributes.get("name") or phrase.text).lower().split()[0].rstrip(".")
    words = str(attributes.get("lemma") or attributes.get("head") or phrase.text).lower().split()
    if not words:
        return ""
    numbered = len(words) > 1 and (len(words[-1]) == 1 or words[-1].isdecimal())
    return words[0 if numbered else -1].rstrip(".")


def phrase_form(phrase: Phrase) -> Form:
    form = phrase.attributes.get("form", "")
    return cast(Form, form) if form in get_args(Form) else ""


def phrase_number(phrase: Phrase) -> int | str | None:
    """Return a count, or else singular or plural if the group shows it."""
    number = str(phrase.attributes.get("number", ""))
    if number.isdecimal() and len(number) < 10:
        return "singular" if number == "1" else int(number)
    if number == "SINGULAR":
        return "singular"
    return "plural" if number else None


def phrase_modifiers(phrase: Phrase) -> list[str]:
    """Return the modifiers of the head, with the earlier words of a multiword."""
    attributes = phrase.attributes
    value = attributes.get("mods", ())
    mods = [value] if isinstance(value, str) else list(value)
    compound = str(attributes.get("lemma", "")).lower().split()[:-1]
    words = [word for mod in (*mods, *compound) for word in str(mod).lower().split()]
    return [word for word in dict.fromkeys(words) if word[:1].isalnum() and word not in _JOINING]


_JOINING = frozenset({"and", "or"})


def context_of(phrase: Phrase, words: Sequence[str]) -> dict[str, Any]:
    """Return the context of a template that follows from its own words."""
    pronoun = phrase.attributes.get("form") == "pronoun"
    lemma = words[-1] if words else ""
    return {
        "MODIFIERS": phrase_modifiers(phrase),
        "WORDS": list(words),
        "DETERMINER": str(phrase.attributes.get("det", "")),
        "PERSON": PERSONS.get(str(phrase.attributes.get("person", "")), "3") if pronoun else "",
        "GENDER": GENDERS.get(lemma, "") if pronoun else "",
        "REFLEXIVE": "yes" if pronoun and lemma.endswith(("self", "selves")) else "",
    }


Attributes = Mapping[str, Any]

OPENING = frozenset({",", "(", "-", "--", "–", "—"})
CLOSING = OPENING | {")", ".", ";", ":"}
COPULAS = frozenset({"be", "become", "remain"})
HOLDING = frozenset({"have", "contain", "include", "comprise", "consist", "hold", "house"})
SUBORDINATING = frozenset(
    ["that", "whether", "if", "because", "although", "though", "unless", "while", "whereas"]
)
EMBEDDING = SAYING | BELIEVING | {"know", "find"}  # their object may be a clause
BETWEEN = frozenset({"when", "location", "time", "date"})  # allowed before the verb
WAYS = frozenset({"bearing", "measure"})  # allowed before a preposition


@dataclass(frozen=True, slots=True)
class PhraseRelations:
    """The role of a phrase, and the positions of the phrases it is related to (-1: none)."""

    role: str
    apposition: int
    copula: int
    whole: int


def phrase_relations(phrases: Sequence[Attributes], n: int) -> PhraseRelations:
    """Return the relations of the noun group at a position."""
    apposition = _apposition(phrases, n)
    role = _role(phrases, n, apposition)
    return PhraseRelations(role, apposition, _copula(phrases, n), _whole(phrases, n))


def _whole(phrases: Sequence[Attributes], n: int) -> int:
    """Return what a group is a part of, or -1.

    Examples: "the depot's tanks", "hangars of the base", "the base has three hangars".
    """
    before, beside = _at(phrases, n - 1), _at(phrases, n - 2)
    if _text(before) in POSSESSIVE and beside.get("kind") == "ng":
        return n - 2
    if _at(phrases, n).get("form") == "pronoun" and (holder := _binder(phrases, n)) >= 0:
        return holder
    if _text(_at(phrases, n + 1)).lower() == "of" and _at(phrases, n + 2).get("kind") == "ng":
        return n + 2
    at = n - 2 if _text(before).lower() == "of" else n - 1
    verb, subject = _at(phrases, at), _at(phrases, at - 1)
    holds = verb.get("kind") == "vg" and verb.get("lemma") in HOLDING
    return at - 1 if holds and subject.get("kind") == "ng" else -1


def _binder(phrases: Sequence[Attributes], n: int) -> int:
    """Return the group that a pronoun cannot be: what stands before its preposition, or -1.

    Example: "a warehouse 2 km south of it" is not "it".
    """
    if not _preposition(_at(phrases, n - 1)) or _text(_at(phrases, n)).lower().endswith(
        ("self", "selves")
    ):
        return -1
    at = n - 1
    while _preposition(_at(phrases, at)) or _at(phrases, at).get("kind") in WAYS:
        at -= 1
    at -= _at(phrases, at).get("lemma") in COPULAS  # "another depot is near it"
    return at if _at(phrases, at).get("kind") == "ng" else -1


def _at(phrases: Sequence[Attributes], n: int) -> Attributes:
    return phrases[n] if 0 <= n < len(phrases) else {}


def _text(phrase: Attributes) -> str:
    return str(phrase.get("text", ""))


def _role(phrases: Sequence[Attributes], n: int, apposition: int) -> str:
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


def _preposition(phrase: Attributes) -> bool:
    kind = phrase.get("kind")
    if kind == "word":
        return phrase.get("tag") in ("IN", "TO") and phrase.get("word") not in SUBORDINATING
    return kind in ("bearing", "location")


def _followed_by_verb(phrases: Sequence[Attributes], n: int) -> bool:
    """Return whether a finite verb follows, after prepositional phrases, times and adverbs."""
    at = n + 1
    while phrase := _at(phrases, at):
        if phrase["kind"] == "vg":
            return bool(phrase.get("form", "finite") == "finite")
        if _preposition(phrase) and _at(phrases, at + 1).get("kind") == "ng":
            at += 1
        elif phrase["kind"] not in BETWEEN and not _adverb(phrase):
            return False
        at += 1
    return False


def _adverb(phrase: Attributes) -> bool:
    return phrase.get("kind") == "word" and str(phrase.get("tag", "")).startswith("RB")


def _apposition(phrases: Sequence[Attributes], n: int) -> int:
    """Return the name that this group describes, or the group that this name is of, or -1.

    Examples: "Landers, the air base, …", "a Danish goalkeeper, Jens Holt, …". A group before
    another conjunct is part of a list instead: "Landers, a depot, and a bridge".
    """
    name, mark, group = (_at(phrases, n + k) for k in (-2, -1, 0))
    if name.get("kind") != "ng" or _text(mark) not in OPENING or not mark:
        return -1
    listed = _text(_at(phrases, n + 2)).lower() in ("and", "or", "&")
    described = ("definite", "indefinite")
    forms = name.get("form"), group.get("form")
    describes = "name" in forms and (forms[0] in described or forms[1] in described)
    return n - 2 if _closed(phrases, n) and describes and not listed and _agree(group, name) else -1


def _copula(phrases: Sequence[Attributes], n: int) -> int:
    """Return the subject of "the facility is an ammunition depot", or -1.

    What is denied is excluded, but what corrects it is not: "is not a tank but a truck".
    """
    corrects = _text(_at(phrases, n - 1)).lower() == "but"
    subject = subject_of(phrases, n - 2 if corrects else n)
    verb = next((p for p in reversed(phrases[max(subject, 0) : n]) if p.get("kind") == "vg"), {})
    says = bool(verb.get("negated")) == corrects
    return subject if subject >= 0 and says and _agree(phrases[n], phrases[subject]) else -1


def subject_of(phrases: Sequence[Attributes], n: int) -> int:
    """Return the subject of which the group at a position is said by a copula, or -1.

    Between them only adverbs, verbs before "to be", and after the subject prepositional phrases
    and a relative clause may stand: "the site near Halvik is probably a radar station", "is
    believed to be one", "the vehicle that left Arden is a tank", "the vehicle seen there is one".
    """
    at = _before_adverbs(phrases, n - 1)
    verb = _at(phrases, at)
    if verb.get("kind") != "vg" or verb.get("lemma") not in COPULAS:
        return -1
    at = _before_adverbs(phrases, at - 1)
    if verb.get("form") == "infinitive" and _at(phrases, at).get("kind") == "vg":
        at = _before_adverbs(phrases, at - 1)
    at = _before_clause(phrases, at)
    subject = _at(phrases, at)
    if subject.get("kind") != "ng" or subject.get("person") in ("there", "relative"):
        return -1
    return at


def described_by(phrases: Sequence[Attributes], n: int) -> int:
    """Return what the group at a position is said of after a comma and an adverb, or -1.

    Examples: "the building, formerly a school, …", "the site (not a depot) …".
    """
    at = n - 2 if _text(_at(phrases, n - 1)).lower() == "once" else _before_adverbs(phrases, n - 1)
    if at == n - 1 or _text(_at(phrases, at)) not in OPENING or not _closed(phrases, n):
        return -1
    at = _before_modifiers(phrases, at - 1)
    return at if _at(phrases, at).get("kind") == "ng" else -1


def _closed(phrases: Sequence[Attributes], n: int) -> bool:
    """Return whether an aside ends behind the group at a position."""
    after = _at(phrases, n + 1)
    return not after or _text(after) in CLOSING or _preposition(after)


def _before_clause(phrases: Sequence[Attributes], n: int) -> int:
    """Return the position before prepositional phrases, times, a relative clause or an aside."""
    closed = _before_comma(phrases, n)
    if closed < n and _at(phrases, closed).get("form") in ("definite", "indefinite"):
        opening = _before_adverbs(phrases, closed - 1)
        if _text(_at(phrases, opening)) == "," and opening > 0:
            return _before_modifiers(phrases, opening - 1)
    at = _before_modifiers(phrases, closed)
    if _relative(_at(phrases, at - 2)) and _at(phrases, at - 1).get("lemma") not in EMBEDDING:
        at -= 1  # behind the clause's object
    verb = _at(phrases, at)
    if verb.get("kind") == "vg" and _relative(_at(phrases, at - 1)):
        return _before_modifiers(phrases, _before_comma(phrases, at - 2))
    if closed < n:
        return n
    reduced = verb.get("kind") == "vg" and verb.get("form") == "participle"
    return _before_modifiers(phrases, at - 1) if reduced else at


def _before_comma(phrases: Sequence[Attributes], n: int) -> int:
    return n - 1 if _text(_at(phrases, n)) == "," else n


def _before_modifiers(phrases: Sequence[Attributes], n: int) -> int:
    while True:
        if _at(phrases, n).get("kind") == "ng" and _preposition(_at(phrases, n - 1)):
            n -= 2
        elif _at(phrases, n).get("kind") in BETWEEN:
            n -= 1
        else:
            return n


def _relative(phrase: Attributes) -> bool:
    return phrase.get("person") == "relative"


def _before_adverbs(phrases: Sequence[Attributes], n: int) -> int:
    while _adverb(_at(phrases, n)):
        n -= 1
    return n


def _agree(left: Attributes, right: Attributes) -> bool:
    return str(left.get("number", "")) == str(right.get("number", ""))
