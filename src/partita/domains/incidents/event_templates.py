"""Events and participants as templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast, get_args

from partita.domains.incidents.cases import MessageContext
from partita.domains.incidents.entities import person_name
from partita.domains.incidents.mentions import Mention
from partita.domains.incidents.readings import Event, Reading
from partita.domains.incidents.stories import Item, Sentence, sorts_of
from partita.records import Form, Template
from partita.templates.sorts import Hierarchy

ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")
SORT = "EVENT"
MIN_HEAD_PROBABILITY = 0.3  # parts below this chance say nothing about an event
_OPENING_PHRASES = 3  # phrases of a sentence that show how it goes on from the one before


def event_templates(case: MessageContext, found: Sequence[Event]) -> list[Template]:
    """A template for every event, in text order."""
    return [_template(case, event) for event in found]


def event_id(event: Event) -> str:
    return f"E{event.sentence + 1}"


def _template(case: MessageContext, event: Event) -> Template:
    story = case.story
    sentence = story.sentences[event.sentence]
    start = story.spans[sentence.items[0].first][0]
    end = story.spans[sentence.items[-1].last][1]
    return Template(
        event_id(event),
        story.message.text[start:end],
        start,
        end,
        sentence=event.sentence,
        sort=SORT,
        slots=_slots(case, event),
        rule="event",
        context=_context(case, event, sentence),
    )


def _slots(case: MessageContext, event: Event) -> dict[str, str | list[str]]:
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


def _heads(case: MessageContext, event: Event, role: str) -> Iterator[str]:
    """The last name of a person, the head of what else plays a role."""
    for part in event.parts:
        if part.role == role and part.chance >= MIN_HEAD_PROBABILITY:
            mention = case.reading.mentions[part.place]
            name = person_name(mention)
            yield name.rsplit(" ", 1)[-1] if name else mention.lemma


def _context(case: MessageContext, event: Event, sentence: Sentence) -> dict[str, object]:
    total = sum(event.types.values())
    return {
        "PARAGRAPH": sentence.paragraph,
        "CHANCE": round(event.chance, 4),
        "TYPES": {name: round(chance / total, 4) for name, chance in event.types.items()},
        "WORDS": list(case.bags[event.sentence]),
        "OPENING": [_word(item) for item in sentence.items[:_OPENING_PHRASES]],
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

MIN_ROLE_PROBABILITY = 0.5  # chance of a role: with less a mention is no participant
SORTS = {
    "VICTIM": "PERSON",
    "PERPETRATOR": "PERSON",
    "ORGANISATION": "ORGANISATION",
    "TARGET": "TARGET",
    "INSTRUMENT": "INSTRUMENT",
}


def participants(reading: Reading, found: Sequence[Event], sorts: Hierarchy) -> Iterator[Template]:
    """Those with a likely role, in the order of the events."""
    for event in found:
        roles: dict[int, list[str]] = {}
        for part in sorted(event.parts, key=lambda part: -part.chance):
            if part.chance >= MIN_ROLE_PROBABILITY:
                roles.setdefault(part.place, []).append(part.role)
        for place in sorted(roles):
            yield _participant_template(reading, event, place, roles[place], sorts)


def _participant_template(
    reading: Reading, event: Event, place: int, roles: list[str], sorts: Hierarchy
) -> Template:
    mention = reading.mentions[place]
    known, spans = mention.item.known, reading.story.spans
    start, end = spans[mention.item.first][0], spans[mention.item.last][1]
    name = person_name(mention)
    said = {"ROLE": roles}
    return Template(
        f"P{place + 1}",
        reading.story.message.text[start:end],
        start,
        end,
        sentence=mention.sentence,
        sort=_sort(mention, roles[0], sorts),
        head=mention.lemma,
        number=_number(known.get("number")),
        form=_form(known.get("form")),
        slots=said | ({"NAME": [name]} if name else {}),
        rule="participant",
        context={
            "EVENT": event_id(event),
            "DETERMINER": known.get("det") or "",
            "MODIFIERS": list(known.get("mods", ())),
        },
    )


def _sort(mention: Mention, role: str, sorts: Hierarchy) -> str:
    """The sort of the expression, if it goes with the role, else that of the role."""
    wanted = SORTS[role]
    fitting = [s for s in sorts_of(mention.item) if wanted in sorts.above.get(s, ())]
    return fitting[0] if fitting else wanted


def _number(number: object) -> int | str | None:
    text = str(number or "")
    if text.isdecimal() and len(text) < 10:
        return "singular" if text == "1" else int(text)
    return "plural" if text else None


def _form(form: object) -> Form:
    return cast(Form, form) if form in get_args(Form) else ""
