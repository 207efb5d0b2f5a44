"""Screen incidents and fills, and answer the exam."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from partita.corpora.muc_templates import Incident
from partita.domains.incidents import slot_choice
from partita.domains.incidents.cases import MessageContext, message_context
from partita.domains.incidents.entities import Entity, entities
from partita.domains.incidents.filling import EntitiesByRole, fill_slots
from partita.domains.incidents.incident_models import IncidentModels, ScreeningModels
from partita.domains.incidents.mentions import coarse_sort
from partita.domains.incidents.merging import Merge, merge_by_model
from partita.domains.incidents.readings import (
    Draft,
    Reading,
    ReadingModels,
    find_events,
    read_story,
)
from partita.domains.incidents.stories import Story

ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")


def twelfths(probability: float) -> int:
    """Return a probability in twelfths, rounded down."""
    return int(probability * 12)


def draft_features(
    context: MessageContext, draft: Draft, entities_by_role: EntitiesByRole, drafts: Sequence[Draft]
) -> list[str]:
    """Return the features of a draft among all drafts of its message."""
    top = max(event.probability for event in draft.events)
    features = [
        "any",
        f"relevance {twelfths(context.reading.relevance)}",
        f"chance {twelfths(top)}",
        f"type {draft.type}",
        f"events {min(len(draft.events), 5)}",
        f"drafts {min(len(drafts), 5)}",
        f"place {min(drafts.index(draft), 4)}",
        f"first {min(draft.sentences[0], 6)}",
        f"relevance {twelfths(context.reading.relevance) // 2} chance {twelfths(top) // 2}",
    ]
    others = max(
        (
            other_event.probability
            for other in drafts
            if other is not draft
            for other_event in other.events
        ),
        default=0.0,
    )
    features.append(f"others {twelfths(others) // 3} {top >= others}")
    for role in ROLES:
        features += _role_features(context, role, entities_by_role[role])
    for n in draft.sentences:
        features += [f"word {word}" for word in context.words[n]]
        features += [f"day {phrase.kind}" for phrase in context.days[n]]
    features += [f"country {context.country}"]
    return list(dict.fromkeys(features))


def _role_features(context: MessageContext, role: str, entities: Sequence[Entity]) -> Iterator[str]:
    if not entities:
        yield f"{role} none"
        return
    yield f"{role} {twelfths(entities[0].probability)}"
    yield f"{role} many {min(len(entities), 4)}"
    mention = context.reading.mentions[entities[0].parts[0].place]
    yield f"{role} {mention.lemma}"
    yield f"{role} {coarse_sort(mention)} {bool(entities[0].names)}"


def entity_features(
    context: MessageContext, draft: Draft, entity: Entity, rivals: Sequence[Entity]
) -> list[str]:
    """Return the features of an entity among those of its role in a draft."""
    role, probability = entity.role, entity.probability
    place = rivals.index(entity)
    absent = 1.0
    for part in entity.parts:
        absent *= 1.0 - part.probability
    mention = context.reading.mentions[entity.parts[0].place]
    attributes, named = mention.item.attributes, bool(entity.names)
    features = [
        f"{role}",
        f"{role} chance {twelfths(probability)}",
        f"{role} together {twelfths(1.0 - absent)}",
        f"{role} mentions {min(len(entity.parts), 4)}",
        f"{role} place {min(place, 4)}",
        f"{role} place {min(place, 2)} chance {twelfths(probability) // 2}",
        f"{role} behind {twelfths(rivals[0].probability - probability)}",
        f"{role} kind {coarse_sort(mention)} {named}",
        f"{role} type {draft.type}",
        f"{role} head {mention.lemma}",
        f"{role} form {attributes.get('form')} {attributes.get('number')}",
        f"{role} det {attributes.get('det')}",
        f"{role} relevance {twelfths(context.reading.relevance) // 3}",
        f"{role} late {min(mention.sentence - draft.sentences[0], 4)}",
        f"{role} inside {mention.inner}",
        f"{role} others {min(len(rivals), 5)}",
        f"{role} names {named} {any(rival.names for rival in rivals if rival is not entity)}",
    ]
    features += [f"{role} mod {word}" for word in attributes.get("mods", ())]
    return features


MIN_DRAFT_PROBABILITY = 0.30  # of being an incident of the exam
MIN_ENTITY_PROBABILITY = 0.40  # of being a fill of the incident, for entities

NAMING_SLOTS = (9, 10, 12, 18, 19)  # an incident without any of these is not answered


@dataclass(frozen=True, slots=True, eq=False)
class DraftedMessage:
    """A message with its drafts and, for each, the candidate entities by role."""

    context: MessageContext
    drafts: tuple[Draft, ...]
    entities: tuple[dict[str, list[Entity]], ...]


def answer_story(
    story: Story, models: IncidentModels, merge: Merge | None = None
) -> list[Incident]:
    """Return the incidents of a story in text order; by default events merge by probability."""
    return answer_reading(
        read_story(story, models.reading), models, merge or merge_by_model(models.pairs)
    )


def answer_reading(reading: Reading, models: IncidentModels, merge: Merge) -> list[Incident]:
    """Return the incidents of a reading in text order."""
    return list(_incidents(draft_message(reading, models.reading, merge), models))


def draft_message(reading: Reading, models: ReadingModels, merge: Merge) -> DraftedMessage:
    """Merge the events of a reading into drafts with their candidate entities."""
    context = message_context(reading)
    drafts = tuple(merge(context, find_events(reading, models)))
    entities_by_draft = tuple(
        {role: entities(reading, draft.parts, role) for role in ROLES} for draft in drafts
    )
    return DraftedMessage(context, drafts, entities_by_draft)


def _incidents(drafted: DraftedMessage, models: IncidentModels) -> Iterator[Incident]:
    screening, number = models.screening, 0
    for draft, by_role in zip(drafted.drafts, drafted.entities, strict=True):
        features = draft_features(drafted.context, draft, by_role, drafted.drafts)
        if screening.drafts.probability("yes", features) < MIN_DRAFT_PROBABILITY:
            continue
        incident = fill_slots(
            drafted.context,
            draft,
            _accepted_entities(drafted.context, draft, by_role, screening),
            models.fills,
            number + 1,
            slot_choice.best_fill(
                slot_choice.day_candidates(drafted.context, draft), screening.days
            ),
            slot_choice.best_fill(
                slot_choice.place_candidates(drafted.context, draft), screening.places
            ),
        )
        if any(incident.of(slot) for slot in NAMING_SLOTS):
            number += 1
            yield incident


def _accepted_entities(
    context: MessageContext, draft: Draft, by_role: EntitiesByRole, models: ScreeningModels
) -> EntitiesByRole:
    def plays(entity: Entity, role: str) -> bool:
        features = entity_features(context, draft, entity, by_role[role])
        return models.entities.probability("yes", features) >= MIN_ENTITY_PROBABILITY

    return {
        role: [each for each in candidates if plays(each, role)]
        for role, candidates in by_role.items()
    }
