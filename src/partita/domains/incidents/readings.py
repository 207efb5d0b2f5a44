"""Role and incident probabilities of a message, and its events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partita.domains.incidents.features import bags, of_mention, of_message, of_sentence
from partita.domains.incidents.mentions import Mention, mentions
from partita.domains.incidents.models import NONE, Choice
from partita.domains.incidents.stories import Story
from partita.records import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """The models that read: roles of mentions, types of sentences' incidents, relevance."""

    roles: Choice
    types: Choice
    relevance: Choice


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The chances by the outcomes of the models, a row for each mention and each sentence."""

    story: Story
    mentions: tuple[Mention, ...]
    roles: FloatArray
    types: FloatArray
    relevance: float


def read(story: Story, readers: Readers) -> Reading:
    found, words = tuple(mentions(story)), bags(story)
    roles = [readers.roles.probabilities(of_mention(story, one, words)) for one in found]
    types = [readers.types.probabilities(of_sentence(story, s, words)) for s in story.sentences]
    return Reading(
        story,
        found,
        np.array(roles).reshape(len(found), len(readers.roles.outcomes)),
        np.array(types).reshape(len(types), len(readers.types.outcomes)),
        readers.relevance.chance("yes", of_message(story, words)),
    )


TELLING = 0.25  # a sentence with less of a chance to tell of an incident is no event
PLAYING = 0.10  # a mention with less of a chance to play a role is left out
MOST = 12  # events of a message; of more the most likely ones are taken


@dataclass(frozen=True, slots=True)
class Part:
    """The mention at `place` of a reading plays a role with a chance."""

    place: int
    role: str
    chance: float


@dataclass(frozen=True, eq=False)
class Event:
    """A sentence, the chance that it tells of an incident, the chances of its types, its parts."""

    sentence: int
    chance: float
    types: dict[str, float]
    parts: tuple[Part, ...]

    @cached_property
    def type(self) -> str:
        return max(self.types, key=lambda name: self.types[name])


def events(reading: Reading, readers: Readers) -> list[Event]:
    """In text order."""
    outcomes = readers.types.outcomes
    none = outcomes.index(NONE)
    found = []
    by_sentence = _parts(reading, readers)
    for n, row in enumerate(reading.types):
        chance = 1.0 - float(row[none])
        if chance >= TELLING:
            types = {name: float(p) for name, p in zip(outcomes, row, strict=True) if name != NONE}
            found.append(Event(n, chance, types, tuple(by_sentence.get(n, ()))))
    kept = sorted(found, key=lambda event: -event.chance)[:MOST]
    return sorted(kept, key=lambda event: event.sentence)


def _parts(reading: Reading, readers: Readers) -> dict[int, list[Part]]:
    found: dict[int, list[Part]] = {}
    none = readers.roles.outcomes.index(NONE)
    for n, (mention, row) in enumerate(zip(reading.mentions, reading.roles, strict=True)):
        if row[none] > 1.0 - PLAYING:
            continue
        for role, chance in zip(readers.roles.outcomes, row.tolist(), strict=True):
            if role != NONE and chance >= PLAYING:
                found.setdefault(mention.sentence, []).append(Part(n, role, chance))
    return found
