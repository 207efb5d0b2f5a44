"""From a story to the incidents of the exam: read, merge, screen, fill."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from partita.evaluation.muc.templates import Incident
from partita.incidents import choosing
from partita.incidents.acceptance import ROLES, of_draft, of_entity
from partita.incidents.cases import Case, case
from partita.incidents.drafts import Draft
from partita.incidents.entities import Entity, entities
from partita.incidents.events import events
from partita.incidents.experts import Experts, Screeners
from partita.incidents.filling import Cast, filled
from partita.incidents.merging import Merge, by_model
from partita.incidents.readings import Readers, Reading, read
from partita.incidents.stories import Story

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
            choosing.best(choosing.days(drawn.case, draft), screeners.days),
            choosing.best(choosing.places(drawn.case, draft), screeners.places),
        )
        if any(found.of(slot) for slot in NAMING):
            number += 1
            yield found


def _kept(case_: Case, draft: Draft, cast: Cast, screeners: Screeners) -> Cast:
    def plays(entity: Entity, role: str) -> bool:
        seen = of_entity(case_, draft, entity, cast[role])
        return screeners.entities.chance("yes", seen) >= PLAYED

    return {role: [one for one in some if plays(one, role)] for role, some in cast.items()}
