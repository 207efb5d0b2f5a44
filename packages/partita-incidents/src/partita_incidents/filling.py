"""Fill the slots of the exam's templates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from partita_incidents.cases import MessageContext
from partita_incidents.entities import Entity
from partita_incidents.exam_templates import Fill, Incident
from partita_incidents.incident_models import (
    FillModels,
    entity_context_features,
    entity_type_features,
    incident_features,
    perpetrator_features,
)
from partita_incidents.models import NONE, Classifier
from partita_incidents.readings import Draft, Reading
from partita_incidents.stories import types_of

_INSTRUMENT_TYPES = (
    "VEHICLE BOMB", "DYNAMITE", "MINE", "AERIAL BOMB", "MACHINE GUN", "MORTAR", "HANDGUN", "RIFLE",
    "GRENADE", "MOLOTOV COCKTAIL", "MISSILE", "ROCKET", "CUTTING DEVICE", "STONE", "TORTURE",
    "BOMB", "GUN", "EXPLOSIVE", "PROJECTILE", "FIRE",
)  # fmt: skip
_UNUSED_SLOTS = {"KIDNAPPING": (6, 7, 12, 13, 14, 15, 16, 17), "ARSON": (6, 7)}

ProbableEntities = Mapping[str, Sequence[tuple[Entity, float]]]


@dataclass(frozen=True, slots=True)
class ProbableFill:
    """A fill of a slot, and the probability that the key has it.

    A fill of an entity comes with it and with the probability `chance` of the entity.
    """

    slot: int
    fill: Fill
    probability: float
    entity: Entity | None = None
    chance: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Filling:
    """What the fills of a draft are chosen from; entities come with their probabilities."""

    context: MessageContext
    draft: Draft
    entities: ProbableEntities
    models: FillModels
    country: str = ""

    @property
    def reading(self) -> Reading:
        return self.context.reading

    def fills(self) -> Iterator[ProbableFill]:
        """Yield the likeliest fills of all slots but the day and the place."""
        unused = _UNUSED_SLOTS.get(self.draft.type, ())
        for fill in self._all_fills():
            if fill.slot not in unused:
                yield fill

    def _all_fills(self) -> Iterator[ProbableFill]:
        kind = self.draft.type
        features = incident_features(
            self.context.story, self.draft.sentences, self.context.words, kind
        )
        yield ProbableFill(4, Fill((kind,)), 1.0)
        yield from _chosen(5, self.models.stage, features)
        yield from self._instruments(features)
        yield from self._perpetrators(features)
        for entity, probability in self.entities["TARGET"]:
            yield from _of_entity(self._target(entity), entity, probability)
        for entity, probability in self.entities["VICTIM"]:
            yield from _of_entity(self._victim(entity), entity, probability)

    def _target(self, entity: Entity) -> Iterator[ProbableFill]:
        yield ProbableFill(12, Fill((entity.string,)), 1.0)
        models = self.models.target_type, self.models.target_effect
        yield from self._thing(entity, (13, 14, 15, 16), *models)

    def _victim(self, entity: Entity) -> Iterator[ProbableFill]:
        tag = (entity.string,)
        if entity.names:
            yield ProbableFill(18, Fill(tag), 1.0)
        if entity.descriptions:
            yield ProbableFill(19, Fill((entity.description,), tag if entity.names else ()), 1.0)
        models = self.models.victim_type, self.models.victim_effect
        yield from self._thing(entity, (20, 21, 22, 23), *models)

    def _instruments(self, features: Sequence[str]) -> Iterator[ProbableFill]:
        for entity, probability in self.entities["INSTRUMENT"]:
            yield from _of_entity(self._instrument(entity), entity, probability)
        if not self.entities["INSTRUMENT"]:
            yield from _chosen(7, self.models.instrument, features)

    def _instrument(self, entity: Entity) -> Iterator[ProbableFill]:
        yield ProbableFill(6, Fill((entity.string,)), 1.0)
        if kind := _instrument_type(self.reading, entity):
            yield ProbableFill(7, Fill((kind,), (entity.string,)), 1.0)

    def _perpetrators(self, features: Sequence[str]) -> Iterator[ProbableFill]:
        individuals, organisations = self.entities["PERPETRATOR"], self.entities["ORGANISATION"]
        perpetrators = [entity for entity, _ in (*individuals, *organisations)]
        named = perpetrator_features(self.reading, perpetrators)
        yield from _chosen(8, self.models.category, [*features, *named])
        for entity, probability in individuals:
            yield ProbableFill(9, Fill((entity.string,)), probability, entity, probability)
        for entity, probability in organisations:
            yield from _of_entity(self._organisation(entity), entity, probability)

    def _organisation(self, entity: Entity) -> Iterator[ProbableFill]:
        yield ProbableFill(10, Fill((entity.string,)), 1.0)
        context = entity_context_features(entity, self.reading, self.draft.type)
        yield from _chosen(11, self.models.confidence, context, (entity.string,))

    def _thing(
        self,
        entity: Entity,
        slots: tuple[int, int, int, int],
        types: Classifier,
        effects: Classifier,
    ) -> Iterator[ProbableFill]:
        """Yield the type, number, nation and effect of a target or victim."""
        kind, number, nation, effect = slots
        tag, reading = (entity.string,), self.reading
        yield from _chosen(kind, types, entity_type_features(entity, reading), tag)
        yield ProbableFill(number, Fill((_number(reading, entity),), tag), 1.0)
        for fill in _nation(reading, entity, self.country):
            yield ProbableFill(nation, fill, 1.0)
        context = entity_context_features(entity, reading, self.draft.type)
        yield from _chosen(effect, effects, context, tag)


def _of_entity(
    fills: Iterable[ProbableFill], entity: Entity, chance: float
) -> Iterator[ProbableFill]:
    """Yield fills of an entity with probabilities that include its own."""
    for fill in fills:
        yield ProbableFill(fill.slot, fill.fill, chance * fill.probability, entity, chance)


def _chosen(
    slot: int, model: Classifier, features: Sequence[str], tags: tuple[str, ...] = ()
) -> Iterator[ProbableFill]:
    """Yield the likeliest fill of a set."""
    outcome, own = model.best(features, but=NONE)
    if own > 0:
        yield ProbableFill(slot, Fill((outcome,), tags), own)


def _instrument_type(reading: Reading, entity: Entity) -> str:
    types = {s for part in entity.parts for s in types_of(reading.mentions[part.place].item)}
    return next((entity_type for entity_type in _INSTRUMENT_TYPES if entity_type in types), "")


def incident_of(message: str, number: int, fills: Iterable[ProbableFill]) -> Incident:
    """Return an incident with the given fills."""
    by_slot: dict[int, tuple[Fill, ...]] = {}
    for fill in sorted(fills, key=lambda each: each.slot):
        by_slot[fill.slot] = (*by_slot.get(fill.slot, ()), fill.fill)
    return Incident(message, str(number), by_slot)


def _number(reading: Reading, entity: Entity) -> str:
    if entity.names:
        return "1"
    for number in _numbers(reading, entity):
        if number.isdigit() and number != "1":
            return number
    numbers = list(_numbers(reading, entity))
    return numbers[0] if numbers else "1"


def _numbers(reading: Reading, entity: Entity) -> Iterator[str]:
    for part in sorted(entity.parts, key=lambda part: -part.probability):
        mention = reading.mentions[part.place]
        number = str(mention.item.attributes.get("number", ""))
        if mention.item.kind == "word" and mention.place:
            before = reading.story.sentences[mention.sentence].items[mention.place - 1]
            number = str(before.attributes.get("value", "1"))
        if ".." in number:
            number = number.split("..")[0] or number.split("..")[1]
        if number.isdigit() or number == "PLURAL":
            yield number


def _nation(reading: Reading, entity: Entity, country: str) -> list[Fill]:
    words = " ".join((*entity.names, *entity.descriptions)).split()
    for part in entity.parts:
        item = reading.mentions[part.place].item
        words += reading.story.words[item.first : item.last + 1]
    nation = reading.story.gazetteer.nation(words)
    return [Fill((nation,), (entity.string,))] if nation and nation != country else []
