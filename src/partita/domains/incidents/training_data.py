"""Training examples for the readers and the slot models."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from partita.corpora.muc_templates import Incident
from partita.domains.incidents.entities import Entity, entities
from partita.domains.incidents.features import (
    mention_features,
    message_features,
    sentence_features,
    words_by_sentence,
)
from partita.domains.incidents.incident_models import (
    FillModels,
    entity_context_features,
    entity_type_features,
    incident_features,
    perpetrator_features,
)
from partita.domains.incidents.mentions import Mention, find_mentions
from partita.domains.incidents.models import NONE, Features, train_classifier
from partita.domains.incidents.readings import Reading, ReadingModels, RolePart
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
class FillLabel:
    """A mention is a fill of a slot of the key's template `incident`, a place in the list given;
    `fill` is the place of the fill in its slot."""

    incident: int
    slot: int
    fill: int


def label_mentions(
    story: Story, found: Sequence[Mention], key: Sequence[Incident]
) -> list[tuple[FillLabel, ...]]:
    """For each mention the fills that it is."""
    where: dict[str, list[int]] = defaultdict(list)
    for n, word in enumerate(story.words):
        where[word].append(n)
    places = {(m.item.first, m.item.last): n for n, m in enumerate(found)}
    labels: list[dict[FillLabel, None]] = [{} for _ in found]
    for label, words in _key_strings(key):
        for first in where.get(words[0], ()):
            if story.words[first : first + len(words)] == words:
                for n in _mentions_of_string(found, places, first, first + len(words) - 1):
                    labels[n][label] = None
    return [tuple(one) for one in labels]


def _key_strings(key: Sequence[Incident]) -> Iterator[tuple[FillLabel, tuple[str, ...]]]:
    for n, incident in enumerate(key):
        for slot in ROLES:
            for place, fill in enumerate(incident.of(slot)):
                for value in fill.values:
                    if words := _words(value):
                        yield FillLabel(n, slot, place), words


def _words(text: str) -> tuple[str, ...]:
    texts, _, _ = scan(text, 0, len(text))
    return tuple(word.upper() for word in texts)


def _mentions_of_string(
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
    return [n for n in over if not found[n].inner and _has_name_or_title(found[n], first)][:1]


def _within(mention: Mention, first: int, last: int) -> bool:
    return first <= mention.item.first and mention.item.last <= last


def _has_name_or_title(mention: Mention, first: int) -> bool:
    """A string inside a person's name or title is about that person."""
    return "title" in mention.item.known or "name" in mention.item.known


def role_of(labels: Sequence[FillLabel]) -> str:
    """The role of a mention; of several the first in the order of slots."""
    return ROLES[min(one.slot for one in labels)] if labels else NONE


KeyedStory = tuple[Story, Sequence[Incident]]
SAMPLING_INTERVAL = 3  # of mentions without a role far from any, one in so many is learned from
_SPECIFIC_TYPES = ("BOMBING", "KIDNAPPING", "ARSON", "ROBBERY", "HIJACKING", "FORCED WORK STOPPAGE")


@dataclass(slots=True)
class ReadingExamples:
    """What the three models learn from."""

    roles: list[tuple[Features, str]] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    types: list[tuple[Features, str]] = field(default_factory=list)
    relevance: list[tuple[Features, str]] = field(default_factory=list)


def train_reading_models(examples: Iterable[KeyedStory]) -> ReadingModels:
    """The models that read, learned from stories and their keys."""
    lessons = ReadingExamples()
    for story, key in examples:
        _add_example(lessons, story, key)
    return ReadingModels(
        train_classifier(lessons.roles, least=3, precision=3.0, weight=np.array(lessons.weights)),
        train_classifier(lessons.types, least=3, precision=5.0),
        train_classifier(lessons.relevance, least=4, precision=20.0),
    )


def _add_example(lessons: ReadingExamples, story: Story, key: Sequence[Incident]) -> None:
    found, words = list(find_mentions(story)), words_by_sentence(story)
    labels = label_mentions(story, found, key)
    told = {m.sentence for m, one in zip(found, labels, strict=True) if one}
    for n, (mention, one) in enumerate(zip(found, labels, strict=True)):
        if mention.sentence in told or n % SAMPLING_INTERVAL == 0:
            lessons.roles.append((mention_features(story, mention, words), role_of(one)))
            lessons.weights.append(1.0 if mention.sentence in told else SAMPLING_INTERVAL)
    for sentence in story.sentences:
        here = [one for m, one in zip(found, labels, strict=True) if m.sentence == sentence.number]
        lessons.types.append((sentence_features(story, sentence, words), type_of(here, key)))
    lessons.relevance.append((message_features(story, words), "yes" if key else "no"))


