"""Which words of a text are one name, and what it names.

A name goes on over hyphens ("Rolls-Royce"), "&", initials ("Dwight D. Eisenhower") and particles
("Ursula von der Leyen"), and ends where a role begins ("Volvo | chairwoman | Ingrid Dahl"). Places
of several words are found by the table of places, in capitals too. Rules, not used in training.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from partita.core import IntArray
from partita.text.given_names import place_size, shipped_names

BoolArray = NDArray[np.bool_]


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


PARTICLES = _set(
    "al af ap ben bin da de del della den der di do dos du el ibn la las le los ten ter und "
    "van von y zu zum zur"
)
INITIAL = re.compile(r"[A-Z]\.|(?:[A-Z]\.){2,4}")
# Words before a name that say what its bearer does; after another name they begin a new one.
OFFICES = _set(
    "actor actress admiral ambassador analyst archbishop artist attorney author bishop boss "
    "cardinal captain ceo cfo chairman chairperson chairwoman chancellor chief coach "
    "colonel commissioner congressman congresswoman coo correspondent cto councillor "
    "detective director doctor economist editor engineer executive founder governor "
    "head inspector judge justice king lawyer leader lieutenant major manager mayor "
    "minister mp officer owner partner pope premier president prince princess principal "
    "professor queen rabbi reporter researcher scientist secretary senator sergeant sheriff "
    "singer spokesman spokesperson spokeswoman teacher treasurer trustee writer"
)
RANKS = _set("chief deputy finance first foreign former interior prime senior vice")
SITES = _set("cape fort lake mount mt mt. port")  # Lake Victoria
EVENTS = _set("battle olympics siege war")
LONGEST_PLACE = 4
FREQUENT = 4  # digits of the number of people with a given name that tells a person
UNLIKELY = _set("ave avenue county road rd street st st. square station park")
GREETINGS = _set("Dear Hello Hey Hi")
PERSON, PLACE, ORGANIZATION, EVENT = "person", "place", "organization", "event"


class NameSpan(NamedTuple):
    """The first and the last word of a name, and the type that it decides, if it does."""

    first: int
    last: int
    type: str


class _Words(NamedTuple):
    """Words with what precedes them, and which ones are tagged as names and capitalised."""

    texts: Sequence[str]
    space: Sequence[int]
    named: BoolArray
    told: BoolArray
    places: dict[int, int]  # first and last words of places of several words


def find_names(
    texts: Sequence[str], space: Sequence[int], ends: IntArray, proper: BoolArray,
    telling: BoolArray,
) -> list[NameSpan]:  # fmt: skip
    """Return the names of several words.

    `proper` says which words are tagged as names, `telling` where capital letters mark names.
    """
    found: list[NameSpan] = []
    for start, end in pairwise([0, *ends.tolist()]):
        places = dict(_places(texts, start, end))
        found += _chains(_Words(texts, space, proper & telling, telling, places), start, end)
    return found


def _places(texts: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the first and the last word of places of several words that the table has."""
    place = start
    while place < end:
        size = 1
        if texts[place][:1].isupper():
            longest = min(end - place, LONGEST_PLACE)
            size = next((n for n in range(longest, 1, -1) if _is_listed(texts, place, n)), 1)
            if size > 1:
                yield place, place + size - 1
        place += size


def _is_listed(texts: Sequence[str], first: int, size: int) -> bool:
    last = texts[first + size - 1]
    return last[:1].isupper() and place_size(" ".join(texts[first : first + size])) > 0


def _chains(words: _Words, start: int, end: int) -> Iterator[NameSpan]:
    place = start
    while place < end:
        last = _last(words, place, end)
        if last > place:
            yield from _parts(words.texts, place, last)
        place = max(last, place) + 1


def _last(words: _Words, first: int, end: int) -> int:
    """Return the last word of the chain of name words that begins with a word, -1 if none does."""
    places = words.places
    if first not in places and not _begins(words, first, end):
        return -1
    last = places.get(first, first)
    while (step := _step(words, last, end)) > 0:
        last = places.get(last + step, last + step)
    return last


def _begins(words: _Words, first: int, end: int) -> bool:
    """Return whether a name begins: a capitalised word that is tagged so, or "Lake", or X-Y."""
    texts = words.texts
    if not texts[first][0].isupper() or texts[first] in GREETINGS:
        return False
    if words.named[first]:
        return True
    follows = first + 1 < end and texts[first + 1][0].isupper() and words.named[first + 1]
    if follows and texts[first].lower() in SITES:
        return True
    dashed = first + 2 < end and texts[first + 1] == "-" and texts[first + 2][0].isupper()
    return dashed and words.told[first] and not any(words.space[first + 1 : first + 3])


