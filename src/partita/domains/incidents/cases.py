"""Readings with the dates and places of their sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date

from partita.domains.incidents import dates
from partita.domains.incidents.features import words_by_sentence
from partita.domains.incidents.places import Place, count_countries, find_places
from partita.domains.incidents.readings import Reading
from partita.domains.incidents.stories import Sentence, Story


@dataclass(frozen=True, slots=True)
class DatePhrase:
    """A day that is told of: the fill, how it was found, and the phrase's place in its sentence."""

    fill: str
    kind: str
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class MessageContext:
    """What a message says, sentence by sentence."""

    reading: Reading
    bags: tuple[tuple[str, ...], ...]
    anchor: date | None
    days: tuple[tuple[DatePhrase, ...], ...]
    places: tuple[tuple[Place, ...], ...]
    home: Counter[str]

    @property
    def story(self) -> Story:
        return self.reading.story

    @property
    def default_day(self) -> str:
        return "" if self.anchor is None else f"- {dates.format_date(self.anchor)}"

    @property
    def country(self) -> str:
        """The one that is spoken of most."""
        return self.home.most_common(1)[0][0] if self.home else "EL SALVADOR"


def message_context(reading: Reading) -> MessageContext:
    story = reading.story
    anchor = dates.parse_dateline(story.message.fields.get("date", ""))
    home = count_countries(story, story.gazetteer)
    where = find_places(story, story.gazetteer, home)
    return MessageContext(
        reading,
        tuple(map(tuple, words_by_sentence(story))),
        anchor,
        tuple(_days(sentence, anchor) for sentence in story.sentences),
        tuple(
            tuple(place for place in where if place.sentence == n)
            for n in range(len(story.sentences))
        ),
        home,
    )


def _days(sentence: Sentence, anchor: date | None) -> tuple[DatePhrase, ...]:
    found = []
    for n, item in enumerate(sentence.items):
        if item.kind in ("when", "date"):
            day = dates.resolve_date(str(item.known["text"]), anchor)
            if day is not None:
                found.append(DatePhrase(*day, n))
    return tuple(found)
