"""Screen incidents and fills, and answer the exam."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from partita.corpora.muc_templates import Incident
from partita.domains.incidents import slot_choice
from partita.domains.incidents.cases import MessageContext, message_context
from partita.domains.incidents.drafts import Draft
from partita.domains.incidents.entities import Entity, entities
from partita.domains.incidents.filling import EntitiesByRole, fill_slots
from partita.domains.incidents.incident_models import IncidentModels, ScreeningModels
from partita.domains.incidents.mentions import coarse_sort
from partita.domains.incidents.merging import Merge, merge_by_model
from partita.domains.incidents.readings import Reading, ReadingModels, find_events, read_story
from partita.domains.incidents.stories import Story

ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")


def twelfths(chance: float) -> int:
    """A chance in twelfths, finer than tenths at neither end."""
    return int(chance * 12)


def draft_features(
    case: MessageContext, draft: Draft, cast: EntitiesByRole, drafts: Sequence[Draft]
) -> list[str]:
    """The features of a draft among all of its message."""
    top = max(event.chance for event in draft.events)
    found = [
        "any",
        f"relevance {twelfths(case.reading.relevance)}",
        f"chance {twelfths(top)}",
        f"type {draft.type}",
        f"events {min(len(draft.events), 5)}",
        f"drafts {min(len(drafts), 5)}",
        f"place {min(drafts.index(draft), 4)}",
        f"first {min(draft.sentences[0], 6)}",
        f"relevance {twelfths(case.reading.relevance) // 2} chance {twelfths(top) // 2}",
    ]
    others = max((e.chance for d in drafts if d is not draft for e in d.events), default=0.0)
    found.append(f"others {twelfths(others) // 3} {top >= others}")
    for role in ROLES:
        found += _role_features(case, role, cast[role])
    for n in draft.sentences:
        found += [f"word {word}" for word in case.bags[n]]
        found += [f"day {when.kind}" for when in case.days[n]]
    found += [f"country {case.country}"]
    return list(dict.fromkeys(found))


def _role_features(case: MessageContext, role: str, cast: Sequence[Entity]) -> Iterator[str]:
    if not cast:
        yield f"{role} none"
        return
    yield f"{role} {twelfths(cast[0].chance)}"
    yield f"{role} many {min(len(cast), 4)}"
    mention = case.reading.mentions[cast[0].parts[0].place]
    yield f"{role} {mention.lemma}"
    yield f"{role} {coarse_sort(mention)} {bool(cast[0].names)}"


def entity_features(
    case: MessageContext, draft: Draft, entity: Entity, cast: Sequence[Entity]
) -> list[str]:
    """The features of an entity among all of its role in a draft."""
    role, chance = entity.role, entity.chance
    place = cast.index(entity)
    total = 1.0
    for part in entity.parts:
        total *= 1.0 - part.chance
    mention = case.reading.mentions[entity.parts[0].place]
    named = bool(entity.names)
    found = [
        f"{role}",
        f"{role} chance {twelfths(chance)}",
        f"{role} together {twelfths(1.0 - total)}",
        f"{role} mentions {min(len(entity.parts), 4)}",
        f"{role} place {min(place, 4)}",
        f"{role} place {min(place, 2)} chance {twelfths(chance) // 2}",
        f"{role} behind {twelfths(cast[0].chance - chance)}",
        f"{role} kind {coarse_sort(mention)} {named}",
        f"{role} type {draft.type}",
        f"{role} head {mention.lemma}",
        f"{role} form {mention.item.known.get('form')} {mention.item.known.get('number')}",
        f"{role} det {mention.item.known.get('det')}",
        f"{role} relevance {twelfths(case.reading.relevance) // 3}",
        f"{role} late {min(mention.sentence - draft.sentences[0], 4)}",
        f"{role} inside {mention.inner}",
        f"{role} others {min(len(cast), 5)}",
        f"{role} names {named} {any(one.names for one in cast if one is not entity)}",
    ]
    found += [f"{role} mod {word}" for word in mention.item.known.get("mods", ())]
    return found


MIN_DRAFT_PROBABILITY = (
    0.30  # drafts that are less likely to be an incident of the exam are dropped
)
MIN_ENTITY_PROBABILITY = 0.40  # so are entities that are less likely to be one of its fills

NAMING_SLOTS = (9, 10, 12, 18, 19)  # an incident without any of these is too vague for the exam


@dataclass(frozen=True, slots=True, eq=False)
class DraftedMessage:
    """A case with its drafts and all that may play a part in each."""

    case: MessageContext
    drafts: tuple[Draft, ...]
    casts: tuple[dict[str, list[Entity]], ...]


def answer_story(
    story: Story, experts: IncidentModels, merge: Merge | None = None
) -> list[Incident]:
    """The incidents of a story, in text order; events are merged by probability if unsaid."""
    return answer_reading(
        read_story(story, experts.readers), experts, merge or merge_by_model(experts.pairs)
    )


def answer_reading(reading: Reading, experts: IncidentModels, merge: Merge) -> list[Incident]:
    return list(_incidents(draft_message(reading, experts.readers, merge), experts))


def draft_message(reading: Reading, readers: ReadingModels, merge: Merge) -> DraftedMessage:
    known = message_context(reading)
    drafts = tuple(merge(known, find_events(reading, readers)))
    casts = tuple(
        {role: entities(reading, draft.parts, role) for role in ROLES} for draft in drafts
    )
    return DraftedMessage(known, drafts, casts)


def _incidents(drawn: DraftedMessage, experts: IncidentModels) -> Iterator[Incident]:
    screeners, number = experts.screeners, 0
    for draft, cast in zip(drawn.drafts, drawn.casts, strict=True):
        seen = draft_features(drawn.case, draft, cast, drawn.drafts)
        if screeners.drafts.chance("yes", seen) < MIN_DRAFT_PROBABILITY:
            continue
        found = fill_slots(
            drawn.case,
            draft,
            _accepted_entities(drawn.case, draft, cast, screeners),
            experts.judges,
            number + 1,
            slot_choice.best_fill(slot_choice.day_candidates(drawn.case, draft), screeners.days),
            slot_choice.best_fill(
                slot_choice.place_candidates(drawn.case, draft), screeners.places
            ),
        )
        if any(found.of(slot) for slot in NAMING_SLOTS):
            number += 1
            yield found


def _accepted_entities(
    case_: MessageContext, draft: Draft, cast: EntitiesByRole, screeners: ScreeningModels
) -> EntitiesByRole:
    def plays(entity: Entity, role: str) -> bool:
        seen = entity_features(case_, draft, entity, cast[role])
        return screeners.entities.chance("yes", seen) >= MIN_ENTITY_PROBABILITY

    return {role: [one for one in some if plays(one, role)] for role, some in cast.items()}
