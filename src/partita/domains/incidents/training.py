"""Train all models from messages and keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from partita.corpora.muc import holds_templates, read_exam
from partita.corpora.muc_templates import Incident, compare_dates
from partita.domains.incidents import slot_choice
from partita.domains.incidents.cases import message_context
from partita.domains.incidents.characteristics import EVENTS
from partita.domains.incidents.domain import domain
from partita.domains.incidents.entities import Entity
from partita.domains.incidents.filling import Filling, ProbableEntities, incident_of
from partita.domains.incidents.gazetteer import read_gazetteer
from partita.domains.incidents.incident_models import (
    FillModels,
    IncidentModels,
    ScreeningModels,
    write_models,
)
from partita.domains.incidents.merging import MERGE, Merge
from partita.domains.incidents.models import (
    BoostedTrees,
    Classifier,
    Examples,
    Features,
    train_classifier,
    train_trees,
)
from partita.domains.incidents.readings import Reading, ReadingModels, find_events, read_story
from partita.domains.incidents.screening import (
    DraftedMessage,
    ParticipantsByRole,
    draft_features,
    draft_message,
    draft_numbers,
    entity_features,
    entity_numbers,
    log_odds,
)
from partita.domains.incidents.slot_choice import Candidate
from partita.domains.incidents.stories import stories
from partita.domains.incidents.training_data import (
    ROLES,
    KeyedStory,
    ReadingExamples,
    keyed_document,
    train_fill_models,
)
from partita.errors import InputError, PartitaError
from partita.evaluation.muc.fills import compare_locations, compare_strings
from partita.evaluation.muc.score import map_templates
from partita.evaluation.splits import Cut, cut
from partita.evaluation.training import Plan, train_pairs
from partita.records import Message
from partita.text.messages import read_messages
from partita.training.pair_parameters import PairParameters

FOLDS = 3
PRECISION = 30.0  # of the prior; strong, as the pairs of one message are dependent
MIN_ENTITY_PROBABILITY = 0.25  # of entities used to match drafts to the key's templates

Progress = Callable[[str], None]
Example = tuple[Features, str]
KeyedReading = tuple[Reading, Sequence[Incident]]


@dataclass(frozen=True, slots=True, eq=False)
class TextModels:
    """The models that need the text alone, and each story as read by models not trained on it."""

    reading: ReadingModels
    fills: FillModels
    held_out: Sequence[KeyedReading]

    def sets(self) -> list[Cut]:
        """Return the events of every story with their key."""
        return event_sets(self.held_out, self.reading)

    def train_screening(self, merge: Merge) -> ScreeningModels:
        """Train the screening models on the drafts of a method of merging."""
        messages = [
            (draft_message(reading, self.reading, merge), key) for reading, key in self.held_out
        ]
        return train_screening_models(messages, self.fills)


def train_models(
    examples: Sequence[KeyedStory], progress: Progress, learned_from: str = ""
) -> IncidentModels:
    """Train all models, in the order in which they depend on each other."""
    text_models = train_text_models(examples, progress)
    progress("training the pair models of events")
    pairs = train_event_pairs(text_models.sets(), learned_from)
    progress("training the screening models")
    screening = text_models.train_screening(MERGE)
    return IncidentModels(text_models.reading, pairs, screening, text_models.fills, learned_from)


def train_text_models(examples: Sequence[KeyedStory], progress: Progress) -> TextModels:
    """Train the models that need the text alone."""
    progress("training the reading models")
    reading_examples = ReadingExamples(examples)
    reading_models = reading_examples.train(range(len(examples)))
    held_out = list(_held_out(examples, reading_examples))
    progress("training the fill models")
    return TextModels(reading_models, train_fill_models(held_out), held_out)


def train_event_pairs(sets: Sequence[Cut], learned_from: str = "", seed: int = 0) -> PairParameters:
    """Train the models over pairs of events."""
    plan = Plan(EVENTS, seed=seed, learned_from=learned_from, precision=PRECISION)
    return train_pairs(sets, plan, lambda _: None)[0]


def event_sets(examples: Sequence[KeyedReading], reading_models: ReadingModels) -> list[Cut]:
    """Return the events of every message that has incidents, without incompatibilities."""
    documents = [
        keyed_document(message_context(reading), key, find_events(reading, reading_models))
        for reading, key in examples
        if key
    ]
    return [cut(keyed) for keyed in documents if len(keyed) > 1]


def _held_out(
    examples: Sequence[KeyedStory], reading_examples: ReadingExamples
) -> Iterator[KeyedReading]:
    """Yield each story as read by models that were not trained on it."""
    for fold in range(FOLDS):
        models = reading_examples.train([n for n in range(len(examples)) if n % FOLDS != fold])
        for story, key in examples[fold::FOLDS]:
            yield read_story(story, models), key


KeyedDrafts = tuple[DraftedMessage, Sequence[Incident]]
Drafted = tuple[int, DraftedMessage, int, Incident | None]  # a draft, and its template in the key


def train_screening_models(
    messages: Sequence[KeyedDrafts], fill_models: FillModels
) -> ScreeningModels:
    """Train the models that accept drafts and entities and choose days and places.

    The trees observe the probabilities of linear models that were trained on other messages.
    """
    drafts = [
        (m, drafted, n, key_templates.get(str(n)))
        for m, (drafted, key) in enumerate(messages)
        for key_templates in [_key_templates(drafted, key, fill_models)]
        for n in range(len(drafted.drafts))
    ]
    matched = [row for row in drafts if row[3] is not None]
    draft_model, draft_trees = _draft_models(drafts)
    entity_model, entity_trees = _entity_models(matched)
    days: list[Example] = []
    places: list[Example] = []
    for _, drafted, n, template in matched:
        if template is not None:
            context, draft = drafted.context, drafted.drafts[n]
            candidates = slot_choice.day_candidates(context, draft)
            days += _candidate_examples(candidates, template, 2, compare_dates)
            candidates = slot_choice.place_candidates(context, draft)
            places += _candidate_examples(candidates, template, 3, compare_locations)
    return ScreeningModels(
        draft_model,
        entity_model,
        draft_trees,
        entity_trees,
        train_classifier(days, least=2, precision=3.0),
        train_classifier(places, least=2, precision=3.0),
    )


def _draft_models(drafts: Sequence[Drafted]) -> tuple[Classifier, BoostedTrees]:
    examples, features = Examples(), []
    for m, drafted, n, template in drafts:
        features.append(
            draft_features(
                drafted.context, drafted.drafts[n], drafted.participants[n], drafted.drafts
            )
        )
        examples.add(features[-1], "no" if template is None else "yes", m)
    lexical = _held_out_log_odds(examples, features, least=5, rate=0.01, passes=4)
    rows = [draft_numbers(drafted, n, lexical[i]) for i, (_, drafted, n, _) in enumerate(drafts)]
    labels = [template is not None for _, _, _, template in drafts]
    model = examples.train(examples.messages, least=5, rate=0.01, passes=4)
    return model, train_trees(np.array(rows), labels)


def _entity_models(drafts: Sequence[Drafted]) -> tuple[Classifier, BoostedTrees]:
    examples, features, observed = Examples(), [], []
    for m, drafted, n, template in drafts:
        for found in drafted.participants[n].values():
            for each in found:
                features.append(entity_features(drafted.context, drafted.drafts[n], each, found))
                right = template is not None and _is_fill(each.entity, template)
                examples.add(features[-1], "yes" if right else "no", m)
                observed.append((drafted, n, each, found))
    lexical = _held_out_log_odds(examples, features, least=5, rate=0.02, passes=4)
    rows = [entity_numbers(*row, odds) for row, odds in zip(observed, lexical, strict=True)]
    labels = [outcome == "yes" for outcome in examples.outcomes]
    model = examples.train(examples.messages, least=5, rate=0.02, passes=4)
    return model, train_trees(np.array(rows), labels, trees=120, depth=4)


def _held_out_log_odds(
    examples: Examples, features: Sequence[Features], least: int, rate: float, passes: int
) -> list[float]:
    """Return the log odds of each example by a model that was not trained on its message."""
    odds = [0.0] * len(features)
    for fold in range(FOLDS):
        model = examples.train(
            [m for m in set(examples.messages) if m % FOLDS != fold], least, rate, passes
        )
        for n, message in enumerate(examples.messages):
            if message % FOLDS == fold:
                odds[n] = log_odds(model.probability("yes", features[n]))
    return odds


def _key_templates(
    drafted: DraftedMessage, key: Sequence[Incident], fill_models: FillModels
) -> dict[str, Incident]:
    """Return the key's template of each draft, by the draft's index."""
    rough = []
    for n, (draft, by_role) in enumerate(zip(drafted.drafts, drafted.participants, strict=True)):
        filling = Filling(drafted.context, draft, _probable_entities(by_role), fill_models)
        rough.append(incident_of(drafted.context.story.message.id, n, filling.fills()))
    return {answer.number: incident for answer, incident in map_templates(rough, list(key))}


def _probable_entities(by_role: ParticipantsByRole) -> ProbableEntities:
    return {
        role: [
            (each.entity, each.probability)
            for each in participants
            if each.probability >= MIN_ENTITY_PROBABILITY
        ]
        for role, participants in by_role.items()
    }


def _is_fill(entity: Entity, key: Incident) -> bool:
    slots = [slot for slot, role in ROLES.items() if role == entity.role]
    values = [value for slot in slots for fill in key.of(slot) for value in fill.values]
    texts = (*entity.names, *entity.descriptions)
    return any(compare_strings(text, value) > 0 for text in texts for value in values)


def _candidate_examples(
    candidates: Sequence[Candidate], key: Incident, slot: int, compare: Callable[[str, str], float]
) -> Iterator[Example]:
    values = [value for fill in key.of(slot) for value in fill.values]
    for candidate in candidates if values else ():
        right = max(compare(candidate.fill, value) for value in values) == 1.0
        yield candidate.features, "yes" if right else "no"


def learn_incidents(
    paths: Sequence[Path], out: Path, progress: Progress, gazetteer: Path | None = None
) -> IncidentModels:
    """Train the models from messages and their keys, and write them to a file."""
    examples = keyed_stories(paths, progress, gazetteer)
    count = sum(len(key) for _, key in examples)
    models = train_models(
        examples, progress, f"{len(examples)} messages, {count} incidents of their keys"
    )
    write_models(out, models)
    return models


def keyed_stories(
    paths: Sequence[Path], progress: Progress, gazetteer: Path | None = None
) -> list[KeyedStory]:
    """Return the parsed messages that have a key among all files and folders."""
    places = read_gazetteer(gazetteer) if gazetteer else None
    files = list(_files(paths))
    is_key = [holds_templates(path) for path in files]
    keys = [path for path, key in zip(files, is_key, strict=True) if key]
    key, answered = _keys(keys)
    texts = [path for path, key in zip(files, is_key, strict=True) if not key]
    messages = [message for message in _messages(texts) if message.id in answered]
    if not messages:
        raise InputError("no message has a key (expected messages and their keys)")
    progress(f"reading {len(messages)} messages")
    return [(story, key[story.message.id]) for story in stories(messages, domain.extractor, places)]


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield files, and the files of folders."""
    for path in paths:
        if path.is_dir():
            yield from sorted(file for file in path.iterdir() if file.is_file())
        else:
            yield path


def _messages(paths: Sequence[Path]) -> Iterator[Message]:
    """Yield the messages of files; raise the first error."""
    for path in paths:
        for message in read_messages(path):
            if isinstance(message, PartitaError):
                raise message
            yield message


def _keys(paths: Sequence[Path]) -> tuple[dict[str, list[Incident]], set[str]]:
    """Return the incidents by message, and all messages that the keys cover."""
    incidents: dict[str, list[Incident]] = defaultdict(list)
    messages: set[str] = set()
    for path in paths:
        exam = read_exam(path)
        messages.update(exam.messages)
        for incident in exam.incidents:
            incidents[incident.message].append(incident)
    return incidents, messages
