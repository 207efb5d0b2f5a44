"""Extract templates from messages with a domain's rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from partita.core import Message, Template
from partita.errors import InputError
from partita.rules.cascade import Cascade
from partita.rules.domain import RuleSet
from partita.rules.drafts import ValueCache
from partita.rules.templates import ExtractedTemplates, extract
from partita.text.tagger import Tagger
from partita.text.tokens import Tokens, tokenize

BATCH = 64  # messages tagged in one call


class Extractor:
    """Extract templates with a domain's rules and a tagger; results are deterministic."""

    def __init__(self, domain: RuleSet, tagger: Tagger) -> None:
        self.domain = domain
        self.tagger = tagger
        self.cascade = Cascade(domain)
        self.reading = ValueCache(domain.schema)

    def templates(self, message: Message) -> tuple[Template, ...]:
        """Return the templates of a message; raise InputError if a phase is unfinished."""
        return _finished_templates(self.built(message), message)

    def built(self, message: Message) -> ExtractedTemplates:
        """Return the templates, refused values and unfinished phases of a message."""
        return next(self._batch([message]))

    def templates_of(self, messages: Iterable[Message]) -> Iterator[tuple[Template, ...]]:
        """Yield the templates of each message, tagging messages in batches."""
        remaining = iter(messages)
        while batch := list(islice(remaining, BATCH)):
            for message, built in zip(batch, self._batch(batch), strict=True):
                yield _finished_templates(built, message)

    def _batch(self, messages: Sequence[Message]) -> Iterator[ExtractedTemplates]:
        tokenized = [tokenize(message) for message in messages]
        for message, tokens, tags in zip(messages, tokenized, self._tags(tokenized), strict=True):
            if not tokens.texts:
                yield ExtractedTemplates(())
                continue
            analysis = self.cascade.run(tokens, tags, message.regions)
            yield extract(message, tokens, analysis, self.domain, self.reading)

    def _tags(self, tokenized: Sequence[Tokens]) -> Iterator[list[str]]:
        """Yield the tags of each message's tokens."""
        words = [text for tokens in tokenized for text in tokens.texts]
        ends, first = [], 0
        for tokens in tokenized:
            ends += [first + end for end in tokens.ends_of_sentences]
            first += len(tokens.texts)
        tags, first = self.tagger.names(words, ends), 0
        for tokens in tokenized:
            yield tags[first : first + len(tokens.texts)]
            first += len(tokens.texts)


def _finished_templates(built: ExtractedTemplates, message: Message) -> tuple[Template, ...]:
    if built.unfinished:
        phases = ", ".join(built.unfinished)
        problem = f"phase {phases} exceeds the work limit on this text"
        raise InputError(f"message {message.id}: {problem} (split the text or simplify the rules)")
    return built.templates
