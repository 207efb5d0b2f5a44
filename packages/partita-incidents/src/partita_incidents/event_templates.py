"""Templates of events and of their participants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast, get_args

from partita.core import Form, Template
from partita.templates.entity_types import Hierarchy
from partita_incidents.cases import MessageContext
from partita_incidents.entities import person_name
from partita_incidents.mentions import Mention
from partita_incidents.readings import Event, Reading
from partita_incidents.stories import Item, Sentence, types_of

ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")
EVENT_TYPE = "EVENT"
MIN_HEAD_PROBABILITY = 0.3  # parts below it give an event no heads
_OPENING_PHRASES = 3  # phrases at the start of a sentence that are observed


def event_templates(context: MessageContext, events: Sequence[Event]) -> list[Template]:
    """Return a template for every event, in text order."""
    return [_template(context, event) for event in events]


def event_id(event: Event) -> str:
    """Return the id of the template of an event."""
    return f"E{event.sentence + 1}"


def _template(context: MessageContext, event: Event) -> Template:
    story = context.story
    sentence = story.sentences[event.sentence]
    start = story.spans[sentence.items[0].first][0]
    end = story.spans[sentence.items[-1].last][1]
    return Template(
        event_id(event),
        story.message.text[start:end],
        start,
        end,
        sentence=event.sentence,
        type=EVENT_TYPE,
        slots=_slots(context, event),
        rule="event",
        context=_context(context, event, sentence),
    )


def _slots(context: MessageContext, event: Event) -> dict[str, str | list[str]]:
    """Return the slots that have values."""
    incident: dict[str, str | list[str]] = {"INCIDENT": [event.type]}
    days = [phrase.fill for phrase in context.days[event.sentence]]
    places = [place.name for place in context.places[event.sentence] if place.kind]
    values = {
        "DATE": days,
        "LOCATION": places,
        **{role: list(_heads(context, event, role)) for role in ROLES},
    }
    return incident | {name: list(dict.fromkeys(fills)) for name, fills in values.items() if fills}


def _heads(context: MessageContext, event: Event, role: str) -> Iterator[str]:
    """Yield the last names of persons and the heads of other mentions with a role."""
    for part in event.parts:
        if part.role == role and part.probability >= MIN_HEAD_PROBABILITY:
            mention = context.reading.mentions[part.place]
            name = person_name(mention)
            yield name.rsplit(" ", 1)[-1] if name else mention.lemma


def _context(context: MessageContext, event: Event, sentence: Sentence) -> dict[str, object]:
    total = sum(event.types.values())
    return {
        "PARAGRAPH": sentence.paragraph,
        "CHANCE": round(event.probability, 4),
        "TYPES": {name: round(probability / total, 4) for name, probability in event.types.items()},
        "WORDS": list(context.words[event.sentence]),
        "OPENING": [_word(item) for item in sentence.items[:_OPENING_PHRASES]],
        "ADVERBS": [_word(item) for item in sentence.items if item.kind == "word"],
        "NOUNS": list(_nouns(sentence)),
    }


def _word(item: Item) -> str:
    return str(item.attributes.get("word") or item.attributes.get("lemma") or item.kind)


def _nouns(sentence: Sentence) -> Iterator[list[str]]:
    """Yield determiner, lemma and number of event nouns: "the attack", "two bombings"."""
    for item in sentence.items:
        if item.kind == "ng" and _EVENTS.intersection(types_of(item)):
            attributes = item.attributes
            yield [
                str(attributes.get("det")),
                str(attributes.get("lemma")),
                str(attributes.get("number")),
            ]


_EVENTS = frozenset(
    {"ATTACKING", "BOMBING", "KIDNAPPING", "ARSON", "ROBBERY", "HIJACKING", "STOPPAGE"}
)

MIN_ROLE_PROBABILITY = 0.5  # of a role, for a mention to be a participant
ROLE_TYPES = {
    "VICTIM": "PERSON",
    "PERPETRATOR": "PERSON",
    "ORGANISATION": "ORGANISATION",
    "TARGET": "TARGET",
    "INSTRUMENT": "INSTRUMENT",
}


def participants(reading: Reading, events: Sequence[Event], types: Hierarchy) -> Iterator[Template]:
    """Yield templates of the mentions with a probable role, in the order of the events."""
    for event in events:
        roles: dict[int, list[str]] = {}
        for part in sorted(event.parts, key=lambda part: -part.probability):
            if part.probability >= MIN_ROLE_PROBABILITY:
                roles.setdefault(part.place, []).append(part.role)
        for place in sorted(roles):
            yield _participant_template(reading, event, place, roles[place], types)


def _participant_template(
    reading: Reading, event: Event, place: int, roles: list[str], types: Hierarchy
) -> Template:
    mention = reading.mentions[place]
    attributes, spans = mention.item.attributes, reading.story.spans
    start, end = spans[mention.item.first][0], spans[mention.item.last][1]
    name = person_name(mention)
    slots = {"ROLE": roles}
    return Template(
        f"P{place + 1}",
        reading.story.message.text[start:end],
        start,
        end,
        sentence=mention.sentence,
        type=_entity_type(mention, roles[0], types),
        head=mention.lemma,
        number=_number(attributes.get("number")),
        form=_form(attributes.get("form")),
        slots=slots | ({"NAME": [name]} if name else {}),
        rule="participant",
        context={
            "EVENT": event_id(event),
            "DETERMINER": attributes.get("det") or "",
            "MODIFIERS": list(attributes.get("mods", ())),
        },
    )


def _entity_type(mention: Mention, role: str, types: Hierarchy) -> str:
    """Return the type of the expression if it fits the role, otherwise the role's own type."""
    role_type = ROLE_TYPES[role]
    fitting = [s for s in types_of(mention.item) if role_type in types.above.get(s, ())]
    return fitting[0] if fitting else role_type


def _number(number: object) -> int | str | None:
    text = str(number or "")
    if text.isdecimal() and len(text) < 10:
        return "singular" if text == "1" else int(text)
    return "plural" if text else None


def _form(form: object) -> Form:
    return cast(Form, form) if form in get_args(Form) else ""
