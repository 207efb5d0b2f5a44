"""How expressions stand to their clause and to each other: role, apposition, predicate of a copula.

Read off the sequence of phrases that the cascade leaves: ng vg ng, ng , ng , and the like.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from partita.extraction.phrases import Phrase

POSSESSIVE = frozenset({"'s", "’s", "'", "’"})
OPENING = frozenset({",", "(", "-", "--", "–", "—"})
COPULAS = frozenset({"be", "become", "remain"})
CLOSING = frozenset({",", ")", "-", "--", "–", "—", ".", ";", ":"})
LITTLE = frozenset({"when", "location", "time", "date"})  # stands between subject and verb


@dataclass(frozen=True, slots=True)
class Ties:
    """Of the phrase at each place its role, and the places of what it is tied to (−1: nothing)."""

    role: tuple[str, ...]
    apposition: tuple[int, ...]
    copula: tuple[int, ...]


def ties(phrases: Sequence[Phrase], ends: Sequence[int]) -> Ties:
    """The ties of all noun groups; `ends` are the tokens behind the last of each sentence."""
    role = [""] * len(phrases)
    apposition, copula = [-1] * len(phrases), [-1] * len(phrases)
    for start, stop in _sentences(phrases, ends):
        for n in range(start, stop):
            if phrases[n].kind == "ng":
                apposition[n] = _apposition(phrases, n, start, stop)
                copula[n] = _copula(phrases, n, start)
                role[n] = _role(phrases, n, start, stop, apposition[n])
    return Ties(tuple(role), tuple(apposition), tuple(copula))


def _sentences(phrases: Sequence[Phrase], ends: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for end in ends:
        stop = start
        while stop < len(phrases) and phrases[stop].first < end:
            stop += 1
        if stop > start:
            yield start, stop
        start = stop


def _role(phrases: Sequence[Phrase], n: int, start: int, stop: int, apposition: int) -> str:
    if n + 1 < stop and phrases[n + 1].text in POSSESSIVE:
        return "possessive"
    if apposition >= 0:
        return "apposition"
    before = phrases[n - 1] if n > start else None
    if before is not None and _preposition(before):
        return "oblique"
    if before is not None and before.kind == "vg":
        return "object" if before.attributes.get("lemma") not in COPULAS else "other"
    return "subject" if _followed_by_verb(phrases, n, stop) else "other"


def _preposition(phrase: Phrase) -> bool:
    if phrase.kind in ("bearing", "location"):
        return True
    return phrase.kind == "word" and phrase.attributes.get("tag") in ("IN", "TO")


def _followed_by_verb(phrases: Sequence[Phrase], n: int, stop: int) -> bool:
    """Whether a finite verb comes next, over prepositional phrases, times and adverbs."""
    at = n + 1
    while at < stop:
        here = phrases[at]
        if here.kind == "vg":
            return bool(here.attributes.get("form", "finite") == "finite")
        if _preposition(here) and at + 1 < stop and phrases[at + 1].kind == "ng":
            at += 1
        elif here.kind not in LITTLE and not _adverb(here):
            return False
        at += 1
    return False


def _adverb(phrase: Phrase) -> bool:
    return phrase.kind == "word" and str(phrase.attributes.get("tag", "")).startswith("RB")


def _apposition(phrases: Sequence[Phrase], n: int, start: int, stop: int) -> int:
    """The name before a comma or bracket that this group describes: "Landers, the air base, …".

    What another conjunct follows is a member of a list: "Landers, a depot, and a bridge".
    """
    if n - 2 < start or phrases[n - 1].text not in OPENING or phrases[n - 2].kind != "ng":
        return -1
    closed = n + 1 >= stop or phrases[n + 1].text in CLOSING or _preposition(phrases[n + 1])
    listed = n + 2 < stop and phrases[n + 2].text.lower() in ("and", "or", "&")
    named, mine = phrases[n - 2].attributes, phrases[n].attributes
    describes = named.get("form") == "name" and mine.get("form") in ("definite", "indefinite")
    same = _number(phrases[n]) == _number(phrases[n - 2])
    return n - 2 if closed and describes and same and not listed else -1


def _copula(phrases: Sequence[Phrase], n: int, start: int) -> int:
    """The subject of "the facility is an ammunition depot", not of "is not"."""
    if n - 2 < start or phrases[n - 1].kind != "vg" or phrases[n - 2].kind != "ng":
        return -1
    verb = phrases[n - 1].attributes
    plain = verb.get("lemma") in COPULAS and not verb.get("negated") and not verb.get("modal")
    pointing = phrases[n - 2].attributes.get("person") in ("there", "relative")
    same = _number(phrases[n]) == _number(phrases[n - 2])
    return n - 2 if plain and same and not pointing else -1


def _number(phrase: Phrase) -> str:
    return str(phrase.attributes.get("number", ""))
