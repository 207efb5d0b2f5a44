"""Role and incident probabilities of a message, and its events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partita.domains.incidents.features import (
    mention_features,
    message_features,
    sentence_features,
    words_by_sentence,
)
from partita.domains.incidents.mentions import Mention, find_mentions
from partita.domains.incidents.models import NONE, Classifier
from partita.domains.incidents.stories import Story
from partita.records import FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class ReadingModels:
    """The models that read: roles of mentions, types of sentences' incidents, relevance."""

    roles: Classifier
    types: Classifier
    relevance: Classifier


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The chances by the outcomes of the models, a row for each mention and each sentence."""

    story: Story
    mentions: tuple[Mention, ...]
    roles: FloatArray
    types: FloatArray
    relevance: float


def read_story(story: Story, readers: ReadingModels) -> Reading:
    found, words = tuple(find_mentions(story)), words_by_sentence(story)
    roles = [readers.roles.probabilities(mention_features(story, one, words)) for one in found]
    types = [
        readers.types.probabilities(sentence_features(story, s, words)) for s in story.sentences
    ]
    return Reading(
        story,
        found,
        np.array(roles).reshape(len(found), len(readers.roles.outcomes)),
        np.array(types).reshape(len(types), len(readers.types.outcomes)),
        readers.relevance.chance("yes", message_features(story, words)),
    )


MIN_EVENT_PROBABILITY = 0.25  # a sentence with less of a chance to tell of an incident is no event
MIN_ROLE_PROBABILITY = 0.10  # a mention with less of a chance to play a role is left out
MAX_EVENTS = 12  # events of a message; of more the most likely ones are taken


@dataclass(frozen=True, slots=True)
class RolePart:
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
    parts: tuple[RolePart, ...]

    @cached_property
    def type(self) -> str:
        return max(self.types, key=lambda name: self.types[name])


def find_events(reading: Reading, readers: ReadingModels) -> list[Event]:
    """In text order."""
    outcomes = readers.types.outcomes
    none = outcomes.index(NONE)
    found = []
    by_sentence = _parts(reading, readers)
    for n, row in enumerate(reading.types):
        chance = 1.0 - float(row[none])
        if chance >= MIN_EVENT_PROBABILITY:
            types = {name: float(p) for name, p in zip(outcomes, row, strict=True) if name != NONE}
            found.append(Event(n, chance, types, tuple(by_sentence.get(n, ()))))
    kept = sorted(found, key=lambda event: -event.chance)[:MAX_EVENTS]
    return sorted(kept, key=lambda event: event.sentence)


def _parts(reading: Reading, readers: ReadingModels) -> dict[int, list[RolePart]]:
    found: dict[int, list[RolePart]] = {}
    none = readers.roles.outcomes.index(NONE)
    for n, (mention, row) in enumerate(zip(reading.mentions, reading.roles, strict=True)):
        if row[none] > 1.0 - MIN_ROLE_PROBABILITY:
            continue
        for role, chance in zip(readers.roles.outcomes, row.tolist(), strict=True):
            if role != NONE and chance >= MIN_ROLE_PROBABILITY:
                found.setdefault(mention.sentence, []).append(RolePart(n, role, chance))
    return found
