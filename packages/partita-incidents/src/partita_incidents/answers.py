"""Answer the exam: candidate incidents of a message, and which of their fills to answer.

A fill that is right with probability p raises F if p is above F / 2. Trees estimate p from the
probabilities of the draft, of the entity and of the value, and from the other fills of the slot.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from partita.core import FloatArray
from partita_incidents import slot_choice
from partita_incidents.exam_templates import SLOTS, Fill, Incident
from partita_incidents.filling import Filling, ProbableFill, incident_of
from partita_incidents.incident_models import (
    FillModels,
    IncidentModels,
    ScreeningModels,
)
from partita_incidents.merging import Merge, exam_merge
from partita_incidents.readings import Draft, Reading
from partita_incidents.screening import (
    DraftedMessage,
    draft_message,
    draft_probability,
    entity_probabilities,
)

MIN_DRAFT_PROBABILITY = 0.15  # of being an incident of the key, for a draft to be answered
MIN_CANDIDATE = 0.08  # probability of an incident and an entity, for the entity's fills to count
MIN_FILL_PROBABILITY = 0.25  # of being in the key, for a fill to be answered
ALWAYS_ANSWERED = (2, 3, 4)  # the day, the place and the type of an incident
NAMING_SLOTS = (9, 10, 12, 18, 19)  # an incident without any of these is not answered
_SLOTS = (5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21, 22, 23)
_NUMBERS = (14, 21)
_TYPES = ("ATTACK", "BOMBING", "KIDNAPPING")
_MAX_NUMBER = 50.0


@dataclass(frozen=True, slots=True, eq=False)
class ProbableIncident:
    """An incident with its fills."""

    probability: float
    fills: tuple[ProbableFill, ...]

    @property
    def is_answered(self) -> bool:
        return any(fill.slot in NAMING_SLOTS for fill in self.fills)

    def json(self) -> dict[str, object]:
        """Return the incident as it stands in results."""
        return {
            "probability": round(self.probability, 4),
            "fills": [
                {
                    "slot": SLOTS[each.slot].title,
                    "value": each.fill.values[0],
                    **({"of": each.fill.tags[0]} if each.fill.tags else {}),
                    "probability": round(each.probability, 4),
                }
                for each in self.fills
            ],
        }


def answer_reading(
    reading: Reading, models: IncidentModels, merge: Merge | None = None
) -> list[Incident]:
    """Return the incidents of a reading in text order."""
    message = reading.story.message.id
    return [
        incident_of(message, number, each.fills)
        for number, each in enumerate(probable_incidents(reading, models, merge), 1)
    ]


def probable_incidents(
    reading: Reading, models: IncidentModels, merge: Merge | None = None
) -> Iterator[ProbableIncident]:
    """Yield the incidents of a reading; all probabilities are those of being in the key.

    Events are merged as in training unless another merge is given.
    """
    drafted = draft_message(reading, models.reading, merge or exam_merge(models.pairs))
    for candidate in candidate_incidents(drafted, models.screening, models.fills):
        chances = models.screening.fill_trees.probabilities(fill_numbers(candidate))
        chosen = candidate.choose(chances.tolist(), MIN_FILL_PROBABILITY)
        if chosen.is_answered:
            yield chosen


@dataclass(frozen=True, slots=True, eq=False)
class CandidateIncident:
    """A draft of a message with all its possible fills; their probabilities are given the
    incident. `rivals` are the probabilities of the other drafts."""

    drafted: DraftedMessage
    n: int
    probability: float
    fills: tuple[ProbableFill, ...]
    rivals: tuple[float, ...]

    @property
    def draft(self) -> Draft:
        return self.drafted.drafts[self.n]

    @property
    def products(self) -> list[float]:
        """Return the product of the incident's probability and that of each fill."""
        return [self.probability * fill.probability for fill in self.fills]

    def choose(self, chances: Sequence[float], least: float) -> ProbableIncident:
        """Return the incident with the fills that have at least a given probability.

        A fill is in the key only if its incident is, so that none is stated as likelier.
        """
        fills = tuple(
            replace(fill, probability=product if always else min(chance, self.probability))
            for fill, product, chance in zip(self.fills, self.products, chances, strict=True)
            for always in [fill.slot in ALWAYS_ANSWERED]
            if always or chance >= least
        )
        return ProbableIncident(self.probability, fills)


