"""Events as templates: what a sentence says of an incident, and what else is seen of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from partita.incidents.cases import Case
from partita.incidents.entities import person_name
from partita.incidents.events import Event
from partita.incidents.stories import Item, Sentence, sorts_of
from partita.records import Template

ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")
SORT = "EVENT"
SURE = 0.3  # parts below this chance say nothing about an event
_OPENING = 3  # phrases of a sentence that show how it goes on from the one before


def described(case: Case, found: Sequence[Event]) -> list[Template]:
    """A template for every event, in text order."""
    return [_template(case, event) for event in found]


def name_of(event: Event) -> str:
    return f"E{event.sentence + 1}"


def _template(case: Case, event: Event) -> Template:
    story = case.story
    sentence = story.sentences[event.sentence]
    start = story.spans[sentence.items[0].first][0]
    end = story.spans[sentence.items[-1].last][1]
    return Template(
        name_of(event),
        story.message.text[start:end],
        start,
        end,
        sentence=event.sentence,
        sort=SORT,
        slots=_slots(case, event),
        rule="event",
        context=_context(case, event, sentence),
    )


def _slots(case: Case, event: Event) -> dict[str, str | list[str]]:
    """Only what is told is there."""
    found: dict[str, str | list[str]] = {"INCIDENT": [event.type]}
    days = [when.fill for when in case.days[event.sentence]]
    places = [place.name for place in case.places[event.sentence] if place.kind]
    told = {
        "DATE": days,
        "LOCATION": places,
        **{role: list(_heads(case, event, role)) for role in ROLES},
    }
    return found | {name: list(dict.fromkeys(some)) for name, some in told.items() if some}


def _heads(case: Case, event: Event, role: str) -> Iterator[str]:
    """The last name of a person, the head of what else plays a role."""
    for part in event.parts:
        if part.role == role and part.chance >= SURE:
            mention = case.reading.mentions[part.place]
            name = person_name(mention)
            yield name.rsplit(" ", 1)[-1] if name else mention.lemma


def _context(case: Case, event: Event, sentence: Sentence) -> dict[str, object]:
    total = sum(event.types.values())
    return {
        "PARAGRAPH": sentence.paragraph,
        "CHANCE": round(event.chance, 4),
        "TYPES": {name: round(chance / total, 4) for name, chance in event.types.items()},
        "WORDS": list(case.bags[event.sentence]),
        "OPENING": [_word(item) for item in sentence.items[:_OPENING]],
        "ADVERBS": [_word(item) for item in sentence.items if item.kind == "word"],
        "NOUNS": list(_nouns(sentence)),
    }


def _word(item: Item) -> str:
    return str(item.known.get("word") or item.known.get("lemma") or item.kind)


def _nouns(sentence: Sentence) -> Iterator[list[str]]:
    """How the sentence speaks of events: "the attack", "two bombings"."""
    for item in sentence.items:
        if item.kind == "ng" and _EVENTS.intersection(sorts_of(item)):
            known = item.known
            yield [str(known.get("det")), str(known.get("lemma")), str(known.get("number"))]


_EVENTS = frozenset(
    {"ATTACKING", "BOMBING", "KIDNAPPING", "ARSON", "ROBBERY", "HIJACKING", "STOPPAGE"}
)
