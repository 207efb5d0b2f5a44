"""Tools for people who write domains, as the shells call them: lint, trace, and a test
against keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.errors import InputError, PartitaError
from partita.evaluation.extraction import Extraction, measure_extraction
from partita.extraction.cascade import Cascade, Columns
from partita.extraction.extractor import Extractor
from partita.extraction.lint import linted
from partita.extraction.lint_examples import failing
from partita.extraction.problems import Problem
from partita.extraction.tagging import Tagger
from partita.extraction.tokens import tokenize
from partita.extraction.tracing import Seen, Tracer
from partita.formats.corpus import read_keyed_messages
from partita.formats.messages import analysed, read_messages
from partita.formats.rules import load_domain, read_domain
from partita.formats.tagger_models import shipped_tagger
from partita.records import Message, Region


@dataclass(frozen=True, slots=True)
class Traced:
    """A message, and what each phase made of it."""

    message: str
    seen: tuple[Seen, ...]


def lint_domain(name: str | Path) -> list[Problem]:
    """Everything that is wrong with a domain or might be, its examples tried."""
    loaded = load_domain(name)
    found = list(loaded.problems)
    if loaded.domain is None:
        return found
    found += linted(loaded.domain)
    if loaded.domain.phases:
        cascade, tagger = Cascade(loaded.domain), shipped_tagger()
        found += failing(cascade, lambda text: _cut(tagger, _plain(text)))
    return list(dict.fromkeys(found))


def trace_file(path: str | Path, domain: str | Path, phase: str = "") -> list[Traced]:
    """The messages of a file through a domain's phases, or through one that is named."""
    messages = []
    for message in read_messages(path):
        if isinstance(message, PartitaError):
            raise message
        messages.append(message)
    return trace_messages(messages, domain, phase)


def trace(text: str, domain: str | Path, phase: str = "") -> Traced:
    """One text through a domain's phases."""
    return trace_messages([analysed("text", text)], domain, phase)[0]


def trace_messages(
    messages: Sequence[Message], domain: str | Path, phase: str = ""
) -> list[Traced]:
    read = read_domain(domain)
    names = [one.name for one in read.phases]
    if phase and phase not in names:
        raise InputError(f"domain {read.name} has no phase {phase!r}; expected {', '.join(names)}")
    cascade, tagger = Cascade(read), shipped_tagger()
    traced = []
    for message in messages:
        tracer = Tracer(read.schema)
        cascade.run(*_cut(tagger, message), tracer)
        seen = tuple(one for one in tracer.seen if not phase or one.phase == phase)
        traced.append(Traced(message.id, seen))
    return traced


def measure_corpus(corpus: str | Path, domain: str | Path, only: str = "") -> Extraction:
    """What a domain finds in a folder of messages, beside their keys; of those alone whose names
    begin as wanted."""
    read = read_domain(domain)
    documents = [one for one in read_keyed_messages(corpus) if one.name.startswith(only)]
    if not documents:
        which = f" whose name begins with {only!r}" if only else ""
        raise InputError(f"holds no key of a message{which}", file=str(corpus))
    messages = [analysed(one.name, one.text) for one in documents]
    found = Extractor(read, shipped_tagger()).templates_of(messages)
    return measure_extraction(zip(documents, found, strict=True), read.schema)


def _plain(text: str) -> Message:
    """An example is a piece of running text, however it looks."""
    return Message("example", text, (Region("text", 0, len(text)),))


def _cut(tagger: Tagger, message: Message) -> tuple[Columns, list[str], Sequence[Region]]:
    tokens = tokenize(message)
    return tokens, tagger.names(tokens.texts, tokens.ends_of_sentences), message.regions
