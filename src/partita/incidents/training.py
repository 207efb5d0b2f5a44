"""All models from stories and their keys: who learns from others' chances sees held-out ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from partita.evaluation.muc import dates, locations, strings
from partita.evaluation.muc.mapping import mapped
from partita.evaluation.muc.templates import Incident
from partita.incidents import choosing
from partita.incidents.acceptance import of_draft, of_entity
from partita.incidents.answering import Sketch, sketch
from partita.incidents.apprenticeship import trained
from partita.incidents.cases import case
from partita.incidents.choosing import Candidate
from partita.incidents.details import Judges
from partita.incidents.entities import Entity
from partita.incidents.events import Event, events
from partita.incidents.experts import Experts, Screeners
from partita.incidents.filling import filled
from partita.incidents.keyed import ROLES, labelled
from partita.incidents.models import Choice, Features, learn
from partita.incidents.pairing import together
from partita.incidents.readings import Readers, Reading, read
from partita.incidents.schooling import Keyed, taught, template_of

FOLDS = 3
CLEAR = 0.25  # entities that are taken to find out which draft is which of the key's templates

Told = Callable[[str], None]
Lesson = tuple[Features, str]
Read = tuple[Reading, Sequence[Incident]]


@dataclass(slots=True)
class Trials:
    """What the screening models learn from."""

    drafts: list[Lesson] = field(default_factory=list)
    entities: list[Lesson] = field(default_factory=list)
    days: list[Lesson] = field(default_factory=list)
    places: list[Lesson] = field(default_factory=list)


def train(examples: Sequence[Keyed], told: Told, learned_from: str = "") -> Experts:
    """Everything, in the order in which one model builds on another."""
    told("learning to read")
    readers = taught(examples)
    held_out = list(_held_out(examples, told))
    told("learning which events are one")
    pairs = learn(list(_pair_lessons(held_out, readers)), least=3, precision=20.0)
    told("learning to choose")
    judges = trained(held_out)
    told("learning to screen")
    screeners = _screeners(held_out, readers, pairs, judges)
    return Experts(readers, pairs, screeners, judges, learned_from)


def _held_out(examples: Sequence[Keyed], told: Told) -> Iterator[Read]:
    """Each story as it is read by those who have not learned from it."""
    for fold in range(FOLDS):
        told(f"learning to read, held-out part {fold + 1} of {FOLDS}")
        readers = taught([one for n, one in enumerate(examples) if n % FOLDS != fold])
        for story, key in examples[fold::FOLDS]:
            yield read(story, readers), key


def _pair_lessons(examples: Sequence[Read], readers: Readers) -> Iterator[Lesson]:
    for reading, key in examples:
        if not key:
            continue
        known, found = case(reading), events(reading, readers)
        home = homes(reading, key, found)
        for n, one in enumerate(found):
            for m, other in enumerate(found[n + 1 :], n + 1):
                if (mine := home[n]) is not None and (theirs := home[m]) is not None:
                    same = "yes" if mine == theirs else "no"
                    yield together(known, one, other, len(found)), same


def homes(reading: Reading, key: Sequence[Incident], found: Sequence[Event]) -> list[int | None]:
    """For each event the key's template of which it tells."""
    labels = labelled(reading.story, reading.mentions, key)
    return [
        template_of(
            [
                one
                for mention, one in zip(reading.mentions, labels, strict=True)
                if mention.sentence == event.sentence
            ],
            key,
        )
        for event in found
    ]


def _screeners(
    examples: Sequence[Read], readers: Readers, pairs: Choice, judges: Judges
) -> Screeners:
    trials = Trials()
    for reading, key in examples:
        _try(trials, sketch(reading, readers, pairs), key, judges)
    return Screeners(
        learn(trials.drafts, least=5, precision=30.0),
        learn(trials.entities, least=5, precision=20.0),
        learn(trials.days, least=2, precision=3.0),
        learn(trials.places, least=2, precision=3.0),
    )


def _try(trials: Trials, drawn: Sketch, key: Sequence[Incident], judges: Judges) -> None:
    """Which drafts are incidents of the key, and which of what they hold is in it."""
    home = _mapped(drawn, key, judges)
    for n, (draft, cast) in enumerate(zip(drawn.drafts, drawn.casts, strict=True)):
        found = home.get(str(n))
        seen = of_draft(drawn.case, draft, cast, drawn.drafts)
        trials.drafts.append((seen, "no" if found is None else "yes"))
        if found is None:
            continue
        for some in cast.values():
            for one in some:
                answer = "yes" if _wanted(one, found) else "no"
                trials.entities.append((of_entity(drawn.case, draft, one, some), answer))
        trials.days += _judged(choosing.days(drawn.case, draft), found, 2, dates.judge)
        trials.places += _judged(choosing.places(drawn.case, draft), found, 3, locations.judge)


def _mapped(drawn: Sketch, key: Sequence[Incident], judges: Judges) -> dict[str, Incident]:
    """The key's template of each draft, by the draft's place."""
    known = drawn.case
    rough = [
        filled(known, draft, _clear(cast), judges, n, known.default_day, known.country)
        for n, (draft, cast) in enumerate(zip(drawn.drafts, drawn.casts, strict=True))
    ]
    return {mine.number: theirs for mine, theirs in mapped(rough, list(key))}


def _clear(cast: dict[str, list[Entity]]) -> dict[str, list[Entity]]:
    return {role: [one for one in some if one.chance >= CLEAR] for role, some in cast.items()}


def _wanted(entity: Entity, key: Incident) -> bool:
    slots = [slot for slot, role in ROLES.items() if role == entity.role]
    values = [value for slot in slots for fill in key.of(slot) for value in fill.values]
    texts = (*entity.names, *entity.descriptions)
    return any(strings.judge(text, value) > 0 for text in texts for value in values)


def _judged(
    found: Sequence[Candidate], key: Incident, slot: int, judge: Callable[[str, str], float]
) -> Iterator[Lesson]:
    values = [value for fill in key.of(slot) for value in fill.values]
    for one in found if values else ():
        right = max(judge(one.fill, value) for value in values) == 1.0
        yield one.features, "yes" if right else "no"
