"""Tools for domain authors: lint, trace, rule tests and the tagger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from partita.core import Message, Region
from partita.corpora.documents import read_keyed_messages
from partita.domains import domain_folders
from partita.errors import InputError, PartitaError
from partita.evaluation.extraction import ExtractionFigures, measure_extraction
from partita.rules.cascade import Cascade, TokenColumns
from partita.rules.domain import RuleProblem
from partita.rules.domain_files import load_rule_set, read_domain
from partita.rules.extractor import Extractor, PhaseTrace, Tracer
from partita.rules.lint import failing_examples, lint
from partita.text.layout import parse_layout
from partita.text.messages import read_messages
from partita.text.tagger_models import Tagger, shipped_tagger
from partita.text.tokens import tokenize


@dataclass(frozen=True, slots=True)
class Traced:
    """A message, and the output of each phase."""

    message: str
    seen: tuple[PhaseTrace, ...]


def lint_domain(name: str | Path) -> list[RuleProblem]:
    """Return the errors and warnings of a domain, including examples that fail."""
    loaded = load_rule_set(name)
    problems = list(loaded.problems)
    if loaded.domain is None:
        return problems
    problems += lint(loaded.domain)
    if loaded.domain.phases:
        cascade, tagger = Cascade(loaded.domain), shipped_tagger()
        problems += failing_examples(
            cascade, lambda text: _tokenise(tagger, _example_message(text))
        )
    return list(dict.fromkeys(problems))


def trace_file(path: str | Path, domain: str | Path, phase: str = "") -> list[Traced]:
    """Trace the messages of a file through all phases of a domain, or through one phase."""
    messages = []
    for message in read_messages(path):
        if isinstance(message, PartitaError):
            raise message
        messages.append(message)
    return trace_messages(messages, domain, phase)


def trace_messages(
    messages: Sequence[Message], domain: str | Path, phase: str = ""
) -> list[Traced]:
    rules = read_domain(domain)
    names = [one.name for one in rules.phases]
    if phase and phase not in names:
        raise InputError(f"domain {rules.name} has no phase {phase!r}; expected {', '.join(names)}")
    cascade, tagger = Cascade(rules), shipped_tagger()
    traced = []
    for message in messages:
        tracer = Tracer(rules.schema)
        cascade.run(*_tokenise(tagger, message), tracer)
        seen = tuple(one for one in tracer.seen if not phase or one.phase == phase)
        traced.append(Traced(message.id, seen))
    return traced


def measure_corpus(
    corpus: str | Path, domain: str | Path | None = None, only: str = ""
) -> ExtractionFigures:
    """Evaluate the extraction of a domain against the keys of a folder of messages.

    Without a domain, a corpus in the folder of a domain belongs to that domain, any other to
    depots. `only` is a prefix of the names of the messages to use.
    """
    rules = read_domain(domain or next(domain_folders([Path(corpus)]), "depots"))
    documents = [one for one in read_keyed_messages(corpus) if one.name.startswith(only)]
    if not documents:
        which = f" whose name begins with {only!r}" if only else ""
        raise InputError(f"has no keyed message{which} (expected at least one)", file=str(corpus))
    messages = [parse_layout(one.name, one.text) for one in documents]
    templates = Extractor(rules, shipped_tagger()).templates_of(messages)
    return measure_extraction(zip(documents, templates, strict=True), rules.schema)


def _example_message(text: str) -> Message:
    """Return an example as a message of running text."""
    return Message("example", text, (Region("text", 0, len(text)),))


def _tokenise(tagger: Tagger, message: Message) -> tuple[TokenColumns, list[str], Sequence[Region]]:
    tokens = tokenize(message)
    return tokens, tagger.names(tokens.texts, tokens.ends_of_sentences), message.regions
