"""Fill the slots of the exam's templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from partita.corpora.muc_templates import Fill, Incident
from partita.domains.incidents.cases import MessageContext
from partita.domains.incidents.entities import Entity
from partita.domains.incidents.incident_models import (
    FillModels,
    entity_context_features,
    entity_type_features,
    incident_features,
    perpetrator_features,
)
from partita.domains.incidents.models import NONE
from partita.domains.incidents.readings import Draft, Reading
from partita.domains.incidents.stories import sorts_of

_INSTRUMENT_SORTS = (
    "VEHICLE BOMB", "DYNAMITE", "MINE", "AERIAL BOMB", "MACHINE GUN", "MORTAR", "HANDGUN", "RIFLE",
    "GRENADE", "MOLOTOV COCKTAIL", "MISSILE", "ROCKET", "CUTTING DEVICE", "STONE", "TORTURE",
    "BOMB", "GUN", "EXPLOSIVE", "PROJECTILE", "FIRE",
)  # fmt: skip
_UNUSED_SLOTS = {"KIDNAPPING": (6, 7, 12, 13, 14, 15, 16, 17), "ARSON": (6, 7)}

EntitiesByRole = Mapping[str, Sequence[Entity]]


def fill_slots(
    context: MessageContext,
    draft: Draft,
    entities: EntitiesByRole,
    models: FillModels,
    number: int,
    day: str,
    place: str,
) -> Incident:
    """Return the incident of a draft with all its slots."""
    reading, kind = context.reading, draft.type
    features = incident_features(context.story, draft.sentences, context.words, kind)
    fills: dict[int, list[Fill]] = {
        2: [Fill((day,))] if day else [],
        3: [Fill((place,))] if place else [],
        4: [Fill((kind,))],
        5: [Fill((models.stage.best(features)[0],))],
    }
    country = place.split(":")[0]
    _instruments(fills, entities["INSTRUMENT"], reading, models, features)
    _perpetrators(fills, entities, reading, models, features, kind)
    _targets(fills, entities["TARGET"], reading, models, kind, country)
    _victims(fills, entities["VICTIM"], reading, models, kind, country)
    filled = {slot: tuple(values) for slot, values in fills.items() if values}
    for slot in _UNUSED_SLOTS.get(kind, ()):
        filled.pop(slot, None)
    return Incident(context.story.message.id, str(number), filled)


def _instruments(
    fills: dict[int, list[Fill]],
    entities: Sequence[Entity],
    reading: Reading,
    models: FillModels,
    features: Sequence[str],
) -> None:
    fills[6] = [Fill((entity.string,)) for entity in entities]
    fills[7] = [
        Fill((kind,), (entity.string,))
        for entity in entities
        if (kind := _instrument_type(reading, entity))
    ]
    if not fills[6]:
        kind, _ = models.instrument.best(features)
        fills[7] = [Fill((kind,))] if kind != NONE else []


def _instrument_type(reading: Reading, entity: Entity) -> str:
    sorts = {s for part in entity.parts for s in sorts_of(reading.mentions[part.place].item)}
    return next((sort for sort in _INSTRUMENT_SORTS if sort in sorts), "")


def _perpetrators(
    fills: dict[int, list[Fill]],
    entities: EntitiesByRole,
    reading: Reading,
    models: FillModels,
    features: Sequence[str],
    kind: str,
) -> None:
    perpetrators = (*entities["PERPETRATOR"], *entities["ORGANISATION"])
    category = models.category.best([*features, *perpetrator_features(reading, perpetrators)])[0]
    fills[8] = [Fill((category,))] if perpetrators and category != NONE else []
    fills[9] = [Fill((entity.string,)) for entity in entities["PERPETRATOR"]]
    fills[10] = [Fill((entity.string,)) for entity in entities["ORGANISATION"]]
    confidences = [
        models.confidence.best(entity_context_features(entity, reading, kind))[0]
        for entity in entities["ORGANISATION"]
    ]
    fills[11] = [
        Fill((confidence,), (entity.string,))
        for entity, confidence in zip(entities["ORGANISATION"], confidences, strict=True)
        if confidence != NONE
    ]


def _targets(
    fills: dict[int, list[Fill]],
    entities: Sequence[Entity],
    reading: Reading,
    models: FillModels,
    kind: str,
    country: str,
) -> None:
    for slot in (12, 13, 14, 15, 16):
        fills[slot] = []
    for entity in entities:
        tag = (entity.string,)
        fills[12].append(Fill(tag))
        fills[13].append(
            Fill(
                (models.target_type.best(entity_type_features(entity, reading))[0],),
                tag,
            )
        )
        fills[14].append(Fill((_number(reading, entity),), tag))
        fills[15] += _nation(reading, entity, country)
        effect, _ = models.target_effect.best(entity_context_features(entity, reading, kind))
        if effect != NONE:
            fills[16].append(Fill((effect,), tag))


def _victims(
    fills: dict[int, list[Fill]],
    entities: Sequence[Entity],
    reading: Reading,
    models: FillModels,
    kind: str,
    country: str,
) -> None:
    for slot in (18, 19, 20, 21, 22, 23):
        fills[slot] = []
    for entity in entities:
        tag = (entity.string,)
        if entity.names:
            fills[18].append(Fill(tag))
        if entity.descriptions:
            fills[19].append(Fill((entity.description,), tag if entity.names else ()))
        fills[20].append(
            Fill(
                (models.victim_type.best(entity_type_features(entity, reading))[0],),
                tag,
            )
        )
        fills[21].append(Fill((_number(reading, entity),), tag))
        fills[22] += _nation(reading, entity, country)
        effect, _ = models.victim_effect.best(entity_context_features(entity, reading, kind))
        if effect != NONE:
            fills[23].append(Fill((effect,), tag))


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
