"""Parse messages into sentences with phrases and clauses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from partita.core import Message
from partita.rules.build import Contribution
from partita.rules.cascade import Analysis
from partita.rules.extractor import BATCH, Extractor
from partita.rules.phrases import SharedPhrase
from partita.text.gazetteer import Gazetteer, shipped_gazetteer
from partita.text.tagger_models import Tagger
from partita.text.tokens import Tokens, tokenize

Attributes = Mapping[str, Any]
Clause = tuple[str, str, str]  # the role, the incident and the rule

# Types of words that play a role even as modifiers.
_ROLE_TYPES = frozenset(
    {"TERRORIST", "GUERRILLAS", "STATE FORCE", "GUN", "MACHINE GUN", "RIFLE", "HANDGUN", "MORTAR"}
    | {"EXPLOSIVE", "BOMB", "VEHICLE BOMB", "DYNAMITE", "GRENADE", "ROCKET"}
)


@dataclass(frozen=True, slots=True)
class Item:
    """One phrase: its attributes and the tokens that it covers, from `first` to `last`."""

    attributes: Attributes
    first: int
    last: int
    inner: tuple[Item, ...] = ()  # names, actors and weapons among a noun group's modifiers
    kind: str = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", str(self.attributes["kind"]))


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """The phrases of a sentence in order, and the number of its paragraph."""

    number: int
    items: tuple[Item, ...]
    paragraph: int


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """A message parsed for the incident models."""

    message: Message
    words: tuple[str, ...]  # upper case
    spaced: tuple[bool, ...]  # whether white space stands before the word
    spans: tuple[tuple[int, int], ...]  # characters of the message's text
    sentences: tuple[Sentence, ...]
    clauses: Mapping[int, tuple[Clause, ...]]  # by the first token of the noun group
    gazetteer: Gazetteer  # in which its places are looked up

    def text(self, first: int, last: int) -> str:
        """Return the words from `first` to `last`, as the exam writes them."""
        pieces = [
            f" {self.words[n]}" if self.spaced[n] and n > first else self.words[n]
            for n in range(first, last + 1)
        ]
        return "".join(pieces)


def stories(
    messages: Iterable[Message], extractor: Extractor, gazetteer: Gazetteer | None = None
) -> Iterator[Story]:
    """Parse messages by the rules; messages are tagged in batches.

    Tags are those of the text as it is; the rules see all words in upper case, as the models were
    trained.
    """
    places = gazetteer or shipped_gazetteer()
    remaining = iter(messages)
    while batch := list(islice(remaining, BATCH)):
        tokenised = [tokenize(message) for message in batch]
        for message, tokens, tags in zip(
            batch, tokenised, _tags(tokenised, extractor.tagger), strict=True
        ):
            upper = replace(tokens, texts=[text.upper() for text in tokens.texts])
            analysis = extractor.cascade.run(upper, tags, message.regions)
            yield _story(message, upper, analysis, places)


def _tags(tokenised: Sequence[Tokens], tagger: Tagger) -> Iterator[list[str]]:
    """Yield the tags of each message's tokens, computed in one call."""
    words = [text for tokens in tokenised for text in tokens.texts]
    ends, first = [], 0
    for tokens in tokenised:
        ends += [first + end for end in tokens.ends_of_sentences]
        first += len(tokens)
    tags, first = tagger.names(words, ends) if words else [], 0
    for tokens in tokenised:
        yield tags[first : first + len(tokens)]
        first += len(tokens)


def _story(message: Message, tokens: Tokens, analysis: Analysis, gazetteer: Gazetteer) -> Story:
    return Story(
        message,
        tuple(tokens.texts),
        tuple(space > 0 for space in tokens.space),
        tuple(zip(tokens.starts, tokens.ends, strict=True)),
        tuple(_sentences(analysis, tokens, message)),
        _clauses_by_token(analysis.contributions),
        gazetteer,
    )


def _sentences(analysis: Analysis, tokens: Tokens, message: Message) -> Iterator[Sentence]:
    number, items = 0, []
    ends = [*analysis.starts[1:], len(tokens)]
    for described, first, after in zip(analysis.items, analysis.starts, ends, strict=True):
        if described.attributes:
            inner = tuple(_inner(described, first, after - 1)) if described.parts else ()
            items.append(Item(described.attributes, first, after - 1, inner))
        elif items:
            region = message.regions[tokens.region[items[0].first]]
            yield Sentence(number, tuple(items), region.paragraph)
            number, items = number + 1, []


def _inner(described: SharedPhrase, first: int, last: int) -> Iterator[Item]:
    """Yield modifiers that may play a role of their own: "a **dynamite** attack"."""
    if described.attributes["kind"] != "ng":
        return
    for item in _leaves(described, first, last):
        if item.last < last and (item.kind == "name" or _ROLE_TYPES.intersection(types_of(item))):
            yield item


def _leaves(described: SharedPhrase, first: int, last: int) -> Iterator[Item]:
    starts = [first + offset for offset in described.offsets]
    ends = [*(start - 1 for start in starts[1:]), last]
    for part, begin, end in zip(described.parts, starts, ends, strict=False):
        if part.attributes["kind"] in ("word", "name"):
            yield Item(part.attributes, begin, end)
        else:
            yield from _leaves(part, begin, end)


def types_of(item: Item) -> tuple[str, ...]:
    """Return the types of a phrase."""
    types = item.attributes.get("sort", ())
    return (types,) if isinstance(types, str) else tuple(types)


def _clauses_by_token(contributions: Sequence[Contribution]) -> dict[int, tuple[Clause, ...]]:
    clauses: dict[int, tuple[Clause, ...]] = {}
    for contribution in contributions:
        role, incident = (str(contribution.slots.get(slot, "")) for slot in ("ROLE", "INCIDENT"))
        clauses[contribution.about.first] = (
            *clauses.get(contribution.about.first, ()),
            (role, incident, contribution.rule),
        )
    return clauses
