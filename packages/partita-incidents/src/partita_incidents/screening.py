"""Screen drafts of incidents and the entities that may be their fills."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from partita.core import FloatArray
from partita_incidents.cases import MessageContext, message_context
from partita_incidents.entities import Entity, entities
from partita_incidents.exam_templates import days
from partita_incidents.features import first_of_list
from partita_incidents.incident_models import (
    FillModels,
    ScreeningModels,
    entity_type_features,
    incident_features,
    perpetrator_features,
)
from partita_incidents.mentions import coarse_type
from partita_incidents.merging import Merge
from partita_incidents.models import NONE, log_odds
from partita_incidents.readings import (
    Draft,
    Event,
    Reading,
    ReadingModels,
    RolePart,
    find_events,
)

ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION", "INSTRUMENT")


@dataclass(frozen=True, slots=True, eq=False)
class Participant:
    """An entity of a message as a candidate fill of one draft.

    `own` are its mentions in the draft's sentences, `distance` the sentences between the draft and
    the nearest mention, `rival` its highest probability in another draft.
    """

    entity: Entity
    own: tuple[RolePart, ...]
    distance: int
    rival: float

    @property
    def probability(self) -> float:
        return max((part.probability for part in self.own), default=0.0)

    @property
    def best(self) -> RolePart:
        """Return the likeliest mention, if possible of the draft's own."""
        return max(self.own or self.entity.parts, key=lambda part: part.probability)


ParticipantsByRole = Mapping[str, Sequence[Participant]]


def twelfths(probability: float) -> int:
    """Return a probability in twelfths, rounded down."""
    return int(probability * 12)


