"""The key's strings in a story: which mention plays which role, in which of the key's templates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from partita.evaluation.muc.templates import Incident
from partita.extraction.tokens_scanner import scan
from partita.incidents.mentions import Mention
from partita.incidents.models import NONE
from partita.incidents.stories import Story

# The slots whose fills are strings, and the roles that they give.
ROLES: Mapping[int, str] = {
    6: "INSTRUMENT",
    9: "PERPETRATOR",
    10: "ORGANISATION",
    12: "TARGET",
    18: "VICTIM",
    19: "VICTIM",
}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A mention is a fill of a slot of the key's template `incident`, a place in the list given;
    `fill` is the place of the fill in its slot."""

    incident: int
    slot: int
    fill: int


def labelled(
    story: Story, found: Sequence[Mention], key: Sequence[Incident]
) -> list[tuple[Labelled, ...]]:
    """For each mention the fills that it is."""
    where: dict[str, list[int]] = defaultdict(list)
    for n, word in enumerate(story.words):
        where[word].append(n)
    places = {(m.item.first, m.item.last): n for n, m in enumerate(found)}
    labels: list[dict[Labelled, None]] = [{} for _ in found]
    for label, words in _strings(key):
        for first in where.get(words[0], ()):
            if story.words[first : first + len(words)] == words:
                for n in _covered(found, places, first, first + len(words) - 1):
                    labels[n][label] = None
    return [tuple(one) for one in labels]


def _strings(key: Sequence[Incident]) -> Iterator[tuple[Labelled, tuple[str, ...]]]:
    for n, incident in enumerate(key):
        for slot in ROLES:
            for place, fill in enumerate(incident.of(slot)):
                for value in fill.values:
                    if words := _words(value):
                        yield Labelled(n, slot, place), words


def _words(text: str) -> tuple[str, ...]:
    texts, _, _ = scan(text, 0, len(text))
    return tuple(word.upper() for word in texts)


def _covered(
    found: Sequence[Mention], places: Mapping[tuple[int, int], int], first: int, last: int
) -> Iterable[int]:
    """The mention that ends inside the string and begins first, or the title or name in one."""
    over = [n for n, m in enumerate(found) if m.item.first <= last and m.item.last >= first]
    inner = [n for n in over if found[n].inner and _within(found[n], first, last)]
    ending = [n for n in over if not found[n].inner and found[n].item.last <= last][:1]
    if ending and (not inner or found[inner[0]].item.first >= found[ending[0]].item.first):
        return ending
    if inner:
        return inner[:1]
    return [n for n in over if not found[n].inner and _named(found[n], first)][:1]


def _within(mention: Mention, first: int, last: int) -> bool:
    return first <= mention.item.first and mention.item.last <= last


def _named(mention: Mention, first: int) -> bool:
    """A string inside a person's name or title is about that person."""
    return "title" in mention.item.known or "name" in mention.item.known


def role(labels: Sequence[Labelled]) -> str:
    """The role of a mention; of several the first in the order of slots."""
    return ROLES[min(one.slot for one in labels)] if labels else NONE
