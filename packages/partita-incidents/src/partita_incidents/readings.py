"""Role and incident probabilities of a message, and its events."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from partita.core import FloatArray
from partita_incidents.features import (
    mention_features,
    message_features,
    repetition_key,
    sentence_features,
    words_by_sentence,
)
from partita_incidents.mentions import Mention, find_mentions, is_denied
from partita_incidents.models import NONE, Classifier
from partita_incidents.stories import Story


@dataclass(frozen=True, slots=True, eq=False)
class ReadingModels:
    """The models of the roles of mentions, the incident types of sentences, and relevance."""

    roles: Classifier
    types: Classifier
    relevance: Classifier


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """The probabilities of roles and types, a row for each mention and each sentence."""

    story: Story
    mentions: tuple[Mention, ...]
    roles: FloatArray
    types: FloatArray
    relevance: float


def read_story(story: Story, models: ReadingModels) -> Reading:
    """Compute the role, type and relevance probabilities of a story."""
    mentions, words = tuple(find_mentions(story)), words_by_sentence(story)
    roles = [
        models.roles.probabilities(features)
        for features in mention_features(story, mentions, words)
    ]
    types = [
        models.types.probabilities(sentence_features(story, sentence, words))
        for sentence in story.sentences
    ]
    return Reading(
        story,
        mentions,
        np.array(roles).reshape(len(mentions), len(models.roles.outcomes)),
        np.array(types).reshape(len(types), len(models.types.outcomes)),
        models.relevance.probability("yes", message_features(story, words)),
    )


MIN_EVENT_PROBABILITY = 0.15  # of an incident, for a sentence to be an event
MIN_ROLE_PROBABILITY = 0.10  # of a role, for a mention to be a part
MAX_EVENTS = 12  # of a message; the most probable are kept


@dataclass(frozen=True, slots=True)
class RolePart:
    """A role that the mention at index `place` of a reading may play, and its probability."""

    place: int
    role: str
    probability: float


@dataclass(frozen=True, eq=False)
class Event:
    """A sentence with the probability that it reports an incident, its types and its parts."""

    sentence: int
    probability: float
    types: dict[str, float]
    parts: tuple[RolePart, ...]

    @cached_property
    def type(self) -> str:
        return max(self.types, key=lambda name: self.types[name])


def find_events(reading: Reading, models: ReadingModels) -> list[Event]:
    """Return the events of a message in text order."""
    outcomes = models.types.outcomes
    none = outcomes.index(NONE)
    events = []
    by_sentence = _parts(reading, models)
    for n, row in enumerate(reading.types):
        probability = 1.0 - float(row[none])
        if probability >= MIN_EVENT_PROBABILITY:
            types = {name: float(p) for name, p in zip(outcomes, row, strict=True) if name != NONE}
            events.append(Event(n, probability, types, tuple(by_sentence.get(n, ()))))
    kept = sorted(events, key=lambda event: -event.probability)[:MAX_EVENTS]
    return sorted(kept, key=lambda event: event.sentence)


def _parts(reading: Reading, models: ReadingModels) -> dict[int, list[RolePart]]:
    parts: dict[int, list[RolePart]] = {}
    none = models.roles.outcomes.index(NONE)
    denied = _denied_mentions(reading)
    for n, (mention, row) in enumerate(zip(reading.mentions, reading.roles, strict=True)):
        if row[none] > 1.0 - MIN_ROLE_PROBABILITY or n in denied:
            continue
        for role, probability in zip(models.roles.outcomes, row.tolist(), strict=True):
            if role != NONE and probability >= MIN_ROLE_PROBABILITY:
                parts.setdefault(mention.sentence, []).append(RolePart(n, role, probability))
    return parts


def _denied_mentions(reading: Reading) -> set[int]:
    """Return the mentions of which an attack is denied, and the others of the same thing to which
    no clause gives a role: "near the **mine**. The mine was not attacked"."""
    story, mentions = reading.story, reading.mentions
    denied = {
        n
        for n, mention in enumerate(mentions)
        if is_denied(story.sentences[mention.sentence], mention.place)
    }
    if not denied:
        return denied
    keys = {repetition_key(mentions[n]) for n in denied}
    return denied | {
        n
        for n, mention in enumerate(mentions)
        if repetition_key(mention) in keys and mention.first not in story.clauses
    }


@dataclass(frozen=True, eq=False)
class Draft:
    """The events of one incident, in text order."""

    events: tuple[Event, ...]

    @cached_property
    def type(self) -> str:
        """Return the type with the largest total probability over the events."""
        names = self.events[0].types
        return max(names, key=lambda name: sum(event.types[name] for event in self.events))

    @cached_property
    def parts(self) -> tuple[RolePart, ...]:
        return tuple(part for event in self.events for part in event.parts)

    @cached_property
    def sentences(self) -> tuple[int, ...]:
        return tuple(event.sentence for event in self.events)
