"""Train all models from messages and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from partita.corpora.muc_templates import Incident, compare_dates
from partita.domains.incidents import slot_choice
from partita.domains.incidents.alignment import document
from partita.domains.incidents.cases import case
from partita.domains.incidents.characteristics import EVENTS
from partita.domains.incidents.entities import Entity
from partita.domains.incidents.filling import filled
from partita.domains.incidents.incident_models import Experts, Judges, Screeners
from partita.domains.incidents.merging import Merge, by_model
from partita.domains.incidents.models import Features, learn
from partita.domains.incidents.readings import Readers, Reading, events, read
from partita.domains.incidents.screening import Sketch, of_draft, of_entity, sketch
from partita.domains.incidents.slot_choice import Candidate
from partita.domains.incidents.training_data import ROLES, Keyed, taught, trained
from partita.evaluation.muc.fills import compare_locations, compare_strings
from partita.evaluation.muc.score import mapped
from partita.evaluation.splits import Cut, cut
from partita.evaluation.training import Plan, train_pairs
from partita.training.pair_parameters import PairParameters

FOLDS = 3
PRECISION = 30.0  # of the prior on pairs: those of one message repeat each other's evidence
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


@dataclass(frozen=True, slots=True, eq=False)
class School:
    """Those who read and choose, and each story as it is read by who has not learned from it."""

    readers: Readers
    judges: Judges
    held_out: Sequence[Read]

    def sets(self) -> list[Cut]:
        """The events of every story with their key."""
        return event_sets(self.held_out, self.readers)

    def screeners(self, merge: Merge) -> Screeners:
        """Learned from what a way of merging makes of the stories."""
        trials = Trials()
        for reading, key in self.held_out:
            _try(trials, sketch(reading, self.readers, merge), key, self.judges)
        return Screeners(
            learn(trials.drafts, least=5, precision=30.0),
            learn(trials.entities, least=5, precision=20.0),
            learn(trials.days, least=2, precision=3.0),
            learn(trials.places, least=2, precision=3.0),
        )


def train(examples: Sequence[Keyed], told: Told, learned_from: str = "") -> Experts:
    """Everything, in the order in which one model builds on another."""
    school = schooled(examples, told)
    told("learning which events are one")
    pairs = learn_pairs(school.sets(), learned_from)
    told("learning to screen")
    screeners = school.screeners(by_model(pairs))
    return Experts(school.readers, pairs, screeners, school.judges, learned_from)


def schooled(examples: Sequence[Keyed], told: Told) -> School:
    """The models that look at nothing but the text."""
    told("learning to read")
    readers = taught(examples)
    held_out = list(_held_out(examples, told))
    told("learning to choose")
    return School(readers, trained(held_out), held_out)


def learn_pairs(sets: Sequence[Cut], learned_from: str = "", seed: int = 0) -> PairParameters:
    """Which events are one, for all models over pairs."""
    plan = Plan(EVENTS, seed=seed, learned_from=learned_from, precision=PRECISION)
    return train_pairs(sets, plan, lambda _: None)[0]


def event_sets(examples: Sequence[Read], readers: Readers) -> list[Cut]:
    """The events of every message that has incidents; nothing is known of them a priori."""
    documents = [
        document(case(reading), key, events(reading, readers)) for reading, key in examples if key
    ]
    return [cut(one) for one in documents if len(one) > 1]


def _held_out(examples: Sequence[Keyed], told: Told) -> Iterator[Read]:
    """Each story as it is read by those who have not learned from it."""
    for fold in range(FOLDS):
        told(f"learning to read, held-out part {fold + 1} of {FOLDS}")
        readers = taught([one for n, one in enumerate(examples) if n % FOLDS != fold])
        for story, key in examples[fold::FOLDS]:
            yield read(story, readers), key


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
        trials.days += _judged(slot_choice.days(drawn.case, draft), found, 2, compare_dates)
        trials.places += _judged(slot_choice.places(drawn.case, draft), found, 3, compare_locations)


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
    return any(compare_strings(text, value) > 0 for text in texts for value in values)


def _judged(
    found: Sequence[Candidate], key: Incident, slot: int, judge: Callable[[str, str], float]
) -> Iterator[Lesson]:
    values = [value for fill in key.of(slot) for value in fill.values]
    for one in found if values else ():
        right = max(judge(one.fill, value) for value in values) == 1.0
        yield one.features, "yes" if right else "no"
