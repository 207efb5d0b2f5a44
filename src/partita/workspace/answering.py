"""The exam's answers as the shells call them: messages in, templates out; and how to learn it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from partita.errors import InputError, PartitaError
from partita.evaluation.muc.templates import Incident
from partita.extraction.extractor import Extractor
from partita.formats.incident_models import read_experts, shipped_experts, write_experts
from partita.formats.messages import read_messages
from partita.formats.muc_answers import answers as written
from partita.formats.muc_templates import read_exam
from partita.formats.rules import read_domain
from partita.formats.tagger_models import shipped_tagger
from partita.incidents.answering import answer
from partita.incidents.experts import Experts
from partita.incidents.stories import stories
from partita.records import Message

DOMAIN = "incidents"


def extractor() -> Extractor:
    return Extractor(read_domain(DOMAIN), shipped_tagger())


def incidents(
    messages: Iterable[Message], experts: Experts, reader: Extractor
) -> Iterator[tuple[str, list[Incident]]]:
    """The incidents of each message."""
    for story in stories(messages, reader):
        yield story.message.id, answer(story, experts)


def answers(messages: Iterable[Message], experts: Experts | None = None) -> str:
    """The answers to messages in the exam's format, by the shipped models or others."""
    found = incidents(messages, experts or shipped_experts(), extractor())
    return "".join(written(found))


def answer_files(
    paths: Sequence[Path], parameters: Path | None, told: Callable[[str], None]
) -> str:
    """The answers to all messages of files."""
    experts = read_experts(parameters) if parameters else shipped_experts()
    given = messages_of(paths)
    pieces = []
    for n, piece in enumerate(written(incidents(given, experts, extractor()))):
        told(f"{n + 1} templates, {len(given)} messages")
        pieces.append(piece)
    return "".join(pieces)


def messages_of(paths: Sequence[Path]) -> list[Message]:
    """All messages of files or folders; the first that cannot be read is an error."""
    found = []
    for path in paths:
        for message in read_messages(path):
            if isinstance(message, PartitaError):
                raise message
            found.append(message)
    return found


def learn_incidents(
    texts: Sequence[Path], keys: Sequence[Path], out: Path, told: Callable[[str], None]
) -> Experts:
    """The models from messages and their keys, written as one file."""
    from partita.incidents.training import train

    key, known = _keys(keys)
    given = [message for message in messages_of(texts) if message.id in known]
    if not given:
        raise InputError("no message has a key; expected messages and the keys that answer them")
    told(f"reading {len(given)} messages")
    examples = [(story, key[story.message.id]) for story in stories(given, extractor())]
    source = f"{len(given)} messages, {sum(map(len, key.values()))} incidents of their keys"
    experts = train(examples, told, source)
    write_experts(out, experts)
    return experts


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