def _step(words: _Words, last: int, end: int) -> int:
    """Return how many words further the name goes on, 0 if it ends."""
    texts, glued, named, *_ = words
    rest = end - last - 1

    def capital(place: int) -> bool:
        return bool(texts[place][:1].isupper())

    if rest >= 1 and capital(last + 1) and named[last + 1] and texts[last + 1] not in ("I",):
        return 1
    if rest >= 1 and INITIAL.fullmatch(texts[last + 1]) and rest >= 2 and capital(last + 2):
        return 1
    if rest >= 2 and texts[last + 1] == "&" and capital(last + 2):
        return 2
    if rest >= 2 and texts[last + 1] == "-" and not glued[last + 1] and not glued[last + 2]:
        if capital(last + 2):
            return 0 if _joins_two(texts[last], texts[last + 2]) else 2
        inner = rest >= 4 and texts[last + 3] == "-" and len(texts[last + 2]) <= 4
        if inner and capital(last + 4) and not glued[last + 4]:
            return 4
        return 0
    step = 1
    while step <= min(rest, 3) and texts[last + step] in PARTICLES:
        step += 1
    dashed = step == 2 and rest >= 3 and texts[last + 2] == "-" and not glued[last + 2]
    step += dashed  # al-Masri
    goes_on = 1 < step <= rest and capital(last + step) and (named[last + step] or dashed)
    return step if goes_on else 0


def _joins_two(left: str, right: str) -> bool:
    """Return whether a hyphen stands between two names: the US-China talks."""
    either = _is_state(left) or _is_state(right)
    return either and not place_size(f"{left}-{right}")


def _is_state(word: str) -> bool:
    return place_size(word) > 2 or (word.isupper() and len(word) <= 3)


def _parts(texts: Sequence[str], first: int, last: int) -> Iterator[NameSpan]:
    """Yield the names of a chain: one before a role, and the one with it."""
    role = next(
        (
            n
            for n in range(first + 1, last)
            if texts[n].lower() in OFFICES and texts[n] != "General"
        ),
        0,
    )
    while role - 1 > first and texts[role - 1].lower() in RANKS:
        role -= 1
    if role and texts[role - 1].lower() not in RANKS | OFFICES:
        before = NameSpan(first, role - 1, type_of(texts, first, role - 1) or ORGANIZATION)
        if role - 1 > first or before.type:
            yield before
        titled = texts[role].isupper()
        first = role + titled
        if first < last:
            yield NameSpan(first, last, PERSON)
        return
    yield NameSpan(first, last, type_of(texts, first, last))


def type_of(texts: Sequence[str], first: int, last: int) -> str:
    """Return the type that the words of a name decide, "" if they do not."""
    words = [text.lower() for text in texts[first : last + 1]]
    if "&" in words:
        return ORGANIZATION
    whole = "".join(
        word if n == 0 or word == "-" or words[n - 1] == "-" else f" {word}"
        for n, word in enumerate(words)
    )
    if place_size(whole) or words[0] in SITES:
        return PLACE
    if words[-1] in EVENTS or "war" in words[1:-1]:
        return EVENT
    if first < last and words[0].rstrip(".") in OFFICES and words[-1] not in UNLIKELY:
        return PERSON
    given = shipped_names().given.get(words[0])
    tells = given is not None and given.digits >= FREQUENT and words[-1] not in UNLIKELY
    return PERSON if first < last and (tells or _has_initial(words)) else ""


def _has_initial(words: Sequence[str]) -> bool:
    return any(INITIAL.fullmatch(word.upper()) for word in words[:-1])


def join_names(
    names: Sequence[NameSpan], texts: Sequence[str], ends: IntArray, heads: IntArray,
    relations: NDArray[np.uint8], flat: int, compound: int,
) -> list[int]:  # fmt: skip
    """Make every name one part of its tree, and return the head of each.

    The member that stands highest in the tree becomes the head of the others and of all that
    depends on them. Changes heads (positions in their sentence) and labels.
    """
    bounds = [0, *ends.tolist()]
    found = []
    for name in names:
        sentence = int(np.searchsorted(ends, name.first, side="right"))
        start, end = bounds[sentence], bounds[sentence + 1]
        tree = heads[start:end]
        members = range(name.first - start, name.last - start + 1)
        head = _highest(tree, members)
        found.append(start + head)
        above = tree[head]
        for place in range(len(tree)):
            if place != head and (place in members or tree[place] in members):
                tree[place] = head
        tree[head] = above
        for place in members:
            if place != head and texts[start + place][:1].isalpha():
                relations[start + place] = compound if place < head else flat
    return found


def _highest(tree: IntArray, members: range) -> int:
    """Return the member above which there is no other one."""
    for member in members:
        above, steps = int(tree[member]), 0
        while above >= 0 and above not in members and steps < len(tree):
            above, steps = int(tree[above]), steps + 1
        if above < 0:
            return member
    return members[0]
