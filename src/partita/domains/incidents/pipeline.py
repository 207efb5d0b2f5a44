"""Read the exam's messages with their keys, and learn the models of the domain from them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from partita.corpora.muc import holds_templates, read_exam
from partita.corpora.muc_templates import Incident
from partita.domains.incidents.domain import domain
from partita.domains.incidents.gazetteer import read_gazetteer
from partita.domains.incidents.incident_models import IncidentModels, write_models
from partita.domains.incidents.stories import stories
from partita.domains.incidents.training_data import KeyedStory
from partita.errors import InputError, PartitaError
from partita.records import Message
from partita.rules.extractor import Extractor
from partita.text.messages import read_messages

Progress = Callable[[str], None]


def extractor() -> Extractor:
    """Return the rules of the domain with the shipped tagger."""
    return domain.extractor


def learn_incidents(
    paths: Sequence[Path], out: Path, told: Progress, gazetteer: Path | None = None
) -> IncidentModels:
    """The models from messages and their keys, written as one file."""
    from partita.domains.incidents.training import train_models

    examples = keyed_stories(paths, told, gazetteer)
    count = sum(len(key) for _, key in examples)
    experts = train_models(
        examples, told, f"{len(examples)} messages, {count} incidents of their keys"
    )
    write_models(out, experts)
    return experts


def keyed_stories(
    paths: Sequence[Path], told: Progress, gazetteer: Path | None = None
) -> list[KeyedStory]:
    """The messages that have a key among all files and folders, read by the rules."""
    places = read_gazetteer(gazetteer) if gazetteer else None
    files = list(_files(paths))
    holding = [holds_templates(path) for path in files]
    keys = [path for path, key in zip(files, holding, strict=True) if key]
    key, known = _keys(keys)
    texts = [path for path, key in zip(files, holding, strict=True) if not key]
    given = [message for message in _messages(texts) if message.id in known]
    if not given:
        raise InputError("no message has a key; expected messages and the keys that answer them")
    told(f"reading {len(given)} messages")
    return [(story, key[story.message.id]) for story in stories(given, extractor(), places)]


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files, and those of folders."""
    for path in paths:
        if path.is_dir():
            yield from sorted(one for one in path.iterdir() if one.is_file())
        else:
            yield path


def _messages(paths: Sequence[Path]) -> Iterator[Message]:
    """All messages of files; the first that cannot be read is an error."""
    for path in paths:
        for message in read_messages(path):
            if isinstance(message, PartitaError):
                raise message
            yield message


def _keys(paths: Sequence[Path]) -> tuple[dict[str, list[Incident]], set[str]]:
    """The incidents by message, and all messages that the keys speak of."""
    found: dict[str, list[Incident]] = defaultdict(list)
    known: set[str] = set()
    for path in paths:
        exam = read_exam(path)
        known.update(exam.messages)
        for incident in exam.incidents:
            found[incident.message].append(incident)
    return found, known
