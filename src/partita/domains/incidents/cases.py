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
    """A day mentioned in a sentence: its fill, its kind, and the index of the phrase."""

    fill: str
    kind: str
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class MessageContext:
    """A reading with the words, days and places of each sentence."""

    reading: Reading
    words: tuple[tuple[str, ...], ...]
    anchor: date | None
    days: tuple[tuple[DatePhrase, ...], ...]
    places: tuple[tuple[Place, ...], ...]
    countries: Counter[str]

    @property
    def story(self) -> Story:
        return self.reading.story

    @property
    def default_day(self) -> str:
        return "" if self.anchor is None else f"- {dates.format_date(self.anchor)}"

    @property
    def country(self) -> str:
        """Return the country that is mentioned most often."""
        return self.countries.most_common(1)[0][0] if self.countries else "EL SALVADOR"


def message_context(reading: Reading) -> MessageContext:
    """Look up the words, days and places of a reading."""
    story = reading.story
    anchor = dates.parse_dateline(story.message.fields.get("date", ""))
    mentioned = count_countries(story, story.gazetteer)
    found_places = find_places(story, story.gazetteer, mentioned)
    return MessageContext(
        reading,
        tuple(map(tuple, words_by_sentence(story))),
        anchor,
        tuple(_days(sentence, anchor) for sentence in story.sentences),
        tuple(
            tuple(place for place in found_places if place.sentence == n)
            for n in range(len(story.sentences))
        ),
        mentioned,
    )


def _days(sentence: Sentence, anchor: date | None) -> tuple[DatePhrase, ...]:
    phrases = []
    for n, item in enumerate(sentence.items):
        if item.kind in ("when", "date"):
            day = dates.resolve_date(str(item.attributes["text"]), anchor)
            if day is not None:
                phrases.append(DatePhrase(*day, n))
    return tuple(phrases)
