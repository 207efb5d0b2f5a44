"""Lessons for the models that read: stories beside their keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.evaluation.muc.templates import Incident
from partita.incidents.evidence import bags, of_mention, of_message, of_sentence
from partita.incidents.keyed import Labelled, labelled, role
from partita.incidents.mentions import mentions
from partita.incidents.models import NONE, Features, learn
from partita.incidents.readings import Readers
from partita.incidents.stories import Story

Keyed = tuple[Story, Sequence[Incident]]
RARELY = 3  # of mentions without a role far from any, one in so many is learned from
_TELLING = ("BOMBING", "KIDNAPPING", "ARSON", "ROBBERY", "HIJACKING", "FORCED WORK STOPPAGE")


@dataclass(slots=True)
class Lessons:
    """What the three models learn from."""

    roles: list[tuple[Features, str]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    types: list[tuple[Features, str]] = field(default_factory=list)
    relevance: list[tuple[Features, str]] = field(default_factory=list)


def taught(examples: Iterable[Keyed]) -> Readers:
    """The models that read, learned from stories and their keys."""
    lessons = Lessons()
    for story, key in examples:
        _add(lessons, story, key)
    return Readers(
        learn(lessons.roles, least=3, precision=3.0, weight=np.array(lessons.weights)),
        learn(lessons.types, least=3, precision=5.0),
        learn(lessons.relevance, least=4, precision=20.0),
    )


def _add(lessons: Lessons, story: Story, key: Sequence[Incident]) -> None:
    found, words = list(mentions(story)), bags(story)
    labels = labelled(story, found, key)
    told = {m.sentence for m, one in zip(found, labels, strict=True) if one}
    for n, (mention, one) in enumerate(zip(found, labels, strict=True)):
        if mention.sentence in told or n % RARELY == 0:
            lessons.roles.append((of_mention(story, mention, words), role(one)))
            lessons.weights.append(1.0 if mention.sentence in told else RARELY)
    for sentence in story.sentences:
        here = [one for m, one in zip(found, labels, strict=True) if m.sentence == sentence.number]
        lessons.types.append((of_sentence(story, sentence, words), type_of(here, key)))
    lessons.relevance.append((of_message(story, words), "yes" if key else "no"))


def type_of(labels: Iterable[Sequence[Labelled]], key: Sequence[Incident]) -> str:
    """The type of the incident of which a sentence tells most."""
    best = template_of(labels, key)
    return NONE if best is None else incident_type(key[best])


def template_of(labels: Iterable[Sequence[Labelled]], key: Sequence[Incident]) -> int | None:
    """The key's template of which a sentence has most fills; of equal ones the more special."""
    counts = Counter(n for one in labels for n in {label.incident for label in one})
    if not counts:
        return None
    return max(counts, key=lambda n: (counts[n], incident_type(key[n]) in _TELLING, -n))


def incident_type(incident: Incident) -> str:
    fills = incident.of(4)
    return fills[0].values[0] if fills else "ATTACK"
