"""Screen incidents and fills, and answer the exam."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from partita.corpora.muc_templates import Incident
from partita.domains.incidents import slot_choice
from partita.domains.incidents.cases import Case, case
from partita.domains.incidents.drafts import Draft
from partita.domains.incidents.entities import Entity, entities
from partita.domains.incidents.filling import Cast, filled
from partita.domains.incidents.incident_models import Experts, Screeners
from partita.domains.incidents.mentions import coarse
from partita.domains.incidents.merging import Merge, by_model
from partita.domains.incidents.readings import Readers, Reading, events, read
from partita.domains.incidents.stories import Story

ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")


def step(chance: float) -> int:
    """A chance in twelfths, finer than tenths at neither end."""
    return int(chance * 12)


def of_draft(case: Case, draft: Draft, cast: Cast, drafts: Sequence[Draft]) -> list[str]:
    """The features of a draft among all of its message."""
    top = max(event.chance for event in draft.events)
    found = [
        "any",
        f"relevance {step(case.reading.relevance)}",
        f"chance {step(top)}",
        f"type {draft.type}",
        f"events {min(len(draft.events), 5)}",
        f"drafts {min(len(drafts), 5)}",
        f"place {min(drafts.index(draft), 4)}",
        f"first {min(draft.sentences[0], 6)}",
        f"relevance {step(case.reading.relevance) // 2} chance {step(top) // 2}",
    ]
    others = max((e.chance for d in drafts if d is not draft for e in d.events), default=0.0)
    found.append(f"others {step(others) // 3} {top >= others}")
    for role in ROLES:
        found += _best(case, role, cast[role])
    for n in draft.sentences:
        found += [f"word {word}" for word in case.bags[n]]
        found += [f"day {when.kind}" for when in case.days[n]]
    found += [f"country {case.country}"]
    return list(dict.fromkeys(found))


def _best(case: Case, role: str, cast: Sequence[Entity]) -> Iterator[str]:
    if not cast:
        yield f"{role} none"
        return
    yield f"{role} {step(cast[0].chance)}"
    yield f"{role} many {min(len(cast), 4)}"
    mention = case.reading.mentions[cast[0].parts[0].place]
    yield f"{role} {mention.lemma}"
    yield f"{role} {coarse(mention)} {bool(cast[0].names)}"


def of_entity(case: Case, draft: Draft, entity: Entity, cast: Sequence[Entity]) -> list[str]:
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
        f"{role} chance {step(chance)}",
        f"{role} together {step(1.0 - total)}",
        f"{role} mentions {min(len(entity.parts), 4)}",
        f"{role} place {min(place, 4)}",
        f"{role} place {min(place, 2)} chance {step(chance) // 2}",
        f"{role} behind {step(cast[0].chance - chance)}",
        f"{role} kind {coarse(mention)} {named}",
        f"{role} type {draft.type}",
        f"{role} head {mention.lemma}",
        f"{role} form {mention.item.known.get('form')} {mention.item.known.get('number')}",
        f"{role} det {mention.item.known.get('det')}",
        f"{role} relevance {step(case.reading.relevance) // 3}",
        f"{role} late {min(mention.sentence - draft.sentences[0], 4)}",
        f"{role} inside {mention.inner}",
        f"{role} others {min(len(cast), 5)}",
        f"{role} names {named} {any(one.names for one in cast if one is not entity)}",
    ]
    found += [f"{role} mod {word}" for word in mention.item.known.get("mods", ())]
    return found


ACCEPTED = 0.30  # drafts that are less likely to be an incident of the exam are dropped
PLAYED = 0.40  # so are entities that are less likely to be one of its fills

NAMING = (9, 10, 12, 18, 19)  # an incident without any of these is too vague for the exam


@dataclass(frozen=True, slots=True, eq=False)
class Sketch:
    """A case with its drafts and all that may play a part in each."""

    case: Case
    drafts: tuple[Draft, ...]
    casts: tuple[dict[str, list[Entity]], ...]


def answer(story: Story, experts: Experts, merge: Merge | None = None) -> list[Incident]:
    """The incidents of a story, in text order; events are merged by probability if unsaid."""
    return answered(read(story, experts.readers), experts, merge or by_model(experts.pairs))


def answered(reading: Reading, experts: Experts, merge: Merge) -> list[Incident]:
    return list(_incidents(sketch(reading, experts.readers, merge), experts))


def sketch(reading: Reading, readers: Readers, merge: Merge) -> Sketch:
    known = case(reading)
    drafts = tuple(merge(known, events(reading, readers)))
    casts = tuple(
        {role: entities(reading, draft.parts, role) for role in ROLES} for draft in drafts
    )
    return Sketch(known, drafts, casts)


def _incidents(drawn: Sketch, experts: Experts) -> Iterator[Incident]:
    screeners, number = experts.screeners, 0
    for draft, cast in zip(drawn.drafts, drawn.casts, strict=True):
        seen = of_draft(drawn.case, draft, cast, drawn.drafts)
        if screeners.drafts.chance("yes", seen) < ACCEPTED:
            continue
        found = filled(
            drawn.case,
            draft,
            _kept(drawn.case, draft, cast, screeners),
            experts.judges,
            number + 1,
            slot_choice.best(slot_choice.days(drawn.case, draft), screeners.days),
            slot_choice.best(slot_choice.places(drawn.case, draft), screeners.places),
        )
        if any(found.of(slot) for slot in NAMING):
            number += 1
            yield found


def _kept(case_: Case, draft: Draft, cast: Cast, screeners: Screeners) -> Cast:
    def plays(entity: Entity, role: str) -> bool:
        seen = of_entity(case_, draft, entity, cast[role])
        return screeners.entities.chance("yes", seen) >= PLAYED

    return {role: [one for one in some if plays(one, role)] for role, some in cast.items()}
