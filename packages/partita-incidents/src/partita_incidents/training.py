"""Train all models from messages and keys."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from partita.core import Message
from partita.errors import InputError, PartitaError
from partita.evaluation.splits import Cut, cut_document
from partita.text.gazetteer import read_gazetteer
from partita.text.messages import read_messages
from partita.training.few_keys import with_fitted_scale
from partita.training.lessons import lesson
from partita.training.pair_models import train_pairs
from partita.training.parameter_files import PairParameters
from partita_incidents.cases import message_context
from partita_incidents.characteristics import EVENTS
from partita_incidents.domain import domain
from partita_incidents.exam_files import holds_templates, read_exam
from partita_incidents.exam_templates import Incident
from partita_incidents.incident_models import (
    IncidentModels,
    write_models,
)
from partita_incidents.merging import exam_merge
from partita_incidents.readings import (
    Reading,
    ReadingModels,
    find_events,
    read_story,
)
from partita_incidents.screening import draft_message
from partita_incidents.screening_training import FOLDS, train_screening_models
from partita_incidents.stories import stories
from partita_incidents.training_data import (
    KeyedStory,
    ReadingExamples,
    keyed_document,
    train_fill_models,
)

PRECISION = 30.0  # of the prior; strong, as the pairs of one message are dependent

Progress = Callable[[str], None]
KeyedReading = tuple[Reading, Sequence[Incident]]


def train_models(
    examples: Sequence[KeyedStory], progress: Progress, learned_from: str = ""
) -> IncidentModels:
    """Train all models, in the order in which they depend on each other."""
    progress("training the reading models")
    lessons = ReadingExamples(examples)
    reading_models = lessons.train(range(len(examples)))
    held_out = list(_held_out(examples, lessons))
    progress("training the fill models")
    fills = train_fill_models(held_out)
    progress("training the pair models of events")
    pairs = train_event_pairs(event_sets(held_out, reading_models), learned_from)
    progress("training the screening models")
    merge = exam_merge(pairs)
    messages = [(draft_message(reading, reading_models, merge), key) for reading, key in held_out]
    held_out_fills = [
        train_fill_models(each for n, each in enumerate(held_out) if n % FOLDS != fold)
        for fold in range(FOLDS)
    ]
    screening = train_screening_models(messages, held_out_fills)
    return IncidentModels(reading_models, pairs, screening, fills, learned_from)


def train_event_pairs(sets: Sequence[Cut], learned_from: str = "") -> PairParameters:
    """Train the models over pairs of events."""
    learned, _ = train_pairs(sets, EVENTS, PRECISION, learned_from=learned_from)
    return with_fitted_scale(learned, [lesson(one, learned) for one in sets])


def event_sets(examples: Sequence[KeyedReading], reading_models: ReadingModels) -> list[Cut]:
    """Return the events of every message that has incidents, without incompatibilities."""
    documents = [
        keyed_document(message_context(reading), key, find_events(reading, reading_models))
        for reading, key in examples
        if key
    ]
    return [cut_document(keyed) for keyed in documents if len(keyed) > 1]


def _held_out(examples: Sequence[KeyedStory], lessons: ReadingExamples) -> Iterator[KeyedReading]:
    """Yield each story as read by models that were not trained on it."""
    every = range(len(examples))
    for fold in range(FOLDS):
        held_out = every[fold::FOLDS]
        models = lessons.train(sorted({*every} - {*held_out}))
        for story, key in (examples[n] for n in held_out):
            yield read_story(story, models), key


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
