"""Train all models from messages and keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from partita.corpora.muc_templates import Incident, compare_dates
from partita.domains.incidents import slot_choice
from partita.domains.incidents.alignment import keyed_document
from partita.domains.incidents.cases import message_context
from partita.domains.incidents.characteristics import EVENTS
from partita.domains.incidents.entities import Entity
from partita.domains.incidents.filling import fill_slots
from partita.domains.incidents.incident_models import FillModels, IncidentModels, ScreeningModels
from partita.domains.incidents.merging import Merge, merge_by_model
from partita.domains.incidents.models import Features, train_classifier
from partita.domains.incidents.readings import Reading, ReadingModels, find_events, read_story
from partita.domains.incidents.screening import (
    DraftedMessage,
    draft_features,
    draft_message,
    entity_features,
)
from partita.domains.incidents.slot_choice import Candidate
from partita.domains.incidents.training_data import (
    ROLES,
    KeyedStory,
    train_fill_models,
    train_reading_models,
)
from partita.evaluation.muc.fills import compare_locations, compare_strings
from partita.evaluation.muc.score import mapped
from partita.evaluation.splits import Cut, cut
from partita.evaluation.training import Plan, train_pairs
from partita.training.pair_parameters import PairParameters

FOLDS = 3
PRECISION = 30.0  # of the prior on pairs: those of one message repeat each other's evidence
MIN_ENTITY_PROBABILITY = (
    0.25  # entities that are taken to find out which draft is which of the key's templates
)

Progress = Callable[[str], None]
Example = tuple[Features, str]
KeyedReading = tuple[Reading, Sequence[Incident]]


@dataclass(slots=True)
class ScreeningExamples:
    """What the screening models learn from."""

    drafts: list[Example] = field(default_factory=list)
    entities: list[Example] = field(default_factory=list)
    days: list[Example] = field(default_factory=list)
    places: list[Example] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class TextModels:
    """Those who read and choose, and each story as it is read by who has not learned from it."""

    readers: ReadingModels
    judges: FillModels
    held_out: Sequence[KeyedReading]

    def sets(self) -> list[Cut]:
        """The events of every story with their key."""
        return event_sets(self.held_out, self.readers)

    def screeners(self, merge: Merge) -> ScreeningModels:
        """Learned from what a way of merging makes of the stories."""
        trials = ScreeningExamples()
        for reading, key in self.held_out:
            _add_screening_examples(
                trials, draft_message(reading, self.readers, merge), key, self.judges
            )
        return ScreeningModels(
            train_classifier(trials.drafts, least=5, precision=30.0),
            train_classifier(trials.entities, least=5, precision=20.0),
            train_classifier(trials.days, least=2, precision=3.0),
            train_classifier(trials.places, least=2, precision=3.0),
        )


def train_models(
    examples: Sequence[KeyedStory], told: Progress, learned_from: str = ""
) -> IncidentModels:
    """Everything, in the order in which one model builds on another."""
    school = train_text_models(examples, told)
    told("learning which events are one")
    pairs = train_event_pairs(school.sets(), learned_from)
    told("learning to screen")
    screeners = school.screeners(merge_by_model(pairs))
    return IncidentModels(school.readers, pairs, screeners, school.judges, learned_from)


def train_text_models(examples: Sequence[KeyedStory], told: Progress) -> TextModels:
    """The models that look at nothing but the text."""
    told("learning to read")
    readers = train_reading_models(examples)
    held_out = list(_held_out(examples, told))
    told("learning to choose")
    return TextModels(readers, train_fill_models(held_out), held_out)


def train_event_pairs(sets: Sequence[Cut], learned_from: str = "", seed: int = 0) -> PairParameters:
    """Which events are one, for all models over pairs."""
    plan = Plan(EVENTS, seed=seed, learned_from=learned_from, precision=PRECISION)
    return train_pairs(sets, plan, lambda _: None)[0]


def event_sets(examples: Sequence[KeyedReading], readers: ReadingModels) -> list[Cut]:
    """The events of every message that has incidents; nothing is known of them a priori."""
    documents = [
        keyed_document(message_context(reading), key, find_events(reading, readers))
        for reading, key in examples
        if key
    ]
    return [cut(one) for one in documents if len(one) > 1]


def _held_out(examples: Sequence[KeyedStory], told: Progress) -> Iterator[KeyedReading]:
    """Each story as it is read by those who have not learned from it."""
    for fold in range(FOLDS):
        told(f"learning to read, held-out part {fold + 1} of {FOLDS}")
        readers = train_reading_models([one for n, one in enumerate(examples) if n % FOLDS != fold])
        for story, key in examples[fold::FOLDS]:
            yield read_story(story, readers), key


def _add_screening_examples(
    trials: ScreeningExamples, drawn: DraftedMessage, key: Sequence[Incident], judges: FillModels
) -> None:
    """Which drafts are incidents of the key, and which of what they hold is in it."""
    home = _key_templates(drawn, key, judges)
    for n, (draft, cast) in enumerate(zip(drawn.drafts, drawn.casts, strict=True)):
        found = home.get(str(n))
        seen = draft_features(drawn.case, draft, cast, drawn.drafts)
        trials.drafts.append((seen, "no" if found is None else "yes"))
        if found is None:
            continue
        for some in cast.values():
            for one in some:
                answer = "yes" if _is_fill(one, found) else "no"
                trials.entities.append((entity_features(drawn.case, draft, one, some), answer))
        trials.days += _candidate_examples(
            slot_choice.day_candidates(drawn.case, draft), found, 2, compare_dates
        )
        trials.places += _candidate_examples(
            slot_choice.place_candidates(drawn.case, draft), found, 3, compare_locations
        )


def _key_templates(
    drawn: DraftedMessage, key: Sequence[Incident], judges: FillModels
) -> dict[str, Incident]:
    """The key's template of each draft, by the draft's place."""
    known = drawn.case
    rough = [
        fill_slots(
            known, draft, _probable_entities(cast), judges, n, known.default_day, known.country
        )
        for n, (draft, cast) in enumerate(zip(drawn.drafts, drawn.casts, strict=True))
    ]
    return {mine.number: theirs for mine, theirs in mapped(rough, list(key))}


def _probable_entities(cast: dict[str, list[Entity]]) -> dict[str, list[Entity]]:
    return {
        role: [one for one in some if one.chance >= MIN_ENTITY_PROBABILITY]
        for role, some in cast.items()
    }


def _is_fill(entity: Entity, key: Incident) -> bool:
    slots = [slot for slot, role in ROLES.items() if role == entity.role]
    values = [value for slot in slots for fill in key.of(slot) for value in fill.values]
    texts = (*entity.names, *entity.descriptions)
    return any(compare_strings(text, value) > 0 for text in texts for value in values)


def _candidate_examples(
    found: Sequence[Candidate], key: Incident, slot: int, judge: Callable[[str, str], float]
) -> Iterator[Example]:
    values = [value for fill in key.of(slot) for value in fill.values]
    for one in found if values else ():
        right = max(judge(one.fill, value) for value in values) == 1.0
        yield one.features, "yes" if right else "no"
