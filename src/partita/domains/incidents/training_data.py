"""Training examples for the readers and the slot models."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.corpora.muc_templates import Incident
from partita.domains.incidents.entities import Entity, entities
from partita.domains.incidents.features import bags, of_mention, of_message, of_sentence
from partita.domains.incidents.incident_models import (
    Judges,
    of_context,
    of_incident,
    of_kind,
    of_perpetrators,
)
from partita.domains.incidents.mentions import Mention, mentions
from partita.domains.incidents.models import NONE, Features, learn
from partita.domains.incidents.readings import Part, Readers, Reading
from partita.domains.incidents.stories import Story
from partita.text.tokens import scan

# The slots whose fills are strings, and the roles that they give.
ROLES: Mapping[int, str] = {
    6: "INSTRUMENT",
    9: "PERPETRATOR",
    10: "ORGANISATION",
    12: "TARGET",
    18: "VICTIM",
    19: "VICTIM",
}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A mention is a fill of a slot of the key's template `incident`, a place in the list given;
    `fill` is the place of the fill in its slot."""

    incident: int
    slot: int
    fill: int


def labelled(
    story: Story, found: Sequence[Mention], key: Sequence[Incident]
) -> list[tuple[Labelled, ...]]:
    """For each mention the fills that it is."""
    where: dict[str, list[int]] = defaultdict(list)
    for n, word in enumerate(story.words):
        where[word].append(n)
    places = {(m.item.first, m.item.last): n for n, m in enumerate(found)}
    labels: list[dict[Labelled, None]] = [{} for _ in found]
    for label, words in _strings(key):
        for first in where.get(words[0], ()):
            if story.words[first : first + len(words)] == words:
                for n in _covered(found, places, first, first + len(words) - 1):
                    labels[n][label] = None
    return [tuple(one) for one in labels]


def _strings(key: Sequence[Incident]) -> Iterator[tuple[Labelled, tuple[str, ...]]]:
    for n, incident in enumerate(key):
        for slot in ROLES:
            for place, fill in enumerate(incident.of(slot)):
                for value in fill.values:
                    if words := _words(value):
                        yield Labelled(n, slot, place), words


def _words(text: str) -> tuple[str, ...]:
    texts, _, _ = scan(text, 0, len(text))
    return tuple(word.upper() for word in texts)


def _covered(
    found: Sequence[Mention], places: Mapping[tuple[int, int], int], first: int, last: int
) -> Iterable[int]:
    """The mention that ends inside the string and begins first, or the title or name in one."""
    over = [n for n, m in enumerate(found) if m.item.first <= last and m.item.last >= first]
    inner = [n for n in over if found[n].inner and _within(found[n], first, last)]
    ending = [n for n in over if not found[n].inner and found[n].item.last <= last][:1]
    if ending and (not inner or found[inner[0]].item.first >= found[ending[0]].item.first):
        return ending
    if inner:
        return inner[:1]
    return [n for n in over if not found[n].inner and _named(found[n], first)][:1]


def _within(mention: Mention, first: int, last: int) -> bool:
    return first <= mention.item.first and mention.item.last <= last


def _named(mention: Mention, first: int) -> bool:
    """A string inside a person's name or title is about that person."""
    return "title" in mention.item.known or "name" in mention.item.known


def role(labels: Sequence[Labelled]) -> str:
    """The role of a mention; of several the first in the order of slots."""
    return ROLES[min(one.slot for one in labels)] if labels else NONE


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
        _add_example(lessons, story, key)
    return Readers(
        learn(lessons.roles, least=3, precision=3.0, weight=np.array(lessons.weights)),
        learn(lessons.types, least=3, precision=5.0),
        learn(lessons.relevance, least=4, precision=20.0),
    )


def _add_example(lessons: Lessons, story: Story, key: Sequence[Incident]) -> None:
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


Lesson = tuple[Features, str]


@dataclass(slots=True)
class Exercises:
    """What each model learns from."""

    victim_type: list[Lesson] = field(default_factory=list)
    victim_effect: list[Lesson] = field(default_factory=list)
    target_type: list[Lesson] = field(default_factory=list)
    target_effect: list[Lesson] = field(default_factory=list)
    confidence: list[Lesson] = field(default_factory=list)
    stage: list[Lesson] = field(default_factory=list)
    category: list[Lesson] = field(default_factory=list)
    instrument: list[Lesson] = field(default_factory=list)


