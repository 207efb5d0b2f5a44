"""Participants as templates: the mentions that play a role in an event of a message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast, get_args

from partita.incidents.entities import person_name
from partita.incidents.events import Event
from partita.incidents.mentions import Mention
from partita.incidents.readings import Reading
from partita.incidents.stories import sorts_of
from partita.incidents.telling import name_of
from partita.records import Form, Template
from partita.templates.sorts import Hierarchy

LIKELY = 0.5  # chance of a role: with less a mention is no participant
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
            if part.chance >= LIKELY:
                roles.setdefault(part.place, []).append(part.role)
        for place in sorted(roles):
            yield _template(reading, event, place, roles[place], sorts)


def _template(
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
            "EVENT": name_of(event),
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
