"""Extract templates from messages with a domain's rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from partita.errors import InputError
from partita.records import Message, Template
from partita.rules.cascade import Cascade
from partita.rules.domain import Domain
from partita.rules.templates import Built, Reading, extract
from partita.text.tagger import Tagger
from partita.text.tokens import Tokens, tokenize

BATCH = 64  # messages that are tagged in one call


class Extractor:
    """A domain and a tagger, ready for messages; the same message gives the same templates."""

    def __init__(self, domain: Domain, tagger: Tagger) -> None:
        self.domain = domain
        self.tagger = tagger
        self.cascade = Cascade(domain)
        self.reading = Reading(domain.schema)

    def templates(self, message: Message) -> tuple[Template, ...]:
        """All of them, or an error where the rules gave up on the message."""
        return _whole(self.built(message), message)

    def built(self, message: Message) -> Built:
        """The templates, and the values that no slot took."""
        return next(self._batch([message]))

    def templates_of(self, messages: Iterable[Message]) -> Iterator[tuple[Template, ...]]:
        """The templates of each message; many are tagged in one call."""
        waiting = iter(messages)
        while batch := list(islice(waiting, BATCH)):
            for message, built in zip(batch, self._batch(batch), strict=True):
                yield _whole(built, message)

    def _batch(self, messages: Sequence[Message]) -> Iterator[Built]:
        cut = [tokenize(message) for message in messages]
        for message, tokens, tags in zip(messages, cut, self._tags(cut), strict=True):
            if not tokens.texts:
                yield Built(())
                continue
            analysis = self.cascade.run(tokens, tags, message.regions)
            yield extract(message, tokens, analysis, self.domain, self.reading)

    def _tags(self, cut: Sequence[Tokens]) -> Iterator[list[str]]:
        """The tags of each message's tokens."""
        words = [text for tokens in cut for text in tokens.texts]
        ends, first = [], 0
        for tokens in cut:
            ends += [first + end for end in tokens.ends_of_sentences]
            first += len(tokens.texts)
        tags, first = self.tagger.names(words, ends), 0
        for tokens in cut:
            yield tags[first : first + len(tokens.texts)]
            first += len(tokens.texts)


def _whole(built: Built, message: Message) -> tuple[Template, ...]:
    if built.unfinished:
        phases = ", ".join(built.unfinished)
        problem = f"the rules of phase {phases} need more work on this text than they may take"
        raise InputError(f"message {message.id}: {problem}; split it, or simplify the rules")
    return built.templates
