"""What speaks for a draft being an incident of the exam, and for an entity being its fill."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from partita.incidents.cases import Case
from partita.incidents.drafts import Draft
from partita.incidents.entities import Entity
from partita.incidents.mentions import coarse

Cast = Mapping[str, Sequence[Entity]]
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