def type_of(labels: Iterable[Sequence[FillLabel]], key: Sequence[Incident]) -> str:
    """The type of the incident of which a sentence tells most."""
    best = template_of(labels, key)
    return NONE if best is None else incident_type(key[best])


def template_of(labels: Iterable[Sequence[FillLabel]], key: Sequence[Incident]) -> int | None:
    """The key's template of which a sentence has most fills; of equal ones the more special."""
    counts = Counter(n for one in labels for n in {label.incident for label in one})
    if not counts:
        return None
    return max(counts, key=lambda n: (counts[n], incident_type(key[n]) in _SPECIFIC_TYPES, -n))


def incident_type(incident: Incident) -> str:
    fills = incident.of(4)
    return fills[0].values[0] if fills else "ATTACK"


Example = tuple[Features, str]


@dataclass(slots=True)
class FillExamples:
    """What each model learns from."""

    victim_type: list[Example] = field(default_factory=list)
    victim_effect: list[Example] = field(default_factory=list)
    target_type: list[Example] = field(default_factory=list)
    target_effect: list[Example] = field(default_factory=list)
    confidence: list[Example] = field(default_factory=list)
    stage: list[Example] = field(default_factory=list)
    category: list[Example] = field(default_factory=list)
    instrument: list[Example] = field(default_factory=list)


def train_fill_models(examples: Iterable[tuple[Reading, Sequence[Incident]]]) -> FillModels:
    given = FillExamples()
    for reading, key in examples:
        if key:
            _add_fill_examples(given, reading, key)
    return FillModels(
        train_classifier(given.victim_type, least=2, precision=2.0),
        train_classifier(given.victim_effect, least=2, precision=5.0),
        train_classifier(given.target_type, least=2, precision=2.0),
        train_classifier(given.target_effect, least=2, precision=5.0),
        train_classifier(given.confidence, least=2, precision=5.0),
        train_classifier(given.stage, least=3, precision=5.0),
        train_classifier(given.category, least=3, precision=5.0),
        train_classifier(given.instrument, least=3, precision=5.0),
    )


def _add_fill_examples(given: FillExamples, reading: Reading, key: Sequence[Incident]) -> None:
    labels = label_mentions(reading.story, reading.mentions, key)
    words = words_by_sentence(reading.story)
    for n, incident in enumerate(key):
        kind = incident_type(incident)
        cast = list(_keyed_entities(reading, labels, n, incident))
        for slot, entity, strings in cast:
            _add_entity_examples(given, reading, incident, slot, entity, strings)
        acting = [entity for slot, entity, _ in cast if slot in (9, 10)]
        sentences = sorted(
            {
                mention.sentence
                for mention, one in zip(reading.mentions, labels, strict=True)
                if any(label.incident == n for label in one)
            }
        )
        if sentences:
            seen = incident_features(reading.story, sentences, words, kind)
            given.stage.append((seen, _single(incident, 5) or "ACCOMPLISHED"))
            if acting:
                who = perpetrator_features(reading, acting)
                given.category.append(([*seen, *who], _single(incident, 8) or NONE))
            if not incident.of(6):
                given.instrument.append((seen, _single(incident, 7) or NONE))


def _keyed_entities(
    reading: Reading, labels: Sequence[Sequence[FillLabel]], n: int, incident: Incident
) -> Iterator[tuple[int, Entity, set[str]]]:
    """For each fill with mentions: its slot, the entity of the mentions, its strings."""
    places: dict[tuple[int, int], list[RolePart]] = defaultdict(list)
    for place, one in enumerate(labels):
        for label in one:
            if label.incident == n:
                places[label.slot, label.fill].append(RolePart(place, ROLES[label.slot], 1.0))
    for (slot, fill), parts in places.items():
        values = set(incident.of(slot)[fill].values)
        for entity in entities(reading, parts, ROLES[slot])[:1]:
            yield slot, entity, values


def _add_entity_examples(
    given: FillExamples,
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
            given.victim_type.append((entity_type_features(story, entity, reading), chosen))
        effect = _tagged(incident, 23, strings) or NONE
        given.victim_effect.append((entity_context_features(story, entity, reading, kind), effect))
    elif slot == 12:
        if (chosen := _tagged(incident, 13, strings)) is not None:
            given.target_type.append((entity_type_features(story, entity, reading), chosen))
        effect = _tagged(incident, 16, strings) or NONE
        given.target_effect.append((entity_context_features(story, entity, reading, kind), effect))
    elif slot == 10 and (chosen := _tagged(incident, 11, strings)) is not None:
        given.confidence.append((entity_context_features(story, entity, reading, kind), chosen))


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
