"""Readings with the dates and places of their sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date

from partita.domains.incidents import dates
from partita.domains.incidents.features import bags
from partita.domains.incidents.places import Place, countries, places
from partita.domains.incidents.readings import Reading
from partita.domains.incidents.stories import Sentence, Story


@dataclass(frozen=True, slots=True)
class When:
    """A day that is told of: the fill, how it was found, and the phrase's place in its sentence."""

    fill: str
    kind: str
    place: int


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """What a message says, sentence by sentence."""

    reading: Reading
    bags: tuple[tuple[str, ...], ...]
    anchor: date | None
    days: tuple[tuple[When, ...], ...]
    places: tuple[tuple[Place, ...], ...]
    home: Counter[str]

    @property
    def story(self) -> Story:
        return self.reading.story

    @property
    def default_day(self) -> str:
        return "" if self.anchor is None else f"- {dates.written(self.anchor)}"

    @property
    def country(self) -> str:
        """The one that is spoken of most."""
        return self.home.most_common(1)[0][0] if self.home else "EL SALVADOR"


def case(reading: Reading) -> Case:
    story = reading.story
    anchor = dates.dateline(story.message.fields.get("date", ""))
    home = countries(story, story.gazetteer)
    where = places(story, story.gazetteer, home)
    return Case(
        reading,
        tuple(map(tuple, bags(story))),
        anchor,
        tuple(_days(sentence, anchor) for sentence in story.sentences),
        tuple(
            tuple(place for place in where if place.sentence == n)
            for n in range(len(story.sentences))
        ),
        home,
    )


def _days(sentence: Sentence, anchor: date | None) -> tuple[When, ...]:
    found = []
    for n, item in enumerate(sentence.items):
        if item.kind in ("when", "date"):
            day = dates.resolved(str(item.known["text"]), anchor)
            if day is not None:
                found.append(When(*day, n))
    return tuple(found)