def draft_features(
    context: MessageContext, draft: Draft, participants: ParticipantsByRole, drafts: Sequence[Draft]
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
        features += _role_features(context, role, participants[role])
    for n in draft.sentences:
        features += [f"word {word}" for word in context.words[n]]
        features += [f"day {phrase.kind}" for phrase in context.days[n]]
    features += [f"country {context.country}"]
    return list(dict.fromkeys(features))


def _role_features(
    context: MessageContext, role: str, participants: Sequence[Participant]
) -> Iterator[str]:
    own = [each for each in participants if each.own]
    if not own:
        yield f"{role} none"
        return
    yield f"{role} {twelfths(own[0].probability)}"
    yield f"{role} many {min(len(own), 4)}"
    mention = context.reading.mentions[own[0].best.place]
    yield f"{role} {mention.lemma}"
    yield f"{role} {coarse_type(mention)} {bool(own[0].entity.names)}"


def entity_features(
    context: MessageContext, draft: Draft, participant: Participant, rivals: Sequence[Participant]
) -> list[str]:
    """Return the features of an entity among those of its role in a draft."""
    entity, role = participant.entity, participant.entity.role
    mention = context.reading.mentions[participant.best.place]
    attributes, named = mention.item.attributes, bool(entity.names)
    features = [
        f"{role}",
        f"{role} chance {twelfths(participant.probability)}",
        f"{role} together {twelfths(entity.probability)}",
        f"{role} mentions {min(len(entity.parts), 4)}",
        f"{role} place {min(rivals.index(participant), 4)}",
        f"{role} kind {coarse_type(mention)} {named}",
        f"{role} type {draft.type}",
        f"{role} type {draft.type} {coarse_type(mention)}",
        f"{role} head {mention.lemma}",
        f"{role} form {attributes.get('form')} {attributes.get('number')}",
        f"{role} det {attributes.get('det')}",
        f"{role} relevance {twelfths(context.reading.relevance) // 3}",
        f"{role} late {min(participant.distance, 4)}",
        f"{role} inside {mention.inner}",
    ]
    features += [f"{role} mod {word}" for word in attributes.get("mods", ())]
    features += [f"{role} word {word}" for word in entity.string.split()]
    return features


_TYPES = ("ATTACK", "BOMBING", "KIDNAPPING", "ARSON", "ROBBERY")
_COARSE_TYPES = (
    "PERSON", "NAME", "TARGET", "ORGANISATION", "TERRORIST", "GUERRILLAS", "STATE", "INSTRUMENT",
    "PLACE", "EVENT", "OTHER",
)  # fmt: skip
_FORMS = ("name", "definite", "indefinite", "bare")
_STAGES = ("THREATENED", "ATTEMPTED")
_CATEGORIES = ("TERRORIST ACT", "STATE-SPONSORED VIOLENCE", NONE)
_VICTIM_TYPES = (
    "ACTIVE MILITARY", "CIVILIAN", "GOVERNMENT OFFICIAL", "POLITICAL FIGURE", "LAW ENFORCEMENT",
)  # fmt: skip
_MAX_JUDGED = 3  # victims of a draft whose types are observed
MIN_LIKELY = 0.25  # probability of a role, for an entity to count as likely
NAMING_ROLES = ("VICTIM", "TARGET", "PERPETRATOR", "ORGANISATION")
_TOP = 5  # sentences of a message whose probabilities are observed
UNLISTED = -1.0  # probability in the list of a mention that stands alone
UNDATED = -1.0  # days since an incident without a date


def message_numbers(reading: Reading, models: ReadingModels) -> list[float]:
    """Return the highest and total probabilities of events, types and roles of a message."""
    types, roles = models.types.outcomes, models.roles.outcomes
    events = 1.0 - reading.types[:, types.index(NONE)]
    highest = _largest(events, _TOP)
    opening = np.pad(events[:3], (0, max(3 - len(events), 0)))
    centre = float((events * np.arange(len(events))).sum() / max(events.sum(), 1e-6))
    numbers: list[float] = [log_odds(reading.relevance), *highest, float(events.sum())]
    numbers += [len(events), *opening, centre]
    numbers += [_highest(reading.types, types, name) for name in _TYPES[:4]]
    for role in ROLES:
        column = reading.roles[:, roles.index(role)] if role in roles else np.zeros(1)
        numbers += [*_largest(column, 2), float(column.sum())]
    early = [n for n, mention in enumerate(reading.mentions) if mention.sentence < 2]
    numbers.append(float((1 - reading.roles[early, roles.index(NONE)]).max(initial=0.0)))
    return [float(number) for number in numbers]


def _largest(numbers: FloatArray, count: int) -> list[float]:
    highest = sorted(numbers.tolist(), reverse=True)[:count]
    return [*highest, *[0.0] * (count - len(highest))]


def _highest(table: FloatArray, outcomes: Sequence[str], name: str) -> float:
    return float(table[:, outcomes.index(name)].max(initial=0.0)) if name in outcomes else 0.0


def draft_numbers(
    drafted: DraftedMessage, n: int, lexical: float, fill_models: FillModels
) -> list[float]:
    """Return what is observed of a draft: of its message, events, participants, day and rivals."""
    context, draft, by_role = drafted.context, drafted.drafts[n], drafted.participants[n]
    chances = [event.probability for event in draft.events]
    rivals = [event.probability for d in drafted.drafts if d is not draft for event in d.events]
    total = sum(chances)
    numbers: list[float] = [lexical, max(chances), total, len(chances), len(drafted.drafts), n]
    numbers += [draft.sentences[0], draft.sentences[-1] - draft.sentences[0]]
    numbers += [max(rivals, default=0.0), max(chances) - max(rivals, default=0.0)]
    for name in _TYPES:
        numbers.append(sum(event.types.get(name, 0.0) for event in draft.events) / total)
    numbers += [_age(context, draft)]
    numbers += [sum(len(context.places[s]) for s in draft.sentences)]
    for role in ROLES:
        chances = [each.probability for each in by_role[role]]
        numbers += [max(chances, default=0.0), sum(chances)]
        numbers.append(max((each.rival for each in by_role[role] if each.own), default=0.0))
    named = [each.probability for each in by_role["VICTIM"] if each.entity.names]
    same = [d for d in drafted.drafts if d is not draft and d.type == draft.type]
    numbers += [max(named, default=0.0), len(same)]
    numbers.append(max((e.probability for d in same for e in d.events), default=0.0))
    numbers += [*_likely_numbers(by_role), *_judged_numbers(context, draft, by_role, fill_models)]
    return [*map(float, numbers), *drafted.numbers]


def _likely_numbers(by_role: ParticipantsByRole) -> Iterator[float]:
    """Yield how many entities of each role are likely; without any, nothing can be answered."""
    likely = [
        sum(each.probability >= MIN_LIKELY for each in by_role[role]) for role in NAMING_ROLES
    ]
    yield from likely
    yield sum(likely)


def _judged_numbers(
    context: MessageContext, draft: Draft, by_role: ParticipantsByRole, models: FillModels
) -> Iterator[float]:
    """Yield what the fill models say of stage, category and the types of victims."""
    features = incident_features(context.story, draft.sentences, context.words, draft.type)
    stages = models.stage.by_outcome(features)
    yield from (stages.get(name, 0.0) for name in _STAGES)
    perpetrators = [
        each.entity
        for role in ("PERPETRATOR", "ORGANISATION")
        for each in by_role[role]
        if each.probability >= MIN_LIKELY
    ]
    features += perpetrator_features(context.reading, perpetrators)
    categories = models.category.by_outcome(features)
    yield from (categories.get(name, 0.0) for name in _CATEGORIES)
    victims = [each for each in by_role["VICTIM"] if each.own][:_MAX_JUDGED]
    total = max(sum(each.probability for each in victims), 1e-6)
    types = [
        models.victim_type.by_outcome(entity_type_features(each.entity, context.reading))
        for each in victims
    ]
    for name in _VICTIM_TYPES:
        pairs = zip(victims, types, strict=True)
        yield sum(each.probability * chances.get(name, 0.0) for each, chances in pairs) / total


def _age(context: MessageContext, draft: Draft) -> float:
    """Return the days from the first date in the sentences of a draft to the message."""
    if context.anchor is not None:
        for n in draft.sentences:
            for phrase in context.days[n]:
                if (when := days(phrase.fill)) is not None:
                    return float(min((context.anchor - when.last).days, 999))
    return UNDATED


def entity_numbers(
    drafted: DraftedMessage,
    n: int,
    participant: Participant,
    rivals: Sequence[Participant],
    lexical: float,
) -> list[float]:
    """Return what is observed of an entity in a draft, among the others of its role."""
    draft, reading, entity = drafted.drafts[n], drafted.context.reading, participant.entity
    best = participant.best
    mention, row = reading.mentions[best.place], np.sort(reading.roles[best.place])
    event = drafted.events[mention.sentence]
    absent = [1.0 - part.probability for part in participant.own]
    kind, attributes = coarse_type(mention), mention.item.attributes
    others = [rival.probability for rival in rivals if rival is not participant]
    beside = [
        rival.probability
        for rival in rivals
        if rival is not participant
        and any(reading.mentions[p.place].sentence == mention.sentence for p in rival.own)
    ]
    numbers: list[float] = [entity.role == role for role in ROLES]
    numbers += [
        lexical, participant.probability, 1.0 - float(np.prod(absent)), len(absent),
        entity.probability, len(entity.parts), participant.distance, participant.rival,
        rivals.index(participant), max(others, default=0.0), sum(others), len(others),
    ]  # fmt: skip
    numbers += [
        float(row[-2]), float(row[-1]), best.probability, bool(entity.names),
        bool(entity.descriptions), entity.single, mention.inner, len(entity.string.split()),
    ]  # fmt: skip
    numbers += [
        event.probability, event.types.get(draft.type, 0.0), len(draft.events),
        len(drafted.drafts), n, mention.sentence, mention.place,
        mention.sentence - draft.sentences[0], attributes.get("number") == "PLURAL",
    ]  # fmt: skip
    numbers += [len(beside), max(beside, default=0.0), drafted.listed[entity.role][best.place]]
    numbers += [kind == coarse for coarse in _COARSE_TYPES]
    numbers += [attributes.get("form") == form for form in _FORMS]
    numbers += [draft.type == name for name in _TYPES]
    return [*map(float, numbers), *drafted.numbers[:3], drafted.numbers[_TOP + 1]]


MAX_DISTANCE = 8  # sentences from a draft to an entity that may be one of its fills
MIN_DISTANT = 0.2  # probability of an entity that is in no sentence of the draft


@dataclass(frozen=True, slots=True, eq=False)
class DraftedMessage:
    """A message with its drafts and, for each, the candidate entities by role."""

    context: MessageContext
    drafts: tuple[Draft, ...]
    participants: tuple[ParticipantsByRole, ...]
    events: Mapping[int, Event]  # by sentence
    numbers: Sequence[float]
    listed: Mapping[str, FloatArray]  # by role: the highest probability in the list of a mention


def draft_probability(
    models: ScreeningModels, drafted: DraftedMessage, n: int, fill_models: FillModels
) -> float:
    """Return the probability that a draft is an incident of the exam."""
    features = draft_features(
        drafted.context, drafted.drafts[n], drafted.participants[n], drafted.drafts
    )
    lexical = log_odds(models.drafts.probability("yes", features))
    rows = np.array([draft_numbers(drafted, n, lexical, fill_models)])
    return float(models.draft_trees.probabilities(rows)[0])


def entity_probabilities(
    models: ScreeningModels, drafted: DraftedMessage, n: int, participants: Sequence[Participant]
) -> list[float]:
    """Return the probabilities that entities of one role are fills, given the incident."""
    rows = []
    for each in participants:
        features = entity_features(drafted.context, drafted.drafts[n], each, participants)
        lexical = log_odds(models.entities.probability("yes", features))
        rows.append(entity_numbers(drafted, n, each, participants, lexical))
    if not rows:
        return []
    return [float(p) for p in models.entity_trees.probabilities(np.array(rows))]


def draft_message(reading: Reading, models: ReadingModels, merge: Merge) -> DraftedMessage:
    """Merge the events of a reading into drafts with their candidate entities."""
    context = message_context(reading)
    events = find_events(reading, models)
    drafts = tuple(merge(context, events))
    parts = [part for event in events for part in event.parts]
    by_role = {role: entities(reading, parts, role) for role in ROLES}
    return DraftedMessage(
        context,
        drafts,
        tuple(
            {role: _participants(reading, found, drafts, n) for role, found in by_role.items()}
            for n in range(len(drafts))
        ),
        {event.sentence: event for event in events},
        message_numbers(reading, models),
        _listed(reading, models),
    )


def _listed(reading: Reading, models: ReadingModels) -> dict[str, FloatArray]:
    """Return for each mention the highest probability of a role among others of its list."""
    lists: dict[tuple[int, int], list[int]] = defaultdict(list)
    for n, mention in enumerate(reading.mentions):
        items = reading.story.sentences[mention.sentence].items
        lists[mention.sentence, first_of_list(items, mention.place)].append(n)
    highest = np.full_like(reading.roles, UNLISTED)
    for members in lists.values():
        for n in members if len(members) > 1 else ():
            highest[n] = reading.roles[[m for m in members if m != n]].max(0)
    outcomes = models.roles.outcomes
    return {role: highest[:, outcomes.index(role)] for role in ROLES if role in outcomes}


def _participants(
    reading: Reading, found: Sequence[Entity], drafts: Sequence[Draft], n: int
) -> list[Participant]:
    """Return the entities of a role as candidates of a draft, the likeliest of its own first."""
    participants = []
    for entity in found:
        sentences = [reading.mentions[part.place].sentence for part in entity.parts]
        chances = [
            [p for p, s in zip(entity.parts, sentences, strict=True) if s in draft.sentences]
            for draft in drafts
        ]
        distance = min(abs(s - t) for s in sentences for t in drafts[n].sentences)
        if not chances[n] and (distance > MAX_DISTANCE or entity.probability < MIN_DISTANT):
            continue
        others = [p.probability for m, own in enumerate(chances) if m != n for p in own]
        participants.append(
            Participant(entity, tuple(chances[n]), distance, max(others, default=0.0))
        )
    return sorted(participants, key=lambda each: (-each.probability, -each.entity.probability))
