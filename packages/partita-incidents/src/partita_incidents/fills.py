"""Compare the fills of a MUC-4 response with those of the key."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from partita_incidents.exam_templates import (
    BROADER,
    CORRECT,
    INCORRECT,
    PARTIAL,
    Fill,
    Slot,
    Verdict,
    compare_dates,
)

_KIND = re.compile(r"\([^()]*\)")
Location = tuple[str, tuple[tuple[str, ...], ...]]


@lru_cache(maxsize=1 << 14)
def location(text: str) -> Location:
    """Return the country and the places below it; a range between two places holds both."""
    country, *below = (part.strip() for part in _KIND.sub(" ", text.upper()).split(":"))
    places = (tuple(filter(None, (p.strip() for p in part.split(" - ")))) for part in below)
    return _tidy(country), tuple(tuple(map(_tidy, names)) for names in places if names)


def _tidy(name: str) -> str:
    return " ".join(re.sub(r"[^A-Z0-9 ]", " ", name).split())


def compare_locations(response: str, key: str) -> Verdict:
    (land, response_places), (key_land, places) = location(response), location(key)
    if response_places == places:
        return CORRECT if land == key_land else PARTIAL if response_places else INCORRECT
    return PARTIAL if land == key_land else INCORRECT


_NUMBER = re.compile(r"[0-9]+")


def compare_numbers(response: str, key: str) -> Verdict:
    response_number, key_number = (re.sub(r"[\s,]", "", text.upper()) for text in (response, key))
    if response_number == key_number or (
        response_number.isdigit()
        and key_number.isdigit()
        and int(response_number) == int(key_number)
    ):
        return CORRECT
    anchors = {int(number) for number in _NUMBER.findall(key_number)}
    single = response_number.isdigit() and not key_number.isdigit()
    return PARTIAL if single and int(response_number) in anchors else INCORRECT


# (slot, response, key): what the guidelines name.
_NEARLY = frozenset(
    (
        ("perp-org-conf", "SUSPECTED OR ACCUSED", "SUSPECTED OR ACCUSED BY AUTHORITIES"),
        (
            "phys-tgt-type",
            "POLITICAL FIGURE OFFICE OR RESIDENCE",
            "GOVERNMENT OFFICE OR RESIDENCE",
        ),
        ("phys-tgt-effect", "DESTROYED", "SOME DAMAGE"),
        ("hum-tgt-type", "GOVERNMENT OFFICIAL", "FORMER GOVERNMENT OFFICIAL"),
        ("hum-tgt-type", "ACTIVE MILITARY", "FORMER ACTIVE MILITARY"),
        ("hum-tgt-type", "GOVERNMENT OFFICIAL", "FORMER ACTIVE MILITARY"),
        ("hum-tgt-type", "ACTIVE MILITARY", "FORMER GOVERNMENT OFFICIAL"),
        ("hum-tgt-type", "POLITICAL FIGURE", "GOVERNMENT OFFICIAL"),
        ("hum-tgt-effect", "NO INJURY", "NO INJURY OR DEATH"),
        ("hum-tgt-effect", "NO DEATH", "NO INJURY OR DEATH"),
    )
)


def compare_set_fills(slot: Slot, response: str, key: str) -> Verdict:
    response_value, key_value = (" ".join(text.upper().split()) for text in (response, key))
    if response_value == key_value:
        return CORRECT
    if slot.name == "inc-type":
        return PARTIAL if response_value == "ATTACK" else INCORRECT
    if slot.name == "inc-instr-type":
        return PARTIAL if response_value in _broader(key_value) else INCORRECT
    return PARTIAL if (slot.name, response_value, key_value) in _NEARLY else INCORRECT


def _broader(name: str) -> list[str]:
    names = []
    while name in BROADER:
        name = BROADER[name]
        names.append(name)
    return names


_WORD = re.compile(r"[A-Z0-9ÁÉÍÓÚÑÜ]+(?:'(?!S\b)[A-Z]+)?")
_ASIDE = re.compile(r"[\[(][^\])]*[\])]")
_SMALL = frozenset(
    _WORD.findall(
        "THE A AN THIS THAT THESE THOSE HIS HER ITS THEIR OUR SOME SEVERAL MANY ANOTHER OTHER OF "
        "IN ON AT TO BY FOR FROM WITH AND OR S ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE TEN "
        "ELEVEN TWELVE ABOUT APPROXIMATELY LEAST MORE THAN ALLEGED UNIDENTIFIED MR MRS DR"
    )
)
_NATIONS = frozenset(
    _WORD.findall(
        "SALVADORAN COLOMBIAN PERUVIAN GUATEMALAN HONDURAN CHILEAN BOLIVIAN ECUADORAN ECUADOREAN "
        "ARGENTINE ARGENTINIAN VENEZUELAN NICARAGUAN PANAMANIAN AMERICAN U SPANISH ITALIAN"
    )
)
_LINKS = frozenset(
    _WORD.findall("OF IN ON AT TO BY FOR FROM WITH WHO WHICH THAT WHILE DURING AFTER")
)


def compare_strings(response: str, key: str) -> Verdict:
    """Compare two strings; sharing only uninformative words is not correct."""
    response_words, key_words = _words(response), _words(key)
    if response_words == key_words or _words(_ASIDE.sub(" ", response)) == key_words:
        return CORRECT
    if not response_words or not key_words:
        return INCORRECT
    if _within(key_words, response_words):
        return (
            CORRECT
            if _head(response) == _head(key) or key_words[-1] == response_words[-1]
            else PARTIAL
        )
    if _within(response_words, key_words) or _head(response) == _head(key):
        return PARTIAL
    return INCORRECT


@lru_cache(maxsize=1 << 16)
def _words(text: str) -> tuple[str, ...]:
    """Return the informative words; all of them where there are none."""
    words = tuple(_WORD.findall(text.upper()))
    return tuple(w for w in words if w not in _SMALL and w not in _NATIONS) or words


@lru_cache(maxsize=1 << 16)
def _head(text: str) -> str:
    """Return the last word before a preposition, a relative pronoun or a comma."""
    first = re.split(r"[,;]", _ASIDE.sub(" ", text.upper()))[0]
    head = ""
    for word in _WORD.findall(first):
        if word in _LINKS and head:
            break
        head = word
    return head


def _within(few: tuple[str, ...], many: tuple[str, ...]) -> bool:
    """Return whether `few` occurs in `many` without a gap."""
    return any(many[n : n + len(few)] == few for n in range(len(many) - len(few) + 1))


def compare(slot: Slot, response: Fill, key: Fill) -> Verdict:
    """Return the best over all alternatives of the key; a wrong tag makes correct partial."""
    value = max(
        _value(slot, response_value, key_value)
        for response_value in response.values
        for key_value in key.values
    )
    if not slot.tagged or value <= PARTIAL:
        return value
    return value if tag(response.tags, key.tags) > INCORRECT else PARTIAL


def tag(response: Sequence[str], key: Sequence[str]) -> Verdict:
    """Compare the strings that two fills refer to; correct if neither refers to any."""
    if not response or not key:
        return CORRECT if not response and not key else INCORRECT
    return max(
        compare_strings(response_string, key_string)
        for response_string in response
        for key_string in key
    )


def _value(slot: Slot, response: str, key: str) -> Verdict:
    match slot.kind:
        case "date":
            return compare_dates(response, key)
        case "location":
            return compare_locations(response, key)
        case "number":
            return compare_numbers(response, key)
        case "set":
            return compare_set_fills(slot, response, key)
        case _:
            return compare_strings(response, key)
