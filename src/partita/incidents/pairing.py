"""Characteristics of two events of a message: whether they tell of one incident."""

from __future__ import annotations

from collections.abc import Iterator

from partita.incidents.cases import Case
from partita.incidents.entities import person_name
from partita.incidents.events import Event
from partita.incidents.stories import Sentence

_ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")
_SURE = 0.3  # parts below this chance say nothing about the pair
_CUES = frozenset(
    {"meanwhile", "another", "also", "other", "addition", "moreover", "elsewhere", "second"}
    | {"third", "similar", "later", "then", "previously", "recently", "earlier", "likewise"}
    | {"simultaneously", "furthermore"}
)


def together(case: Case, one: Event, other: Event, among: int) -> list[str]:
    """The features of two events, the first before the second, among so many of the message."""
    found = ["any", *_types(one, other), *_distance(case, one, other, among)]
    for role in _ROLES:
        found += _shared(case, one, other, role)
    found += _circumstances(case, one, other)
    found += _cues(case.story.sentences[other.sentence])
    return found


def _types(one: Event, other: Event) -> Iterator[str]:
    yield "type same" if one.type == other.type else f"type {one.type} {other.type}"
    common = sum(min(chance, other.types[name]) for name, chance in one.types.items())
    yield f"types {int(common * 5)}"
    if one.type == other.type:
        yield f"type both {one.type}"


def _distance(case: Case, one: Event, other: Event, among: int) -> Iterator[str]:
    apart = other.sentence - one.sentence
    sentences = case.story.sentences
    near = sentences[one.sentence].paragraph == sentences[other.sentence].paragraph
    step = min(apart, 3) if apart < 4 else 5 if apart < 7 else 9
    yield f"apart {step} {'paragraph' if near else ''}"
    yield f"among {min(among, 6)}"
    yield f"among {min(among // 2, 4)} apart {step}"
    yield f"first {one.sentence == 0}"
    yield f"chance {int(min(one.chance, other.chance) * 4)}"


def _shared(case: Case, one: Event, other: Event, role: str) -> Iterator[str]:
    """Whether participants of a role have a head or a name in common, or clash."""
    mine, theirs = _heads(case, one, role), _heads(case, other, role)
    if mine and theirs:
        yield f"{role} {'shared' if mine & theirs else 'others'}"
        for head in mine & theirs:
            if head.isupper() and role in ("VICTIM", "PERPETRATOR"):
                yield f"{role} name shared"
    elif mine or theirs:
        yield f"{role} {'first' if mine else 'second'} only"


def _heads(case: Case, event: Event, role: str) -> set[str]:
    found = set()
    for part in event.parts:
        if part.role == role and part.chance >= _SURE:
            mention = case.reading.mentions[part.place]
            name = person_name(mention)
            found.add(name.rsplit(" ", 1)[-1] if name else mention.lemma)
    return found


def _circumstances(case: Case, one: Event, other: Event) -> Iterator[str]:
    """Places and days: the same, others, or told by one only."""
    here = {place.name for place in case.places[one.sentence] if place.kind}
    there = {place.name for place in case.places[other.sentence] if place.kind}
    yield f"place {_agree(here, there)}"
    days = {when.fill for when in case.days[one.sentence] if when.kind != "month"}
    later = {when.fill for when in case.days[other.sentence] if when.kind != "month"}
    yield f"day {_agree(days, later)}"
    yield f"place {_agree(here, there)} day {_agree(days, later)}"


def _agree(one: set[str], other: set[str]) -> str:
    if one and other:
        return "same" if one & other else "others"
    return "first" if one else "second" if other else "none"


def _cues(sentence: Sentence) -> Iterator[str]:
    """The first words of the later event, and how it speaks of events: "the attack"."""
    for item in sentence.items[:3]:
        word = str(item.known.get("word") or item.known.get("lemma") or item.kind)
        yield f"begins {word}"
    for item in sentence.items:
        if item.known.get("word") in _CUES:
            yield f"cue {item.known['word']}"
        if item.kind == "ng" and _event(item.known.get("sort", ())):
            yield f"event {item.known.get('det')} {item.known.get('form')}"
            yield f"event {item.known.get('lemma')} {item.known.get('number')}"


def _event(sorts: object) -> bool:
    return bool(_EVENTS.intersection(sorts if isinstance(sorts, tuple) else (sorts,)))


_EVENTS = frozenset({"ATTACKING", "BOMBING", "KIDNAPPING", "ARSON", "ROBBERY"})
