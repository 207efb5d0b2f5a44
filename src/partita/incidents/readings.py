"""A reading: a story with the chances of every mention's role and of every sentence's incident."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from partita.incidents.evidence import bags, of_mention, of_message, of_sentence
from partita.incidents.mentions import Mention, mentions
from partita.incidents.models import Choice
from partita.incidents.stories import Story
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