def trained(examples: Iterable[tuple[Reading, Sequence[Incident]]]) -> Judges:
    given = Exercises()
    for reading, key in examples:
        if key:
            _add(given, reading, key)
    return Judges(
        learn(given.victim_type, least=2, precision=2.0),
        learn(given.victim_effect, least=2, precision=5.0),
        learn(given.target_type, least=2, precision=2.0),
        learn(given.target_effect, least=2, precision=5.0),
        learn(given.confidence, least=2, precision=5.0),
        learn(given.stage, least=3, precision=5.0),
        learn(given.category, least=3, precision=5.0),
        learn(given.instrument, least=3, precision=5.0),
    )


def _add(given: Exercises, reading: Reading, key: Sequence[Incident]) -> None:
    labels = labelled(reading.story, reading.mentions, key)
    words = bags(reading.story)
    for n, incident in enumerate(key):
        kind = incident_type(incident)
        cast = list(_keyed_entities(reading, labels, n, incident))
        for slot, entity, strings in cast:
            _entity_lessons(given, reading, incident, slot, entity, strings)
        acting = [entity for slot, entity, _ in cast if slot in (9, 10)]
        sentences = sorted(
            {
                mention.sentence
                for mention, one in zip(reading.mentions, labels, strict=True)
                if any(label.incident == n for label in one)
            }
        )
        if sentences:
            seen = of_incident(reading.story, sentences, words, kind)
            given.stage.append((seen, _single(incident, 5) or "ACCOMPLISHED"))
            if acting:
                who = of_perpetrators(reading, acting)
                given.category.append(([*seen, *who], _single(incident, 8) or NONE))
            if not incident.of(6):
                given.instrument.append((seen, _single(incident, 7) or NONE))


def _keyed_entities(
    reading: Reading, labels: Sequence[Sequence[Labelled]], n: int, incident: Incident
) -> Iterator[tuple[int, Entity, set[str]]]:
    """For each fill with mentions: its slot, the entity of the mentions, its strings."""
    places: dict[tuple[int, int], list[Part]] = defaultdict(list)
    for place, one in enumerate(labels):
        for label in one:
            if label.incident == n:
                places[label.slot, label.fill].append(Part(place, ROLES[label.slot], 1.0))
    for (slot, fill), parts in places.items():
        values = set(incident.of(slot)[fill].values)
        for entity in entities(reading, parts, ROLES[slot])[:1]:
            yield slot, entity, values


def _entity_lessons(
    given: Exercises,
    reading: Reading,
    incident: Incident,
    slot: int,
    entity: Entity,
    strings: set[str],
) -> None:
    kind, story = incident_type(incident), reading.story
    if slot in (18, 19):
        strings = strings | _names(incident, slot, strings)
        if (chosen := _tagged(incident, 20, strings)) is not None:
            given.victim_type.append((of_kind(story, entity, reading), chosen))
        effect = _tagged(incident, 23, strings) or NONE
        given.victim_effect.append((of_context(story, entity, reading, kind), effect))
    elif slot == 12:
        if (chosen := _tagged(incident, 13, strings)) is not None:
            given.target_type.append((of_kind(story, entity, reading), chosen))
        effect = _tagged(incident, 16, strings) or NONE
        given.target_effect.append((of_context(story, entity, reading, kind), effect))
    elif slot == 10 and (chosen := _tagged(incident, 11, strings)) is not None:
        given.confidence.append((of_context(story, entity, reading, kind), chosen))


def _names(incident: Incident, slot: int, strings: set[str]) -> set[str]:
    """The names that a description is said of."""
    if slot == 18:
        return set()
    return {t for fill in incident.of(19) if strings & set(fill.values) for t in fill.tags}


def _tagged(incident: Incident, slot: int, strings: set[str]) -> str | None:
    for fill in incident.of(slot):
        if strings & set(fill.tags):
            return fill.values[0]
    return None


def _single(incident: Incident, slot: int) -> str:
    fills = incident.of(slot)
    return fills[0].values[0] if fills else ""
