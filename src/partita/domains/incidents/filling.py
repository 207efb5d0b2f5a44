"""Fill the slots of the exam's templates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from partita.corpora.muc_templates import Fill, Incident
from partita.domains.incidents.cases import MessageContext
from partita.domains.incidents.drafts import Draft
from partita.domains.incidents.entities import Entity
from partita.domains.incidents.incident_models import (
    FillModels,
    entity_context_features,
    entity_type_features,
    incident_features,
    perpetrator_features,
)
from partita.domains.incidents.models import NONE
from partita.domains.incidents.readings import Reading
from partita.domains.incidents.stories import sorts_of

_INSTRUMENT_SORTS = (
    "VEHICLE BOMB", "DYNAMITE", "MINE", "AERIAL BOMB", "MACHINE GUN", "MORTAR", "HANDGUN", "RIFLE",
    "GRENADE", "MOLOTOV COCKTAIL", "MISSILE", "ROCKET", "CUTTING DEVICE", "STONE", "TORTURE",
    "BOMB", "GUN", "EXPLOSIVE", "PROJECTILE", "FIRE",
)  # fmt: skip
_UNUSED_SLOTS = {"KIDNAPPING": (6, 7, 12, 13, 14, 15, 16, 17), "ARSON": (6, 7)}

EntitiesByRole = Mapping[str, Sequence[Entity]]


def fill_slots(
    case: MessageContext,
    draft: Draft,
    cast: EntitiesByRole,
    judges: FillModels,
    number: int,
    day: str,
    place: str,
) -> Incident:
    """The incident of a draft with all its slots."""
    reading, kind = case.reading, draft.type
    seen = incident_features(case.story, draft.sentences, case.bags, kind)
    fills: dict[int, list[Fill]] = {
        2: [Fill((day,))] if day else [],
        3: [Fill((place,))],
        4: [Fill((kind,))],
        5: [Fill((judges.stage.best(seen)[0],))],
    }
    country = place.split(":")[0]
    _instruments(fills, cast["INSTRUMENT"], reading, judges, seen)
    _perpetrators(fills, cast, reading, judges, seen, kind)
    _targets(fills, cast["TARGET"], reading, judges, kind, country)
    _victims(fills, cast["VICTIM"], reading, judges, kind, country)
    left = {slot: tuple(some) for slot, some in fills.items() if some}
    for slot in _UNUSED_SLOTS.get(kind, ()):
        left.pop(slot, None)
    return Incident(case.story.message.id, str(number), left)


def _instruments(
    fills: dict[int, list[Fill]],
    cast: Sequence[Entity],
    reading: Reading,
    judges: FillModels,
    seen: Sequence[str],
) -> None:
    fills[6] = [Fill((one.string,)) for one in cast]
    fills[7] = [
        Fill((kind,), (one.string,)) for one in cast if (kind := _instrument_type(reading, one))
    ]
    if not fills[6]:
        kind, _ = judges.instrument.best(seen)
        fills[7] = [Fill((kind,))] if kind != NONE else []


def _instrument_type(reading: Reading, entity: Entity) -> str:
    sorts = {s for part in entity.parts for s in sorts_of(reading.mentions[part.place].item)}
    return next((sort for sort in _INSTRUMENT_SORTS if sort in sorts), "")


def _perpetrators(
    fills: dict[int, list[Fill]],
    cast: EntitiesByRole,
    reading: Reading,
    judges: FillModels,
    seen: Sequence[str],
    kind: str,
) -> None:
    known = (*cast["PERPETRATOR"], *cast["ORGANISATION"])
    category = judges.category.best([*seen, *perpetrator_features(reading, known)])[0]
    fills[8] = [Fill((category,))] if known and category != NONE else []
    fills[9] = [Fill((one.string,)) for one in cast["PERPETRATOR"]]
    fills[10] = [Fill((one.string,)) for one in cast["ORGANISATION"]]
    chosen = [
        judges.confidence.best(entity_context_features(reading.story, one, reading, kind))[0]
        for one in cast["ORGANISATION"]
    ]
    fills[11] = [
        Fill((said,), (one.string,))
        for one, said in zip(cast["ORGANISATION"], chosen, strict=True)
        if said != NONE
    ]


def _targets(
    fills: dict[int, list[Fill]],
    cast: Sequence[Entity],
    reading: Reading,
    judges: FillModels,
    kind: str,
    country: str,
) -> None:
    for slot in (12, 13, 14, 15, 16):
        fills[slot] = []
    for one in cast:
        tag = (one.string,)
        fills[12].append(Fill(tag))
        fills[13].append(
            Fill(
                (judges.target_type.best(entity_type_features(reading.story, one, reading))[0],),
                tag,
            )
        )
        fills[14].append(Fill((_number(reading, one),), tag))
        fills[15] += _nation(reading, one, country)
        effect, _ = judges.target_effect.best(
            entity_context_features(reading.story, one, reading, kind)
        )
        if effect != NONE:
            fills[16].append(Fill((effect,), tag))


def _victims(
    fills: dict[int, list[Fill]],
    cast: Sequence[Entity],
    reading: Reading,
    judges: FillModels,
    kind: str,
    country: str,
) -> None:
    for slot in (18, 19, 20, 21, 22, 23):
        fills[slot] = []
    for one in cast:
        tag = (one.string,)
        if one.names:
            fills[18].append(Fill(tag))
        if one.descriptions:
            fills[19].append(Fill((one.description,), tag if one.names else ()))
        fills[20].append(
            Fill(
                (judges.victim_type.best(entity_type_features(reading.story, one, reading))[0],),
                tag,
            )
        )
        fills[21].append(Fill((_number(reading, one),), tag))
        fills[22] += _nation(reading, one, country)
        effect, _ = judges.victim_effect.best(
            entity_context_features(reading.story, one, reading, kind)
        )
        if effect != NONE:
            fills[23].append(Fill((effect,), tag))


def _number(reading: Reading, entity: Entity) -> str:
    if entity.names:
        return "1"
    for number in _numbers(reading, entity):
        if number.isdigit() and number != "1":
            return number
    found = list(_numbers(reading, entity))
    return found[0] if found else "1"


def _numbers(reading: Reading, entity: Entity) -> Iterator[str]:
    for part in sorted(entity.parts, key=lambda part: -part.chance):
        mention = reading.mentions[part.place]
        number = str(mention.item.known.get("number", ""))
        if mention.item.kind == "word" and mention.place:
            before = reading.story.sentences[mention.sentence].items[mention.place - 1]
            number = str(before.known.get("value", "1"))
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