def candidate_incidents(
    drafted: DraftedMessage, screening: ScreeningModels, fill_models: FillModels
) -> list[CandidateIncident]:
    """Return the drafts that may be answered with their possible fills."""
    chances = [
        draft_probability(screening, drafted, n, fill_models) for n in range(len(drafted.drafts))
    ]
    return [
        CandidateIncident(
            drafted,
            n,
            chance,
            tuple(_possible_fills(drafted, n, screening, fill_models, MIN_CANDIDATE / chance)),
            tuple(other for m, other in enumerate(chances) if m != n),
        )
        for n, chance in enumerate(chances)
        if chance >= MIN_DRAFT_PROBABILITY
    ]


def _possible_fills(
    drafted: DraftedMessage,
    n: int,
    screening: ScreeningModels,
    fill_models: FillModels,
    least: float,
) -> Iterator[ProbableFill]:
    """Yield the day, the place, and the fills of entities with at least a given probability."""
    context, draft = drafted.context, drafted.drafts[n]
    day, chance = slot_choice.best_fill(
        slot_choice.day_candidates(context, draft), screening.days, screening.day_trees
    )
    if day:
        yield ProbableFill(2, Fill((day,)), chance)
    place, chance = slot_choice.best_fill(
        slot_choice.place_candidates(context, draft), screening.places, screening.place_trees
    )
    if place:
        yield ProbableFill(3, Fill((place,)), chance)
    entities = {
        role: [
            (each.entity, p)
            for each, p in zip(
                found, entity_probabilities(screening, drafted, n, found), strict=True
            )
            if p >= least
        ]
        for role, found in drafted.participants[n].items()
    }
    yield from Filling(context, draft, entities, fill_models, place.split(":")[0]).fills()


def fill_numbers(candidate: CandidateIncident) -> FloatArray:
    """Return a row for each fill: its slot, probabilities, entity, rivals and incident."""
    by_slot: dict[int, list[float]] = defaultdict(list)
    for fill in candidate.fills:
        by_slot[fill.slot].append(fill.probability)
    incident = _incident_numbers(candidate)
    rows = [
        [*_fill_numbers(fill, candidate.probability, by_slot[fill.slot]), *incident]
        for fill in candidate.fills
    ]
    return np.array(rows, dtype=np.float64)


def _incident_numbers(candidate: CandidateIncident) -> list[float]:
    rivals, draft = candidate.rivals, candidate.draft
    numbers = [candidate.probability, len(rivals), max(rivals, default=0.0), sum(rivals)]
    numbers += [len(draft.events), *(draft.type == name for name in _TYPES)]
    return [*map(float, numbers), candidate.drafted.numbers[0]]


def _fill_numbers(fill: ProbableFill, incident: float, slot: Sequence[float]) -> list[float]:
    own, entity, value = fill.probability, fill.entity, fill.fill.values[0]
    numbers: list[float] = [fill.slot == each for each in _SLOTS]
    numbers += [own, own * incident, fill.chance, own / max(fill.chance, 1e-6)]
    numbers += [sum(p > own for p in slot), len(slot), max(slot), sum(slot) - own]
    numbers += [len(value.split()), bool(fill.fill.tags), _stated_number(fill)]
    if entity is None:
        numbers += [0.0, 0.0, 0.0, 0.0]
    else:
        numbers += [bool(entity.names), bool(entity.descriptions), len(entity.parts), entity.single]
    return [float(number) for number in numbers]


def _stated_number(fill: ProbableFill) -> float:
    """Return the number of things, 0 for several, -1 in other slots."""
    value = fill.fill.values[0]
    if fill.slot not in _NUMBERS:
        return -1.0
    return min(float(value), _MAX_NUMBER) if value.isdigit() else 0.0
