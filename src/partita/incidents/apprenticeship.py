"""Lessons for the models that choose among the exam's lists: the key's fills beside the text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from partita.evaluation.muc.templates import Incident
from partita.incidents.details import Judges, of_context, of_incident, of_kind, of_perpetrators
from partita.incidents.entities import Entity, entities
from partita.incidents.events import Part
from partita.incidents.evidence import bags
from partita.incidents.keyed import ROLES, Labelled, labelled
from partita.incidents.models import NONE, Features, learn
from partita.incidents.readings import Reading
from partita.incidents.schooling import incident_type

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
